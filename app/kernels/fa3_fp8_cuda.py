"""`fa3_fp8_gluon`'s numbers in `fa3_cuda`'s kernel: e4m3 with blocks of K and V that are no power of two, loads shared.

More keys a block mean fewer maxima, rescalings and waits a key: the work of a visit that does not shrink with the size
of the numbers. V lies in shared memory in rows of keys, in chunks of 64, so blocks are multiples of 64. Rules of the
scales and of the order of V's rows: `fa3_fp8_quantize`. head_dim 128 and 256: a row of 64 numbers is half a chunk.

With e4m3 a product takes as long as the exponentials of its scores. At head_dim 128 (`coded`) there are none: an e4m3
number read as an integer is nearly its logarithm, so a score times a constant, rounded, is the probability. How much
that costs in accuracy: `bench.rounded`. At 256, V's columns and that of the sums are more than one instruction takes.
Source: arXiv 2407.08608, Section 3.3.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

from app.kernels import configs, launching, nvrtc
from app.kernels.fa3_cuda import Arguments, Output, compiled, compiled_part
from app.kernels.fa3_fp8_quantize import NOTE, quantize, scale_tables
from app.kernels.launching import strides_for_tma
from app.kernels.problem import Bound, Forward, Problem, check
from app.theory.cluster_roles import few_keys, smem
from app.theory.shapes import BlockShape

HEAD_DIMS = (128, 256)
V_CHUNK_BYTES = 64


class _Arguments(Arguments):
    """The fields that the kernel has for 8-bit numbers only."""

    _fields_ = (  # type: ignore[assignment]
        ("q_scales", ctypes.c_void_p),
        ("kv_scales", ctypes.c_void_p),
        ("q_blocks", ctypes.c_int),
        ("kv_blocks", ctypes.c_int),
    )


@lru_cache(maxsize=64)
def _loaded(
    head_dim: int, causal: bool, dtype: str, shape: configs.ClusterRoles, few: int, device: int
) -> nvrtc.Kernel:
    del device  # a module belongs to one GPU
    code = compiled(head_dim, causal, dtype, shape, "e4m3", few)
    return nvrtc.Kernel(code, smem(shape, head_dim, element_bytes=1).total)


def bind(problem: Problem, roles: configs.ClusterRoles | None = None) -> Bound:
    """The kernel tied to `problem` (self-attention; key/value heads may be shared), outputs NaN until written.

    q, k and v are quantised here. KernelInputError when the tensors do not fit.
    """
    sizes = check(problem, head_dims=HEAD_DIMS, same_lengths=True, grouped=True)
    head_dim, causal, q = sizes.head_dim, problem.causal, problem.q
    shape = roles or configs.cluster_roles_for(head_dim, causal, sizes.seqlen_q, "fa3_fp8_cuda")
    q8, k8 = quantize(q, configs.CONSUMER_ROWS), quantize(problem.k, shape.block_n)
    v8 = quantize(problem.v, shape.block_n, turn=True, summing=shape.coded)
    out = Output.of(problem, sizes, shape, element_bytes=1)
    q_scales, kv_scales = scale_tables(q8, k8, v8, problem.softmax_scale, shape.consumers * shape.cluster)

    def meant() -> Problem:
        q_meant, k_meant, v_meant = (x.values(sizes.seqlen_k) for x in (q8, k8, v8))
        return Problem(q_meant, k_meant, v_meant, causal=causal)

    block, settings = BlockShape(shape.block_m, shape.block_n), f"{shape}; {NOTE}"
    few = few_keys(shape, sizes.seqlen_k, causal=causal, element_bytes=1)
    if launching.compiling():
        compiled(head_dim, causal, out.dtype, shape, "e4m3", few)
        return Bound(out.combined, block=block, settings=settings, meant=meant, coded=shape.coded)
    kernel = _loaded(head_dim, causal, out.dtype, compiled_part(shape), few, q.device.index or 0)
    places = (
        (q8.numbers, shape.block_m, head_dim // 128, 128),
        (k8.numbers, shape.block_n // shape.cluster, 1, 128),
        (v8.numbers, v8.numbers.shape[2] // shape.cluster, 1, V_CHUNK_BYTES),
    )
    maps: list[Any] = [nvrtc.tensor_map(numbers, strides_for_tma(numbers), *box) for numbers, *box in places]
    given = _Arguments(
        *out.arguments(problem, sizes),
        q_scales.data_ptr(),
        kv_scales.data_ptr(),
        q_scales.shape[1],
        kv_scales.shape[1],
    )
    held = (q8, k8, v8, q_scales, kv_scales)  # the kernel knows them by address only

    def run() -> Forward:
        assert held
        return out.launched(kernel, shape, [*maps, given])

    return Bound(run, block=block, settings=settings, meant=meant, coded=shape.coded)
