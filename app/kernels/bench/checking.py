"""Checks kernels on every case of the file, each kernel in a process of its own.

A kernel that hangs or breaks the GPU's context then costs its own process and nothing else. Usage, as the bench starts
it: python -m app.kernels.bench.checking KERNEL VERDICTS.jsonl; a line is written after every case.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from app.kernels import registry
from app.kernels.bench.cases import CheckCase, load
from app.kernels.registry import Kernel

POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one kernel: cases that passed, messages of those that did not, largest error over plain error."""

    kernel: str
    passed: int
    failures: tuple[str, ...]
    largest_ratio: float

    @property
    def ok(self) -> bool:
        """Whether it may be timed: right on every case (or, for a wrong kernel, caught at least once)."""
        wrong = registry.get(self.kernel).kind == "wrong"
        return bool(self.failures) if wrong else not self.failures and self.passed > 0


def cases_for(kernel: Kernel) -> list[CheckCase]:
    """The cases a kernel can take."""
    return [
        case
        for case in load().checks
        if case.direction in kernel.directions
        and case.dtype in kernel.dtypes
        and case.head_dim in kernel.head_dims
        and (case.seqlen_q == case.seqlen_k or kernel.different_lengths)
        and (not case.dropout or kernel.dropout)
    ]


def command(kernel_id: str, verdicts: Path) -> list[str]:
    """What checks one kernel."""
    return [sys.executable, "-m", "app.kernels.bench.checking", kernel_id, str(verdicts)]


def check_all(
    kernels: Sequence[Kernel], seconds: float, report: Callable[[str], None] = lambda line: None
) -> dict[str, Outcome]:
    """Check all kernels at once, each in its process, within `seconds`; a process that is not done then is ended."""
    with tempfile.TemporaryDirectory() as folder:
        files = {kernel.id: Path(folder) / f"{kernel.id}.jsonl" for kernel in kernels}
        logs = {kernel.id: Path(folder) / f"{kernel.id}.log" for kernel in kernels}
        processes = {}
        for kernel in kernels:
            with logs[kernel.id].open("wb") as log:
                processes[kernel.id] = subprocess.Popen(command(kernel.id, files[kernel.id]), stdout=log, stderr=log)
        try:
            outcomes: dict[str, Outcome] = {}
            deadline = time.monotonic() + seconds
            while len(outcomes) < len(processes):
                for kernel_id, process in processes.items():
                    late = time.monotonic() > deadline
                    if kernel_id in outcomes or (process.poll() is None and not late):
                        continue
                    why = "it did not end in time" if process.poll() is None else _last_line(logs[kernel_id])
                    finished = process.poll() == 0
                    outcomes[kernel_id] = _outcome(kernel_id, files[kernel_id], None if finished else why)
                    report(_sentence(outcomes[kernel_id]))
                time.sleep(POLL_S)
        finally:
            for process in processes.values():
                if process.poll() is None:
                    process.kill()
                    process.wait()
    return outcomes


def main(kernel_id: str, verdicts: str) -> int:
    """Check one kernel in this process, a line of JSON for each case."""
    from app.kernels.bench import check

    kernel = registry.get(kernel_id)
    bind = kernel.bind()
    with Path(verdicts).open("w", encoding="utf-8") as file:
        for case in cases_for(kernel):
            try:
                verdict = check.run(case, bind, "cuda")
            except (RuntimeError, ValueError, AssertionError) as error:
                first_line = (str(error).splitlines() or [type(error).__name__])[0]
                verdict = check.Verdict(False, 0.0, 0.0, f"{case}: {type(error).__name__}: {first_line}")
            file.write(json.dumps(asdict(verdict)) + "\n")
            file.flush()
    return 0


def _outcome(kernel_id: str, file: Path, broke: str | None) -> Outcome:
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    verdicts = [json.loads(line) for line in lines]
    failures = [verdict["message"] for verdict in verdicts if not verdict["ok"]]
    if broke is not None:
        failures.append(f"the check broke off after {len(verdicts)} cases: {broke}")
    ratios = [verdict["relative"] / verdict["plain"] for verdict in verdicts if verdict["ok"] and verdict["plain"]]
    return Outcome(kernel_id, sum(verdict["ok"] for verdict in verdicts), tuple(failures), max(ratios, default=0.0))


def _sentence(outcome: Outcome) -> str:
    total = outcome.passed + len(outcome.failures)
    if registry.get(outcome.kernel).kind == "wrong":
        return f"{outcome.kernel}: {'rejected' if outcome.ok else 'NOT REJECTED'} ({len(outcome.failures)} of {total})"
    text = f"{outcome.kernel}: {outcome.passed} of {total} right, largest error {outcome.largest_ratio:.2f} x plain"
    return "\n    ".join([text, *outcome.failures[:5]])


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
