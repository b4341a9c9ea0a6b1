"""The verb `exhibit bench`: its options, and the one clear sentence where there is no GPU."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from app.kernels import capability, registry
from app.kernels.bench import cases, run
from app.kernels.bench.environment import MissingEnvironmentError
from app.kernels.registry import Kernel

DESCRIPTION = "prove, time and count attention kernels on the NVIDIA GPU of this machine"
MINUTES = 8.5
BUDGET_MS = 150.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    suites = ", ".join(cases.load().suites)
    parser.add_argument("--cases", default="quick", metavar="SUITE", help=f"what to time: {suites}, none (quick)")
    parser.add_argument("--direction", choices=("forward", "backward"), help="only this pass of the suite")
    parser.add_argument("--skip", type=int, default=0, metavar="N", help="leave out the suite's first N cases")
    parser.add_argument("--count", type=at_least_one, metavar="N", help="time at most N cases (default: the rest)")
    parser.add_argument("--kernels", metavar="IDS", help="only these, separated by commas (default: rungs and peers)")
    parser.add_argument("--check", action="store_true", help="first check every rung on all correctness cases")
    parser.add_argument("--tune", action="store_true", help="first time every block shape and use the fastest")
    parser.add_argument("--counters", action="store_true", help="also read byte counters with Nsight Compute")
    parser.add_argument("--warm-only", action="store_true", help="leave out the times with the L2 cache flushed")
    parser.add_argument("--no-ahead", action="store_true", help="do not compile in parallel beforehand")
    parser.add_argument("--minutes", type=_positive, default=MINUTES, help=f"end within this time ({MINUTES})")
    parser.add_argument(
        "--budget-ms", type=_positive, default=BUDGET_MS, help=f"measured time of a kernel on a case ({BUDGET_MS:g})"
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="the record to write (default: a dated file in app/facts/measured/yours, where the exhibit finds it)",
    )
    parser.add_argument("--commit", help="commit to name in the record where there is no git checkout")
    parser.add_argument("--list", action="store_true", help="list kernels and suites, and what cannot run here")


def main(given: argparse.Namespace) -> int:
    """Run the verb; the exit code: 0 done, 1 it cannot run here, 2 a kernel was wrong."""
    if given.list:
        return _list()
    why_not = capability.missing(("torch", "cuda"))
    if why_not is not None:
        return _fail(f"the bench needs a machine with an NVIDIA GPU and PyTorch: {why_not}.")
    try:
        plan = make_plan(given, told(sys.argv[1:]))
    except (KeyError, ValueError) as error:
        return _fail(f"{error.args[0]}.")
    try:
        return run.start(plan)
    except MissingEnvironmentError as error:
        return _fail(f"{error}.")
    except KeyboardInterrupt:
        return _fail("stopped before anything was measured.")


def told(arguments: Sequence[str]) -> tuple[str, ...]:
    """The command as a record keeps it: the same however the bench was started, and of a path only the last part."""
    words = arguments[1:] if arguments[:1] == ["bench"] else arguments
    return ("exhibit", "bench", *(Path(word).name if "/" in word else word for word in words))


def make_plan(given: argparse.Namespace, command: tuple[str, ...]) -> run.Plan:
    """The plan the options ask for.

    KeyError or ValueError, with a sentence, for an unknown suite or kernel and for a skip that leaves no case.
    """
    suites = cases.load().suites
    if given.cases not in (*suites, "none"):
        raise KeyError(f"there is no suite {given.cases!r}; there are {', '.join(suites)} and none")
    timing = tuple(case for case in suites.get(given.cases, ()) if given.direction in (None, case.direction))
    _check_skip(given.skip, len(timing))
    if given.kernels:
        kernels = tuple(registry.get(name.strip()) for name in given.kernels.split(","))
    else:
        kernels = registry.of_kind("rung", "peer")
    timed = tuple(kernel for kernel in kernels if kernel.kind != "wrong")
    return run.Plan(
        suite=_file_part(given),
        timing=timing[given.skip :][: given.count],
        skipped=given.skip,
        kernels=timed,
        checked=_checked(kernels, bool(given.kernels)),
        check=given.check,
        tune=given.tune,
        counters=given.counters,
        flushed=not given.warm_only,
        compile_ahead=not given.no_ahead,
        minutes=given.minutes,
        budget_ms=given.budget_ms,
        out=given.out,
        commit=given.commit,
        command=command,
    )


def _check_skip(skip: int, cases_there: int) -> None:
    if skip < 0:
        raise ValueError(f"--skip must be at least 0, got {skip}")
    if skip and skip >= cases_there:
        raise ValueError(f"--skip {skip} leaves nothing to time: there are {cases_there} cases")


def _file_part(given: argparse.Namespace) -> str:
    """What the name of the record says of the cases: the two runs of one grid are two files."""
    direction = f"-{given.direction}" if given.direction else ""
    skip = f"-skip-{given.skip}" if given.skip else ""
    return f"{given.cases}{direction}{skip}{f'-count-{given.count}' if given.count else ''}"


def _checked(kernels: tuple[Kernel, ...], chosen: bool) -> tuple[Kernel, ...]:
    """What `--check` checks: the rungs among the kernels, and the wrong ones unless kernels were named."""
    wanted = ("rung", "wrong")
    listed = kernels if chosen else (*kernels, *registry.of_kind("wrong"))
    return tuple(kernel for kernel in listed if kernel.kind in wanted and capability.missing(kernel.needs) is None)


def _list() -> int:
    for kernel in registry.KERNELS:
        why_not = capability.missing(kernel.needs)
        print(f"{kernel.id:26} {kernel.kind:6} {kernel.title}{f'  [cannot run here: {why_not}]' if why_not else ''}")
    for name, suite in cases.load().suites.items():
        print(f"suite {name}: {len(suite)} cases")
    return 0


def at_least_one(text: str) -> int:
    """A whole number from 1 on; argparse's error for anything else."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _positive(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError("must be above 0")
    return value


def _fail(sentence: str) -> int:
    print(f"exhibit bench: {sentence}", file=sys.stderr)
    return 1
