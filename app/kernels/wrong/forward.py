"""FlashAttention-2's forward loop with one thing left out, three times; and once whole, which must pass.

Each fault is one a working kernel is a line away from, and each gives the right result on the inputs that a careless
test would choose: no_rescale where a row's maximum comes first, mask_off_by_one without a causal mask,
last_block_unmasked where the block divides the length.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch
import triton
import triton.language as tl

from app.kernels import configs
from app.kernels.launching import launch, tiles_of
from app.kernels.problem import LOG2_E, Bound, Forward, Problem, check
from app.kernels.tiles import load_tile, store_tile
from app.theory.shapes import BlockShape

LN_2 = tl.constexpr(0.6931471805599453)


@triton.jit(do_not_specialize=["heads", "seqlen_q", "seqlen_k"])
def wrong_forward(
    q, k, v, o, lse, heads, seqlen_q, seqlen_k, scale,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
    RESCALE: tl.constexpr, FIRST_HIDDEN: tl.constexpr, MASK_TAIL: tl.constexpr,
):  # fmt: skip
    """Right with RESCALE, MASK_TAIL and FIRST_HIDDEN = 1 (the first hidden key of row i is i + 1)."""
    blocks_m = tl.cdiv(seqlen_q, BLOCK_M)
    first_row = tl.program_id(0) % blocks_m * BLOCK_M
    batch = tl.program_id(0) // blocks_m // heads
    head = tl.program_id(0) // blocks_m % heads
    q_tile = load_tile(q, batch, head, first_row, BLOCK_M, HEAD_DIM)
    rows = first_row + tl.arange(0, BLOCK_M)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], tl.float32)
    row_max = tl.full([BLOCK_M], float("-inf"), tl.float32)
    row_sum = tl.zeros([BLOCK_M], tl.float32)
    for first_key in range(0, seqlen_k, BLOCK_N):
        keys = first_key + tl.arange(0, BLOCK_N)
        scores = tl.dot(q_tile, load_tile(k, batch, head, first_key, BLOCK_N, HEAD_DIM).T) * scale
        if MASK_TAIL:
            scores = tl.where(keys[None, :] < seqlen_k, scores, float("-inf"))
        if CAUSAL:
            scores = tl.where(keys[None, :] < rows[:, None] + FIRST_HIDDEN, scores, float("-inf"))
        new_max = tl.maximum(row_max, tl.max(scores, 1))
        probs = tl.exp2(scores - new_max[:, None])
        if RESCALE:
            rescale = tl.exp2(row_max - new_max)
            acc = acc * rescale[:, None]
            row_sum = row_sum * rescale
        row_sum += tl.sum(probs, 1)
        v_tile = load_tile(v, batch, head, first_key, BLOCK_N, HEAD_DIM)
        acc = tl.dot(probs.to(v_tile.dtype), v_tile, acc)
        row_max = new_max
    store_tile(o, batch, head, first_row, acc / row_sum[:, None], BLOCK_M, HEAD_DIM)
    row_of_all = (batch * heads + head).to(tl.int64) * seqlen_q + rows
    tl.store(lse + row_of_all, (row_max + tl.log2(row_sum)) * LN_2, mask=rows < seqlen_q)


def _bind(
    problem: Problem,
    tile: configs.Tile | None = None,
    *,
    rescale: bool = True,
    first_hidden: int = 1,
    mask_tail: bool = True,
) -> Bound:
    sizes = check(problem)
    tile = tile or configs.Tile(64, 64, 4, 1)
    o = torch.full_like(problem.q, float("nan"))
    lse = problem.q.new_full(problem.q.shape[:3], float("nan"), dtype=torch.float32)

    def run() -> Forward:
        launch(
            wrong_forward,
            (triton.cdiv(sizes.seqlen_q, tile.block_m) * sizes.heads,),
            tiles_of(problem.q, tile.block_m),
            tiles_of(problem.k, tile.block_n),
            tiles_of(problem.v, tile.block_n),
            tiles_of(o, tile.block_m),
            lse,
            sizes.num_heads,
            sizes.seqlen_q,
            sizes.seqlen_k,
            problem.softmax_scale * LOG2_E,
            HEAD_DIM=sizes.head_dim,
            BLOCK_M=tile.block_m,
            BLOCK_N=tile.block_n,
            CAUSAL=problem.causal,
            RESCALE=rescale,
            FIRST_HIDDEN=first_hidden,
            MASK_TAIL=mask_tail,
            num_warps=tile.num_warps,
        )
        return Forward(o, lse)

    return Bound(run, block=BlockShape(tile.block_m, tile.block_n), settings=str(tile))


def none_left_out(problem: Problem, tile: configs.Tile | None = None) -> Bound:
    """The same loop, right: so that what fails in the others is what they leave out."""
    return _bind(problem, tile)


def no_rescale(problem: Problem, tile: configs.Tile | None = None) -> Bound:
    """What was summed before a row's maximum rose is not multiplied by the correction factor."""
    return _bind(problem, tile, rescale=False)


def mask_off_by_one(problem: Problem, tile: configs.Tile | None = None) -> Bound:
    """Under a causal mask row i also sees key i + 1."""
    return _bind(problem, tile, first_hidden=2)


def last_block_unmasked(problem: Problem, tile: configs.Tile | None = None) -> Bound:
    """Keys past the end, which load as zeros, take part in the softmax."""
    return _bind(problem, tile, mask_tail=False)


WRONG: Mapping[str, Callable[..., Bound]] = MappingProxyType(
    {"no_rescale": no_rescale, "mask_off_by_one": mask_off_by_one, "last_block_unmasked": last_block_unmasked}
)
