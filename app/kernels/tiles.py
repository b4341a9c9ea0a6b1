# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
"""Small device functions several kernels share: load or store a tile, and make a block of the dropout mask again."""

import triton
import triton.language as tl


@triton.jit
def load_tile(tensor, batch, head, row, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Rows `row` … `row` + ROWS of one head: hbm (or l2) → smem. Rows past the end are zeros."""
    return tensor.load([batch, head, row, 0]).reshape(ROWS, COLUMNS)


@triton.jit
def store_tile(tensor, batch, head, row, tile, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """The reverse of `load_tile`, rounded to the tensor's dtype. Rows past the end are not written."""
    tensor.store([batch, head, row, 0], tile.to(tensor.dtype).reshape(1, 1, ROWS, COLUMNS))


@triton.jit
def kept(seed, head, rows, keys, threshold):
    """Which entries dropout keeps. `rows` and `keys` are indices that broadcast against each other, `head` a number.

    Philox 4x32-10 of the counter (key, row, head, 0) under the key `seed`, as in `app.theory.dropout`: an entry's fate
    depends on where it is, so every pass makes the same mask again and none is stored.
    """
    zeros = (rows + keys) * 0
    word, _, _, _ = tl.philox(seed, zeros + keys, zeros + rows, zeros + head, zeros)
    return word.to(tl.int64) >= threshold
