"""The verb's options, and what it says where it cannot run."""

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

from app import checkout
from app.kernels import capability
from app.kernels.bench import cli

ROOT = Path(__file__).parents[2]


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    return parser.parse_args(arguments)


@pytest.mark.parametrize("lacking", ["torch", "cuda"])
def test_without_a_gpu_it_says_one_sentence(
    lacking: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sentence = capability.QUESTIONS[lacking][1]
    monkeypatch.setattr(capability, "missing", lambda needs: sentence if lacking in needs else None)
    assert cli.main(options("--cases", "targets")) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == f"exhibit bench: the bench needs a machine with an NVIDIA GPU and PyTorch: {sentence}.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--cases", "everything"), "there is no suite 'everything'"),
        (("--kernels", "fa2_triton,fa9"), "no kernel 'fa9'"),
    ],
)
def test_unknown_names_are_answered_with_the_known_ones(
    arguments: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(capability, "missing", lambda needs: None)
    assert cli.main(options(*arguments)) == 1
    assert message in capsys.readouterr().err


def test_everything_but_wrong_kernels_is_timed_and_every_rung_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capability, "missing", lambda needs: None)
    plan = cli.make_plan(options("--cases", "record", "--check", "--direction", "backward"), ("bench",))
    assert {kernel.kind for kernel in plan.kernels} == {"rung", "peer"}
    assert {kernel.kind for kernel in plan.checked} == {"rung", "wrong"}
    assert {case.direction for case in plan.timing} == {"backward"}
    assert (plan.suite, plan.check, plan.tune, plan.counters) == ("record-backward", True, False, False)


def test_kernels_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capability, "missing", lambda needs: None)
    plan = cli.make_plan(options("--kernels", "fa2_triton, sdpa_flash,wrong_no_rescale", "--cases", "none"), ("bench",))
    assert [kernel.id for kernel in plan.kernels] == ["fa2_triton", "sdpa_flash"]
    assert [kernel.id for kernel in plan.checked] == ["fa2_triton", "wrong_no_rescale"]
    assert plan.timing == ()


def test_a_long_grid_can_be_recorded_in_two_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capability, "missing", lambda needs: None)
    whole, rest = (
        cli.make_plan(options("--cases", "record", "--direction", "backward", *skip), ("bench",))
        for skip in ([], ["--skip", "12"])
    )
    assert rest.timing == whole.timing[12:]
    assert (whole.skipped, rest.skipped) == (0, 12)
    assert (whole.suite, rest.suite) == ("record-backward", "record-backward-skip-12")


def test_one_case_of_a_grid_can_be_recorded_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capability, "missing", lambda needs: None)
    whole = cli.make_plan(options("--cases", "record"), ("bench",))
    alone = cli.make_plan(options("--cases", "record", "--skip", "12", "--count", "1"), ("bench",))
    assert alone.timing == whole.timing[12:13]
    assert alone.suite == "record-skip-12-count-1"
    with pytest.raises(SystemExit):
        options("--count", "0")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--skip", "-1"), "--skip must be at least 0, got -1"),
        (("--cases", "targets", "--skip", "42"), "--skip 42 leaves nothing to time: there are 42 cases"),
        (("--cases", "none", "--skip", "1"), "--skip 1 leaves nothing to time: there are 0 cases"),
    ],
)
def test_a_skip_leaves_something_to_time(
    arguments: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(capability, "missing", lambda needs: None)
    assert cli.main(options(*arguments)) == 1
    assert capsys.readouterr().err == f"exhibit bench: {message}.\n"


@pytest.mark.parametrize("minutes", ["0", "-1", "nan"])
def test_a_time_limit_is_above_zero(minutes: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        options("--minutes", minutes)
    assert "must be above 0" in capsys.readouterr().err


def test_the_list_needs_no_gpu() -> None:
    program = (
        "import argparse, sys; from app.kernels.bench import cli; p = argparse.ArgumentParser(); cli.add_arguments(p);"
        "sys.exit(cli.main(p.parse_args(['--list'])))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "fa2_triton" in done.stdout
    assert "suite targets: 42 cases" in done.stdout


def test_the_test_command_says_what_it_skips_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"torch": False, "triton": True}
    monkeypatch.setattr(checkout.importlib.util, "find_spec", lambda name: found.get(name, True) or None)
    (sentence,) = checkout.left_out(browser=True)
    assert sentence.startswith("The kernels were not run")
    assert "does not download" in sentence
    found["torch"] = True
    assert checkout.left_out(browser=True) == []


@pytest.mark.parametrize(
    "arguments",
    [["bench", "--cases", "quick", "--out", "/some/where/run.json"], ["--cases", "quick", "--out", "run.json"]],
)
def test_a_record_keeps_the_command_without_the_machine_s_paths(arguments: list[str]) -> None:
    assert " ".join(cli.told(arguments)) == "exhibit bench --cases quick --out run.json"


def test_stopping_before_anything_was_measured_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(plan: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(capability, "missing", lambda needs: None)
    monkeypatch.setattr(cli.run, "start", stopped)
    assert cli.main(options("--cases", "none")) == 1
    assert capsys.readouterr().err == "exhibit bench: stopped before anything was measured.\n"
