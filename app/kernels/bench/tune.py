"""Times every tile of a kernel's fixed list on one case a kind, and chooses the fastest for this run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from app.kernels import configs, registry
from app.kernels.bench import check, harness
from app.kernels.bench.ahead import Job
from app.kernels.bench.cases import TimingCase
from app.kernels.bench.progress import first_line

DEVICE = "cuda"
BUDGET_MS, WARM_UP_MS = 60.0, 100.0  # a GPU that is tuned is at work, choice after choice
TUNED = ("fa2_triton", "fa3_gluon", "fa3_cuda", "fa3_fp8_gluon", "fa3_fp8_cuda", "standard")
# What is timed with each tile: so many tokens, or one sequence if it is longer, heads × head_dim so wide, a sequence of
# each kind of length.
TOKENS, WIDTH, LENGTHS = 16_384, 2_048, (1_024, 4_096, 16_384, 65_536)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One tile for one case; `job` is what has to be compiled for it."""

    kernel: str
    case: TimingCase
    choice: configs.Choice

    @property
    def is_default(self) -> bool:
        """Whether this is what is used without tuning."""
        case = self.case
        return self.choice == configs.default(self.kernel, case.direction, case.head_dim, case.causal, case.seqlen)

    @property
    def job(self) -> Job:
        """The launch to compile."""
        return Job(self.kernel, self.case.to_check, **as_argument(self.case.direction, self.choice))


def candidates(timing: Sequence[TimingCase], kernels: Sequence[str] = TUNED) -> list[Candidate]:
    """Every choice of `kernels` for what `timing` will time, grouped by case, in its order.

    One representative case for each pass, head_dim, mask and kind of length, whatever else differs.
    """
    return [
        Candidate(kernel, case, choice)
        for case in dict.fromkeys(representative(case) for case in timing)
        for kernel in TUNED
        if kernel in kernels
        for kind in [(kernel, case.direction, case.head_dim, case.causal, case.seqlen)]
        for others in [configs.alternatives(*kind)]
        if others
        for choice in (configs.default(*kind), *others)
    ]


def representative(case: TimingCase) -> TimingCase:
    """The case that stands for all sequences of one kind of length with the same pass, head_dim and mask."""
    seqlen = LENGTHS[configs.kind_of_length(case.seqlen)]
    heads = WIDTH // case.head_dim
    return replace(case, dtype="bf16", batch=max(1, TOKENS // seqlen), num_heads=heads, seqlen=seqlen)


def as_argument(direction: str, choice: configs.Choice) -> dict[str, configs.Choice]:
    """`choice` as the argument of the launcher it is meant for."""
    if isinstance(choice, configs.BackwardRoles):
        return {"backward_roles": choice}
    if isinstance(choice, configs.Roles | configs.ClusterRoles):
        return {"roles": choice}
    return {"tile" if direction == "forward" else "backward_tile": choice}


def tune(listed: Sequence[Candidate], report: Callable[[str], None], may_go_on: Callable[[], bool]) -> None:
    """Time all candidates, choose the fastest right one of each case, and report one line a case.

    A tile that does not compile, does not fit or gives a wrong result is named and passed over.
    """
    by_case: dict[tuple[str, TimingCase], list[configs.Choice]] = {}
    for candidate in listed:
        by_case.setdefault((candidate.kernel, candidate.case), []).append(candidate.choice)
    for (kernel_id, case), tiles in by_case.items():
        if not may_go_on():
            report("tuning stopped: no time left")
            return
        problem, _ = check.draw(case.to_check, DEVICE)
        known = check.truth(problem, most_heads=1)
        runs: dict[configs.Choice, harness.Run] = {}
        notes = []
        for tile in tiles:
            try:
                bound = registry.get(kernel_id).bind()(problem, **as_argument(case.direction, tile))
                verdict = check.judge(
                    check.results(bound, case.direction), check.beside(known, problem, bound), case.dtype
                )
                run = bound.forward if case.direction == "forward" else bound.backward
                if not verdict.ok or run is None:
                    notes.append(f"{tile}: wrong, {verdict.message}")
                    continue
                runs[tile] = harness.captured(run).run
            except (RuntimeError, ValueError) as error:
                notes.append(f"{tile}: {first_line(error)[:100]}")
        if runs:
            timed = harness.measure(
                list(runs.values()), harness.CudaClock(), budget_ms=BUDGET_MS, warm_up_ms=WARM_UP_MS
            )
            times = {choice: summary.median for choice, summary in zip(runs, timed, strict=True)}
            best = min(times, key=lambda tile: times[tile])
            configs.choose(kernel_id, case.direction, case.head_dim, case.causal, case.seqlen, best)
            order = ", ".join(f"{tile} {time:.3f}" for tile, time in sorted(times.items(), key=lambda item: item[1]))
            mask = "causal" if case.causal else "full"
            report(f"{kernel_id} {case.direction} d{case.head_dim} n{case.seqlen} {mask} ms: {order}")
        for note in notes:
            report(f"    {note}")
