"""Checks in processes of their own: what they report is read, a hang and a crash cost one kernel only."""

import json
import sys
from pathlib import Path

import pytest

from app.kernels import registry
from app.kernels.bench import checking

RIGHT = {"ok": True, "relative": 0.001, "plain": 0.002, "message": ""}
FAR_OFF = {"ok": False, "relative": 0.5, "plain": 0.002, "message": "n 17: too far off"}


def program(lines: list[dict[str, object]], ending: str = "") -> str:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    return f"import sys, time, pathlib; pathlib.Path(sys.argv[1]).write_text({text!r}); {ending}"


def outcomes(
    monkeypatch: pytest.MonkeyPatch, programs: dict[str, str], seconds: float = 20
) -> tuple[dict[str, checking.Outcome], list[str]]:
    def command(kernel_id: str, verdicts: Path) -> list[str]:
        return [sys.executable, "-c", programs[kernel_id], str(verdicts)]

    monkeypatch.setattr(checking, "command", command)
    said: list[str] = []
    return checking.check_all([registry.get(name) for name in programs], seconds, said.append), said


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


def test_the_command_starts_this_module() -> None:
    assert checking.command("fa2_triton", Path("v"))[1:] == ["-m", "app.kernels.bench.checking", "fa2_triton", "v"]
