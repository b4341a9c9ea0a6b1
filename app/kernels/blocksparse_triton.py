"""Kept apart: block-sparse attention. APPROXIMATE. The idea: leave whole score blocks out and save their work.

What is left out counts as probability 0, so the result is not that of attention; it is exact for the pattern given.
Everything else is rung 3's forward pass, with a list of kept blocks in place of the loop's range.
Source: arXiv 2205.14135, Section 3.3 and Algorithm 5.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from app.kernels import configs
from app.kernels.fa2_triton import visit
from app.kernels.launching import launch, tiles_of
from app.kernels.problem import LOG2_E, Bound, Forward, KernelInputError, Problem, check
from app.kernels.tiles import load_tile, store_tile
from app.theory import block_sparse
from app.theory.block_sparse import BlockPattern
from app.theory.shapes import BlockShape

LN_2 = tl.constexpr(0.6931471805599453)
# Blocks on each side of the diagonal that the bench keeps, besides the first column.
BAND = 4


@triton.jit(do_not_specialize=["heads", "seqlen_q", "seqlen_k", "most_kept"])
def blocksparse_forward(
    q, k, v, o, lse, kept_count, kept_blocks, heads, seqlen_q, seqlen_k, most_kept, scale,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, STAGES: tl.constexpr,
    CAUSAL: tl.constexpr,
):  # fmt: skip
    """One thread block: one block of q against the blocks of k and v its list names."""
    blocks_m = tl.cdiv(seqlen_q, BLOCK_M)
    m_block = tl.program_id(0) % blocks_m
    batch = tl.program_id(0) // blocks_m // heads
    head = tl.program_id(0) // blocks_m % heads
    first_row = m_block * BLOCK_M
    q_tile = load_tile(q, batch, head, first_row, BLOCK_M, HEAD_DIM)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], tl.float32)
    # A row may see nothing. A very low number instead of -inf keeps the differences below free of inf - inf.
    row_max = tl.full([BLOCK_M], -1e30, tl.float32)
    row_sum = tl.zeros([BLOCK_M], tl.float32)
    for index in tl.range(0, tl.load(kept_count + m_block), num_stages=STAGES):
        first_key = tl.load(kept_blocks + m_block * most_kept + index) * BLOCK_N
        acc, row_max, row_sum = visit(
            acc, row_max, row_sum, q_tile, k, v, batch, head, heads, first_row, first_key, seqlen_k, scale, 0, 0,
            BLOCK_M, BLOCK_N, HEAD_DIM, True, CAUSAL, False,
        )  # fmt: skip
    some = row_sum > 0
    out = acc / tl.where(some, row_sum, 1.0)[:, None]
    store_tile(o, batch, head, first_row, out, BLOCK_M, HEAD_DIM)
    rows = first_row + tl.arange(0, BLOCK_M)
    row_lse = tl.where(some, (row_max + tl.log2(tl.where(some, row_sum, 1.0))) * LN_2, float("-inf"))
    tl.store(lse + (batch * heads + head).to(tl.int64) * seqlen_q + rows, row_lse, mask=rows < seqlen_q)


def kept_lists(pattern: BlockPattern, causal: bool, block: BlockShape, device: torch.device) -> list[torch.Tensor]:
    """[how many blocks each row of blocks keeps, which ones (padded with 0)], both int32.

    Blocks that lie wholly above the diagonal of a causal mask are left out.
    """
    rows = []
    for m_block, row in enumerate(pattern.kept):
        last_row = (m_block + 1) * block.block_m - 1
        rows.append([n for n, kept in enumerate(row) if kept and not (causal and n * block.block_n > last_row)])
    most = max(1, *map(len, rows)) if rows else 1
    padded = [row + [0] * (most - len(row)) for row in rows]
    return [torch.tensor(numbers, dtype=torch.int32, device=device) for numbers in ([len(row) for row in rows], padded)]


def default_pattern(problem: Problem, block: BlockShape) -> BlockPattern:
    """What the bench uses: BAND blocks around the diagonal and the first column."""
    blocks_m = -(-problem.q.shape[2] // block.block_m)
    blocks_n = -(-problem.k.shape[2] // block.block_n)
    return block_sparse.banded(blocks_m, blocks_n, BAND)


def forward(
    problem: Problem,
    pattern: BlockPattern,
    *,
    kept: list[torch.Tensor] | None = None,
    o: torch.Tensor | None = None,
    lse: torch.Tensor | None = None,
    tile: configs.Tile | None = None,
) -> Forward:
    """Attention over the blocks `pattern` keeps: approximate. `kept` is `kept_lists` made beforehand.

    Rows that see nothing get o = 0 and lse = -inf. KernelInputError when tensors or pattern do not fit.
    """
    sizes = check(problem)
    q = problem.q
    tile = tile or configs.tile_for("blocksparse_triton", "forward", sizes.head_dim, problem.causal, sizes.seqlen_k)
    block = BlockShape(tile.block_m, tile.block_n)
    blocks_m = triton.cdiv(sizes.seqlen_q, tile.block_m)
    try:
        pattern.check(blocks_m, triton.cdiv(sizes.seqlen_k, tile.block_n))
    except ValueError as error:
        raise KernelInputError(str(error)) from error
    kept_count, kept_blocks = kept or kept_lists(pattern, problem.causal, block, q.device)
    o = torch.empty_like(q) if o is None else o
    lse = q.new_empty(q.shape[:3], dtype=torch.float32) if lse is None else lse
    launch(
        blocksparse_forward,
        (blocks_m * sizes.heads,),
        tiles_of(q, tile.block_m),
        tiles_of(problem.k, tile.block_n),
        tiles_of(problem.v, tile.block_n),
        tiles_of(o, tile.block_m),
        lse,
        kept_count,
        kept_blocks,
        sizes.num_heads,
        sizes.seqlen_q,
        sizes.seqlen_k,
        kept_blocks.shape[1],
        problem.softmax_scale * LOG2_E,
        HEAD_DIM=sizes.head_dim,
        BLOCK_M=tile.block_m,
        BLOCK_N=tile.block_n,
        STAGES=tile.num_stages,
        CAUSAL=problem.causal,
        num_warps=tile.num_warps,
    )
    return Forward(o, lse)


def bind(problem: Problem, tile: configs.Tile | None = None, pattern: BlockPattern | None = None) -> Bound:
    """The kernel tied to `problem` and a pattern (default: `default_pattern`), outputs NaN until written."""
    check(problem)
    tile = tile or configs.tile_for(
        "blocksparse_triton", "forward", problem.q.shape[-1], problem.causal, problem.k.shape[2]
    )
    block = BlockShape(tile.block_m, tile.block_n)
    pattern = pattern or default_pattern(problem, block)
    kept = kept_lists(pattern, problem.causal, block, problem.q.device)
    o = torch.full_like(problem.q, float("nan"))
    lse = problem.q.new_full(problem.q.shape[:3], float("nan"), dtype=torch.float32)
    return Bound(
        lambda: forward(problem, pattern, kept=kept, o=o, lse=lse, tile=tile),
        block=block,
        pattern=pattern,
        settings=f"{tile}, {pattern.density:.0%} of the blocks kept",
    )
