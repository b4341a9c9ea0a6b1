"""Checks kernels on every case of the file, each kernel in a process of its own.

A kernel that hangs or breaks the GPU's context then costs its own process and nothing else. Usage, as the bench starts
it: python -m app.kernels.bench.checking KERNEL cases|choices VERDICTS.jsonl; a line is written after every case.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from app.kernels import configs, registry
from app.kernels.bench import check, tune
from app.kernels.bench.cases import CheckCase, load
from app.kernels.registry import Kernel

POLL_S = 0.1
# A process that reports nothing for this long hangs. Starting one takes some twenty seconds on a busy machine.
SILENT_S = 60.0
# Block shapes other than the default are checked on the cases of these lengths.
CHOICE_LENGTHS = (129, 4097)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one kernel: cases that passed, messages of those that did not, largest error over plain error.

    `choices` are the block shapes besides the default that were right, as text.
    """

    kernel: str
    passed: int
    failures: tuple[str, ...]
    largest_ratio: float
    choices: frozenset[str] = frozenset()

    @property
    def ok(self) -> bool:
        """Whether it may be timed: right on every case (or, for a wrong kernel, caught at least once)."""
        wrong = registry.get(self.kernel).kind == "wrong"
        return bool(self.failures) if wrong else not self.failures and self.passed > 0


@dataclass(frozen=True, slots=True)
class Task:
    """What one process checks: a kernel with its default block shapes on all cases, or with the others on a few."""

    kernel: str
    what: str  # "cases" or "choices"


def cases_for(kernel: Kernel) -> list[CheckCase]:
    """The cases a kernel can take."""
    return [
        case
        for case in load().checks
        if kernel.has(case.direction, case.head_dim)
        and case.dtype in kernel.dtypes
        and (case.seqlen_q == case.seqlen_k or kernel.different_lengths)
        and (not case.dropout or kernel.dropout)
        and (not case.num_heads_kv or kernel.grouped)
    ]


def choices_for(kernel: Kernel) -> list[tuple[CheckCase, configs.Choice]]:
    """The block shapes besides the default, each with the cases to check it on."""
    if kernel.id not in tune.TUNED:
        return []
    return [
        (case, choice)
        for case in cases_for(kernel)
        if case.seqlen_q == case.seqlen_k and case.seqlen_q in CHOICE_LENGTHS and case.spread == 1 and not case.dropout
        for choice in configs.alternatives(kernel.id, case.direction, case.head_dim, case.causal, case.seqlen_q)
    ]


def command(task: Task, verdicts: Path) -> list[str]:
    """What works off one task."""
    return [sys.executable, "-m", "app.kernels.bench.checking", task.kernel, task.what, str(verdicts)]


def check_all(
    kernels: Sequence[Kernel], seconds: float, report: Callable[[str], None] = lambda line: None
) -> dict[str, Outcome]:
    """Check all kernels at once, each task in its process, within `seconds`; what is silent for long is ended."""
    tasks = [Task(kernel.id, "cases") for kernel in kernels]
    tasks += [Task(kernel.id, "choices") for kernel in kernels if choices_for(kernel)]
    verdicts: dict[Task, list[dict[str, Any]]] = {}
    broke: dict[Task, str] = {}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        watched = [_Watched(task, Path(folder), running) for task in tasks]
        deadline = time.monotonic() + seconds
        while len(verdicts) < len(watched):
            for process in watched:
                if process.task in verdicts or not process.ended(deadline):
                    continue
                verdicts[process.task], why = process.result()
                if why is not None:
                    broke[process.task] = why
                if process.task.what == "cases":
                    report(_sentence(_outcome(process.task.kernel, verdicts, broke)))
            time.sleep(POLL_S)
    for task in tasks:
        wrong = sorted({verdict["message"] for verdict in verdicts[task] if not verdict["ok"]})
        if task.what == "choices" and (wrong or task in broke):
            report(
                "\n    ".join([f"{task.kernel}, other block shapes: {broke.get(task, 'not all right')}", *wrong[:5]])
            )
    return {kernel.id: _outcome(kernel.id, verdicts, broke) for kernel in kernels}


