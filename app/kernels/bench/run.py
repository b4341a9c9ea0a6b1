"""One run of the bench: compile ahead, check, tune, time, count, and write a record as it goes.

Nothing is timed that was not right on the very tensors it is timed with. A kernel that cannot run stays in the record
with the reason; no other is put in its place. What is done is on disk after every case, so Ctrl-C, a full clock or a
crash lose one case at most.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.kernels import capability, peers
from app.kernels.bench import ahead, check, checking, counters, environment, harness, record, tune
from app.kernels.bench.cases import TimingCase
from app.kernels.bench.progress import Progress, first_line, say
from app.kernels.registry import Kernel

if TYPE_CHECKING:
    from app.kernels.problem import Problem

DEVICE = "cuda"
# Seconds kept back at the end for writing and the table.
RESERVE_S = 8.0
# Shares of the time that checking and tuning may take; checking alone may take all of it.
CHECK_SHARE, TUNE_SHARE = 0.35, 0.25
# A run this long reads far more than an L2 cache holds; flushing it first would change nothing that can be seen.
FLUSH_BELOW_MS = 20.0
FLUSHED_SHARE = 0.5
# Heads compared with float64 when a sequence is long (all of them are searched for NaN).
LONG_SEQLEN, HEADS_WHEN_LONG = 4096, 2


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do. `minutes` bounds the whole run; `budget_ms` is the measured time of one kernel on one case.

    `skipped` cases of the suite come before the first one in `timing`.
    """

    suite: str
    timing: tuple[TimingCase, ...]
    kernels: tuple[Kernel, ...]
    checked: tuple[Kernel, ...]
    check: bool
    tune: bool
    counters: bool
    flushed: bool
    compile_ahead: bool
    minutes: float
    budget_ms: float
    out: Path | None
    commit: str | None
    command: tuple[str, ...]
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class _Ready:
    """A kernel whose result was right, what runs it, and what its rows say whatever the time."""

    kernel: Kernel
    run: harness.Run
    common: dict[str, Any]


