"""Runs one kernel on one small case and nothing else, for tools that watch a program (compute-sanitizer, ncu).

Usage: python -m app.kernels.bench.one fa3_gluon --seqlen 257 --head-dim 128 [--causal] [--judge]. Without `--judge` the
only other GPU work is drawing the tensors. Exit code: 0 done, 1 it cannot run here, 2 arguments or result are wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from app.kernels import registry
from app.kernels.bench import check
from app.kernels.bench.cases import CheckCase
from app.kernels.bench.cli import at_least_one
from app.kernels.bench.progress import first_line
from app.kernels.problem import DTYPES, HEAD_DIMS

SEED = 0


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(prog="python -m app.kernels.bench.one", description="run one kernel on one case")
    made.add_argument("kernel", choices=tuple(registry.BY_ID), metavar="KERNEL", help=", ".join(registry.BY_ID))
    made.add_argument("--direction", choices=("forward", "backward"), default="forward")
    for name, default, text in (
        ("batch", 1, "sequences"),
        ("num-heads", 2, "heads of q"),
        ("num-heads-kv", None, "heads of k and v (those of q)"),
        ("seqlen", 257, "rows of q, and of k and v"),
    ):
        shown = "" if default is None else f" ({default})"
        made.add_argument(f"--{name}", type=at_least_one, default=default, metavar="N", help=f"{text}{shown}")
    made.add_argument("--head-dim", type=int, choices=HEAD_DIMS, default=128, help="(128)")
    made.add_argument("--dtype", choices=DTYPES, default=DTYPES[0], help=f"({DTYPES[0]})")
    made.add_argument("--causal", action="store_true", help="under a causal mask")
    made.add_argument("--runs", type=at_least_one, default=1, metavar="N", help="how often the kernel is run (1)")
    made.add_argument("--judge", action="store_true", help="also compare the result with float64")
    return made


def main(arguments: Sequence[str]) -> int:
    """Draw, run, and judge if asked to; the exit code."""
    given = parser().parse_args(arguments)
    kernel = registry.get(given.kernel)
    if given.num_heads_kv and not kernel.grouped:
        return _fail(f"{kernel.id} takes as many heads of k and v as of q", 2)
    why_not = kernel.cannot_run(direction=given.direction, dtype=given.dtype, head_dim=given.head_dim)
    if why_not is not None:
        return _fail(f"{kernel.id} cannot run: {why_not}", 1)
    import torch

    case = CheckCase(
        "one",
        given.direction,
        given.batch,
        given.num_heads,
        given.seqlen,
        given.seqlen,
        given.head_dim,
        given.causal,
        given.dtype,
        num_heads_kv=given.num_heads_kv,
    )
    problem, _ = check.draw(case, "cuda", SEED)
    try:
        bound = kernel.bind()(problem)
        for _ in range(given.runs):
            found = check.results(bound, case.direction)
        torch.cuda.synchronize()
    except (RuntimeError, ValueError, ImportError) as error:
        return _fail(f"{case}: {first_line(error)}", 2)
    print(f"{kernel.id} ran ({given.runs} x): {case}")
    if given.judge:
        verdict = check.judge(found, check.truth(problem, bound), case.dtype)
        print(f"right, error {verdict.relative:.2e}" if verdict.ok else f"wrong: {verdict.message}")
        return 0 if verdict.ok else 2
    return 0


def _fail(sentence: str, code: int) -> int:
    print(f"bench.one: {sentence}.", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