class _Watched:
    """A process at its task, and when it last reported anything."""

    def __init__(self, task: Task, folder: Path, running: ExitStack) -> None:
        self.task = task
        self._file = folder / f"{task.kernel}.{task.what}.jsonl"
        self._log = folder / f"{task.kernel}.{task.what}.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command(task, self._file), stdout=log, stderr=log)
        running.callback(self._end)
        self._size, self._heard = 0, time.monotonic()
        self._late = ""

    def ended(self, deadline: float) -> bool:
        """Whether it is done, or has to be given up."""
        if self._process.poll() is not None:
            return True
        size = self._file.stat().st_size if self._file.exists() else 0
        if size > self._size:
            self._size, self._heard = size, time.monotonic()
        if time.monotonic() > deadline:
            self._late = "it did not end in time"
        elif time.monotonic() - self._heard > SILENT_S:
            self._late = f"nothing was heard of it for {SILENT_S:.0f} s"
        if self._late:
            self._end()
        return bool(self._late)

    def result(self) -> tuple[list[dict[str, Any]], str | None]:
        """Its verdicts so far, and why it broke off if it did."""
        lines = self._file.read_text(encoding="utf-8").splitlines() if self._file.is_file() else []
        verdicts = [json.loads(line) for line in lines]
        if self._late:
            return verdicts, self._late
        if self._process.returncode == 0:
            return verdicts, None
        said = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return verdicts, said[-1] if said else "it said nothing"

    def _end(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def main(kernel_id: str, what: str, verdicts: str) -> int:
    """Work off one task in this process, a line of JSON for each case."""
    kernel = registry.get(kernel_id)
    listed: list[tuple[CheckCase, configs.Choice | None]] = [(case, None) for case in cases_for(kernel)]
    if what == "choices":
        listed = list(choices_for(kernel))
    with Path(verdicts).open("w", encoding="utf-8") as file:
        for case, choice in listed:
            verdict = asdict(_verdict(kernel, case, choice)) | {"choice": None if choice is None else str(choice)}
            file.write(json.dumps(verdict) + "\n")
            file.flush()
    return 0


def _verdict(kernel: Kernel, case: CheckCase, choice: configs.Choice | None) -> check.Verdict:
    bind = kernel.bind()
    if choice is not None:
        bind = partial(bind, **tune.as_argument(case.direction, choice))
    try:
        verdict = check.run(case, bind, "cuda")
    except (RuntimeError, ValueError, AssertionError) as error:
        first_line = (str(error).splitlines() or [""])[0]
        verdict = check.Verdict(False, 0.0, 0.0, f"{case}: {type(error).__name__}: {first_line}")
    if verdict.ok or choice is None:
        return verdict
    return replace(verdict, message=f"{choice}: {verdict.message}")


def _outcome(kernel_id: str, verdicts: Mapping[Task, list[dict[str, Any]]], broke: Mapping[Task, str]) -> Outcome:
    cases, choices = Task(kernel_id, "cases"), Task(kernel_id, "choices")
    mine = verdicts.get(cases, [])
    failures = [verdict["message"] for verdict in mine if not verdict["ok"]]
    if cases in broke:
        failures.append(f"the check broke off after {len(mine)} cases: {broke[cases]}")
    ratios = [verdict["relative"] / verdict["plain"] for verdict in mine if verdict["ok"] and verdict["plain"]]
    right: dict[str, bool] = {}
    for verdict in verdicts.get(choices, []):
        right[verdict["choice"]] = right.get(verdict["choice"], True) and verdict["ok"]
    return Outcome(
        kernel_id,
        sum(verdict["ok"] for verdict in mine),
        tuple(failures),
        max(ratios, default=0.0),
        frozenset(choice for choice, ok in right.items() if ok),
    )


def _sentence(outcome: Outcome) -> str:
    total = outcome.passed + len(outcome.failures)
    if registry.get(outcome.kernel).kind == "wrong":
        return f"{outcome.kernel}: {'rejected' if outcome.ok else 'NOT REJECTED'} ({len(outcome.failures)} of {total})"
    text = f"{outcome.kernel}: {outcome.passed} of {total} right, largest error {outcome.largest_ratio:.2f} x plain"
    return "\n    ".join([text, *outcome.failures[:5]])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
