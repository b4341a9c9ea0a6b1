"""What Nsight Compute runs: each case of a list once, between starting and stopping the profiler, then the marker.

Usage: python -m app.kernels.bench.counters_driver KERNEL CASES.json DONE.json. A case that cannot run is left out of
DONE.json; so is one for which no time was left.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

import torch
import triton
import triton.language as tl

from app.kernels import configs, registry
from app.kernels.bench import check
from app.kernels.bench.cases import TimingCase
from app.kernels.bench.harness import FLUSH_TIMES

WIDTH = 8192
PROGRAMS = 132 * 8


@triton.jit
def counters_marker(source, target, count, WIDTH: tl.constexpr):
    """Read `count` numbers through the L2 cache; one sum a program is written so that the reads are real."""
    total = tl.zeros([WIDTH], tl.int32)
    for start in range(tl.program_id(0) * WIDTH, count, tl.num_programs(0) * WIDTH):
        total += tl.load(source + start + tl.arange(0, WIDTH))
    tl.store(target + tl.program_id(0), tl.sum(total, 0))


def main(kernel_id: str, cases_file: str, done_file: str) -> int:
    """Work off the list; 0 also when some cases could not run."""
    listed = json.loads(Path(cases_file).read_text())
    kernel = registry.get(kernel_id)
    configs.restore(listed["tiles"])
    torch.cuda.set_stream(torch.cuda.Stream())
    l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
    count = FLUSH_TIMES * l2_bytes // 4 // WIDTH * WIDTH
    source = torch.ones(count, dtype=torch.int32, device="cuda")
    target = torch.empty(PROGRAMS, dtype=torch.int32, device="cuda")
    started, done = time.monotonic(), []
    for fields in listed["cases"]:
        if time.monotonic() - started > listed["seconds"]:
            break
        case = TimingCase(**fields)
        try:
            problem, _ = check.draw(case.to_check, "cuda")
            bound = kernel.bind()(problem)
            run = bound.forward if case.direction == "forward" else bound.backward
            if run is None:
                continue
            run()
        except (RuntimeError, ValueError, ImportError) as error:
            print(f"{case}: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        counters_marker[(PROGRAMS,)](source, target, count, WIDTH=WIDTH)  # empties the cache
        torch.cuda.synchronize()
        torch.cuda.cudart().cudaProfilerStart()
        run()
        counters_marker[(PROGRAMS,)](source, target, count, WIDTH=WIDTH)
        torch.cuda.synchronize()
        torch.cuda.cudart().cudaProfilerStop()
        done.append(asdict(case))
        Path(done_file).write_text(json.dumps(done))
        del bound, problem, run
        torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
