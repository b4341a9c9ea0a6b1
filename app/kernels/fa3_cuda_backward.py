"""The backward pass of FlashAttention-3's order in CUDA C++: sizes, compiling and launching of `cuda/fa3_backward.cu`.

Three steps. A Triton kernel makes the row statistics (delta and the log-sum-exp in base 2) and clears the sum for dq,
the CUDA kernel makes dk, dv and that sum, and a last one scales and rounds it. Groups of query heads may share a
key/value head.
Source of the order: arXiv 2407.08608, appendix B; of the equations: arXiv 2307.08691, Algorithm 2.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch
import triton
import triton.language as tl

from app.kernels import fa2_backward_triton, launching, nvrtc, wgmma
from app.kernels.fa2_backward_triton import PADDED_TO, ROWS, WARPS
from app.kernels.launching import launch, strides_for_tma, tiles_of
from app.kernels.problem import LOG2_E, Forward, Gradients, KernelInputError, Problem, check
from app.kernels.tiles import store_tile
from app.theory.backward_roles import BLOCK_N, HEAD_DIMS, BackwardRoles, smem_bytes

AT_ONCE = 512  # numbers of dq a consumer of the kernel adds with one instruction: four a thread


class _Arguments(ctypes.Structure):
    """`Arguments` of the kernel's source."""

    _fields_ = (
        ("dk", ctypes.c_void_p),
        ("dv", ctypes.c_void_p),
        ("dq_sum", ctypes.c_void_p),
        ("lse", ctypes.c_void_p),
        ("delta", ctypes.c_void_p),
        ("dk_strides", ctypes.c_longlong * 3),
        ("dv_strides", ctypes.c_longlong * 3),
        ("rows_padded", ctypes.c_longlong),
        ("scale", ctypes.c_float),
        ("softmax_scale", ctypes.c_float),
        ("heads_kv", ctypes.c_int),
        ("group", ctypes.c_int),
        ("seqlen", ctypes.c_int),
    )


