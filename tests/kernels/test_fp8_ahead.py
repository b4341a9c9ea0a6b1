"""The 8-bit kernel compiled for Hopper without a GPU, every third choice: nothing spilled, nothing shuffled about."""

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from app.kernels import configs

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
    for head_dim in (64, 128, 256):
        for choice in configs.HOPPER["fa3_fp8_gluon", "forward", head_dim][::3]:
            case = CheckCase("", "forward", 1, 2, 1000, 1000, head_dim, True, "bf16")
            ahead.compile_one(ahead.Job("fa3_fp8_gluon", case, roles=choice))
            one = compiled[-1]
            assert one.metadata.name == "fa3_fp8_forward"
            with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
                Path(file.name).write_bytes(one.asm["cubin"])
                command = [tool, "-res-usage", "-sass", file.name]
                listing = subprocess.run(command, capture_output=True, text=True).stdout
            (stack,) = re.findall(r"STACK:(\\d+)", listing)
            words = ("QGMMA", "UTMALDG", "F2FP.SATFINITE.E4M3", "PRMT", "SHFL", "HMMA")
            print(f"{head_dim} {choice}:", stack, one.metadata.shared, *(listing.count(word) for word in words))
"""
SMEM_PER_BLOCK = 232_448  # bytes a thread block can have on Hopper
# Bytes a thread may spill: none with the Triton that kernels are timed with; 3.9 spills up to 184 in these choices.
TIMED_WITH, MOST_STACK_OTHERWISE = "3.6.", 192


class Found(NamedTuple):
    stack: int
    smem: int
    wgmma: int  # instructions of each kind, both masks' visits and all consumers together
    tma_loads: int
    roundings: int
    byte_moves: int
    shuffles: int
    mma: int


NAMES = [
    f"{head_dim} {choice}"
    for head_dim in (64, 128, 256)
    for choice in configs.HOPPER["fa3_fp8_gluon", "forward", head_dim][::3]
]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Found]:
    """What the compiler made of each choice, from one process without the interpreter."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment |= {"TRITON_CACHE_DIR": str(tmp_path_factory.mktemp("triton"))}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = [re.match(r"(\d+ .*): ([\d ]+)$", line) for line in done.stdout.splitlines()]
    return {row[1]: Found(*map(int, row[2].split())) for row in rows if row}


@pytest.mark.parametrize("name", NAMES)
def test_it_fits_and_multiplies_8_bit_numbers(name: str, compiled: dict[str, Found]) -> None:
    found = compiled[name]
    most_stack = 0 if importlib.metadata.version("triton").startswith(TIMED_WITH) else MOST_STACK_OTHERWISE
    assert found.stack <= most_stack
    assert found.smem <= SMEM_PER_BLOCK
    assert found.wgmma > 0
    assert found.tma_loads > 0
    assert found.mma == 0


@pytest.mark.parametrize("name", NAMES)
def test_probabilities_go_from_one_product_to_the_next_without_leaving_their_thread(
    name: str, compiled: dict[str, Found]
) -> None:
    """Two roundings make a word of four; shuffles are those of the row maximum and, once a tile, of the row sum."""
    found = compiled[name]
    assert found.roundings >= 32
    assert found.byte_moves < 16
    assert found.shuffles <= 64
