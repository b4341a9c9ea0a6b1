"""Reads the hardware's byte counters through Nsight Compute (`ncu`), one process for each kernel.

`ncu` runs `counters_driver`, which works off a list of cases and ends each with a marker kernel that reads through the
whole L2 cache. The marker tells where a case ends in the list of launches, and what it pushes out of the cache, lines
the case had written, counts as written by the case.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from app.kernels import configs
from app.kernels.bench.cases import TimingCase

MARKER = "counters_marker"
HBM_READ = "dram__bytes_read.sum"
HBM_WRITTEN = "dram__bytes_write.sum"
L2_TO_SM = "l1tex__m_xbar2l1tex_read_bytes.sum"
SM_TO_L2 = "l1tex__m_l1tex2xbar_write_bytes.sum"
DURATION = "gpu__time_duration.sum"
EXPONENTIALS = "smsp__inst_executed_pipe_xu.sum"
METRICS = (HBM_READ, HBM_WRITTEN, L2_TO_SM, SM_TO_L2, DURATION, EXPONENTIALS)
# Units `--print-units base` may give, as factors to bytes, nanoseconds or counts.
UNITS = {"byte": 1.0, "ns": 1.0, "nsecond": 1.0, "us": 1e3, "usecond": 1e3, "inst": 1.0, "": 1.0}


class CountersError(RuntimeError):
    """Counters cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel launch in ncu's list: its name and its metrics in base units."""

    name: str
    metrics: dict[str, float]


def available() -> str | None:
    """Why counters cannot be read here, None when ncu is on the PATH."""
    return None if shutil.which("ncu") else "Nsight Compute (ncu) is not on the PATH"


def command(kernel: str, cases: Path, done: Path) -> list[str]:
    """The ncu command that works off a list of cases for one kernel."""
    return [
        "ncu",
        "--clock-control",
        "none",  # the clocks are left alone
        "--cache-control",
        "none",  # the driver empties the cache itself
        "--profile-from-start",
        "off",
        "--target-processes",
        "application-only",
        "--csv",
        "--page",
        "raw",
        "--print-units",
        "base",
        "--metrics",
        ",".join(METRICS),
        sys.executable,
        "-m",
        "app.kernels.bench.counters_driver",
        kernel,
        str(cases),
        str(done),
    ]


def collect(kernel: str, cases: Sequence[TimingCase], timeout_s: float) -> dict[TimingCase, dict[str, Any]]:
    """Counters of the cases `kernel` could run, as the record's `counters` objects.

    It runs with the tiles that were chosen in this process. A case that is missing in the answer did not run or did
    not get its turn in `timeout_s`. CountersError when ncu is missing or reads nothing at all.
    """
    why_not = available()
    if why_not:
        raise CountersError(why_not)
    with tempfile.TemporaryDirectory() as folder:
        listed, done = Path(folder) / "cases.json", Path(folder) / "done.json"
        plan = {"cases": [asdict(case) for case in cases], "seconds": timeout_s * 0.8, "tiles": configs.chosen()}
        listed.write_text(json.dumps(plan))
        try:
            ran = subprocess.run(
                command(kernel, listed, done),
                capture_output=True,
                text=True,
                check=False,
                timeout=timeout_s,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
            )
        except subprocess.TimeoutExpired as error:
            raise CountersError(f"ncu did not end within {timeout_s:.0f} s") from error
        if not done.is_file():
            raise CountersError(_last_lines(ran.stdout + ran.stderr))
        finished = [TimingCase(**case) for case in json.loads(done.read_text())]
        launches = parse(ran.stdout)
    groups = by_case(launches)
    if len(groups) != len(finished):
        raise CountersError(f"{len(finished)} cases ran, ncu lists {len(groups)}: {_last_lines(ran.stderr)}")
    passes = most_passes(ran.stdout + ran.stderr)
    return {case: summed(group, passes) for case, group in zip(finished, groups, strict=True)}


def parse(text: str) -> list[Launch]:
    """The launches in the output of `ncu --csv --page raw`: a header line, a line of units, a line a launch.

    CountersError when there is no such table or a metric is missing from it.
    """
    lines = text.splitlines()
    start = next((index for index, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise CountersError(_last_lines(text) or "ncu printed no table")
    table = list(csv.reader(line for line in lines[start:] if line.startswith('"')))
    header, rows = table[0], table[1:]
    for name in (*METRICS, "Kernel Name"):
        if name not in header:
            raise CountersError(f"ncu's table has no column {name!r}")
    units = dict(zip(header, rows[0], strict=True)) if rows and not rows[0][0] else {}
    launches = []
    for row in rows[1 if units else 0 :]:
        cells = dict(zip(header, row, strict=True))
        metrics = {name: _value(cells[name], units.get(name, ""), name) for name in METRICS}
        launches.append(Launch(cells["Kernel Name"], metrics))
    return launches


def by_case(launches: Sequence[Launch]) -> list[list[Launch]]:
    """Launches cut after every marker: one group a case, the marker last."""
    groups: list[list[Launch]] = [[]]
    for launch in launches:
        groups[-1].append(launch)
        if launch.name.startswith(MARKER):
            groups.append([])
    return groups[:-1]


def summed(group: Sequence[Launch], passes: int) -> dict[str, Any]:
    """The record's `counters` object of one case: everything before the marker, and what the marker pushed out."""
    kernels, marker = group[:-1], group[-1]

    def total(metric: str) -> int:
        return round(sum(launch.metrics[metric] for launch in kernels))

    return {
        "hbm_read_bytes": total(HBM_READ),
        "hbm_written_bytes": total(HBM_WRITTEN) + round(marker.metrics[HBM_WRITTEN]),
        "l2_to_sm_bytes": total(L2_TO_SM),
        "sm_to_l2_bytes": total(SM_TO_L2),
        "duration_us": sum(launch.metrics[DURATION] for launch in kernels) / 1e3,
        "xu_instructions": total(EXPONENTIALS),
        "passes": passes,
    }


def most_passes(text: str) -> int:
    """Largest number of passes in lines like `==PROF== Profiling "name": 0%....100% - 2 passes`; 1 without any."""
    return max((int(found) for found in re.findall(r"- (\d+) pass", text)), default=1)


def _value(cell: str, unit: str, name: str) -> float:
    if unit not in UNITS:
        raise CountersError(f"ncu gives {name} in the unknown unit {unit!r}")
    try:
        return float(cell.replace(",", "")) * UNITS[unit]
    except ValueError as error:
        raise CountersError(f"ncu gives {cell!r} for {name}") from error


def _last_lines(text: str, count: int = 3) -> str:
    return " / ".join(line.strip() for line in text.strip().splitlines()[-count:])
