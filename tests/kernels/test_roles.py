"""What the compiler makes of the Hopper kernel's roles: as many threads and as much shared memory as theory counts."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.kernels import capability, configs
from app.theory import hopper_roles

ROOT = Path(__file__).parents[2]
PROGRAM = """
import re
from app.kernels import configs, launching
from app.kernels.bench import ahead
from app.kernels.bench.cases import CheckCase

with launching.compile_only((9, 0)) as compiled:
    for (kernel, _, head_dim), choices in configs.HOPPER.items():
        for roles in choices if kernel == "fa3_gluon" else ():
            case = CheckCase("", "forward", 1, 2, 1024, 1024, head_dim, False, "bf16")
            ahead.compile_one(ahead.Job(kernel, case, roles=roles))
for one in compiled:
    if one.metadata.name == "fa3_forward":
        print("compiled", one.metadata.shared, re.search(r"reqntid (\\d+)", one.asm["ptx"])[1])
"""
# What the compiler adds of its own.
MOST_ADDED_BYTES = 512
LISTED = [
    (head_dim, roles)
    for (kernel, _, head_dim), choices in configs.HOPPER.items()
    if kernel == "fa3_gluon"
    for roles in choices
    if isinstance(roles, hopper_roles.Roles)
]


def test_the_first_choice_is_the_default_that_chapter_11_shows() -> None:
    for head_dim, roles in hopper_roles.DEFAULTS.items():
        assert configs.HOPPER["fa3_gluon", "forward", head_dim][0] == roles


@pytest.mark.skipif(not (capability.has_torch() and capability.has_gluon()), reason="PyTorch or Gluon is not installed")
def test_threads_and_shared_memory_are_those_counted(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    inherited = environment.get("PYTHONPATH", "")
    environment |= {"TRITON_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join((str(ROOT), inherited))}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = [tuple(map(int, cells)) for cells in re.findall(r"compiled (\d+) (\d+)", done.stdout)]
    assert len(found) == len(LISTED)
    for (shared, threads), (head_dim, roles) in zip(found, LISTED, strict=True):
        counted = hopper_roles.smem(roles, head_dim).total
        assert counted < shared < counted + MOST_ADDED_BYTES, f"{head_dim}: {roles}"
        assert threads == roles.threads
    at_128 = [shared for (shared, _), (head_dim, _) in zip(found, LISTED, strict=True) if head_dim == 128]
    assert at_128[0] == 229_704  # as the hardware's profiler reports it, too
