"""Writes records and prints tables. A record is checked by `app.facts.record_schema` each time before it is written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from app.facts import record_schema, timings
from app.facts.records import SCHEMA
from app.kernels.bench.cases import TimingCase
from app.kernels.bench.harness import Summary
from app.kernels.registry import Kernel
from app.theory import flops, traffic
from app.theory.shapes import BlockShape

SIGNIFICANT = 6
# The convention of the papers for every kernel: 4·N²·d a head forward, 2.5 times that backward, half under a mask.
CONVENTION = "fa2"
COLUMNS: Mapping[str, str] = {
    "standard": "std",
    "fa1_triton": "fa1",
    "fa2_triton": "fa2",
    "fa3_gluon": "fa3g",
    "fa3_cuda": "fa3c",
    "fa3_fp8_gluon": "fp8g",
    "fa3_fp8_cuda": "fp8c",
    "blocksparse_triton": "sparse",
    "sdpa_math": "math",
    "torch_three_calls": "3call",
    "sdpa_efficient": "effic",
    "sdpa_flash": "FA2",
    "sdpa_cudnn": "cuDNN",
    "fa3_wheel": "FA3",
}


class Record:
    """A record that grows: rows are added, and after each case the whole file is written anew."""

    def __init__(self, path: Path, run: Mapping[str, Any]) -> None:
        self.path = path
        self.run = dict(run)
        self.rows: list[dict[str, Any]] = []

    def add(self, row: dict[str, Any]) -> str | None:
        """Add one row, unless the schema refuses it; then the reason."""
        try:
            record_schema.timing(row, f"the row of {row.get('kernel')}")
        except record_schema.RecordError as error:
            return str(error)
        self.rows.append(row)
        return None

    def write(self) -> None:
        """Check and write everything so far. RecordError when something is missing; the file is left as it was."""
        document = {"schema": SCHEMA, "run": self.run, "timings": self.rows}
        record_schema.parse(document, self.path.stem)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_suffix(".part")
        rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in self.rows)
        head = json.dumps({"schema": SCHEMA, "run": self.run}, ensure_ascii=False, indent=1)
        beside.write_text(f'{head[:-2]},\n "timings": [\n{rows}\n]}}\n', encoding="utf-8")
        beside.replace(self.path)


def file_name(run: Mapping[str, Any], suite: str) -> str:
    """2026-11-29-nvidia-h200-record.json: day, GPU, suite."""
    gpu = re.sub(r"[^a-z0-9]+", "-", str(run["gpu"]["name"]).lower()).strip("-")
    return f"{str(run['date'])[:10]}-{gpu}-{suite}.json"


def default_folder() -> Path:
    """Where the exhibit looks for records made on this machine; git leaves them alone."""
    return timings.YOURS


def row(
    kernel: Kernel,
    case: TimingCase,
    l2: str,
    *,
    summary: Summary | None = None,
    launch: str | None = None,
    error: Mapping[str, float] | None = None,
    block: BlockShape | None = None,
    settings: str = "",
    kernel_names: Sequence[str] = (),
    counters: Mapping[str, Any] | None = None,
    cannot: str | None = None,
) -> dict[str, Any]:
    """One row of a record: with `summary` and `error` (by name) when it was timed, else with `cannot` (why)."""
    shape = case.shape
    operations = flops.count(shape, block or BlockShape(128, 128), CONVENTION, case.direction).convention_flops
    return {
        "kernel": kernel.id,
        **asdict(case),
        "l2": l2,
        "block_m": block.block_m if block else None,
        "block_n": block.block_n if block else None,
        "settings": settings,
        "launch": launch,
        "kernel_names": list(kernel_names),
        "time_ms": _times(summary),
        "tflops_per_s": _short(operations / summary.median / 1e9) if summary else None,
        "error": {name: _short(value) for name, value in error.items()} if error else None,
        "counters": dict(counters) if counters else None,
        "counted": counted(kernel, case, block),
        "status": "ok" if cannot is None else f"cannot run: {cannot}",
    }


def counted(kernel: Kernel, case: TimingCase, block: BlockShape | None) -> dict[str, int] | None:
    """Bytes by formula on both lines, None for a kernel whose blocks or algorithm are not known."""
    if kernel.counted_as is None or (block is None and kernel.counted_as[0] not in ("least", "standard")):
        return None
    model, forward, backward = kernel.counted_as
    variant = forward if case.direction == "forward" else backward
    if variant is None:
        return None
    shape, block = case.shape, block or BlockShape(1, 1)
    hbm, l2 = (traffic.count(model, shape, block, case.direction, variant, line) for line in ("hbm", "l2_to_sm"))
    return {
        "hbm_read_bytes": hbm.read_bytes,
        "hbm_written_bytes": hbm.written_bytes,
        "l2_to_sm_bytes": l2.read_bytes,
        "sm_to_l2_bytes": l2.written_bytes,
    }


def table(rows: Sequence[Mapping[str, Any]], l2: str = "warm") -> str:
    """TFLOP/s by case and kernel, from the rows of one L2 state; "-" where a kernel did not run."""
    kernels = [kernel for kernel in COLUMNS if any(row["kernel"] == kernel for row in rows)]
    lines = [f"{f'TFLOP/s, L2 {l2}':28}" + "".join(f"{COLUMNS[kernel]:>7}" for kernel in kernels)]
    by_case: dict[str, dict[str, float]] = {}
    for entry in rows:
        if entry["l2"] == l2 and entry["tflops_per_s"] is not None:
            by_case.setdefault(case_label(entry), {})[str(entry["kernel"])] = float(entry["tflops_per_s"])
    for label, values in by_case.items():
        cells = (f"{values[kernel]:7.0f}" if kernel in values else "      -" for kernel in kernels)
        lines.append(f"{label:28}" + "".join(cells))
    return "\n".join(lines)


def case_label(entry: Mapping[str, Any]) -> str:
    """`fwd d128 n4096 4x16 full`, short enough for a table."""
    mask = "causal" if entry["causal"] else "full"
    dtype = "" if entry["dtype"] == "bf16" else f" {entry['dtype']}"
    sizes = f"d{entry['head_dim']} n{entry['seqlen']} {entry['batch']}x{entry['num_heads']}"
    return f"{entry['direction'][:3]} {sizes} {mask}{dtype}"


def counters_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Measured bytes beside counted ones, in MB, for rows that have counters."""
    lines = [f"{'MB: measured / counted':28}{'kernel':>20}{'HBM':>21}{'L2 to SM':>21}{'SM to L2':>19}"]
    for entry in rows:
        measured, by_formula = entry["counters"], entry["counted"] or {}
        if measured is None:
            continue
        cells = []
        for names in (("hbm_read_bytes", "hbm_written_bytes"), ("l2_to_sm_bytes",), ("sm_to_l2_bytes",)):
            known = f"{sum(by_formula[name] for name in names) / 1e6:.1f}" if by_formula else "?"
            cells.append(f"{sum(measured[name] for name in names) / 1e6:.1f} / {known}")
        lines.append(f"{case_label(entry):28}{entry['kernel']:>20}{cells[0]:>21}{cells[1]:>21}{cells[2]:>19}")
    return "\n".join(lines)


def _times(summary: Summary | None) -> dict[str, Any] | None:
    if summary is None:
        return None
    return {
        "median": _short(summary.median),
        "p10": _short(summary.p10),
        "p90": _short(summary.p90),
        "samples": [_short(sample) for sample in summary.samples],
    }


def _short(value: float) -> float:
    """`value` to SIGNIFICANT digits: a clock that ticks in half microseconds knows no more."""
    return float(f"{value:.{SIGNIFICANT}g}")
