"""A whole run of the bench on the CPU: real kernels in the interpreter, a false clock, a false GPU."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.facts import timings
from app.kernels import capability, configs, registry
from app.kernels.bench import check, checking, counters, environment, harness, run, tune
from app.kernels.bench.cases import TimingCase
from tests.facts.test_timings import CLOCKS, RUN

FORWARD = TimingCase("forward", "fp16", 1, 2, 40, 64, False)
BACKWARD = TimingCase("backward", "fp16", 1, 2, 40, 64, True)
SMALL = configs.Tile(32, 32, 4, 1)

pytestmark = pytest.mark.skipif(capability.has_cuda(), reason="it pretends to have a GPU; here is a real one")


class FalseClock:
    """One of the runs is made; each is said to take a little less than what is flushed."""

    def sample(self, work: harness.Run, repeats: int, before: harness.Run | None) -> list[float]:
        work()
        return [0.9 * run.FLUSH_BELOW_MS] * repeats


@pytest.fixture
def plan(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> run.Plan:
    monkeypatch.setattr(capability, "missing", lambda needs: None)
    monkeypatch.setattr(run, "DEVICE", "cpu")
    monkeypatch.setattr(run, "kernel_names", lambda work: ["pretended"])
    monkeypatch.setattr(harness, "CudaClock", FalseClock)
    monkeypatch.setattr(harness, "Flush", lambda size: lambda: None)
    monkeypatch.setattr(harness, "captured", lambda work, **_: harness.Captured(work, "plain"))
    monkeypatch.setattr(environment, "run_header", lambda command, commit: json.loads(json.dumps(RUN)))
    monkeypatch.setattr(environment, "clocks", lambda: CLOCKS)
    monkeypatch.setattr(configs, "tile_for", lambda *names: SMALL)
    return run.Plan(
        suite="test",
        timing=(FORWARD, BACKWARD),
        kernels=tuple(registry.get(name) for name in ("fa1_triton", "fa2_triton")),
        checked=(),
        check=False,
        tune=False,
        counters=False,
        flushed=True,
        compile_ahead=False,
        minutes=5,
        budget_ms=10,
        out=tmp_path / "run.json",
        commit="abc",
        command=("bench",),
    )


def rows(plan: run.Plan) -> list[tuple[str, str, str, str]]:
    assert plan.out is not None
    (found,) = timings.read(plan.out.parent).records
    return [(row.kernel, row.direction, row.l2, row.status) for row in found.timings]


EXPECTED = [
    ("fa1_triton", "forward", "warm", "ok"),
    ("fa2_triton", "forward", "warm", "ok"),
    ("fa1_triton", "forward", "flushed", "ok"),
    ("fa2_triton", "forward", "flushed", "ok"),
    ("fa1_triton", "backward", "warm", "cannot run: it has no backward pass"),
    ("fa2_triton", "backward", "warm", "ok"),
    ("fa2_triton", "backward", "flushed", "ok"),
]


def test_every_kernel_is_checked_timed_and_recorded(plan: run.Plan, capsys: pytest.CaptureFixture[str]) -> None:
    assert run.Bench(plan).run() == 0
    assert rows(plan) == EXPECTED
    assert plan.out is not None
    first = timings.read(plan.out.parent).records[0].timings[0]
    assert first.error is not None
    assert first.plain_error is not None
    assert 0 < first.error <= 2 * first.plain_error
    assert (first.block_m, first.block_n, first.kernel_names) == (32, 32, ("pretended",))
    printed = capsys.readouterr()
    assert "TFLOP/s, L2 warm" in printed.out
    assert "timing 4/4" in printed.err


def test_a_wrong_kernel_is_not_timed(plan: run.Plan) -> None:
    wrong = replace(registry.get("fa2_triton"), launcher="app.kernels.wrong.forward:last_block_unmasked")
    assert run.Bench(replace(plan, kernels=(wrong,), timing=(FORWARD,))).run() == 0
    ((_, _, _, status),) = rows(plan)
    assert status.startswith("cannot run: its result is wrong: o of head")


@pytest.mark.parametrize("ever", [True, False])
@pytest.mark.parametrize("when", ["it is made ready", "all are timed"])
def test_what_does_not_fit_beside_the_others_is_timed_alone(
    when: str, ever: bool, plan: run.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`ever`: alone it fits. Memory may run out while a kernel is made ready, or when plain calls take turns."""
    import torch

    ready, measure, asked = run.Bench._ready, harness.measure, []
    full = torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate everything")

    def made_ready(bench: run.Bench, kernel: registry.Kernel, *rest: Any, alone: bool) -> Any:
        asked.append((kernel.id, alone))
        if when == "it is made ready" and kernel.id == "fa2_triton" and not (alone and ever):
            raise full
        return ready(bench, kernel, *rest, alone=alone)

    def measured(runs: list[harness.Run], *rest: Any, **how: Any) -> list[harness.Summary]:
        if when == "all are timed" and (len(runs) > 1 or not ever):
            raise full
        return measure(runs, *rest, **how)

    monkeypatch.setattr(run.Bench, "_ready", made_ready)
    monkeypatch.setattr(harness, "measure", measured)
    run.Bench(replace(plan, timing=(FORWARD,), flushed=False)).run()
    again = [("fa2_triton", True)] if when == "it is made ready" else [("fa1_triton", True), ("fa2_triton", True)]
    assert asked == [("fa1_triton", False), ("fa2_triton", False), *again]
    fits = [True, ever] if when == "it is made ready" else [ever, ever]
    expected = ["ok" if each else "cannot run: CUDA out of memory." for each in fits]
    assert [status for *_, status in rows(plan)] == expected