class Bench:
    """The state of one run."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.deadline = time.monotonic() + 60 * plan.minutes - RESERVE_S
        header = environment.run_header(plan.command, plan.commit)
        name = record.file_name(header, plan.suite)
        self.record = record.Record(plan.out or record.default_folder() / name, header)
        self.clock = harness.CudaClock()
        self.flush = harness.Flush(int(header["gpu"]["l2_bytes"]))
        self.unfit: dict[str, str] = {}
        self.proven: dict[str, frozenset[str]] = {}

    def seconds_left(self) -> float:
        """Until the run must end."""
        return self.deadline - time.monotonic()

    def run(self) -> int:
        """All stages; 0 when everything that ran was right."""
        run = self.record.run
        say(
            f"{run['gpu']['name']}, driver {run['driver']}, "
            + ", ".join(f"{k} {v}" for k, v in run["versions"].items())
        )
        self.record.write()  # a record that would be refused is refused now, not after the work
        right = True
        try:
            kernels = [kernel.id for kernel in self.plan.kernels]
            listed = tune.candidates(self.plan.timing, kernels) if self.plan.tune else []
            if self.plan.compile_ahead:
                self._compile(listed)
            if self.plan.check:
                right = self._check()
            if listed:
                listed = [candidate for candidate in listed if self._may_be_tuned(candidate)]
                until = time.monotonic() + TUNE_SHARE * max(0.0, self.seconds_left())
                tune.tune(listed, say, lambda: time.monotonic() < until)
            self._time()
            if self.plan.counters:
                self._count()
        except KeyboardInterrupt:
            say("stopped; what is done is kept")
        except RuntimeError as error:
            # a kernel that broke the GPU's context ends the run, not the record
            say(f"the run broke off: {first_line(error)}")
            right = False
        self.record.run = environment.with_clocks_after(self.record.run)
        self.record.write()
        if self.record.rows:
            say(record.table(self.record.rows))
            if self.plan.flushed:
                say(record.table(self.record.rows, "flushed"))
            if self.plan.counters:
                say(record.counters_table(self.record.rows))
            say(f"{len(self.record.rows)} rows in {self.record.path}")
        return 0 if right else 2

    def _compile(self, listed: Sequence[tune.Candidate]) -> None:
        jobs = [candidate.job for candidate in listed]
        own = [kernel for kernel in self.plan.checked if kernel.compiled]
        if self.plan.check:
            jobs += [ahead.Job(kernel.id, case) for kernel in own for case in checking.cases_for(kernel)]
            jobs += [
                ahead.Job(kernel.id, case, **tune.as_argument(case.direction, choice))
                for kernel in own
                for case, choice in checking.choices_for(kernel)
            ]
        own = [kernel for kernel in self.plan.kernels if kernel.compiled]
        jobs += [
            ahead.Job(kernel.id, case.to_check)
            for case in self.plan.timing
            for kernel in own
            if self._cannot(kernel, case) is None
        ]
        jobs = ahead.unique(jobs)
        started = time.monotonic()
        failed = ahead.compile_all(jobs, capability.compute_capability()) if jobs else []
        say(f"compiled {len(jobs)} launches ahead in {time.monotonic() - started:.0f} s, {len(failed)} failed")
        for line in failed[:10]:
            say(f"    {line}")

    def _check(self) -> bool:
        share = CHECK_SHARE if self.plan.timing else 1.0
        outcomes = checking.check_all(self.plan.checked, share * self.seconds_left(), say)
        for kernel_id, outcome in outcomes.items():
            self.proven[kernel_id] = outcome.choices
            if not outcome.ok:
                self.unfit[kernel_id] = f"its check failed: {(outcome.failures or ('no case passed',))[0]}"
        return not self.unfit

    def _may_be_tuned(self, candidate: tune.Candidate) -> bool:
        """Whether the kernel is right, and this choice of it was found right too if choices were checked."""
        if candidate.kernel in self.unfit:
            return False
        proven = self.proven.get(candidate.kernel)
        return proven is None or candidate.is_default or str(candidate.choice) in proven

    def _cannot(self, kernel: Kernel, case: TimingCase) -> str | None:
        why = kernel.cannot_run(direction=case.direction, dtype=case.dtype, head_dim=case.head_dim)
        return why or self.unfit.get(kernel.id)

    def _time(self) -> None:
        import torch

        self.progress = Progress("timing", len(self.plan.timing) * len(self.plan.kernels))
        for place, case in enumerate(self.plan.timing, self.plan.skipped):
            if self.seconds_left() < 0:
                say(f"no time left; {case} and what follows was not run (the same with --skip {place} goes on there)")
                break
            try:
                problem, _ = check.draw(case.to_check, DEVICE)
                heads = HEADS_WHEN_LONG if case.seqlen >= LONG_SEQLEN else None
                known = check.truth(problem, most_heads=heads)
            except torch.OutOfMemoryError as error:
                say(f"{case}: {first_line(error)}")
                continue
            self._time_case(case, problem, known)
            del problem, known
            self.record.write()

    def _time_case(self, case: TimingCase, problem: Problem, known: check.Truth) -> None:
        """Time all kernels on one case, in turns; what does not fit into the memory beside the others, alone."""
        able = []
        for kernel in self.plan.kernels:
            why = self._cannot(kernel, case)
            if why is None:
                able.append(kernel)
            else:
                self.progress.step(f"{kernel.id} {case}")
                self._add(record.row(kernel, case, "warm", cannot=why))
        for kernel in self._time_group(case, problem, known, able):
            self._time_group(case, problem, known, [kernel])

    def _time_group(
        self, case: TimingCase, problem: Problem, known: check.Truth, kernels: Sequence[Kernel]
    ) -> list[Kernel]:
        """Time `kernels` in turns. Those for which the memory was not enough, if there were several."""
        import torch

        together: list[_Ready] = []
        too_large: list[Kernel] = []
        torch.cuda.empty_cache()  # what the last group held
        for kernel in kernels:
            if self.seconds_left() < 0:
                break
            self.progress.step(f"{kernel.id} {case}")
            try:
                together.append(self._ready(kernel, case, problem, known, alone=len(kernels) == 1))
            except (RuntimeError, ValueError, ImportError, AssertionError) as error:
                if isinstance(error, torch.OutOfMemoryError) and len(kernels) > 1:
                    too_large.append(kernel)
                else:
                    self._add_cannot(kernel, case, error)
            torch.cuda.empty_cache()
        try:
            if together:
                self._time_together(case, together)
        except (RuntimeError, ValueError) as error:
            if isinstance(error, torch.OutOfMemoryError) and len(kernels) > 1:
                return [each.kernel for each in together] + too_large
            for each in together:
                self._add_cannot(each.kernel, case, error)
        return too_large

    def _ready(self, kernel: Kernel, case: TimingCase, problem: Problem, known: check.Truth, *, alone: bool) -> _Ready:
        """A kernel that was right on `problem` just now; `alone`: no other holds memory.

        ValueError when it was not right, torch.OutOfMemoryError, and whatever else it raises.
        """
        if kernel.kind == "peer":
            peers.poison([tensor for tensor in (problem.q, problem.k, problem.v) if tensor is not None])
        bound = kernel.bind()(problem)
        if kernel.approximate:
            known = check.truth(problem, bound, most_heads=1)
        verdict = check.judge(check.results(bound, case.direction), check.beside(known, problem, bound), case.dtype)
        if not verdict.ok:
            raise ValueError(f"its result is wrong: {verdict.message}")
        run = bound.forward if case.direction == "forward" else bound.backward
        if run is None:
            raise ValueError(f"it has no {case.direction} pass")
        ready = harness.captured(run, may_run_out_of_memory=alone)
        names = kernel_names(run)
        block = bound.block if case.direction == "forward" else bound.backward_block
        if kernel.kind == "peer":
            block = peers.block_of(kernel.id, names, case.direction)
        common: dict[str, Any] = {
            "launch": ready.launch,
            "error": verdict.error,
            "block": block,
            "settings": bound.settings,
            "kernel_names": names,
        }
        return _Ready(kernel, ready.run, common)

    def _time_together(self, case: TimingCase, together: list[_Ready]) -> None:
        """Record kernels that are ready, L2 warm, and flushed where it can make a difference.

        RuntimeError when one cannot be run any more, ValueError when its time is none.
        """

        def timed(l2: str, ready: Sequence[_Ready], **how: Any) -> list[harness.Summary]:
            summaries = harness.measure([each.run for each in ready], self.clock, **how)
            for each, summary in zip(ready, summaries, strict=True):
                self._add(record.row(each.kernel, case, l2, summary=summary, **each.common))
            return summaries

        warm = timed("warm", together, budget_ms=self.plan.budget_ms)
        short = [each for each, found in zip(together, warm, strict=True) if found.median < FLUSH_BELOW_MS]
        try:
            if self.plan.flushed and short:
                timed("flushed", short, budget_ms=FLUSHED_SHARE * self.plan.budget_ms, before=self.flush, warm_up_ms=0)
        except (RuntimeError, ValueError) as error:  # what was timed before stays
            say(f"{case} flushed: {first_line(error)[:160]}")

    def _add_cannot(self, kernel: Kernel, case: TimingCase, error: BaseException) -> None:
        say(f"{kernel.id} {case}: {first_line(error)[:160]}")
        self._add(record.row(kernel, case, "warm", cannot=first_line(error)))

    def _add(self, row: dict[str, Any]) -> None:
        why = self.record.add(row)
        if why is not None:
            say(f"a row was refused: {why}")

    def _count(self) -> None:
        """Attach counters to the rows of this run that were timed, kernel by kernel, with the tiles chosen in it."""
        for position, kernel in enumerate(self.plan.kernels):
            mine = [row for row in self.record.rows if row["kernel"] == kernel.id and row["status"] == "ok"]
            by_case = {tuple(row[name] for name in TimingCase.__slots__): row for row in reversed(mine)}
            wanted = [TimingCase(*key) for key in reversed(by_case)]
            seconds = self.seconds_left() / (len(self.plan.kernels) - position)
            if not wanted or seconds < RESERVE_S:
                continue
            started = time.monotonic()
            try:
                read = counters.collect(kernel.id, wanted, seconds)
            except counters.CountersError as error:
                say(f"counters of {kernel.id}: {error}")
                continue
            for case, moved in read.items():
                by_case[tuple(getattr(case, name) for name in TimingCase.__slots__)]["counters"] = moved
            say(f"counters of {kernel.id}: {len(read)} of {len(wanted)} cases in {time.monotonic() - started:.0f} s")
            self.record.write()


def kernel_names(run: harness.Run) -> list[str]:
    """Names of the GPU kernels one call launches, in order, each once; empty when the profiler is not to be had."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    try:
        with profile(activities=[ProfilerActivity.CUDA]) as profiler:
            run()
            torch.cuda.synchronize()
    except RuntimeError:
        return []
    on_gpu = [event for event in profiler.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    return list(dict.fromkeys(event.name for event in sorted(on_gpu, key=lambda event: event.time_range.start)))


def start(plan: Plan) -> int:
    """Run a plan on the current GPU, on a stream of its own (the default one cannot be captured into a graph)."""
    import torch

    torch.cuda.set_stream(torch.cuda.Stream())
    return Bench(plan).run()
