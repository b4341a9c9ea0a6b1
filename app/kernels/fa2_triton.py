"""Rung 3, FlashAttention-2's order, forward. The idea: let each thread block keep one block of q until it is done.

The loop over q is now the outer one and is spread over thread blocks, so a sequence keeps the whole GPU busy. K and V
pass by once for every block of q, out of the L2 cache; O and its statistics stay in registers and leave once.
Also here: the scale folded into the exponent (exp2 instead of exp), masks only on the blocks that need one, dropout
from the generator's state, the log-sum-exp for the backward pass. Source: arXiv 2307.08691, Algorithm 1.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from app.kernels import configs
from app.kernels.launching import launch, tiles_of
from app.kernels.problem import LOG2_E, Bound, Forward, Gradients, Problem, check
from app.kernels.tiles import kept, load_tile, store_tile
from app.theory.shapes import BlockShape

LN_2 = tl.constexpr(0.6931471805599453)


@triton.jit
def visit(
    acc, row_max, row_sum, q, k, v, batch, head, heads, first_row, first_key, seqlen_k, scale, seed, threshold,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, HEAD_DIM: tl.constexpr,
    MASKED: tl.constexpr, CAUSAL: tl.constexpr, DROPOUT: tl.constexpr,
):  # fmt: skip
    """Fold one block of k and v into what the q block has so far. `scale` is softmax_scale · log2(e)."""
    k_tile = load_tile(k, batch, head, first_key, BLOCK_N, HEAD_DIM)  # l2 → smem
    scores = tl.dot(q, k_tile.T)  # rmem, fp32, not yet scaled
    rows = first_row + tl.arange(0, BLOCK_M)[:, None]
    keys = first_key + tl.arange(0, BLOCK_N)[None, :]
    if MASKED:
        visible = keys < seqlen_k
        if CAUSAL:
            visible = visible & (keys <= rows)
        scores = tl.where(visible, scores, float("-inf"))
    new_max = tl.maximum(row_max, tl.max(scores, 1) * scale)
    probs = tl.exp2(scores * scale - new_max[:, None])
    rescale = tl.exp2(row_max - new_max)
    row_sum = row_sum * rescale + tl.sum(probs, 1)
    acc = acc * rescale[:, None]
    if DROPOUT:
        probs = tl.where(kept(seed, batch * heads + head, rows, keys, threshold), probs, 0.0)
    v_tile = load_tile(v, batch, head, first_key, BLOCK_N, HEAD_DIM)  # l2 → smem
    acc = tl.dot(probs.to(v_tile.dtype), v_tile, acc)  # the 16-bit probs come from registers
    return acc, new_max, row_sum


@triton.jit(do_not_specialize=["heads", "seqlen_q", "seqlen_k", "seed", "threshold"])
def fa2_forward(
    q, k, v, o, lse, heads, seqlen_q, seqlen_k, scale, seed, threshold, keep_scale,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, STAGES: tl.constexpr,
    CAUSAL: tl.constexpr, TAIL: tl.constexpr, DROPOUT: tl.constexpr,
):  # fmt: skip
    """One thread block: one block of q against every block of k and v it can see. q, k, v, o are descriptors."""
    blocks_m = tl.cdiv(seqlen_q, BLOCK_M)
    m_block = tl.program_id(0) % blocks_m
    if CAUSAL:
        m_block = blocks_m - 1 - m_block  # the longest rows start first, so the last wave is short
    batch = tl.program_id(0) // blocks_m // heads
    head = tl.program_id(0) // blocks_m % heads
    first_row = m_block * BLOCK_M

    q_tile = load_tile(q, batch, head, first_row, BLOCK_M, HEAD_DIM)  # hbm → smem, stays
    acc = tl.zeros([BLOCK_M, HEAD_DIM], tl.float32)  # rmem, as are the two below
    row_max = tl.full([BLOCK_M], float("-inf"), tl.float32)
    row_sum = tl.zeros([BLOCK_M], tl.float32)

    # Blocks whose every entry is visible need no mask; the others come last. Block 0 shows every row at least key 0,
    # so row_max is a number from the first visit on.
    last_key = seqlen_k
    plain_end = seqlen_k // BLOCK_N * BLOCK_N
    if CAUSAL:
        last_key = tl.minimum(first_row + BLOCK_M, seqlen_k)
        plain_end = tl.minimum((first_row + 1) // BLOCK_N * BLOCK_N, plain_end)
    for first_key in tl.range(0, plain_end, BLOCK_N, num_stages=STAGES):
        acc, row_max, row_sum = visit(
            acc, row_max, row_sum, q_tile, k, v, batch, head, heads, first_row, first_key, seqlen_k, scale, seed,
            threshold, BLOCK_M, BLOCK_N, HEAD_DIM, False, CAUSAL, DROPOUT,
        )  # fmt: skip
    if CAUSAL or TAIL:
        for first_key in tl.range(plain_end, last_key, BLOCK_N, num_stages=STAGES):
            acc, row_max, row_sum = visit(
                acc, row_max, row_sum, q_tile, k, v, batch, head, heads, first_row, first_key, seqlen_k, scale, seed,
                threshold, BLOCK_M, BLOCK_N, HEAD_DIM, True, CAUSAL, DROPOUT,
            )  # fmt: skip

    out = acc / row_sum[:, None]
    if DROPOUT:
        out = out * keep_scale
    store_tile(o, batch, head, first_row, out, BLOCK_M, HEAD_DIM)  # rmem → hbm, once
    rows = first_row + tl.arange(0, BLOCK_M)
    row_of_all = (batch * heads + head).to(tl.int64) * seqlen_q + rows
    tl.store(lse + row_of_all, (row_max + tl.log2(row_sum)) * LN_2, mask=rows < seqlen_q)


def forward(
    problem: Problem,
    *,
    o: torch.Tensor | None = None,
    lse: torch.Tensor | None = None,
    tile: configs.Tile | None = None,
) -> Forward:
    """softmax(QKᵀ/√d)V of any two lengths, causal or not, with dropout if the problem has one.

    `o` (like q) and `lse` (batch, num_heads, seqlen_q; fp32) are written when given. KernelInputError when the tensors
    do not fit.
    """
    sizes = check(problem, dropout=True)
    q, dropout = problem.q, problem.dropout
    tile = tile or configs.tile_for("fa2_triton", "forward", sizes.head_dim, problem.causal, sizes.seqlen_k)
    o = torch.empty_like(q) if o is None else o
    lse = q.new_empty(q.shape[:3], dtype=torch.float32) if lse is None else lse
    launch(
        fa2_forward,
        (triton.cdiv(sizes.seqlen_q, tile.block_m) * sizes.heads,),
        tiles_of(q, tile.block_m),
        tiles_of(problem.k, tile.block_n),
        tiles_of(problem.v, tile.block_n),
        tiles_of(o, tile.block_m),
        lse,
        sizes.num_heads,
        sizes.seqlen_q,
        sizes.seqlen_k,
        problem.softmax_scale * LOG2_E,
        dropout.seed if dropout else 0,
        round(dropout.probability * 2**32) if dropout else 0,
        1 / (1 - dropout.probability) if dropout else 1.0,
        HEAD_DIM=sizes.head_dim,
        BLOCK_M=tile.block_m,
        BLOCK_N=tile.block_n,
        STAGES=tile.num_stages,
        CAUSAL=problem.causal,
        TAIL=sizes.seqlen_k % tile.block_n != 0,
        DROPOUT=dropout is not None,
        num_warps=tile.num_warps,
    )
    return Forward(o, lse)


def bind(problem: Problem, tile: configs.Tile | None = None, backward_tile: configs.Tile | None = None) -> Bound:
    """The kernel tied to `problem`, with outputs of its own that hold NaN until they are written."""
    from app.kernels import fa2_backward_triton as backward_pass

    head_dim, causal, seqlen = problem.q.shape[-1], problem.causal, problem.k.shape[2]
    check(problem, dropout=True)
    tile = tile or configs.tile_for("fa2_triton", "forward", head_dim, causal, seqlen)
    o = torch.full_like(problem.q, float("nan"))
    lse = problem.q.new_full(problem.q.shape[:3], float("nan"), dtype=torch.float32)

    def run() -> Forward:
        return forward(problem, o=o, lse=lse, tile=tile)

    block = BlockShape(tile.block_m, tile.block_n)
    if problem.do is None:
        return Bound(run, block=block, settings=str(tile))
    chosen = backward_tile or configs.tile_for("fa2_triton", "backward", head_dim, causal, seqlen)
    gradients = Gradients(*(torch.full_like(tensor, float("nan")) for tensor in (problem.q, problem.k, problem.v)))
    saved = run()

    def run_backward() -> Gradients:
        return backward_pass.backward(problem, saved, gradients=gradients, tile=chosen)

    return Bound(run, run_backward, block, BlockShape(chosen.block_m, chosen.block_n), f"{tile}; backward {chosen}")
