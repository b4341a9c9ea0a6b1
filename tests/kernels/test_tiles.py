"""Choosing tiles: what is tried for which cases, and how a choice reaches another process. Needs no torch."""

import json
from collections.abc import Iterator

import pytest

from app.kernels import capability, configs
from app.kernels.bench import ahead, cases, tune
from app.kernels.bench.cases import CheckCase, TimingCase
from app.theory.cluster_roles import ClusterRoles

TILE = configs.Tile(32, 64, 8, 2, tma_add=True)


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(configs, "_chosen", {})
    capability.assume((9, 0))
    yield
    capability.assume(None)


def test_a_choice_holds_for_its_kind_of_length_only() -> None:
    default = configs.tile_for("fa2_triton", "backward", 256, False, 4096)
    configs.choose("fa2_triton", "backward", 256, False, 1024, TILE)
    assert configs.tile_for("fa2_triton", "backward", 256, False, 512) == TILE
    assert configs.tile_for("fa2_triton", "backward", 256, False, 1025) == default != TILE
    assert configs.tile_for("fa2_triton", "backward", 256, True, 512) == default


def test_what_was_chosen_reaches_another_process_as_json() -> None:
    configs.choose("fa2_triton", "backward", 256, True, 4096, TILE)
    sent = json.loads(json.dumps(configs.chosen()))
    configs._chosen.clear()
    configs.restore(sent)
    assert configs.tile_for("fa2_triton", "backward", 256, True, 6144) == TILE


@pytest.mark.parametrize("tile", configs.STANDARD, ids=str)
def test_a_smaller_tile_is_half_as_large_until_none_is_left(tile: configs.Tile) -> None:
    while smaller := configs.smaller_tile(tile):
        assert 2 * smaller.block_m * smaller.block_n == tile.block_m * tile.block_n
        assert smaller.block_m <= tile.block_m
        assert smaller.block_n <= tile.block_n
        tile = smaller
    assert (tile.block_m, tile.block_n) == (64, 64)


def test_only_what_will_be_timed_is_tuned() -> None:
    timing = [TimingCase("backward", "bf16", 1, 16, seqlen, 256, False) for seqlen in (4096, 16384, 65536, 512)]
    listed = tune.candidates(timing)
    assert {candidate.kernel for candidate in listed} == {"fa2_triton"}
    assert list(dict.fromkeys(candidate.case for candidate in listed)) == [
        TimingCase("backward", "bf16", 4, 8, 4096, 256, False),
        TimingCase("backward", "bf16", 1, 8, 16384, 256, False),
        TimingCase("backward", "bf16", 1, 8, 65536, 256, False),
        TimingCase("backward", "bf16", 16, 8, 1024, 256, False),
    ]
    assert tune.candidates(timing, ["standard", "sdpa_flash"]) == []


def test_every_kind_of_case_of_the_targets_is_tuned_with_several_tiles() -> None:
    listed = tune.candidates(cases.load().suites["targets"])
    kinds = {
        (item.kernel, item.case.direction, item.case.head_dim, item.case.causal, item.case.seqlen) for item in listed
    }
    assert kinds == {
        (*key, causal, seqlen)
        for key, choices in configs.HOPPER.items()
        if key[0] in tune.TUNED and len(choices) > 1
        for causal in (False, True)
        for seqlen in tune.LENGTHS[:3]  # very long ones are a suite of their own
    }


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("head_dim", [64, 128, 256])
def test_only_what_serves_the_mask_is_tried(head_dim: int, causal: bool) -> None:
    """What is the default without a mask is tried under one too, and the other way round, where it can be."""
    kernel = "fa3_cuda"
    listed = set(configs.choices(kernel, "forward", head_dim))
    for seqlen in (*tune.LENGTHS, 30_000):
        tried = set(configs.alternatives(kernel, "forward", head_dim, causal, seqlen))
        left = listed - tried - {configs.default(kernel, "forward", head_dim, causal, seqlen)}
        assert left == {roles for roles in listed if isinstance(roles, ClusterRoles) and not roles.serves(causal)}
        assert causal or not left


def test_an_older_gpu_has_nothing_to_choose() -> None:
    capability.assume((8, 0))
    assert tune.candidates(cases.load().suites["quick"]) == []


def test_every_default_that_will_run_is_compiled_ahead() -> None:
    """What a kernel uses by default may depend on the length, and whether tiles are cut on every size."""

    def job(kernel: str, seqlen: int, num_heads: int = 2, *, head_dim: int = 64) -> ahead.Job:
        direction = "forward" if head_dim == 64 else "backward"
        return ahead.Job(kernel, CheckCase("", direction, 1, num_heads, seqlen, seqlen, head_dim, False, "bf16"))

    lengths = (1024, 4096, 16384)  # one of each kind, all multiples of every block
    defaults = {configs.cluster_roles_for(64, False, seqlen) for seqlen in lengths}
    assert len(ahead.unique([job("fa3_cuda", seqlen) for seqlen in lengths])) == 3 >= len(defaults) > 1
    assert len(ahead.unique([job("fa3_cuda", 4096, heads) for heads in (1, 16)])) == 2
    backward = {configs.backward_roles_for(128, False, seqlen) for seqlen in (512, 1024)}
    assert len(ahead.unique([job("fa3_cuda", n, head_dim=128) for n in (512, 1024)])) == len(backward) == 2
    assert len(ahead.unique([job("fa3_gluon", seqlen) for seqlen in lengths])) == 1
