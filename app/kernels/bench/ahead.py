"""Compiles every Triton kernel a run will need before it starts, in several processes that touch no GPU.

Each process calls the launchers on tensors without storage while `launching.compile_only` is on; results land in
Triton's cache on disk, where the run finds them.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

from app.kernels import configs, registry
from app.kernels.bench.cases import CheckCase
from app.kernels.bench.progress import first_line

MOST_WORKERS = 14


@dataclass(frozen=True, slots=True)
class Job:
    """One launch to compile. Choices are given only when another than the chosen one is meant."""

    kernel: str
    case: CheckCase
    tile: configs.Choice | None = None
    backward_tile: configs.Choice | None = None
    roles: configs.Choice | None = None
    backward_roles: configs.Choice | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Jobs with equal keys compile the same kernels."""
        case = self.case
        sizes: object = case.seqlen_k % 256
        if self.kernel == "standard":  # how many tiles there are decides how large they are
            sizes = (case.seqlen_q, case.seqlen_k, case.batch * case.num_heads)
        roles = self.roles
        if roles is None and self.kernel in ("fa3_cuda", "fa3_fp8_cuda"):  # the default may depend on the length
            roles = configs.cluster_roles_for(case.head_dim, case.causal, case.seqlen_q, self.kernel)
        if isinstance(roles, configs.Roles | configs.ClusterRoles) and roles.cut_last:
            sizes = (case.batch, case.num_heads, case.seqlen_q)  # they decide whether tiles are cut
        backward_roles = self.backward_roles
        if backward_roles is None and self.kernel == "fa3_cuda" and case.direction == "backward":
            backward_roles = configs.backward_roles_for(case.head_dim, case.causal, case.seqlen_q)
        kind = (case.direction, case.dtype, case.head_dim, case.causal, case.dropout > 0)
        return (self.kernel, kind, sizes, self.tile, self.backward_tile, roles, backward_roles)


def unique(jobs: Iterable[Job]) -> list[Job]:
    """One job for each key, in order."""
    return list({job.key: job for job in jobs}.values())


def compile_all(jobs: Sequence[Job], compute_capability: tuple[int, int]) -> list[str]:
    """Compile all jobs; what failed, one line each. Failures are found again, and told, when the kernel is run."""
    workers = max(1, min(MOST_WORKERS, (os.cpu_count() or 2) - 1, len(jobs)))
    failed = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, _start, (compute_capability,)) as pool:
        waiting = {pool.submit(compile_one, job): job for job in jobs}
        try:
            for future in as_completed(waiting):
                error = future.exception()
                if error is not None:
                    job = waiting[future]
                    choice = job.tile or job.backward_tile or job.roles or job.backward_roles or ""
                    failed.append(f"{job.kernel} {job.case} {choice}: {first_line(error)}")
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)  # what has not begun need not be waited for
            raise
    return failed


def compile_one(job: Job) -> int:
    """Compile one job in this process, where `launching.compile_only` must be on; how many kernels it launches."""
    import torch

    from app.kernels import launching
    from app.kernels.problem import Problem, torch_dtype
    from app.theory.dropout import Dropout

    case, dtype = job.case, torch_dtype(job.case.dtype)
    rows = {"q": case.seqlen_q, "k": case.seqlen_k, "v": case.seqlen_k, "do": case.seqlen_q}
    heads = dict.fromkeys(rows, case.num_heads) | dict.fromkeys("kv", case.num_heads_kv or case.num_heads)
    if case.direction == "forward":
        del rows["do"]
    tensors = {
        name: torch.empty(case.batch, heads[name], count, case.head_dim, dtype=dtype, device="meta")
        for name, count in rows.items()
    }
    problem = Problem(**tensors, causal=case.causal, dropout=Dropout(1, case.dropout) if case.dropout else None)
    names = ("tile", "backward_tile", "roles", "backward_roles")
    named = {name: getattr(job, name) for name in names}
    given = {name: choice for name, choice in named.items() if choice is not None}
    before = launching.launches()
    bound = registry.get(job.kernel).bind()(problem, **given)
    bound.forward()
    if bound.backward is not None and case.direction == "backward":
        bound.backward()
    return launching.launches() - before


def _start(compute_capability: tuple[int, int]) -> None:
    """Turn compiling on for the whole life of a worker process."""
    from app.kernels import launching

    launching.start_compiling(compute_capability)
