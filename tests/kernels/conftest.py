"""Where Triton's kernels run in these tests: on the GPU if there is one, else in Triton's interpreter on the CPU.

The choice must be made before a kernel is imported, so it is made here. Test modules that need torch or triton are
skipped with one sentence where those are not installed; everything else runs anywhere.
"""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from app.kernels import capability

NEED_TORCH = {
    f"test_{name}.py"
    for name in (
        "ahead",
        "check",
        "fa3_combine",
        "backward_emulated",
        "fa3_emulated",
        "fp8_ahead",
        "fp8_emulated",
        "fp8_quantize",
        "maxima_emulated",
        "problem",
        "reference",
        "rounded",
        "run",
        "rungs",
        "tiles_emulated",
    )
}
NOT_INSTALLED = (
    "PyTorch and Triton are not installed (the test command does not download them), so no kernel can be run"
)

if not capability.has_cuda():
    os.environ.setdefault("TRITON_INTERPRET", "1")


@pytest.fixture(scope="session")
def device() -> str:
    return "cuda" if capability.has_cuda() else "cpu"


@pytest.fixture(scope="session")
def dtype() -> str:
    """The interpreter multiplies bf16 as if it were integers, so kernels are checked in fp16 there."""
    return "bf16" if capability.has_cuda() else "fp16"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a module's emulated kernels are built, each once."""
    return tmp_path_factory.mktemp("emulated")


class NotInstalled(pytest.Module):
    """A test module that cannot be imported here."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        pytest.skip(NOT_INSTALLED, allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    if module_path.name in NEED_TORCH and not (capability.has_torch() and capability.has_triton()):
        return NotInstalled.from_parent(parent, path=module_path)
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not capability.has_cuda():
        for item in items:
            if item.get_closest_marker("gpu"):
                item.add_marker(pytest.mark.skip(reason="there is no NVIDIA GPU here"))
