"""One way to launch a Triton kernel, and one way to only compile it.

`launch` runs a kernel. Inside `compile_only` the same call compiles it for a named GPU instead and keeps the result, so
the very code that launches also says what is to be compiled: the bench compiles everything ahead in parallel, and the
tests read registers and spills on a machine without a GPU.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from app.kernels import capability
from app.theory.gpus import GPUS

if TYPE_CHECKING:
    import torch

_compiled: list[Any] | None = None


def compiling() -> bool:
    """Whether launches only compile now."""
    return _compiled is not None


def launches() -> int:
    """How many launches have been compiled so far."""
    return len(_compiled or ())


def launch(kernel: Any, grid: tuple[int, ...], *arguments: Any, **options: Any) -> None:
    """Run `kernel` on `grid`; `options` are its constants and num_warps, num_stages."""
    if _compiled is None:
        kernel[grid](*arguments, **options)
    else:
        _compiled.append(kernel.warmup(*arguments, grid=grid, **options))


@contextmanager
def compile_only(compute_capability: tuple[int, int] = (9, 0)) -> Iterator[list[Any]]:
    """Within, `launch` compiles for that GPU and runs nothing; gives the list of Triton's compiled kernels.

    Takes over Triton's driver for the rest of the process: meant for a process of its own.
    """
    try:
        yield start_compiling(compute_capability)
    finally:
        stop_compiling()


def start_compiling(compute_capability: tuple[int, int]) -> list[Any]:
    """From now on `launch` only compiles; the list that `compile_only` gives."""
    global _compiled
    # newer versions of Triton ask to be told; fused multiply-adds have always been the default
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    from triton.runtime import driver

    driver.set_active(_DriverWithoutGpu(compute_capability))
    capability.assume(compute_capability)
    _compiled = []
    return _compiled


def stop_compiling() -> None:
    """From now on `launch` runs kernels again."""
    global _compiled
    _compiled = None
    capability.assume(None)


class _DriverWithoutGpu:
    """As much of Triton's driver as compiling asks for."""

    def __init__(self, compute_capability: tuple[int, int]) -> None:
        self._capability = compute_capability[0] * 10 + compute_capability[1]

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", self._capability, 32)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int = 0) -> int:
        return 0


def multiprocessors(device: torch.device) -> int:
    """SMs of the GPU; those of an H100 when there is none and kernels are only compiled."""
    if device.type != "cuda":
        return GPUS["h100_sxm5"].sms
    import torch

    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def copy_engine() -> bool:
    """Whether tiles are moved through descriptors: with a copy engine, and in the interpreter."""
    return capability.has_tma() or capability.interpreting()


def tiles_of(tensor: torch.Tensor, rows: int, columns: int | None = None) -> Any:
    """What a kernel needs to move blocks of (`rows`, `columns`) of a tensor's last two axes (default: whole rows).

    With a copy engine (TMA, Hopper and newer) a descriptor, which the host makes: reading past an edge gives zeros,
    writing there does nothing. Without one a tuple for ordinary masked loads and stores: pointer, strides of all axes
    but the last, lengths of the last two. `app.kernels.tiles` takes both.
    """
    if not copy_engine():
        return (tensor, *tensor.stride()[:-1], *tensor.shape[-2:])
    from triton.tools.tensor_descriptor import TensorDescriptor

    block = [1] * (tensor.dim() - 2) + [rows, tensor.shape[-1] if columns is None else columns]
    return TensorDescriptor(tensor, list(tensor.shape), strides_for_tma(tensor), block)


def strides_for_tma(tensor: torch.Tensor) -> list[int]:
    """The tensor's strides. An axis of length 1 is never stepped along, but the copy engine wants a fitting stride."""
    aligned = 16 // tensor.element_size()
    strides = [aligned if length == 1 else stride for length, stride in zip(tensor.shape, tensor.stride(), strict=True)]
    return [*strides[:-1], 1]