def test_no_room_to_flush_keeps_what_was_timed(plan: run.Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    measure = harness.measure

    def measured(runs: list[harness.Run], *rest: Any, **how: Any) -> list[harness.Summary]:
        if how.get("before"):
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return measure(runs, *rest, **how)

    monkeypatch.setattr(harness, "measure", measured)
    assert run.Bench(replace(plan, timing=(FORWARD,))).run() == 0
    assert rows(plan) == [row for row in EXPECTED[:4] if row[2] == "warm"]


def test_a_library_that_is_missing_leaves_a_row_that_says_so(plan: run.Plan) -> None:
    absent = replace(registry.get("fa3_wheel"), launcher="no_such_library:bind")
    run.Bench(replace(plan, kernels=(absent,), timing=(FORWARD,))).run()
    assert rows(plan) == [("fa3_wheel", "forward", "warm", "cannot run: No module named 'no_such_library'")]


def test_what_fails_its_checks_is_never_timed(plan: run.Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = {"fa2_triton": checking.Outcome("fa2_triton", 3, ("n 17: too far off",), 1.0)}
    monkeypatch.setattr(checking, "check_all", lambda kernels, seconds, report: outcomes)
    assert run.Bench(replace(plan, check=True, timing=(FORWARD,))).run() == 2
    assert rows(plan)[0][3] == "cannot run: its check failed: n 17: too far off"


@pytest.mark.parametrize(("timing", "share"), [((FORWARD,), run.CHECK_SHARE), ((), 1.0)])
def test_a_check_alone_may_take_all_of_the_time(
    timing: tuple[TimingCase, ...], share: float, plan: run.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[float] = []

    def check_all(kernels: object, seconds: float, report: object) -> dict[str, checking.Outcome]:
        given.append(seconds)
        return {}

    monkeypatch.setattr(checking, "check_all", check_all)
    run.Bench(replace(plan, check=True, timing=timing, minutes=10)).run()
    assert given == [pytest.approx(share * (600 - run.RESERVE_S), abs=2)]


def test_interrupting_keeps_what_is_done(plan: run.Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    real = check.draw

    def interrupted(case: Any, device: str, seed: int | None = None) -> Any:
        if case.direction == "backward":
            raise KeyboardInterrupt
        return real(case, device, seed)

    monkeypatch.setattr(check, "draw", interrupted)
    assert run.Bench(plan).run() == 0
    assert rows(plan) == EXPECTED[:4]


def test_no_case_is_begun_without_time(plan: run.Plan, capsys: pytest.CaptureFixture[str]) -> None:
    run.Bench(replace(plan, minutes=0.01, skipped=7)).run()
    assert rows(plan) == []
    printed = capsys.readouterr().out
    assert f"no time left; {FORWARD} and what follows was not run (the same with --skip 7 goes on there)" in printed


def test_counters_are_attached_to_the_rows_of_their_case(plan: run.Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    moved = {"hbm_read_bytes": 1, "hbm_written_bytes": 2, "l2_to_sm_bytes": 3, "sm_to_l2_bytes": 4}
    moved |= {"duration_us": 5.0, "xu_instructions": 6, "passes": 1}
    asked: list[tuple[str, list[TimingCase]]] = []

    def collect(kernel: str, cases: list[TimingCase], seconds: float) -> dict[TimingCase, Any]:
        asked.append((kernel, cases))
        if kernel == "fa1_triton":
            raise counters.CountersError("no permission")
        return dict.fromkeys(cases, moved)

    monkeypatch.setattr(counters, "collect", collect)
    run.Bench(replace(plan, counters=True)).run()
    assert asked == [("fa1_triton", [FORWARD]), ("fa2_triton", [FORWARD, BACKWARD])]
    assert plan.out is not None
    found = timings.read(plan.out.parent).select(ran=True, l2="warm")
    assert [hit.timing.counters is not None for hit in found] == [False, True, True]


@pytest.mark.parametrize("case", [FORWARD, BACKWARD])
def test_tuning_chooses_the_fastest_right_tile(
    case: TimingCase, plan: run.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick, slow, unfit = configs.Tile(16, 32, 4, 1), configs.Tile(32, 16, 4, 1), configs.Tile(24, 32, 4, 1)
    chosen: list[configs.Tile] = []
    lines: list[str] = []
    monkeypatch.setattr(configs, "choose", lambda *arguments: chosen.append(arguments[-1]))
    monkeypatch.setattr(tune, "DEVICE", "cpu")
    monkeypatch.setattr(tune, "TUNED", ("fa2_triton",))

    def measure(timed: list[harness.Run], *_: object, **__: object) -> list[harness.Summary]:
        assert len(timed) == 2, "those that are right take turns"
        return [harness.summarize([2.0]), harness.summarize([1.0])]

    monkeypatch.setattr(harness, "measure", measure)
    listed = [tune.Candidate("fa2_triton", case, tile) for tile in (slow, quick, unfit)]
    tune.tune(listed, lines.append, lambda: True)
    assert chosen == [quick]
    assert "16x32 w4 s1 1.000, 32x16 w4 s1 2.000" in lines[0]
    assert lines[1].strip().startswith("24x32 w4 s1:")
