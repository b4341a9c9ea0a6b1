"""Puts tiles together whose keys were shared out among thread blocks: the second, small kernel of `fa3_gluon`.

Each part left its output as if it had seen all keys, in fp32, and the log-sum-exp of its rows. Their weights in the
whole are exp(lse of the part - lse of all).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

import triton
import triton.language as tl

ROWS = 16  # of a tile, for one program


@triton.jit(do_not_specialize=["heads", "seqlen"])
def fa3_combine(part_o, part_lse, cut_tiles, o, lse, heads, seqlen, o_batch, o_head, o_row,
                BLOCK_M: tl.constexpr, HEAD_DIM: tl.constexpr, ROWS: tl.constexpr):  # fmt: skip
    """`ROWS` rows of one tile. part_o is (parts, BLOCK_M, HEAD_DIM), part_lse (parts, BLOCK_M), both fp32."""
    entry = cut_tiles + 4 * tl.program_id(0)
    m_block, batch_head = tl.load(entry), tl.load(entry + 1)
    slot, parts = tl.load(entry + 2).to(tl.int64), tl.load(entry + 3)
    in_tile = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, HEAD_DIM)
    row_max = tl.full([ROWS], float("-inf"), tl.float32)
    for part in range(parts):
        row_max = tl.maximum(row_max, tl.load(part_lse + (slot + part) * BLOCK_M + in_tile))
    row_sum = tl.zeros([ROWS], tl.float32)
    acc = tl.zeros([ROWS, HEAD_DIM], tl.float32)
    for part in range(parts):
        rows_of_part = (slot + part) * BLOCK_M + in_tile
        weight = tl.exp(tl.load(part_lse + rows_of_part) - row_max)
        row_sum += weight
        acc += weight[:, None] * tl.load(part_o + rows_of_part[:, None] * HEAD_DIM + columns[None, :])
    rows = m_block * BLOCK_M + in_tile
    batch, head = (batch_head // heads).to(tl.int64), (batch_head % heads).to(tl.int64)
    places = o + batch * o_batch + head * o_head + rows[:, None].to(tl.int64) * o_row + columns[None, :]
    tl.store(places, (acc / row_sum[:, None]).to(o.dtype.element_ty), mask=(rows < seqlen)[:, None])
    tl.store(lse + batch_head.to(tl.int64) * seqlen + rows, row_max + tl.log(row_sum), mask=rows < seqlen)
