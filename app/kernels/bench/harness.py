"""The one way to time anything here.

What is to be compared is timed together. The GPU warms up until its clock has settled; then the kernels take turns in
rounds, each as often as a time budget allows, up to MAX_REPEATS times, each run between two CUDA events. One after the
other they would be compared at different clocks: a GPU at its power limit lowers its clock by a tenth and more, in
steps, and remembers for a while what ran before. Warm: before each turn the kernel runs once, unmeasured, so the L2
cache holds what it can of its own last run. Flushed: before each run the cache is filled with other data, outside the
measured stretch. The answer keeps every sample; the summary is the median with the 10th and 90th percentile. Runs are
replayed from a CUDA graph where they can be captured, so that the time is the GPU's and not Python's.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import torch

MAX_REPEATS = 100
# Fewest samples a run is timed with, however long it takes.
FEWEST = 3
# At its power limit a GPU lowers its clock after some 50 to 80 ms of work, by a tenth and too far at first; it settles
# after 200 to 250 ms. WARM_UPS runs are a turn of the warm-up.
WARM_UP_MS, WARM_UPS, MOST_WARM_UPS = 400.0, 3, 2000
ROUNDS = 50
FLUSH_TIMES = 4  # how many times the L2 cache's size is read to empty it

Run = Callable[[], object]


class Clock(Protocol):
    """Times runs. `before`, when given, is done before each run and not measured."""

    def sample(self, run: Run, repeats: int, before: Run | None) -> list[float]:
        """Milliseconds of each of `repeats` runs."""
        ...


@dataclass(frozen=True, slots=True)
class Summary:
    """Times of one kernel on one case, in milliseconds; `samples` in the order they were taken."""

    median: float
    p10: float
    p90: float
    samples: tuple[float, ...]


def quantile(samples: Sequence[float], q: float) -> float:
    """The `q`-quantile (0 ≤ q ≤ 1) with linear interpolation between neighbours. ValueError without samples."""
    if not samples:
        raise ValueError("there are no samples")
    ordered = sorted(samples)
    position = q * (len(ordered) - 1)
    below = math.floor(position)
    above = math.ceil(position)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def summarize(samples: Sequence[float]) -> Summary:
    """Median, p10 and p90. ValueError without samples or with one that is not a positive number."""
    if not all(math.isfinite(sample) and sample > 0 for sample in samples):
        raise ValueError("a time is not a positive number")
    return Summary(quantile(samples, 0.5), quantile(samples, 0.1), quantile(samples, 0.9), tuple(samples))


def repeats_for(one_run_ms: float, budget_ms: float) -> int:
    """How often a run that takes `one_run_ms` fits into the budget: from FEWEST to MAX_REPEATS times."""
    affordable = int(budget_ms / one_run_ms) if one_run_ms > 0 else MAX_REPEATS
    return min(MAX_REPEATS, max(affordable, FEWEST))


def measure(
    runs: Sequence[Run], clock: Clock, *, budget_ms: float, before: Run | None = None, warm_up_ms: float = WARM_UP_MS
) -> list[Summary]:
    """Time `runs` together, each within about `budget_ms`; `before` (a cache flush) precedes every run.

    They take turns: ROUNDS rounds in an order drawn anew for each, a run not measured before each turn. The budget is
    for the measured runs; what is not measured and the warm-up (`warm_up_ms` of turns, at most MOST_WARM_UPS, after
    the first of each run) come on top.
    """
    draw = random.Random(0)
    first = [clock.sample(run, 1, before)[0] for run in runs]
    left = warm_up_ms - sum(first)
    for _ in range(MOST_WARM_UPS):
        if left <= 0 or not runs:
            break
        for place, run in enumerate(runs):
            first[place] = quantile(clock.sample(run, WARM_UPS, before), 0.5)
            left -= first[place] * WARM_UPS
    wanted = [repeats_for(ms, budget_ms) for ms in first]
    samples: list[list[float]] = [[] for _ in runs]
    for turn in range(ROUNDS):
        order = list(range(len(runs)))
        draw.shuffle(order)
        for place in order:
            mine = wanted[place] * (turn + 1) // ROUNDS - wanted[place] * turn // ROUNDS
            if mine:
                samples[place] += clock.sample(runs[place], 1 + mine, before)[1:]
    return [summarize(mine) for mine in samples]


class CudaClock:
    """CUDA events around each run. All runs are queued before the first is waited for."""

    def sample(self, run: Run, repeats: int, before: Run | None) -> list[float]:
        """Milliseconds of each of `repeats` runs on the current GPU."""
        import torch

        pairs = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(repeats)]
        for start, end in pairs:
            if before is not None:
                before()
            start.record()
            run()
            end.record()
        torch.cuda.synchronize()
        return [float(start.elapsed_time(end)) for start, end in pairs]


class Flush:
    """Fills the L2 cache with other data: reads a buffer several times its size (so nothing has to be written back)."""

    def __init__(self, l2_bytes: int) -> None:
        import torch

        self._buffer = torch.zeros(FLUSH_TIMES * l2_bytes // 4, dtype=torch.int32, device="cuda")  # 4 bytes each
        self._sum = torch.zeros((), dtype=torch.int64, device="cuda")

    def __call__(self) -> None:
        """Queue the reading; nothing is waited for."""
        import torch

        torch.sum(self._buffer, dim=(0,), dtype=torch.int64, out=self._sum)


@dataclass(frozen=True, slots=True)
class Captured:
    """Something to time: `run`, and `launch`: "graph" when it replays a CUDA graph, "plain" when it calls Python."""

    run: Run
    launch: str
    why_plain: str = ""


def captured(run: Run, *, may_run_out_of_memory: bool = True) -> Captured:
    """`run` as a CUDA graph; the plain call, with the reason, when it cannot be captured.

    The current stream must not be the default one, which cannot be captured. torch.OutOfMemoryError when the graph has
    no room and that is no reason.
    """
    import torch

    try:
        run()  # everything that is made on first use is made now
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        graph.capture_begin()
        try:
            kept = run()
        finally:
            graph.capture_end()
        graph.replay()
        torch.cuda.synchronize()
    except RuntimeError as error:
        torch.cuda.synchronize()
        if isinstance(error, torch.OutOfMemoryError) and not may_run_out_of_memory:
            raise
        return Captured(run, "plain", str(error).splitlines()[0])
    return Captured(_Replay(graph, run, kept), "graph")


class _Replay:
    """A captured graph with all that must stay alive as long as it does: the run's own tensors and what it writes."""

    def __init__(self, graph: torch.cuda.CUDAGraph, run: Run, kept: object) -> None:
        self._graph = graph
        self._kept = (run, kept)

    def __call__(self) -> None:
        """Queue one replay."""
        self._graph.replay()
