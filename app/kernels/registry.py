"""Every kernel by id: our rungs in order of the ladder, the peers, the wrong ones. Importing it needs no torch.

A kernel's launcher is named as text and imported when it is asked for, so that a list can be printed on any machine.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from app.kernels import capability
from app.kernels.problem import DTYPES, HEAD_DIMS, Bound

BOTH = ("forward", "backward")
TRITON = ("torch", "triton", "cuda", "ampere")


@dataclass(frozen=True, slots=True)
class Kernel:
    """One way of computing attention.

    `kind` is rung, peer or wrong. `launcher` is "module:function", which ties the kernel to a problem. `needs` are
    questions of `capability`. `counted_as` is the (model, forward variant, backward variant) of `app.theory.traffic`
    whose bytes it should move. `approximate` results are checked against the same approximation in float64. `quantized`
    names the numbers that q, k, v and the probabilities are rounded to, where those are coarser than the inputs' dtype:
    such results are checked against float64 attention of the rounded inputs, with a bound of their own.
    """

    id: str
    kind: str
    title: str
    idea: str
    launcher: str
    directions: tuple[str, ...]
    needs: tuple[str, ...]
    head_dims: tuple[int, ...] = HEAD_DIMS
    backward_head_dims: tuple[int, ...] = HEAD_DIMS
    dtypes: tuple[str, ...] = DTYPES
    different_lengths: bool = False
    dropout: bool = False
    grouped: bool = False
    approximate: bool = False
    quantized: str | None = None
    counted_as: tuple[str, str, str | None] | None = None

    def bind(self) -> Callable[..., Bound]:
        """The function that ties this kernel to a Problem. ImportError where its libraries are missing."""
        module, _, function = self.launcher.partition(":")
        found: Callable[..., Bound] = getattr(importlib.import_module(module), function)
        return found

    @property
    def compiled(self) -> bool:
        """Whether it is one of ours, which can be compiled ahead."""
        return "triton" in self.needs or "nvrtc" in self.needs

    def has(self, direction: str, head_dim: int) -> bool:
        """Whether a pass of it takes this head_dim."""
        limited = self.backward_head_dims if direction == "backward" else HEAD_DIMS
        return direction in self.directions and head_dim in self.head_dims and head_dim in limited

    def cannot_run(self, *, direction: str, dtype: str, head_dim: int, same_lengths: bool = True) -> str | None:
        """Why it cannot run this here, in one clause; None when it can be tried."""
        if direction not in self.directions:
            return f"it has no {direction} pass"
        if dtype not in self.dtypes:
            return f"it has no {dtype}"
        if head_dim not in self.head_dims:
            return f"it has no head_dim {head_dim}"
        if not self.has(direction, head_dim):
            return f"its {direction} pass has no head_dim {head_dim}"
        if not same_lengths and not self.different_lengths:
            return "it takes queries and keys of one length only"
        return capability.missing(self.needs)


KERNELS: tuple[Kernel, ...] = (
    Kernel(
        "standard",
        "rung",
        "Standard attention, three kernels",
        "the round trip: S and P lie in memory",
        "app.kernels.standard:bind",
        BOTH,
        TRITON,
        different_lengths=True,
        counted_as=("standard", "fused_mask", "listed"),
    ),
    Kernel(
        "fa1_triton",
        "rung",
        "FlashAttention-1 style",
        "tiles and online softmax: S and P never leave the SM",
        "app.kernels.fa1_triton:bind",
        ("forward",),
        TRITON,
        different_lengths=True,
        counted_as=("fa1", "acc32", None),
    ),
    Kernel(
        "fa2_triton",
        "rung",
        "FlashAttention-2 style",
        "a block of queries stays until it is done; parallel over the sequence",
        "app.kernels.fa2_triton:bind",
        BOTH,
        TRITON,
        different_lengths=True,
        dropout=True,
        counted_as=("fa2", "with_lse", "kernel"),
    ),
    Kernel(
        "fa3_gluon",
        "rung",
        "FlashAttention-3 style, Hopper",
        "nobody waits: a producer fetches, consumers take turns, softmax beside the next product",
        "app.kernels.fa3_gluon:bind",
        ("forward",),
        (*TRITON, "gluon", "hopper"),
        grouped=True,
        counted_as=("fa2", "with_lse", None),
    ),
    Kernel(
        "fa3_cuda",
        "rung",
        "FlashAttention-3 style, Hopper, CUDA C++",
        "the same order, with blocks of any size and one load for two thread blocks",
        "app.kernels.fa3_cuda:bind",
        BOTH,
        (*TRITON, "nvrtc", "hopper"),
        backward_head_dims=(64, 128),
        grouped=True,
        counted_as=("fa2", "with_lse", "kernel"),
    ),
    Kernel(
        "fa3_fp8_gluon",
        "rung",
        "FlashAttention-3 style in 8 bits, Hopper",
        "half the bits, twice the products: e4m3 numbers, one scale a block",
        "app.kernels.fa3_fp8_gluon:bind",
        ("forward",),
        (*TRITON, "gluon", "hopper"),
        grouped=True,
        quantized="e4m3",
    ),
    Kernel(
        "fa3_fp8_cuda",
        "rung",
        "FlashAttention-3 style in 8 bits, Hopper, CUDA C++",
        "more keys a block, and at head_dim 128 no exponentials",
        "app.kernels.fa3_fp8_cuda:bind",
        ("forward",),
        (*TRITON, "nvrtc", "hopper"),
        head_dims=(128, 256),
        grouped=True,
        quantized="e4m3",
    ),
    Kernel(
        "blocksparse_triton",
        "rung",
        "Block-sparse attention (approximate)",
        "whole score blocks are left out",
        "app.kernels.blocksparse_triton:bind",
        ("forward",),
        TRITON,
        different_lengths=True,
        approximate=True,
    ),
    Kernel("sdpa_math", "peer", "PyTorch, plain operators", "", "app.kernels.peers:sdpa_math", BOTH, ("torch", "cuda")),
    Kernel(
        "torch_three_calls",
        "peer",
        "Three PyTorch calls",
        "",
        "app.kernels.peers:torch_three_calls",
        BOTH,
        ("torch", "cuda"),
        counted_as=("standard", "fused_mask", "listed"),
    ),
    Kernel(
        "sdpa_efficient",
        "peer",
        "xFormers' memory-efficient kernel (PyTorch)",
        "",
        "app.kernels.peers:sdpa_efficient",
        BOTH,
        ("torch", "cuda"),
    ),
    Kernel(
        "sdpa_flash",
        "peer",
        "FlashAttention-2 (PyTorch)",
        "",
        "app.kernels.peers:sdpa_flash",
        BOTH,
        ("torch", "cuda", "ampere"),
        counted_as=("fa2", "with_lse", "kernel"),
    ),
    Kernel(
        "sdpa_cudnn",
        "peer",
        "cuDNN (PyTorch)",
        "",
        "app.kernels.peers:sdpa_cudnn",
        BOTH,
        ("torch", "cuda", "ampere"),
        counted_as=("fa2", "with_lse", "kernel"),
    ),
    Kernel(
        "fa3_wheel",
        "peer",
        "FlashAttention-3 (wheel)",
        "",
        "app.kernels.peers:fa3_wheel",
        ("forward",),
        ("torch", "cuda", "hopper", "fa3_wheel"),
        counted_as=("fa2", "with_lse", None),
    ),
    *(
        Kernel(
            f"wrong_{name}",
            "wrong",
            f"Wrong on purpose: {name.replace('_', ' ')}",
            "",
            f"app.kernels.wrong.forward:{name}",
            ("forward",),
            TRITON,
            different_lengths=True,
        )
        for name in ("no_rescale", "mask_off_by_one", "last_block_unmasked")
    ),
)

BY_ID = {kernel.id: kernel for kernel in KERNELS}


def get(kernel_id: str) -> Kernel:
    """The kernel with this id. KeyError, listing the ids, when there is none."""
    if kernel_id not in BY_ID:
        raise KeyError(f"there is no kernel {kernel_id!r}; there are {', '.join(BY_ID)}")
    return BY_ID[kernel_id]


def of_kind(*kinds: str) -> tuple[Kernel, ...]:
    """The kernels of these kinds, in order."""
    return tuple(kernel for kernel in KERNELS if kernel.kind in kinds)