def compiled(head_dim: int, causal: bool, dtype: str, roles: BackwardRoles) -> nvrtc.Cubin:
    """The machine code for one kind of problem."""
    constants = {
        "HEAD_DIM": head_dim,
        "BLOCK_M": roles.block_m,
        "STAGES": roles.stages,
        "CAUSAL": int(causal),
        "BF16": int(dtype == "bf16"),
        "CONSUMER_REGISTERS": roles.consumer_registers,
        "PRODUCER_REGISTERS": roles.producer_registers,
    }
    scores = wgmma.product("product_scores", roles.block_m, dtype, left="smem")
    rows = wgmma.product("product_rows", head_dim, dtype, left="registers")
    dq = wgmma.product("product_dq", roles.block_m * head_dim // 128, dtype, left="turned")
    return nvrtc.compiled("fa3_backward.cu", "fa3_backward", constants, wgmma.header(scores, rows, dq))


@lru_cache(maxsize=64)
def _loaded(head_dim: int, causal: bool, dtype: str, roles: BackwardRoles, device: int) -> nvrtc.Kernel:
    del device  # a module belongs to one GPU
    return nvrtc.Kernel(compiled(head_dim, causal, dtype, roles), smem_bytes(roles, head_dim))


@triton.jit(do_not_specialize=["heads", "seqlen", "m_blocks"])
def fa3_round_dq(
    dq_sum, dq, heads, seqlen, m_blocks, softmax_scale,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, ROWS: tl.constexpr, AT_ONCE: tl.constexpr,
):  # fmt: skip
    """dq = softmax_scale · dq_sum in the dtype of dq; dq_sum lies in the order of the consumers' registers."""
    blocks = tl.cdiv(seqlen, ROWS)
    first_row = tl.program_id(0) % blocks * ROWS
    batch_head = tl.program_id(0) // blocks
    rows = (first_row + tl.arange(0, ROWS))[:, None]
    column = tl.arange(0, HEAD_DIM)[None, :]
    row = rows % BLOCK_M
    # Which consumer has it: at head_dim 128 each has half of the columns, at 64 half of the rows.
    DQ_COLUMNS: tl.constexpr = BLOCK_M * HEAD_DIM // 128
    consumer = column // 64 + 0 * row if HEAD_DIM == 128 else row // DQ_COLUMNS + 0 * column
    at, up = row % DQ_COLUMNS, column % 64
    thread = up // 16 * 32 + up % 8 * 4 + at % 8 // 2
    place = at // 8 * AT_ONCE + thread * 4 + up % 16 // 8 * 2 + at % 2
    block = batch_head.to(tl.int64) * m_blocks + rows // BLOCK_M
    acc = tl.load(dq_sum + (block * 2 + consumer) * (64 * DQ_COLUMNS) + place, mask=rows < seqlen, other=0.0)
    store_tile(dq, batch_head // heads, batch_head % heads, first_row, acc * softmax_scale, ROWS, HEAD_DIM)


def bind(problem: Problem, saved: Forward, roles: BackwardRoles) -> Callable[[], Gradients]:
    """What gives the gradients of sum(o * do), from what the forward pass gave for the same problem.

    They hold NaN until it is called. KernelInputError when tensors do not fit, head_dim is 256 or `problem.do` is
    missing.
    """
    sizes = check(problem, head_dims=HEAD_DIMS, same_lengths=True, grouped=True)
    q, k, v, do = problem.q, problem.k, problem.v, problem.do
    if do is None or saved.lse is None:
        raise KernelInputError("the backward pass needs do and the log-sum-exp of the forward pass")
    gradients = Gradients(*(torch.full_like(tensor, float("nan")) for tensor in (q, k, v)))
    m_blocks = triton.cdiv(sizes.seqlen_q, roles.block_m)
    rows_padded = triton.cdiv(m_blocks * roles.block_m, PADDED_TO) * PADDED_TO
    dq_sum = torch.empty(sizes.heads, m_blocks * roles.block_m, sizes.head_dim, dtype=torch.float32, device=q.device)
    add_up = _launcher(problem, roles, gradients, dq_sum, rows_padded)

    def run() -> Gradients:
        add_up(*fa2_backward_triton.row_statistics(problem, saved, sizes, rows_padded, dq_sum))
        launch(
            fa3_round_dq,
            (triton.cdiv(sizes.seqlen_q, ROWS) * sizes.heads,),
            dq_sum,
            tiles_of(gradients.dq, ROWS),
            sizes.num_heads,
            sizes.seqlen_q,
            m_blocks,
            problem.softmax_scale,
            HEAD_DIM=sizes.head_dim,
            BLOCK_M=roles.block_m,
            ROWS=ROWS,
            AT_ONCE=AT_ONCE,
            num_warps=WARPS,
        )
        return gradients

    return run


def _launcher(
    problem: Problem, roles: BackwardRoles, gradients: Gradients, dq_sum: torch.Tensor, rows_padded: int
) -> Callable[[torch.Tensor, torch.Tensor], None]:
    """What launches the CUDA kernel when it is given lse and delta."""
    batch, num_heads, seqlen, head_dim = problem.q.shape
    num_heads_kv = problem.k.shape[1]
    dtype = "bf16" if problem.q.dtype == torch.bfloat16 else "fp16"
    if launching.compiling():
        compiled(head_dim, problem.causal, dtype, roles)
        return lambda lse, delta: None
    kernel = _loaded(head_dim, problem.causal, dtype, roles, problem.q.device.index or 0)
    held = (problem.q, problem.do, problem.k, problem.v)  # the kernel knows them by address only
    maps: list[Any] = []
    for tensor, rows in zip(held, (roles.block_m, roles.block_m, BLOCK_N, BLOCK_N), strict=True):
        assert tensor is not None
        maps.append(nvrtc.tensor_map(tensor, strides_for_tma(tensor), rows, head_dim // 64))
    blocks = triton.cdiv(seqlen, BLOCK_N) * batch * num_heads_kv

    def add_up(lse: torch.Tensor, delta: torch.Tensor) -> None:
        assert held
        given = _Arguments(
            *(tensor.data_ptr() for tensor in (gradients.dk, gradients.dv, dq_sum, lse, delta)),
            (ctypes.c_longlong * 3)(*gradients.dk.stride()[:3]),
            (ctypes.c_longlong * 3)(*gradients.dv.stride()[:3]),
            rows_padded,
            problem.softmax_scale * LOG2_E,
            problem.softmax_scale,
            num_heads_kv,
            num_heads // num_heads_kv,
            seqlen,
        )
        kernel.launch(blocks, roles.threads, 1, [*maps, given])

    return add_up
