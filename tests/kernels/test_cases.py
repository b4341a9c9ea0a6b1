"""The file of cases: what it expands to, and what is refused in one."""

from pathlib import Path

import pytest

from app.kernels import registry
from app.kernels.bench import cases, checking

LOADED = cases.load()


def write(tmp_path: Path, text: str) -> cases.Cases:
    path = tmp_path / "cases.toml"
    path.write_text(text)
    return cases.load(path)


def test_lists_are_multiplied_out_and_the_last_changes_fastest(tmp_path: Path) -> None:
    given = write(
        tmp_path,
        "[[suite.two]]\ndirection = 'forward'\ndtype = 'bf16'\nhead_dim = [64, 128]\ncausal = false\n"
        "seqlen = [512, 32768]\ntokens = 16384\nwidth = 2048\n",
    )
    shown = [(case.head_dim, case.seqlen, case.batch, case.num_heads) for case in given.suites["two"]]
    assert shown == [(64, 512, 32, 32), (64, 32768, 1, 32), (128, 512, 32, 16), (128, 32768, 1, 16)]


def test_keys_have_the_length_of_queries_unless_given(tmp_path: Path) -> None:
    table = "[[check]]\nname = 'x'\nbatch = 1\nnum_heads = 1\nhead_dim = 64\ncausal = true\ndtype = 'bf16'\n"
    (same,) = write(tmp_path, table + "seqlen_q = 5\n").checks
    assert (same.seqlen_q, same.seqlen_k, same.direction) == (5, 5, "forward")
    cases.load.cache_clear()
    apart = write(tmp_path, table + "seqlen_q = 5\nseqlen_k = [7, 9]\n").checks
    assert [case.seqlen_k for case in apart] == [7, 9]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[check]]\nname = 'x'\nbatch = 1\n", "check 'x'"),
        ("[[suite.a]]\ndirection = 'forward'\n", "suite a"),
        ("[timing]\n", "unknown table 'timing'"),
    ],
)
def test_what_makes_no_sense_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(cases.CasesError, match=message):
        write(tmp_path, text)


def test_the_lengths_that_matter_are_checked() -> None:
    lengths = {(case.seqlen_q, case.direction) for case in LOADED.checks if case.seqlen_q == case.seqlen_k}
    assert lengths >= {(n, way) for n in (1, 17, 127, 129, 1000, 4097) for way in ("forward", "backward")}
    assert any(case.causal and case.seqlen_q > case.seqlen_k for case in LOADED.checks)
    assert any(case.causal and case.seqlen_q < case.seqlen_k for case in LOADED.checks)
    assert {case.head_dim for case in LOADED.checks} == {64, 128, 256}


def test_every_rung_is_checked_in_every_direction_it_has() -> None:
    for kernel in registry.of_kind("rung", "wrong"):
        mine = checking.cases_for(kernel)
        assert {case.direction for case in mine} == set(kernel.directions)
        assert kernel.dropout == any(case.dropout for case in mine)


@pytest.mark.parametrize("suite", LOADED.suites)
def test_every_timing_case_is_a_shape_and_stands_once(suite: str) -> None:
    listed = LOADED.suites[suite]
    assert len(set(listed)) == len(listed)
    for case in listed:
        assert case.shape.seqlen == case.seqlen
        assert case.direction in ("forward", "backward")


def test_the_targets_have_the_sizes_they_are_stated_for() -> None:
    for case in LOADED.suites["targets"]:
        assert case.batch * case.seqlen == 16384
        assert case.num_heads * case.head_dim == 2048
    wanted = {(way, False, n) for way in ("forward", "backward") for n in (4096, 16384)}
    there = {(case.direction, case.causal, case.seqlen) for case in LOADED.suites["targets"] if case.head_dim == 128}
    assert wanted <= there
