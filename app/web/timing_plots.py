"""The plots of the page of measurements: TFLOP/s over the sequence length, one panel a pass, head dimension and mask.

Positions only; `templates/partials/_plot.html` draws them. In one panel each GPU is shown by one run, the one with most
points there, so that what is compared was measured together. A kernel which that run lacks comes from the run that has
most points of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from app.facts.formatting import number
from app.facts.records import Record, Timing
from app.facts.timings import Found
from app.web.kernel_names import KernelName, named, place

# One panel in its own units; margins for the numbers at the axes.
WIDTH, HEIGHT = 320, 210
LEFT, RIGHT, TOP, BOTTOM = 36, 10, 10, 30
# The series most published figures take: so many tokens in a batch, heads × head_dim so wide.
TOKENS, TOTAL_WIDTH = 16_384, 2_048
FIXED_TOKENS = "tokens"
# The axis has at most so many steps, each a round number.
MOST_STEPS = 4.5
ROUND = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Point:
    """One timing: where it stands, the ends of its spread (10th to 90th percentile), and what it says."""

    x: float
    y: float
    low: float
    high: float
    says: str


@dataclass(frozen=True, slots=True)
class Curve:
    """One kernel on one GPU. `other` numbers the GPUs from 0; those above 0 are drawn hollow."""

    kernel: KernelName
    gpu: str
    other: int
    path: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of the table under the plots."""

    column: str
    text: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot and its numbers: rows of (sequence length, rate by column)."""

    id: str
    title: str
    says: str
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    curves: tuple[Curve, ...]
    rows: tuple[tuple[int, tuple[Cell, ...]], ...]


@dataclass(frozen=True, slots=True)
class Plots:
    """All panels of one series with the columns of their table, and the series there are: (id, name)."""

    series: str
    choices: tuple[tuple[str, str], ...]
    columns: tuple[tuple[str, str], ...]
    legend: tuple[tuple[KernelName, str, int], ...]
    panels: tuple[Panel, ...]


def build(found: Sequence[Found], wanted: str | None) -> Plots:
    """The panels of one series; the one with most points when `wanted` is None or has none."""
    timed = [item for item in found if item.timing.tflops_per_s is not None and named(item.timing.kernel).whole]
    by_series: dict[str, list[Found]] = {}
    for item in timed:
        for series in _series(item.timing):
            by_series.setdefault(series, []).append(item)
    grouped = {series: _grouped(items) for series, items in by_series.items()}
    grouped = {series: panels for series, panels in grouped.items() if panels}
    order = sorted(grouped, key=lambda series: -sum(map(len, grouped[series].values())))
    choices = tuple((series, series_name(series)) for series in order)
    if not order:
        return Plots("", (), (), (), ())
    series = wanted if wanted in grouped else order[0]
    return _plots(series, choices, grouped[series])


def series_name(series: str) -> str:
    """As the page writes it: `1x16` → one sequence, 16 heads."""
    if series == FIXED_TOKENS:
        return f"{TOKENS:,} tokens in a batch, {TOTAL_WIDTH:,} wide"
    batch, heads = series.split("x")
    return f"batch {batch}, {heads} head{'' if heads == '1' else 's'}"


def _series(timing: Timing) -> list[str]:
    of_tokens = timing.batch * timing.seqlen == TOKENS and timing.num_heads * timing.head_dim == TOTAL_WIDTH
    return [f"{timing.batch}x{timing.num_heads}", *([FIXED_TOKENS] if of_tokens else [])]


Key = tuple[str, int, bool, str, str]


def _grouped(items: Sequence[Found]) -> dict[Key, list[Found]]:
    """By pass, head dimension, mask, precision and cache; what has one length only makes no plot."""
    panels: dict[Key, list[Found]] = {}
    for item in items:
        timing = item.timing
        key = (timing.direction, timing.head_dim, timing.causal, timing.dtype, timing.l2)
        panels.setdefault(key, []).append(item)
    return {
        key: _few_runs_a_gpu(panels[key])
        for key in sorted(panels, key=lambda key: (key[0] != "forward", *key[1:]))
        if len({item.timing.seqlen for item in panels[key]}) > 1
    }


def _few_runs_a_gpu(items: Sequence[Found]) -> list[Found]:
    gpus: dict[tuple[str, bool], list[Found]] = {}
    for item in items:
        gpus.setdefault((item.record.run.gpu.name, item.record.yours), []).append(item)
    shown = []
    for mine in gpus.values():
        run = _largest_run(mine)
        kernels = dict.fromkeys(item.timing.kernel for item in mine)
        for kernel in kernels:
            of_kernel = [item for item in run if item.timing.kernel == kernel]
            shown += of_kernel or _largest_run([item for item in mine if item.timing.kernel == kernel])
    return shown


def _largest_run(items: Sequence[Found]) -> list[Found]:
    """The rows of the run with most of them; among equals the last, which is the newest."""
    runs: dict[str, list[Found]] = {}
    for item in items:
        runs.setdefault(item.record.id, []).append(item)
    return max(reversed(list(runs.values())), key=len)


def _plots(series: str, choices: tuple[tuple[str, str], ...], panels: dict[Key, list[Found]]) -> Plots:
    everything = [item for items in panels.values() for item in items]
    gpus = list(dict.fromkeys(gpu_name(item.record) for item in everything))
    pairs = sorted(
        {(item.timing.kernel, gpu_name(item.record)) for item in everything},
        key=lambda pair: (gpus.index(pair[1]), place(pair[0]), pair[0]),
    )
    several = len(gpus) > 1
    columns = tuple((f"{kernel}/{gpu}", named(kernel).name + (f", {gpu}" if several else "")) for kernel, gpu in pairs)
    lengths = sorted({item.timing.seqlen for item in everything})
    masks = {key[2:] for key in panels}
    drawn = []
    for number_, (key, items) in enumerate(panels.items()):
        most = max(item.timing.tflops_per_s or 0 for other, its in panels.items() if other[0] == key[0] for item in its)
        drawn.append(_panel(f"plot-{number_}", _title(key, masks), items, gpus, lengths, most))
    legend = tuple((named(kernel), gpu if several else "", gpus.index(gpu)) for kernel, gpu in pairs)
    return Plots(series, choices, columns, legend, tuple(drawn))


def gpu_name(record: Record) -> str:
    """The GPU of a record as the page writes it, the reader's own marked."""
    return record.run.gpu.name + (" (yours)" if record.yours else "")


