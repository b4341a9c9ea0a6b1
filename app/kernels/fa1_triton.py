"""Rung 2, FlashAttention's first order. The idea: tiles and online softmax, so that S and P never leave the SM.

One thread block works on one head. Its outer loop holds a block of k and v; the inner loop takes every block of q past
it, together with what that block has so far: its output, running max and running sum, read from memory and written back
each time. So S is gone from memory, but the unfinished output makes the trip instead, and a single sequence keeps only
as many SMs busy as it has heads. Source: arXiv 2205.14135, Algorithm 1; the running output is kept in fp32.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from app.kernels import configs
from app.kernels.launching import launch
from app.kernels.problem import LOG2_E, Bound, Forward, Problem, check
from app.theory.shapes import BlockShape

LN_2 = tl.constexpr(0.6931471805599453)


@triton.jit(do_not_specialize=["heads", "seqlen_q", "seqlen_k"])
def fa1_forward(
    q, k, v, o, o_acc, row_max, row_sum, lse, heads, seqlen_q, seqlen_k, scale,
    q_batch, q_head, q_row, k_batch, k_head, k_row, v_batch, v_head, v_row, o_batch, o_head, o_row,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """One thread block: one head. The numbers after `scale` are strides; o_acc, row_max, row_sum, lse are contiguous.

    Ordinary loads and stores, because what one visit writes the next must read.
    """
    batch_head = tl.program_id(0).to(tl.int64)
    batch, head = batch_head // heads, batch_head % heads
    q += batch * q_batch + head * q_head
    k += batch * k_batch + head * k_head
    v += batch * v_batch + head * v_head
    o += batch * o_batch + head * o_head
    o_acc += batch_head * seqlen_q * HEAD_DIM
    row_max += batch_head * seqlen_q
    row_sum += batch_head * seqlen_q
    lse += batch_head * seqlen_q
    columns = tl.arange(0, HEAD_DIM)[None, :]

    last_needed = seqlen_k
    if CAUSAL:
        last_needed = tl.minimum(seqlen_k, seqlen_q)  # no row sees a key after the last row
    for first_key in range(0, last_needed, BLOCK_N):
        keys = first_key + tl.arange(0, BLOCK_N)
        real_keys = keys < seqlen_k
        # hbm → smem or rmem, once for the whole inner loop
        k_tile = tl.load(k + keys[:, None].to(tl.int64) * k_row + columns, mask=real_keys[:, None], other=0.0)
        v_tile = tl.load(v + keys[:, None].to(tl.int64) * v_row + columns, mask=real_keys[:, None], other=0.0)
        first_visited = first_key // BLOCK_M * BLOCK_M if CAUSAL else 0
        for first_row in range(first_visited, seqlen_q, BLOCK_M):
            rows = first_row + tl.arange(0, BLOCK_M)
            real = rows < seqlen_q
            row = rows.to(tl.int64)[:, None]
            q_tile = tl.load(q + row * q_row + columns, mask=real[:, None], other=0.0)
            started = real & (first_key > 0)  # on the first visit there is nothing to read yet
            old_max = tl.load(row_max + rows, mask=started, other=float("-inf"))
            old_sum = tl.load(row_sum + rows, mask=started, other=0.0)
            acc = tl.load(o_acc + row * HEAD_DIM + columns, mask=started[:, None], other=0.0)

            scores = tl.dot(q_tile, tl.trans(k_tile)) * scale
            visible = real_keys[None, :]
            if CAUSAL:
                visible = visible & (keys[None, :] <= rows[:, None])
            scores = tl.where(visible, scores, float("-inf"))
            new_max = tl.maximum(old_max, tl.max(scores, 1))
            probs = tl.exp2(scores - new_max[:, None])
            kept_sum = old_sum * tl.exp2(old_max - new_max)
            new_sum = kept_sum + tl.sum(probs, 1)
            # the running output is divided each time, as the algorithm's line 12 does
            acc = acc * (kept_sum / new_sum)[:, None]
            acc = acc + tl.dot(probs.to(v_tile.dtype), v_tile) / new_sum[:, None]

            last_key = first_key + BLOCK_N
            unfinished = last_key < last_needed
            if CAUSAL:
                unfinished = unfinished & (last_key < first_row + BLOCK_M)
            if unfinished:  # rmem → hbm, to be read again on the next visit
                tl.store(o_acc + row * HEAD_DIM + columns, acc, mask=real[:, None])
                tl.store(row_max + rows, new_max, mask=real)
                tl.store(row_sum + rows, new_sum, mask=real)
            else:
                tl.store(o + row * o_row + columns, acc.to(o.dtype.element_ty), mask=real[:, None])
                tl.store(lse + rows, (new_max + tl.log2(new_sum)) * LN_2, mask=real)
            tl.debug_barrier()  # the next visit to these rows may read them in other threads


def forward(
    problem: Problem,
    *,
    o: torch.Tensor | None = None,
    lse: torch.Tensor | None = None,
    tile: configs.Tile | None = None,
) -> Forward:
    """softmax(QKᵀ/√d)V of any two lengths, causal or not. `o` and `lse` are written when given."""
    sizes = check(problem)
    q, k, v = problem.q, problem.k, problem.v
    tile = tile or configs.tile_for("fa1_triton", "forward", sizes.head_dim, problem.causal, sizes.seqlen_k)
    o = torch.empty_like(q) if o is None else o
    lse = q.new_empty(q.shape[:3], dtype=torch.float32) if lse is None else lse
    o_acc = q.new_empty(q.shape, dtype=torch.float32)
    row_max, row_sum = (torch.empty_like(lse) for _ in range(2))
    launch(
        fa1_forward,
        (sizes.heads,),
        q,
        k,
        v,
        o,
        o_acc,
        row_max,
        row_sum,
        lse,
        sizes.num_heads,
        sizes.seqlen_q,
        sizes.seqlen_k,
        problem.softmax_scale * LOG2_E,
        *(stride for tensor in (q, k, v, o) for stride in tensor.stride()[:3]),
        HEAD_DIM=sizes.head_dim,
        BLOCK_M=tile.block_m,
        BLOCK_N=tile.block_n,
        CAUSAL=problem.causal,
        num_warps=tile.num_warps,
        num_stages=tile.num_stages,
    )
    return Forward(o, lse)


def bind(problem: Problem, tile: configs.Tile | None = None) -> Bound:
    """The kernel tied to `problem`, with outputs of its own that hold NaN until they are written. Forward only."""
    check(problem)
    tile = tile or configs.tile_for("fa1_triton", "forward", problem.q.shape[-1], problem.causal, problem.k.shape[2])
    o = torch.full_like(problem.q, float("nan"))
    lse = problem.q.new_full(problem.q.shape[:3], float("nan"), dtype=torch.float32)
    return Bound(
        lambda: forward(problem, o=o, lse=lse, tile=tile),
        block=BlockShape(tile.block_m, tile.block_n),
        settings=str(tile),
    )
