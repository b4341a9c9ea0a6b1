"""Checks in processes of their own: what they report is read, a hang and a crash cost one kernel only."""

import json
import sys
from pathlib import Path

import pytest

from app.kernels import capability, configs, registry
from app.kernels.bench import checking

RIGHT = {"ok": True, "relative": 0.001, "plain": 0.002, "message": ""}
FAR_OFF = {"ok": False, "relative": 0.5, "plain": 0.002, "message": "n 17: too far off"}


def program(lines: list[dict[str, object]], ending: str = "") -> str:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    return f"import sys, time, pathlib; pathlib.Path(sys.argv[1]).write_text({text!r}); {ending}"


def outcomes(
    monkeypatch: pytest.MonkeyPatch, programs: dict[str, str], seconds: float = 20
) -> tuple[dict[str, checking.Outcome], list[str]]:
    def command(task: checking.Task, verdicts: Path) -> list[str]:
        name = task.kernel if task.what == "cases" else f"{task.kernel} {task.what}"
        return [sys.executable, "-c", programs.get(name, program([])), str(verdicts)]

    monkeypatch.setattr(checking, "command", command)
    said: list[str] = []
    return checking.check_all([registry.get(name) for name in programs if " " not in name], seconds, said.append), said


def test_verdicts_are_counted_and_the_largest_error_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    worse = RIGHT | {"relative": 0.003}
    found, said = outcomes(monkeypatch, {"fa2_triton": program([RIGHT, worse, RIGHT])})
    assert found["fa2_triton"] == checking.Outcome("fa2_triton", 3, (), 1.5)
    assert found["fa2_triton"].ok
    assert said == ["fa2_triton: 3 of 3 right, largest error 1.50 x plain"]


def test_one_failure_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    found, said = outcomes(monkeypatch, {"standard": program([RIGHT, FAR_OFF])})
    assert not found["standard"].ok
    assert said[0].endswith("n 17: too far off")


def test_a_wrong_kernel_must_fail_at_least_once(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("wrong_no_rescale", "wrong_mask_off_by_one")
    found, said = outcomes(monkeypatch, dict(zip(names, (program([RIGHT, FAR_OFF]), program([RIGHT])), strict=True)))
    assert [found[name].ok for name in names] == [True, False]
    assert sorted(said) == ["wrong_mask_off_by_one: NOT REJECTED (0 of 1)", "wrong_no_rescale: rejected (1 of 2)"]


def test_a_hang_and_a_crash_cost_their_own_kernel_only(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = outcomes(
        monkeypatch,
        {
            "fa1_triton": program([RIGHT], "time.sleep(60)"),
            "fa2_triton": program([RIGHT, RIGHT], "sys.exit('CUDA error: an illegal memory access')"),
            "standard": program([RIGHT]),
        },
        seconds=4,
    )
    assert found["standard"].ok
    assert found["fa1_triton"].failures == ("the check broke off after 1 cases: it did not end in time",)
    assert found["fa2_triton"].failures == ("the check broke off after 2 cases: CUDA error: an illegal memory access",)


def test_a_kernel_without_a_single_verdict_is_not_right(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = outcomes(monkeypatch, {"standard": program([])})
    assert not found["standard"].ok


def test_silence_is_taken_for_a_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "SILENT_S", 2.0)
    found, _ = outcomes(monkeypatch, {"standard": program([RIGHT], "time.sleep(60)")})
    assert found["standard"].failures == ("the check broke off after 1 cases: nothing was heard of it for 2 s",)


def test_block_shapes_are_proven_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capability, "is_hopper", lambda: True)
    lines = [
        RIGHT | {"choice": "a"},
        RIGHT | {"choice": "b"},
        FAR_OFF | {"choice": "b", "message": "b: too far off"},
        RIGHT | {"choice": "c"},
    ]
    programs = {"fa2_triton": program([RIGHT]), "fa2_triton choices": program(lines, "sys.exit('it broke')")}
    found, said = outcomes(monkeypatch, programs)
    assert found["fa2_triton"].ok
    assert found["fa2_triton"].choices == {"a", "c"}
    assert said[-1] == "fa2_triton, other block shapes: it broke\n    b: too far off"


def test_every_other_block_shape_is_checked_in_both_directions_and_with_and_without_a_mask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(capability, "is_hopper", lambda: True)
    listed = checking.choices_for(registry.get("fa2_triton"))
    kinds = {(case.direction, case.head_dim, case.causal, choice) for case, choice in listed}
    for direction in ("forward", "backward"):
        for head_dim in (64, 128, 256):
            for choice in configs.choices("fa2_triton", direction, head_dim)[1:]:
                assert {(direction, head_dim, causal, choice) for causal in (False, True)} <= kinds
    assert checking.choices_for(registry.get("fa1_triton")) == []


def test_the_command_starts_this_module() -> None:
    command = checking.command(checking.Task("fa2_triton", "cases"), Path("v"))
    assert command[1:] == ["-m", "app.kernels.bench.checking", "fa2_triton", "cases", "v"]