def _title(key: Key, masks: set[tuple[bool, str, str]]) -> str:
    direction, head_dim, causal, dtype, l2 = key
    text = f"{direction.capitalize()}, d = {head_dim}, {'causal mask' if causal else 'no mask'}"
    if len({mask[1] for mask in masks}) > 1:
        text += f", {dtype.upper()}"
    return text + (f", L2 {l2}" if len({mask[2] for mask in masks}) > 1 else "")


def _panel(
    panel_id: str, title: str, items: Sequence[Found], gpus: list[str], lengths: Sequence[int], most: float
) -> Panel:
    step = _step(most)
    top = step * math.ceil(most / step)
    first, last = math.log2(lengths[0]), math.log2(lengths[-1])

    def x(seqlen: int) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (math.log2(seqlen) - first) / (last - first), 1)

    def y(rate: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(1.0, rate / top), 1)

    by_curve: dict[tuple[str, str], list[Found]] = {}
    for item in sorted(items, key=lambda item: item.timing.seqlen):
        by_curve.setdefault((gpu_name(item.record), item.timing.kernel), []).append(item)
    curves = []
    rates: dict[int, dict[str, str]] = {}
    ends = []
    for gpu, kernel in sorted(by_curve, key=lambda pair: (gpus.index(pair[0]), place(pair[1]), pair[1])):
        name = named(kernel)
        points = []
        for item in by_curve[gpu, kernel]:
            timing, rate = item.timing, item.timing.tflops_per_s or 0.0
            shown = number(rate, 3)
            rates.setdefault(timing.seqlen, {})[f"{kernel}/{gpu}"] = shown
            low, high = _spread(timing)
            says = f"{name.name}, {gpu}, N = {timing.seqlen:,}: {shown} TFLOP/s"
            points.append(Point(x(timing.seqlen), y(rate), y(low), y(high), says))
        path = "M" + "L".join(f"{point.x} {point.y}" for point in points)
        curves.append(Curve(name, gpu, gpus.index(gpu), path, tuple(points)))
        longest = by_curve[gpu, kernel][-1].timing
        ends.append(f"{name.name} {number(longest.tflops_per_s or 0.0, 3)} at N = {longest.seqlen:,}")
    shown_lengths = lengths if len(lengths) <= 5 else lengths[:: math.ceil(len(lengths) / 5)]
    return Panel(
        id=panel_id,
        title=title,
        says=f"TFLOP/s over the sequence length. {'; '.join(ends)}.",
        x_ticks=tuple((x(seqlen), f"{seqlen:,}") for seqlen in shown_lengths),
        y_ticks=tuple((y(rate), f"{rate:,}") for rate in range(0, top + 1, step)),
        curves=tuple(curves),
        rows=tuple(
            (seqlen, tuple(Cell(column, text) for column, text in rates[seqlen].items())) for seqlen in sorted(rates)
        ),
    )


def _step(most: float) -> int:
    """The distance of the axis' lines, a whole number."""
    power: int = 10 ** max(0, math.floor(math.log10(most / MOST_STEPS)))
    steps = (math.ceil(factor * power) for factor in ROUND)
    return next(step for step in steps if most / step <= MOST_STEPS)


def _spread(timing: Timing) -> tuple[float, float]:
    """The rate at the 90th and at the 10th percentile of the time."""
    if timing.time_ms is None or timing.tflops_per_s is None:
        return 0.0, 0.0
    work = timing.tflops_per_s * timing.time_ms.median
    return work / timing.time_ms.p90, work / timing.time_ms.p10
