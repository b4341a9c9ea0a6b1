"""Rung 1, the standard way: S = QKᵀ, P = softmax(S), O = PV. The idea is the round trip that the others avoid.

Three kernels, and between them S and P lie in memory, N×N entries each for every head. The matrix products are one
tiled kernel, the softmax handles a whole row at once in registers; scale and causal mask cost nothing extra, they are
applied to S before it is written. Backward is the first paper's Algorithm 3 (arXiv 2205.14135) in five kernels.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from app.kernels import capability, configs, launching
from app.kernels.launching import launch, tiles_of
from app.kernels.problem import LOG2_E, Bound, Forward, Gradients, KernelInputError, Problem, Sizes, check
from app.kernels.tiles import load_block, store_block

# The softmax keeps a row in one thread block's registers while they hold it (backward: a row of P and one of dP). A
# longer row is swept over twice, `SWEEP` entries at a time; the second sweep finds it in the caches, and memory sees as
# many bytes as before.
LONGEST_KEPT = 32_768
SWEEP = {"forward": 32_768, "backward": 16_384}
SWEEP_WARPS = 32
# Entries of S that one warp takes in the softmax, from at most so many rows.
WARP_ENTRIES, MOST_ROWS = 1024, 8
# Rows of S and P start at multiples of this many entries, so that tiles of them can be moved in 16-byte pieces.
ROW_STEP = 64
BLOCK_K = 64
LN_2 = tl.constexpr(0.6931471805599453)
BASE_2 = tl.constexpr(LOG2_E)


@triton.jit(do_not_specialize=["heads", "rows", "columns", "depth"])
def standard_matmul(
    a, b, c, heads, rows, columns, depth, scale,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, STAGES: tl.constexpr,
    TURN_A: tl.constexpr, TURN_B: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """c = scale · a·b for every head; `TURN_A` (`TURN_B`): the matrix lies in memory the other way round.

    Past the edges tiles read as zeros and write nothing. `CAUSAL` puts -inf where the column comes after the row.
    """
    blocks_n = tl.cdiv(columns, BLOCK_N)
    blocks = tl.cdiv(rows, BLOCK_M) * blocks_n
    batch = tl.program_id(0) // blocks // heads
    head = tl.program_id(0) // blocks % heads
    first_row = tl.program_id(0) % blocks // blocks_n * BLOCK_M
    first_column = tl.program_id(0) % blocks_n * BLOCK_N
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for k in tl.range(0, depth, BLOCK_K, num_stages=STAGES):
        if TURN_A:
            a_tile = load_block(a, batch, head, k, first_row, BLOCK_K, BLOCK_M).T
        else:
            a_tile = load_block(a, batch, head, first_row, k, BLOCK_M, BLOCK_K)
        if TURN_B:
            b_tile = load_block(b, batch, head, first_column, k, BLOCK_N, BLOCK_K).T
        else:
            b_tile = load_block(b, batch, head, k, first_column, BLOCK_K, BLOCK_N)
        acc = tl.dot(a_tile, b_tile, acc)
    acc = acc * scale
    if CAUSAL:
        row = first_row + tl.arange(0, BLOCK_M)[:, None]
        column = first_column + tl.arange(0, BLOCK_N)[None, :]
        acc = tl.where(column <= row, acc, float("-inf"))
    store_block(c, batch, head, first_row, first_column, acc, BLOCK_M, BLOCK_N)


@triton.jit(do_not_specialize=["rows"])
def standard_softmax(scores, probs, lse, rows, columns, row_step, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """`ROWS` rows of S: hbm → rmem, softmax, → hbm. Also their log-sum-exp."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, WIDTH)[None, :]
    there = row.to(tl.int64)[:, None] * row_step + column
    real = (row < rows)[:, None] & (column < columns)
    x = tl.load(scores + there, mask=real, other=float("-inf")).to(tl.float32) * BASE_2
    x = tl.where((row < rows)[:, None], x, 0.0)  # rows past the end must not be all -inf; they are not written
    row_max = tl.max(x, 1)
    weights = tl.exp2(x - row_max[:, None])
    row_sum = tl.sum(weights, 1)
    tl.store(probs + there, (weights * (1.0 / row_sum)[:, None]).to(probs.dtype.element_ty), mask=real)
    tl.store(lse + row, (row_max + tl.log2(row_sum)) * LN_2, mask=row < rows)


