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


def measured(clock: harness.Clock, budget_ms: float = 150) -> harness.Summary:
    (summary,) = harness.measure([lambda: None], clock, budget_ms=budget_ms)
    return summary


def test_a_short_run_is_repeated_a_hundred_times() -> None:
    summary = measured(ScriptedClock(0.1))
    assert len(summary.samples) == 100
    assert summary.median == summary.p10 == summary.p90 == 0.1


def test_fifty_repeats_fit_whenever_the_budget_holds_them() -> None:
    assert harness.repeats_for(3.0, 150) == 50
    assert harness.repeats_for(0.0, 150) == harness.MAX_REPEATS


def test_a_long_run_gets_few_samples_and_no_more_warm_up_than_its_first() -> None:
    clock = ScriptedClock(1000.0)
    assert len(measured(clock).samples) == harness.FEWEST
    assert clock.asked == [1] + harness.FEWEST * [1 + 1]


def test_a_slow_first_run_does_not_shorten_the_series() -> None:
    assert len(measured(ScriptedClock(1.0, first_ms=40.0, slow_first=1)).samples) == 100


class SharedClock:
    """A GPU at its power limit: what runs after `limit_ms` of work takes longer, by what ran in the last 100 ms.

    `run` says how long it takes and how much power it draws, 0 to 1.
    """

    def __init__(self, limit_ms: float = 80) -> None:
        self.limit_ms, self.busy, self.power = limit_ms, 0.0, 0.0

    def sample(self, run: harness.Run, repeats: int, before: harness.Run | None) -> list[float]:
        times = []
        for _ in range(repeats):
            ms, power = run()  # type: ignore[misc]
            share = min(1.0, ms / 100)
            self.power += share * (power - self.power)
            slower = 1 + (0.2 + 0.2 * self.power if self.busy > self.limit_ms else 0)
            times.append(ms * slower)
            self.busy += times[-1]
        return times


@pytest.mark.parametrize("ms", [0.05, 0.8, 7.0, 49.0, 90.0])
def test_the_clock_has_settled_before_the_first_sample(ms: float) -> None:
    samples = harness.measure([lambda: (ms, 0.0)], SharedClock(), budget_ms=150)[0].samples
    assert len(set(samples)) == 1


@pytest.mark.parametrize("ms", [0.1, 0.8, 7.0])
def test_what_is_compared_is_timed_at_one_clock(ms: float) -> None:
    """Three kernels, equally fast; one after the other, each would run at a clock of its own."""
    runs = [partial(lambda power: (ms, power), power) for power in (0.0, 0.5, 1.0)]
    medians = [found.median for found in harness.measure(runs, SharedClock(), budget_ms=150)]
    apart = [harness.measure([run], SharedClock(), budget_ms=150)[0].median for run in runs]
    assert max(apart) / min(apart) > 1.1
    assert max(medians) / min(medians) < 1.02


def test_each_turn_begins_with_a_run_of_its_own_that_is_not_measured() -> None:
    """So that the L2 cache holds what it left there itself, not what another kernel did."""
    clock = ScriptedClock(1.0)
    order: list[str] = []
    found = harness.measure([partial(order.append, name) for name in "abc"], clock, budget_ms=50, warm_up_ms=0)
    assert [len(each.samples) for each in found] == [50, 50, 50]
    turns = order[3:]  # the first of each
    assert len(turns) == 3 * (50 + harness.ROUNDS)
    rounds = ["".join(turns[6 * turn : 6 * turn + 6 : 2]) for turn in range(harness.ROUNDS)]
    assert all(sorted(each) == ["a", "b", "c"] for each in rounds)
    assert len(set(rounds)) > 3, "the order is drawn anew, so that none always follows the same other"


def test_the_cache_is_flushed_before_every_run() -> None:
    events: list[str] = []
    clock = ScriptedClock(1.0)
    harness.measure([lambda: events.append("run")], clock, budget_ms=10, before=lambda: events.append("flush"))
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
