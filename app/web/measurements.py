"""What the page of measurements shows: the records narrowed as asked, grouped by case, every row with its whole record.

A ratio compares rows of one run and one case only. Nothing is left out: what could not run says why, a file that is no
record is named, and cases beyond the first few hundred rows are one address away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import Any
from urllib.parse import urlencode

from app.facts.formatting import MINUS, number, written
from app.facts.records import BYTE_FIELDS, CANNOT, CASE_FIELDS, Bytes, Record, Timing
from app.facts.timings import Found, Refused, Timings
from app.web import timing_plots
from app.web.kernel_names import KernelName, named, place
from app.web.queries import MeasurementsQuery
from app.web.timing_plots import Plots, gpu_name

# The libraries whose rate a ratio may refer to, the usual one first.
BASELINES = ("sdpa_flash", "sdpa_cudnn", "fa3_wheel")
# Rows written out on one page; a case beyond them is a link to a page of its own.
MOST_ROWS = 400
# So few cases stand open at once.
FEW_CASES = 4
CASE_KEYS = ("direction", "head_dim", "causal", "dtype", "seqlen", "batch", "num_heads")
LINES = (("HBM, read", 0), ("HBM, written", 1), ("L2 to SMs", 2), ("SMs to L2", 3))
LABELS = {
    "gpu": "GPU",
    "direction": "Pass",
    "head_dim": "Head dim. d",
    "causal": "Mask",
    "seqlen": "N",
    "batch": "Batch",
    "num_heads": "Heads",
    "dtype": "Precision",
    "kernel": "Kernel",
    "l2": "L2 cache before",
    "record": "Run",
}


@dataclass(frozen=True, slots=True)
class Option:
    """One entry of a list; `chosen` is the one in force."""

    value: str
    text: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Control:
    """One list of the form that narrows the page."""

    name: str
    label: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Bytes over one line, measured and counted, and how far apart they are; "" for what is not known."""

    measured: int
    counted: int | None
    apart: str


@dataclass(frozen=True, slots=True)
class Row:
    """One timing as the page writes it. `why_not` is the reason where it could not run.

    `share` is its rate over that of the library asked for, `ratio` the same as text.
    """

    id: str
    kernel: KernelName
    record: Record
    gpu: str
    timing: Timing
    why_not: str
    median: str
    spread: str
    rate: str
    share: float | None
    ratio: str
    hbm: Pair | None
    l2_to_sm: Pair | None
    lines: tuple[tuple[str, int | None, int | None], ...]
    query: str


@dataclass(frozen=True, slots=True)
class Case:
    """One case with its rows; `rows` is empty where there are too many for one page."""

    id: str
    group: str
    title: str
    headline: str
    query: str
    count: int
    counted: bool
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Measurements:
    """The whole page."""

    total: int
    shown: int
    kernels: int
    controls: tuple[Control, ...]
    narrowed: bool
    over: str
    query: str
    theme: str
    plots: Plots
    groups: tuple[tuple[str, tuple[Case, ...]], ...]
    few: bool
    runs: tuple[Record, ...]
    refused: tuple[Refused, ...]


def build(timings: Timings, query: MeasurementsQuery) -> Measurements:
    """The page for one choice."""
    choice = query.model_dump(exclude_none=True, exclude={"plot", "theme", "over"})
    everything, found = timings.select(), timings.select(**choice)
    plots = timing_plots.build(found, query.plot)
    cases = _cases(found, choice, query.over)
    runs = {item.record.id: item.record for item in found}
    return Measurements(
        total=len(everything),
        shown=len(found),
        kernels=len({item.timing.kernel for item in found}),
        controls=(*_controls(everything, choice), *_plot_control(plots), _ratio_control(query.over)),
        narrowed=bool(choice),
        over=_library(query.over),
        query=_address(choice),
        theme=query.theme or "",
        plots=plots,
        groups=tuple((group, tuple(mine)) for group, mine in groupby(cases, key=lambda case: case.group)),
        few=len(cases) <= FEW_CASES,
        runs=tuple(runs.values()),
        refused=timings.refused,
    )


def _address(choice: Mapping[str, Any]) -> str:
    """The query of an address, of this page and of /api/timings alike; "" when nothing is narrowed."""
    texts = {name: _written(value) for name, value in choice.items()}
    return f"?{urlencode(texts)}" if texts else ""


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _controls(found: Sequence[Found], choice: Mapping[str, Any]) -> list[Control]:
    """A list for each property that has several values among all rows, or that is narrowed."""
    controls = []
    for name, label in LABELS.items():
        values = {_value(item, name) for item in found}
        chosen = choice.get(name)
        if len(values) < 2 and chosen is None:
            continue
        values |= {chosen} if chosen is not None else set()
        listed = sorted(values, key=lambda value: (place(str(value)), value) if name == "kernel" else (0, value))
        options = [Option("", "any", chosen is None)]
        options += [Option(_written(value), _spoken(name, value), value == chosen) for value in listed]
        controls.append(Control(name, label, tuple(options)))
    return controls


def _plot_control(plots: Plots) -> list[Control]:
    if len(plots.choices) < 2:
        return []
    options = tuple(Option(series, name, series == plots.series) for series, name in plots.choices)
    return [Control("plot", "Plotted", options)]


def _ratio_control(over: str) -> Control:
    options = tuple(Option(kernel, named(kernel).name, kernel == over) for kernel in BASELINES)
    return Control("over", "Ratio to", options)


def _library(kernel: str) -> str:
    """Its name in a sentence, without who brings it."""
    return named(kernel).name.partition(" (")[0]


def _value(found: Found, name: str) -> Any:
    if name == "gpu":
        return found.record.run.gpu.name
    return found.record.id if name == "record" else getattr(found.timing, name)


