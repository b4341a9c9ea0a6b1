"""Rung 3, FlashAttention-2's order, backward. The idea: compute the probabilities again from the saved log-sum-exp.

Three kernels. The first makes delta, the row sums of dO∘O, and clears an fp32 accumulator for dq. The second gives
each thread block one block of k and v; all blocks of q pass by, dk and dv stay in registers, and each visit adds its
share of dq in memory. The third scales dq and rounds it. The sums for dq arrive in any order, so its last bits vary
between runs.
Sources: arXiv 2307.08691, Algorithm 2 and Section 3.3.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from app.kernels import configs
from app.kernels.launching import launch, tiles_of
from app.kernels.problem import LOG2_E, Forward, Gradients, KernelInputError, Problem, Sizes, check
from app.kernels.tiles import kept, load_row, load_tile, store_tile

# Row statistics are padded to a multiple of so many rows, and no block_m may be longer.
PADDED_TO = 128
# Rows a program of the small kernels handles: few, so that one short sequence is enough for all SMs.
ROWS, WARPS = 32, 4


@triton.jit(do_not_specialize=["heads", "seqlen_q", "rows_padded", "rows_cleared"])
def fa2_row_statistics(
    o, do, lse, lse_log2, delta, dq_acc, heads, seqlen_q, rows_padded, rows_cleared,
    HEAD_DIM: tl.constexpr, ROWS: tl.constexpr, LOG2_E: tl.constexpr,
):  # fmt: skip
    """delta = rowsum(dO∘O), the log-sum-exp in base 2, and zeros in the `rows_cleared` rows of a head's dq_acc. Rows
    that do not exist get inf and 0."""
    m_block = tl.program_id(0) % (rows_padded // ROWS)
    batch_head = tl.program_id(0) // (rows_padded // ROWS)
    first_row = m_block * ROWS
    rows = first_row + tl.arange(0, ROWS)
    real = rows < seqlen_q
    batch, head = batch_head // heads, batch_head % heads
    o_tile = load_tile(o, batch, head, first_row, ROWS, HEAD_DIM).to(tl.float32)
    do_tile = load_tile(do, batch, head, first_row, ROWS, HEAD_DIM).to(tl.float32)
    padded = batch_head.to(tl.int64) * rows_padded + rows
    row_of_all = batch_head.to(tl.int64) * seqlen_q + rows
    tl.store(delta + padded, tl.sum(o_tile * do_tile, 1))
    row_lse = tl.load(lse + row_of_all, mask=real, other=float("inf"))
    tl.store(lse_log2 + padded, row_lse * LOG2_E)
    zeros = tl.zeros([ROWS, HEAD_DIM], tl.float32)
    cleared = (batch_head.to(tl.int64) * rows_cleared + rows)[:, None] * HEAD_DIM + tl.arange(0, HEAD_DIM)[None, :]
    tl.store(dq_acc + cleared, zeros, mask=(rows < rows_cleared)[:, None])


@triton.jit
def _visit(
    dk, dv, k_tile, v_tile, q, do, lse_log2, delta, dq_acc, batch, head, heads, first_row, first_key, seqlen_q,
    seqlen_k, scale, seed, threshold, keep_scale,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, HEAD_DIM: tl.constexpr,
    CAUSAL: tl.constexpr, TAIL: tl.constexpr, DROPOUT: tl.constexpr, TMA_ADD: tl.constexpr,
):  # fmt: skip
    """One block of q against the k and v held here. Scores stand transposed, (keys, rows): dv and dk then take them
    as they lie in registers. `scale` is softmax_scale · log2(e)."""
    batch_head = batch * heads + head
    q_tile = load_tile(q, batch, head, first_row, BLOCK_M, HEAD_DIM)  # l2 → smem, as are the three below
    row_lse = load_row(lse_log2, batch_head, first_row, BLOCK_M)
    scores = tl.dot(k_tile, q_tile.T)
    keys = first_key + tl.arange(0, BLOCK_N)[:, None]
    rows = first_row + tl.arange(0, BLOCK_M)[None, :]
    if CAUSAL:
        scores = tl.where(keys <= rows, scores, float("-inf"))
    if TAIL:
        scores = tl.where(keys < seqlen_k, scores, float("-inf"))
    probs = tl.exp2(scores * scale - row_lse[None, :])
    do_tile = load_tile(do, batch, head, first_row, BLOCK_M, HEAD_DIM)
    dprobs = tl.dot(v_tile, do_tile.T)
    if DROPOUT:
        keep = kept(seed, batch_head, rows, keys, threshold)
        dv = tl.dot(tl.where(keep, probs, 0.0).to(do_tile.dtype), do_tile, dv)
        dprobs = tl.where(keep, dprobs * keep_scale, 0.0)
    else:
        dv = tl.dot(probs.to(do_tile.dtype), do_tile, dv)
    row_delta = load_row(delta, batch_head, first_row, BLOCK_M)
    dscores = (probs * (dprobs - row_delta[None, :])).to(q_tile.dtype)
    dk = tl.dot(dscores, q_tile, dk)
    dq = tl.dot(dscores.T, k_tile)  # dscores go through smem to be turned
    if TMA_ADD:
        dq_acc.atomic_add([batch_head, first_row, 0], dq.reshape(1, BLOCK_M, HEAD_DIM))  # smem → l2
    else:
        row = first_row + tl.arange(0, BLOCK_M)
        row_of_all = (batch_head.to(tl.int64) * seqlen_q + row)[:, None] * HEAD_DIM
        columns = tl.arange(0, HEAD_DIM)[None, :]
        tl.atomic_add(dq_acc + row_of_all + columns, dq, mask=(row < seqlen_q)[:, None], sem="relaxed")
    return dk, dv


@triton.jit(do_not_specialize=["heads", "seqlen_q", "seqlen_k", "seed", "threshold"])
def fa2_backward(
    q, k, v, do, dk, dv, dq_acc, lse_log2, delta, heads, seqlen_q, seqlen_k, scale, softmax_scale, seed, threshold,
    keep_scale,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, STAGES: tl.constexpr,
    CAUSAL: tl.constexpr, TAIL: tl.constexpr, DROPOUT: tl.constexpr, TMA_ADD: tl.constexpr,
):  # fmt: skip
    """One thread block: one block of k and v, against every block of q that sees it."""
    blocks_n = tl.cdiv(seqlen_k, BLOCK_N)
    batch = tl.program_id(0) // blocks_n // heads
    head = tl.program_id(0) // blocks_n % heads
    first_key = tl.program_id(0) % blocks_n * BLOCK_N  # under a causal mask the first keys have the longest loops

    k_tile = load_tile(k, batch, head, first_key, BLOCK_N, HEAD_DIM)  # hbm → smem, stays
    v_tile = load_tile(v, batch, head, first_key, BLOCK_N, HEAD_DIM)  # hbm → smem, stays
    dk_tile = tl.zeros([BLOCK_N, HEAD_DIM], tl.float32)  # rmem
    dv_tile = tl.zeros([BLOCK_N, HEAD_DIM], tl.float32)  # rmem

    # Rows before first_key see nothing here. The causal mask is applied on every visit, not only on the diagonal: a
    # second loop without it costs more in spilled registers than the comparisons do.
    first_visited = first_key // BLOCK_M * BLOCK_M if CAUSAL else 0
    for first_row in tl.range(first_visited, seqlen_q, BLOCK_M, num_stages=STAGES):
        dk_tile, dv_tile = _visit(
            dk_tile, dv_tile, k_tile, v_tile, q, do, lse_log2, delta, dq_acc, batch, head, heads, first_row,
            first_key, seqlen_q, seqlen_k, scale, seed, threshold, keep_scale, BLOCK_M, BLOCK_N, HEAD_DIM,
            CAUSAL, TAIL, DROPOUT, TMA_ADD,
        )  # fmt: skip

    if DROPOUT:
        dv_tile = dv_tile * keep_scale
    store_tile(dk, batch, head, first_key, dk_tile * softmax_scale, BLOCK_N, HEAD_DIM)  # rmem → hbm
    store_tile(dv, batch, head, first_key, dv_tile, BLOCK_N, HEAD_DIM)  # rmem → hbm


@triton.jit(do_not_specialize=["heads", "seqlen_q"])
def fa2_round_dq(dq_acc, dq, heads, seqlen_q, softmax_scale, HEAD_DIM: tl.constexpr, ROWS: tl.constexpr):
    """dq = softmax_scale · dq_acc in the dtype of dq."""
    blocks_m = tl.cdiv(seqlen_q, ROWS)
    first_row = tl.program_id(0) % blocks_m * ROWS
    batch_head = tl.program_id(0) // blocks_m
    rows = first_row + tl.arange(0, ROWS)
    row_of_all = (batch_head.to(tl.int64) * seqlen_q + rows)[:, None] * HEAD_DIM
    acc = tl.load(dq_acc + row_of_all + tl.arange(0, HEAD_DIM)[None, :], mask=(rows < seqlen_q)[:, None], other=0.0)
    store_tile(dq, batch_head // heads, batch_head % heads, first_row, acc * softmax_scale, ROWS, HEAD_DIM)


def backward(
    problem: Problem,
    saved: Forward,
    *,
    gradients: Gradients | None = None,
    tile: configs.Tile | None = None,
) -> Gradients:
    """Gradients of sum(o * do), from what `fa2_triton.forward` gave for the same problem.

    `gradients` are written when given. KernelInputError when tensors do not fit or `problem.do` is missing.
    """
    sizes = check(problem, dropout=True)
    q, k, v, do, dropout = problem.q, problem.k, problem.v, problem.do, problem.dropout
    if do is None or saved.lse is None:
        raise KernelInputError("the backward pass needs do and the log-sum-exp of the forward pass")
    tile = tile or configs.tile_for("fa2_triton", "backward", sizes.head_dim, problem.causal, sizes.seqlen_k)
    if tile.block_m > PADDED_TO:
        raise KernelInputError(f"block_m is at most {PADDED_TO} in the backward pass, got {tile.block_m}")
    gradients = gradients or Gradients(torch.empty_like(q), torch.empty_like(k), torch.empty_like(v))
    rows_padded = triton.cdiv(sizes.seqlen_q, PADDED_TO) * PADDED_TO
    dq_acc = torch.empty(sizes.heads, sizes.seqlen_q, sizes.head_dim, dtype=torch.float32, device=q.device)
    lse_log2, delta = row_statistics(problem, saved, sizes, rows_padded, dq_acc)
    statistics = [tiles_of(tensor, 1, tile.block_m) for tensor in (lse_log2, delta)]
    launch(
        fa2_backward,
        (triton.cdiv(sizes.seqlen_k, tile.block_n) * sizes.heads,),
        tiles_of(q, tile.block_m),
        tiles_of(k, tile.block_n),
        tiles_of(v, tile.block_n),
        tiles_of(do, tile.block_m),
        tiles_of(gradients.dk, tile.block_n),
        tiles_of(gradients.dv, tile.block_n),
        tiles_of(dq_acc, tile.block_m) if tile.tma_add else dq_acc,
        *statistics,
        sizes.num_heads,
        sizes.seqlen_q,
        sizes.seqlen_k,
        problem.softmax_scale * LOG2_E,
        problem.softmax_scale,
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
        TMA_ADD=tile.tma_add,
        num_warps=tile.num_warps,
    )
    launch(
        fa2_round_dq,
        (triton.cdiv(sizes.seqlen_q, ROWS) * sizes.heads,),
        dq_acc,
        tiles_of(gradients.dq, ROWS),
        sizes.num_heads,
        sizes.seqlen_q,
        problem.softmax_scale,
        HEAD_DIM=sizes.head_dim,
        ROWS=ROWS,
        num_warps=WARPS,
    )
    return gradients


def row_statistics(
    problem: Problem, saved: Forward, sizes: Sizes, rows_padded: int, clear: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """(lse in base 2, delta), both (heads, rows_padded) in fp32; `rows_padded` is a multiple of PADDED_TO.

    `clear`, fp32 of (heads, at most rows_padded rows, head_dim), is filled with zeros on the way.
    """
    lse_log2, delta = (
        torch.empty(sizes.heads, rows_padded, dtype=torch.float32, device=problem.q.device) for _ in range(2)
    )
    launch(
        fa2_row_statistics,
        (rows_padded // ROWS * sizes.heads,),
        tiles_of(saved.o, ROWS),
        tiles_of(problem.do, ROWS),
        saved.lse,
        lse_log2,
        delta,
        clear,
        sizes.num_heads,
        sizes.seqlen_q,
        rows_padded,
        clear.shape[1],
        HEAD_DIM=sizes.head_dim,
        ROWS=ROWS,
        LOG2_E=LOG2_E,
        num_warps=WARPS,
    )
    return lse_log2, delta