@triton.jit
def standard_softmax_swept(scores, probs, lse, columns, row_step, SWEEP: tl.constexpr):
    """`standard_softmax` of one row that is too long for registers: its maximum and sum in a first sweep, online."""
    row = tl.program_id(0)
    start = row.to(tl.int64) * row_step
    row_max = float("-inf")
    row_sum = 0.0
    for first in range(0, columns, SWEEP):
        column = first + tl.arange(0, SWEEP)
        x = tl.load(scores + start + column, mask=column < columns, other=float("-inf")).to(tl.float32) * BASE_2
        new_max = tl.maximum(row_max, tl.max(x, 0))
        row_sum = row_sum * tl.exp2(row_max - new_max) + tl.sum(tl.exp2(x - new_max), 0)
        row_max = new_max
    row_lse = row_max + tl.log2(row_sum)
    for first in range(0, columns, SWEEP):
        column = first + tl.arange(0, SWEEP)
        x = tl.load(scores + start + column, mask=column < columns, other=float("-inf")).to(tl.float32) * BASE_2
        tl.store(probs + start + column, tl.exp2(x - row_lse).to(probs.dtype.element_ty), mask=column < columns)
    tl.store(lse + row, row_lse * LN_2)


@triton.jit(do_not_specialize=["rows"])
def standard_softmax_backward(probs, dprobs, rows, columns, row_step, scale, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """`ROWS` rows: dS = scale · P∘(dP - rowsum(P∘dP)), written over dP."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, WIDTH)[None, :]
    there = row.to(tl.int64)[:, None] * row_step + column
    real = (row < rows)[:, None] & (column < columns)
    p = tl.load(probs + there, mask=real, other=0.0).to(tl.float32)
    dp = tl.load(dprobs + there, mask=real, other=0.0).to(tl.float32)
    ds = p * (dp - tl.sum(p * dp, 1)[:, None]) * scale
    tl.store(dprobs + there, ds.to(dprobs.dtype.element_ty), mask=real)


@triton.jit
def standard_softmax_backward_swept(probs, dprobs, columns, row_step, scale, SWEEP: tl.constexpr):
    """`standard_softmax_backward` of one row that is too long for registers: rowsum(P∘dP) in a first sweep."""
    start = tl.program_id(0).to(tl.int64) * row_step
    delta = 0.0
    for first in range(0, columns, SWEEP):
        column = first + tl.arange(0, SWEEP)
        p = tl.load(probs + start + column, mask=column < columns, other=0.0).to(tl.float32)
        dp = tl.load(dprobs + start + column, mask=column < columns, other=0.0).to(tl.float32)
        delta += tl.sum(p * dp, 0)
    for first in range(0, columns, SWEEP):
        column = first + tl.arange(0, SWEEP)
        p = tl.load(probs + start + column, mask=column < columns, other=0.0).to(tl.float32)
        dp = tl.load(dprobs + start + column, mask=column < columns, other=0.0).to(tl.float32)
        ds = p * (dp - delta) * scale
        tl.store(dprobs + start + column, ds.to(dprobs.dtype.element_ty), mask=column < columns)


def _count(tile: configs.Tile, c: torch.Tensor) -> int:
    """How many tiles the matrices of `c` (batch, num_heads, rows, columns) are."""
    batch, heads, rows, columns = c.shape
    return int(-(-rows // tile.block_m) * -(-columns // tile.block_n) * batch * heads)


def _filling(tile: configs.Tile, c: torch.Tensor) -> configs.Tile:
    """`tile`, or the largest smaller one of which there are enough for all SMs of the GPU."""
    while _count(tile, c) < launching.multiprocessors(c.device):
        smaller = configs.smaller_tile(tile)
        if smaller is None:
            break
        tile = smaller
    return tile


def _matmul(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    *,
    scale: float = 1.0,
    turn_a: bool = False,
    turn_b: bool = False,
    causal: bool = False,
    tile: configs.Tile | None = None,
) -> None:
    """c = scale · a·b over (batch, num_heads, rows, columns) tensors, in tiles of the default sizes or of `tile`'s.

    When those are too few for the GPU smaller ones are taken.
    """
    _, heads, rows, columns = c.shape
    depth = a.shape[2] if turn_a else a.shape[3]
    hopper = capability.has_tma() or capability.interpreting()
    if tile is None:
        # 48 KiB a stage at most: 3 stages and the result's tile fit in 227 KiB; older GPUs get 32 KiB and 2 stages
        block_n = 256 if hopper and columns > 128 else 128 if columns > 64 else 64
        tile = configs.Tile(128, block_n, 8, 3 if hopper else 2)
    tile = _filling(tile, c)
    block_m, block_n = tile.block_m, tile.block_n
    block_a = (BLOCK_K, block_m) if turn_a else (block_m, BLOCK_K)
    block_b = (block_n, BLOCK_K) if turn_b else (BLOCK_K, block_n)
    launch(
        standard_matmul,
        (_count(tile, c),),
        tiles_of(a, *block_a),
        tiles_of(b, *block_b),
        tiles_of(c, block_m, block_n),
        heads,
        rows,
        columns,
        depth,
        scale,
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        BLOCK_K=BLOCK_K,
        STAGES=tile.num_stages,
        TURN_A=turn_a,
        TURN_B=turn_b,
        CAUSAL=causal,
        num_warps=tile.num_warps,
    )


def _matrix(problem: Problem, sizes: Sizes) -> torch.Tensor:
    """Room for S, P or a gradient of one: (batch, num_heads, seqlen_q, seqlen_k), rows a multiple of ROW_STEP apart."""
    width = triton.cdiv(sizes.seqlen_k, ROW_STEP) * ROW_STEP
    whole = problem.q.new_empty(sizes.batch, sizes.num_heads, sizes.seqlen_q, width)
    return whole[..., : sizes.seqlen_k]


def _row_options(sizes: Sizes) -> dict[str, int]:
    """Rows of one program, their width in registers, and warps to hold them.

    Short rows come several to a warp, so that enough bytes are under way; at most 32 entries a thread.
    """
    width = max(16, triton.next_power_of_2(sizes.seqlen_k))
    warps = min(32, max(1, width // WARP_ENTRIES))
    return {"ROWS": min(MOST_ROWS, max(1, WARP_ENTRIES // width)), "WIDTH": width, "num_warps": warps}


def _softmax(sizes: Sizes, scores: torch.Tensor, probs: torch.Tensor, lse: torch.Tensor) -> None:
    rows, step = sizes.heads * sizes.seqlen_q, scores.stride(2)
    if sizes.seqlen_k > LONGEST_KEPT:
        swept = {"SWEEP": SWEEP["forward"], "num_warps": SWEEP_WARPS}
        launch(standard_softmax_swept, (rows,), scores, probs, lse, sizes.seqlen_k, step, **swept)
        return
    options = _row_options(sizes)
    grid = (triton.cdiv(rows, options["ROWS"]),)
    launch(standard_softmax, grid, scores, probs, lse, rows, sizes.seqlen_k, step, **options)


def _softmax_backward(sizes: Sizes, probs: torch.Tensor, dprobs: torch.Tensor, scale: float) -> None:
    rows, step = sizes.heads * sizes.seqlen_q, dprobs.stride(2)
    if sizes.seqlen_k > LONGEST_KEPT:
        swept = {"SWEEP": SWEEP["backward"], "num_warps": SWEEP_WARPS}
        launch(standard_softmax_backward_swept, (rows,), probs, dprobs, sizes.seqlen_k, step, scale, **swept)
        return
    options = _row_options(sizes)
    grid = (triton.cdiv(rows, options["ROWS"]),)
    launch(standard_softmax_backward, grid, probs, dprobs, rows, sizes.seqlen_k, step, scale, **options)


def forward(
    problem: Problem,
    *,
    o: torch.Tensor | None = None,
    lse: torch.Tensor | None = None,
    scores: torch.Tensor | None = None,
    probs: torch.Tensor | None = None,
    tile: configs.Tile | None = None,
) -> Forward:
    """softmax(QKᵀ/√d)V of any two lengths. `scores` and `probs` are where S and P are written; made when not given.

    `tile` is that of the product that writes S.
    """
    sizes = check(problem)
    tile = tile or configs.tile_for("standard", "forward", sizes.head_dim, problem.causal, sizes.seqlen_k)
    scores = _matrix(problem, sizes) if scores is None else scores
    probs = _matrix(problem, sizes) if probs is None else probs
    o = torch.empty_like(problem.q) if o is None else o
    lse = problem.q.new_empty(problem.q.shape[:3], dtype=torch.float32) if lse is None else lse
    scale, causal = problem.softmax_scale, problem.causal
    _matmul(problem.q, problem.k, scores, scale=scale, turn_b=True, causal=causal, tile=tile)
    _softmax(sizes, scores, probs, lse)
    _matmul(probs, problem.v, o)
    return Forward(o, lse)


def backward(problem: Problem, probs: torch.Tensor, *, gradients: Gradients | None = None) -> Gradients:
    """Gradients of sum(o * do), from the P that `forward` wrote. KernelInputError when `problem.do` is missing."""
    sizes = check(problem)
    if problem.do is None:
        raise KernelInputError("the backward pass needs do")
    gradients = gradients or Gradients(*(torch.empty_like(tensor) for tensor in (problem.q, problem.k, problem.v)))
    dprobs = _matrix(problem, sizes)
    _matmul(probs, problem.do, gradients.dv, turn_a=True)
    tile = configs.tile_for("standard", "forward", sizes.head_dim, problem.causal, sizes.seqlen_k)
    _matmul(problem.do, problem.v, dprobs, turn_b=True, tile=tile)
    _softmax_backward(sizes, probs, dprobs, problem.softmax_scale)
    _matmul(dprobs, problem.k, gradients.dq)
    _matmul(dprobs, problem.q, gradients.dk, turn_a=True)
    return gradients


def bind(problem: Problem, tile: configs.Tile | None = None) -> Bound:
    """The kernels tied to `problem`, with S, P and outputs of their own that hold NaN until they are written."""
    sizes = check(problem)
    tile = tile or configs.tile_for("standard", "forward", sizes.head_dim, problem.causal, sizes.seqlen_k)
    scores, probs = (_matrix(problem, sizes).fill_(float("nan")) for _ in range(2))
    o = torch.full_like(problem.q, float("nan"))
    lse = problem.q.new_full(problem.q.shape[:3], float("nan"), dtype=torch.float32)
    tile = _filling(tile, scores)
    settings = f"S in tiles of {tile}"

    def run() -> Forward:
        return forward(problem, o=o, lse=lse, scores=scores, probs=probs, tile=tile)

    if problem.do is None:
        return Bound(run, settings=settings)
    gradients = Gradients(*(torch.full_like(tensor, float("nan")) for tensor in (problem.q, problem.k, problem.v)))
    run()
    return Bound(run, lambda: backward(problem, probs, gradients=gradients), settings=settings)