def _spoken(name: str, value: Any) -> str:
    if name == "causal":
        return "causal" if value else "none"
    if name == "kernel":
        return named(value).name
    if name == "dtype":
        return str(value).upper()
    return f"{value:,}" if isinstance(value, int) else str(value)


def _key(found: Found) -> tuple[Any, ...]:
    return tuple(getattr(found.timing, name) for name in CASE_KEYS)


def _order(key: tuple[Any, ...]) -> tuple[Any, ...]:
    return (key[0] != "forward", *key[1:])


def _cases(found: Sequence[Found], choice: Mapping[str, Any], over: str) -> list[Case]:
    by_case: dict[tuple[Any, ...], list[tuple[int, Found]]] = {}
    for index, item in enumerate(found):
        by_case.setdefault(_key(item), []).append((index, item))
    baseline = _rates(found, over)
    kept = {} if over == BASELINES[0] else {"over": over}
    cases, so_far = [], 0
    for number_, key in enumerate(sorted(by_case, key=_order)):
        # one kernel's timings of several GPUs stand together
        listed = sorted(by_case[key], key=lambda pair: (pair[1].timing.l2 != "warm", place(pair[1].timing.kernel)))
        rows = tuple(_row(f"row-{index}", item, baseline) for index, item in listed)
        so_far += len(rows)
        first = listed[0][1].timing
        cases.append(
            Case(
                id=f"case-{number_}",
                group=f"{first.direction.capitalize()}, d = {first.head_dim}, "
                f"{'causal mask' if first.causal else 'no mask'}",
                title=f"N = {first.seqlen:,}, {first.batch} × {first.num_heads} heads, {first.dtype.upper()}",
                headline=_headline(rows, over),
                query=_address({**choice, **dict(zip(CASE_KEYS, key, strict=True)), **kept}),
                count=len(rows),
                counted=any(row.hbm for row in rows),
                rows=rows if so_far <= MOST_ROWS else (),
            )
        )
    return cases


def _rates(found: Sequence[Found], over: str) -> dict[tuple[Any, ...], float]:
    """(run, case, cache) → rate of the kernel that ratios refer to, from all rows of those runs."""
    records = {item.record.id: item.record for item in found}
    return {
        (record.id, _key(Found(record, timing)), timing.l2): timing.tflops_per_s
        for record in records.values()
        for timing in record.timings
        if timing.kernel == over and timing.tflops_per_s is not None
    }


def _headline(rows: Sequence[Row], over: str) -> str:
    """The fastest of ours for the folded case, against the library asked for where that ran in the same run.

    Of a kernel timed in several runs the middle one counts: its luckiest would say more of the GPU's temperature.
    """
    rates: dict[KernelName, list[float]] = {}
    shares: dict[KernelName, list[float]] = {}
    for row in rows:
        if row.kernel.ours and row.kernel.exact and row.timing.tflops_per_s and row.timing.l2 == "warm":
            rates.setdefault(row.kernel, []).append(row.timing.tflops_per_s)
            if row.share is not None:
                shares.setdefault(row.kernel, []).append(row.share)
    if not rates:
        return f"{len(rows)} timed" if len(rows) > 1 else ""
    best = max(rates, key=lambda kernel: median(rates[kernel]))
    runs = f" (median of {len(rates[best])} runs)" if len(rates[best]) > 1 else ""
    against = f", {_times(median(shares[best]))} {_library(over)}’s" if best in shares else ""
    return f"{best.name}: {number(median(rates[best]), 3)} TFLOP/s{runs}{against}"


def _times(share: float) -> str:
    return written(round(share, 3), "×", digits=3)


def _row(row_id: str, found: Found, baseline: Mapping[tuple[Any, ...], float]) -> Row:
    record, timing = found.record, found.timing
    times, rate = timing.time_ms, timing.tflops_per_s
    against = baseline.get((record.id, _key(found), timing.l2))
    share = rate / against if rate and against else None
    moved = timing.counters.moved if timing.counters else None
    case = {name: getattr(timing, name) for name in CASE_FIELDS}
    return Row(
        id=row_id,
        kernel=named(timing.kernel),
        record=record,
        gpu=gpu_name(record),
        timing=timing,
        why_not=timing.status.removeprefix(CANNOT) if not timing.ran else "",
        median=number(times.median, 4) if times else "",
        spread=f"{number(times.p10, 4)}–{number(times.p90, 4)}" if times else "",
        rate=number(rate, 3) if rate and named(timing.kernel).whole else "",
        share=share,
        ratio=_times(share) if share is not None else "",
        hbm=_pair(_sum(moved, 0, 1), _sum(timing.counted, 0, 1)),
        l2_to_sm=_pair(_sum(moved, 2), _sum(timing.counted, 2)),
        lines=tuple((label, _sum(moved, index), _sum(timing.counted, index)) for label, index in LINES)
        if moved or timing.counted
        else (),
        query=_address({"record": record.id, **case}),
    )


def _sum(moved: Bytes | None, *indices: int) -> int | None:
    """The sum of some of the four byte counts, None when one of them is not known."""
    if moved is None:
        return None
    values = [getattr(moved, BYTE_FIELDS[index]) for index in indices]
    return None if None in values else sum(values)


def _pair(measured: int | None, counted: int | None) -> Pair | None:
    if measured is None:
        return None
    if not counted:
        return Pair(measured, None, "")
    apart = round(100 * (measured / counted - 1), 1)
    sign = MINUS if apart < 0 else "+" if apart > 0 else "±"
    return Pair(measured, counted, f"{sign}{written(abs(apart), '%')}")
