"""What this machine can do, asked when it matters and never at import.

Every question is one function that answers True or False; `missing` turns the first No into a sentence. A rung names
the questions it needs in the registry, so nothing else decides where it can run.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

_assumed: tuple[int, int] | None = None


def has_torch() -> bool:
    """PyTorch is installed."""
    return importlib.util.find_spec("torch") is not None


def has_triton() -> bool:
    """Triton is installed."""
    return importlib.util.find_spec("triton") is not None


def has_gluon() -> bool:
    """Triton's Gluon, with the Hopper part, is installed."""
    if not has_triton():
        return False
    try:
        return importlib.util.find_spec("triton.experimental.gluon.language.nvidia.hopper") is not None
    except ModuleNotFoundError:
        return False


def has_nvrtc() -> bool:
    """NVIDIA's run-time compiler and driver can be called from Python (package cuda-bindings)."""
    try:
        return importlib.util.find_spec("cuda.bindings.nvrtc") is not None
    except ModuleNotFoundError:
        return False


def has_cuda() -> bool:
    """PyTorch sees an NVIDIA GPU."""
    if not has_torch():
        return False
    import torch

    return bool(torch.cuda.is_available())


def is_ampere_or_newer() -> bool:
    """The GPU has bf16 tensor cores and asynchronous copies (compute capability 8.0 and above)."""
    return compute_capability() >= (8, 0)


def has_tma() -> bool:
    """The GPU has a copy engine that moves tiles (compute capability 9.0 and above)."""
    return compute_capability() >= (9, 0)


def is_hopper() -> bool:
    """The GPU has TMA and WGMMA (compute capability 9.x)."""
    return compute_capability()[0] == 9


def has_fa3_wheel() -> bool:
    """FlashAttention-3's Python module can be found."""
    return importlib.util.find_spec("flash_attn_interface") is not None


def interpreting() -> bool:
    """Triton runs its kernels in Python on the CPU (TRITON_INTERPRET=1) instead of compiling them."""
    return os.environ.get("TRITON_INTERPRET", "0") == "1"


def compute_capability() -> tuple[int, int]:
    """(major, minor) of the GPU kernels are made for: the current one, or the one `assume` named; (0, 0) for none."""
    if _assumed is not None:
        return _assumed
    if not has_cuda():
        return (0, 0)
    import torch

    major, minor = torch.cuda.get_device_capability()
    return (int(major), int(minor))


def assume(compute_capability: tuple[int, int] | None) -> None:
    """Answer as if that GPU were here (None: as it is), for compiling ahead."""
    global _assumed
    _assumed = compute_capability


QUESTIONS: Mapping[str, tuple[Callable[[], bool], str]] = MappingProxyType(
    {
        "torch": (has_torch, "PyTorch is not installed"),
        "triton": (has_triton, "Triton is not installed"),
        "gluon": (has_gluon, "this Triton has no Gluon for Hopper"),
        "nvrtc": (has_nvrtc, "the package cuda-bindings is not installed"),
        "cuda": (has_cuda, "there is no NVIDIA GPU here"),
        "ampere": (is_ampere_or_newer, "it needs an Ampere or newer GPU (compute capability 8.0)"),
        "hopper": (is_hopper, "it needs a Hopper GPU (compute capability 9.0)"),
        "fa3_wheel": (has_fa3_wheel, "the module flash_attn_interface is not installed"),
    }
)


def missing(needs: Sequence[str]) -> str | None:
    """Why something that needs all of `needs` cannot run here, None when it can. KeyError for an unknown question."""
    for need in needs:
        answer, sentence = QUESTIONS[need]
        if not answer():
            return sentence
    return None
