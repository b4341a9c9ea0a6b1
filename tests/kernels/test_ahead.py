"""Compiling for Hopper without a GPU: the kernels fit its registers and use its copy engine and tensor cores."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from app.kernels import configs
from app.kernels.bench.ahead import Job, unique
from app.kernels.bench.cases import CheckCase

ROOT = Path(__file__).parents[2]
PROGRAM = """
import re, subprocess, sys, tempfile
from pathlib import Path
import triton
from app.kernels import configs, launching
from app.kernels.bench import ahead
from app.kernels.bench.cases import CheckCase

tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
with launching.compile_only((9, 0)) as compiled:
    named = []
    for job in sys.argv[1:]:
        kernel, direction, head_dim, *index = job.split(":")
        case = CheckCase("", direction, 1, 2, 1024, 1024, int(head_dim), False, "bf16")
        roles, label = None, ""
        if index:
            case = CheckCase("", direction, 1, 14, 4096, 4096, int(head_dim), False, "bf16")
            roles, label = configs.choices(kernel, direction, int(head_dim))[int(index[0])], f"_{head_dim}_{index[0]}"
        before = len(compiled)
        ahead.compile_one(ahead.Job(kernel, case, roles=roles))
        named += [(one.metadata.name + label, one) for one in compiled[before:]]
    first = len(compiled)
    case = CheckCase("", "backward", 1, 2, 1024, 1024, 256, False, "bf16")
    ahead.compile_one(ahead.Job("fa2_triton", case, backward_tile=configs.Tile(32, 64, 8, 2)))
    named += [("wide_" + one.metadata.name, one) for one in compiled[first:] if one.metadata.name == "fa2_backward"]
    for seqlen in (32768, 65536):
        first = len(compiled)
        ahead.compile_one(ahead.Job("standard", CheckCase("", "backward", 1, 1, seqlen, seqlen, 128, False, "bf16")))
        softmax = [one for one in compiled[first:] if "softmax" in one.metadata.name]
        named += [(f"{one.metadata.name}_{seqlen}", one) for one in softmax]
for name, one in named:
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        Path(file.name).write_bytes(one.asm["cubin"])
        listing = subprocess.run([tool, "-res-usage", "-sass", file.name], capture_output=True, text=True).stdout
    found = re.search(r"REG:(\\d+) STACK:(\\d+)", listing)
    counts = [len(re.findall(word, listing)) for word in ("HGMMA", "UTMALDG", "HMMA")]
    print(name, *found.groups(), one.metadata.shared, *counts)
"""


class Resources(NamedTuple):
    registers: int
    stack: int  # bytes a thread, spilled registers mostly
    smem: int  # bytes a thread block
    wgmma: int  # instructions of each kind
    tma_loads: int
    mma: int


JOBS = (
    "standard:forward:128",
    "fa1_triton:forward:128",
    "fa2_triton:backward:128",  # its forward pass is compiled with it
    "blocksparse_triton:forward:128",
    "fa3_gluon:forward:128",
)
# Choices of fa3_gluon besides the default, by head_dim and place in the list: those most short of registers or room.
OTHER_ROLES = ("64:7", "128:1", "256:1", "256:2")
SMEM_PER_BLOCK = 232_448  # bytes a thread block can have on Hopper
# The softmax of long rows, and how many bytes a thread it may spill: those that are swept over hold few numbers.
LONG_ROWS = {
    "standard_softmax_32768": 0,
    "standard_softmax_backward_32768": 64,
    "standard_softmax_swept_65536": 0,
    "standard_softmax_backward_swept_65536": 0,
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Resources]:
    """What the compiler made of each kernel, by name, from one process without the interpreter."""
    path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]  # which may name another Triton
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment |= {"TRITON_CACHE_DIR": str(tmp_path_factory.mktemp("triton")), "PYTHONPATH": os.pathsep.join(path)}
    command = [sys.executable, "-c", PROGRAM, *JOBS, *(f"fa3_gluon:forward:{other}" for other in OTHER_ROLES)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if re.match(r"\w+( \d+){6}$", line)]
    return {name: Resources(*map(int, cells)) for name, *cells in rows}


def test_everything_was_compiled(compiled: dict[str, Resources]) -> None:
    backward = {"fa2_forward", "fa2_row_statistics", "fa2_backward", "fa2_round_dq"}
    standard = {"standard_matmul", "standard_softmax"}
    assert set(compiled) == {
        *backward,
        *standard,
        "fa1_forward",
        "blocksparse_forward",
        "fa3_forward",
        "wide_fa2_backward",
        *LONG_ROWS,
        *(f"fa3_forward_{other.replace(':', '_')}" for other in OTHER_ROLES),
        *(f"fa3_combine_{other.replace(':', '_')}" for other in ("64:7", "128:1")),
    }


@pytest.mark.parametrize(
    ("name", "most_stack"),
    [
        ("standard_matmul", 0),
        ("fa1_forward", 0),
        ("fa2_forward", 0),
        ("fa2_backward", 64),  # dk and dv alone fill half of a thread's registers
        ("blocksparse_forward", 0),
        ("fa3_forward", 16),
        *((f"fa3_forward_{other.replace(':', '_')}", 64) for other in OTHER_ROLES),  # 0 to 48, by Triton's version
    ],
)
def test_it_fits_and_uses_hopper_s_tensor_cores(name: str, most_stack: int, compiled: dict[str, Resources]) -> None:
    found = compiled[name]
    assert found.registers <= 255
    assert found.stack <= most_stack
    assert found.smem <= SMEM_PER_BLOCK
    assert found.wgmma > 0
    assert found.mma == 0


@pytest.mark.parametrize("name", LONG_ROWS)
def test_a_long_row_is_not_spilled(name: str, compiled: dict[str, Resources]) -> None:
    assert compiled[name].stack <= LONG_ROWS[name]
    assert compiled[name].registers <= 64  # 32 warps must fit an SM


@pytest.mark.parametrize(
    "name", ["standard_matmul", "fa2_forward", "fa2_backward", "blocksparse_forward", "fa3_forward"]
)
def test_tiles_are_loaded_by_the_copy_engine(name: str, compiled: dict[str, Resources]) -> None:
    assert compiled[name].tma_loads > 0


def test_a_tile_goes_to_the_pass_it_is_meant_for(compiled: dict[str, Resources]) -> None:
    """With 32 rows of q two stages fit at head_dim 256, which the default of 64 rows would not."""
    found = compiled["wide_fa2_backward"]
    assert 131_080 < found.smem <= SMEM_PER_BLOCK
    assert found.mma > 0  # the product for dq is 32 rows high, too short for WGMMA


def test_jobs_that_compile_the_same_are_done_once() -> None:
    def job(seqlen: int, causal: bool = False, tile: configs.Tile | None = None) -> Job:
        return Job("fa2_triton", CheckCase("", "forward", 1, 1, seqlen, seqlen, 64, causal, "bf16"), tile)

    tile = configs.Tile(64, 64, 4, 2)
    jobs = [job(1024), job(4096), job(1000), job(1024, True), job(1024, tile=tile), job(2048, tile=tile)]
    assert len(unique(jobs)) == 4
