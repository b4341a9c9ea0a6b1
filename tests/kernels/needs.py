"""Skips the rest of a test module where PyTorch or Triton is not installed."""

import pytest

REASON = "PyTorch and Triton are not installed (the test command does not download them), so no kernel can be run"


def torch_and_triton() -> None:
    pytest.importorskip("torch", reason=REASON)
    pytest.importorskip("triton", reason=REASON)
