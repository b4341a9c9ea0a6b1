"""Where Triton's kernels run in these tests: on the GPU if there is one, else in Triton's interpreter on the CPU.

The choice must be made before a kernel is imported, so it is made here. Tests that need torch or triton skip themselves
with one sentence where those are not installed; everything else runs anywhere.
"""

import os

import pytest

from app.kernels import capability

if not capability.has_cuda():
    os.environ.setdefault("TRITON_INTERPRET", "1")


@pytest.fixture(scope="session")
def device() -> str:
    return "cuda" if capability.has_cuda() else "cpu"


@pytest.fixture(scope="session")
def dtype() -> str:
    """The interpreter multiplies bf16 as if it were integers, so kernels are checked in fp16 there."""
    return "bf16" if capability.has_cuda() else "fp16"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not capability.has_cuda():
        for item in items:
            if item.get_closest_marker("gpu"):
                item.add_marker(pytest.mark.skip(reason="there is no NVIDIA GPU here"))
