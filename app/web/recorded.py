"""Recorded measurements for the API: rows of the bench's records as they stand, and the counted bytes of a setting."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, fields
from typing import Any

from app.facts.records import CASE_FIELDS, Record, Run
from app.facts.timings import Found, Timings
from app.web.queries import TimingsQuery, TrafficQuery

# The bytes of a 16-bit number do not depend on which 16-bit number it is.
SAME_BYTES = ("fp16", "bf16")
# Kernel → its name on the page, and the count it is to be read beside. The kernels' own registry says the same, but
# nothing in here may import it; tests/web/test_timings_api.py holds the two together. Approximate attention
# and that in 8-bit numbers are left out: they do less work, or move less, than is counted.
KERNELS = {
    "standard": ("Standard attention, three kernels", "standard"),
    "torch_three_calls": ("Three PyTorch calls", "standard"),
    "sdpa_math": ("PyTorch, plain operators", "standard"),
    "fa1_triton": ("FlashAttention-1 style", "fa1"),
    "fa2_triton": ("FlashAttention-2 style", "fa2"),
    "fa3_gluon": ("FlashAttention-3 style, Hopper", "fa2"),
    "fa3_cuda": ("FlashAttention-3 style, Hopper, CUDA C++", "fa2"),
    "sdpa_efficient": ("xFormers' memory-efficient kernel (PyTorch)", "fa2"),
    "sdpa_flash": ("FlashAttention-2 (PyTorch)", "fa2"),
    "sdpa_cudnn": ("cuDNN (PyTorch)", "fa2"),
    "fa3_wheel": ("FlashAttention-3 (wheel)", "fa2"),
}


def timings_answer(timings: Timings, query: TimingsQuery) -> dict[str, Any]:
    """Every record with the rows that match; a record without such a row is left out."""
    rows: dict[str, list[dict[str, Any]]] = {}
    records: dict[str, Record] = {}
    for found in timings.select(**query.model_dump(exclude_none=True)):
        records[found.record.id] = found.record
        rows.setdefault(found.record.id, []).append(asdict(found.timing))
    return {
        "runs": [_record(record, rows[key]) for key, record in records.items()],
        "refused": [asdict(item) for item in timings.refused],
    }


def record_answer(record: Record) -> dict[str, Any]:
    """One whole record."""
    return _record(record, [asdict(timing) for timing in record.timings])


def timings_csv(timings: Timings, query: TimingsQuery) -> str:
    """Every sample of the rows that match, a line a sample, as RFC 4180 text; rows that could not run have none."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["record", "gpu", "date", *CASE_FIELDS, "sample", "time (ms)"])
    for found in timings.select(**query.model_dump(exclude_none=True)):
        run = found.record.run
        row = [found.record.id, run.gpu.name, run.date, *(_plain(getattr(found.timing, name)) for name in CASE_FIELDS)]
        for number, sample in enumerate(found.timing.time_ms.samples if found.timing.time_ms else (), 1):
            writer.writerow([*row, number, sample])
    return out.getvalue()


def measured_points(timings: Timings, query: TrafficQuery) -> list[dict[str, object]]:
    """What was recorded for exactly this setting, oldest record first; empty where nothing was recorded."""
    if query.num_heads_kv not in (None, query.num_heads):
        return []
    points = []
    for dtype in SAME_BYTES if query.dtype in SAME_BYTES else (query.dtype,):
        found = timings.select(
            direction=query.direction,
            dtype=dtype,
            batch=query.batch,
            num_heads=query.num_heads,
            seqlen=query.seqlen,
            head_dim=query.head_dim,
            causal=query.causal,
            l2="warm",
            ran=True,
        )
        points += [point for item in found if (point := _point(item)) is not None]
    return points


def _point(found: Found) -> dict[str, object] | None:
    timing, run = found.timing, found.record.run
    if timing.kernel not in KERNELS or timing.time_ms is None:
        return None
    name, model = KERNELS[timing.kernel]
    moved = None if timing.counters is None else timing.counters.moved
    hbm = None if moved is None else _sum(moved.hbm_read_bytes, moved.hbm_written_bytes)
    l2 = None if moved is None else _sum(moved.l2_to_sm_bytes, moved.sm_to_l2_bytes)
    return {
        "kernel": timing.kernel,
        "name": name,
        "model": model,
        "gpu": run.gpu.name,
        "date": run.date[:10],
        "dtype": timing.dtype,
        "block_m": timing.block_m,
        "block_n": timing.block_n,
        "hbm_bytes": hbm,
        "l2_sm_bytes": l2,
        "time_ms": timing.time_ms.median,
    }


def _sum(one_way: int | None, other: int | None) -> int | None:
    return None if one_way is None or other is None else one_way + other


def _record(record: Record, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": record.id, "yours": record.yours, "run": _run(record.run), "timings": rows}


def _plain(value: object) -> object:
    """As the parameters of the address write it."""
    return str(value).lower() if isinstance(value, bool) else value


def _run(run: Run) -> dict[str, Any]:
    whole = {item.name: getattr(run, item.name) for item in fields(run)}
    nested = {name: asdict(whole[name]) for name in ("gpu", "clocks_before", "clocks_after")}
    return whole | nested | {"versions": dict(run.versions)}
