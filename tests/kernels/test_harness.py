"""The harness with a clock that says what it is told: repeats, order, summary."""

import statistics
import weakref
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.kernels.bench import harness


class ScriptedClock:
    """Every run takes `ms` milliseconds, the first `slow_first` of them `first_ms`."""

    def __init__(self, ms: float, first_ms: float | None = None, slow_first: int = 0) -> None:
        self.ms, self.first_ms, self.slow_first = ms, first_ms, slow_first
        self.asked: list[int] = []
        self.runs = 0

    def sample(self, run: harness.Run, repeats: int, before: harness.Run | None) -> list[float]:
        self.asked.append(repeats)
        times = []
        for _ in range(repeats):
            if before is not None:
                before()
            run()
            self.runs += 1
            times.append(self.first_ms if self.first_ms and self.runs <= self.slow_first else self.ms)
        return times


def test_a_short_run_is_repeated_a_hundred_times() -> None:
    clock = ScriptedClock(0.1)
    summary = harness.measure(lambda: None, clock, budget_ms=150)
    assert len(summary.samples) == 100
    assert summary.median == summary.p10 == summary.p90 == 0.1


def test_fifty_repeats_fit_whenever_the_budget_holds_them() -> None:
    assert harness.repeats_for(3.0, 150) == 50
    assert harness.repeats_for(0.0, 150) == harness.MAX_REPEATS


def test_a_long_run_gets_few_samples_and_one_warm_up() -> None:
    clock = ScriptedClock(1000.0)
    summary = harness.measure(lambda: None, clock, budget_ms=150)
    assert clock.asked == [1, harness.FEWEST]
    assert len(summary.samples) == harness.FEWEST


def test_a_slow_first_run_does_not_shorten_the_series() -> None:
    clock = ScriptedClock(1.0, first_ms=40.0, slow_first=1)
    assert len(harness.measure(lambda: None, clock, budget_ms=150).samples) == 100
    left = harness.WARM_UP_MS - 40.0 - harness.WARM_UPS
    assert clock.asked == [1, harness.WARM_UPS, left, 100]


@pytest.mark.parametrize("ms", [0.001, 0.8, 7.0, 49.0, 60.0])
def test_the_clock_has_settled_before_the_first_sample(ms: float) -> None:
    """A GPU that slows down after 80 ms of work gives samples of one kind only, but for runs of a few microseconds."""

    class Throttled(ScriptedClock):
        busy = 0.0

        def sample(self, run: harness.Run, repeats: int, before: harness.Run | None) -> list[float]:
            super().sample(run, repeats, before)
            times = []
            for _ in range(repeats):
                times.append(self.ms * (1.15 if self.busy > 80 else 1.0))
                self.busy += times[-1]
            return times

    samples = harness.measure(lambda: None, Throttled(ms), budget_ms=150).samples
    assert len(set(samples)) == 1


def test_the_cache_is_flushed_before_every_run() -> None:
    events: list[str] = []
    clock = ScriptedClock(1.0)
    harness.measure(lambda: events.append("run"), clock, budget_ms=10, before=lambda: events.append("flush"))
    assert events == ["flush", "run"] * (len(events) // 2)
    assert events.count("run") == clock.runs


@settings(derandomize=True, deadline=None)
@given(st.lists(st.floats(0.01, 1e4), min_size=2, max_size=50))
def test_the_summary_is_that_of_the_statistics_module(samples: list[float]) -> None:
    summary = harness.summarize(samples)
    tenths = statistics.quantiles(samples, n=10, method="inclusive")
    assert summary.median == pytest.approx(statistics.median(samples))
    assert summary.p10 == pytest.approx(tenths[0])
    assert summary.p90 == pytest.approx(tenths[8])
    assert list(summary.samples) == samples


def test_ten_percent_lie_below_p10() -> None:
    summary = harness.summarize([float(n) for n in range(1, 12)])
    assert (summary.p10, summary.median, summary.p90) == (2.0, 6.0, 10.0)


@pytest.mark.parametrize("samples", [[], [1.0, 0.0], [float("nan")], [-1.0], [float("inf")]])
def test_times_that_are_none_are_refused(samples: list[float]) -> None:
    with pytest.raises(ValueError, match=r"no samples|not a positive number"):
        harness.summarize(samples)


def test_a_captured_run_keeps_its_own_tensors_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")

    class Graph:
        def __getattr__(self, name: str) -> object:
            return lambda: None

    class Room:
        pass

    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    room = Room()
    seen = weakref.ref(room)
    ready = harness.captured(partial(id, room))  # what a kernel writes to and nobody else holds
    del room
    assert ready.launch == "graph"
    assert seen() is not None
