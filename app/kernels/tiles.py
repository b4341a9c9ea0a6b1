"""Small device functions the kernels share: load or store a tile, and make a block of the dropout mask again.

A `tensor` is what `launching.tiles_of` made: a descriptor for the copy engine or a tuple for ordinary loads and stores.
Which one is known when the kernel is compiled. Past the edges tiles read as zeros and write nothing.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

import triton
import triton.language as tl


@triton.jit
def load_tile(tensor, batch, head, row, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Rows `row` … `row` + ROWS of one head, whole rows: hbm (or l2) → smem."""
    if isinstance(tensor, tl.core.tensor_descriptor_base):
        return tensor.load([batch, head, row, 0]).reshape(ROWS, COLUMNS)
    else:
        places, real = _places(tensor, batch, head, row, 0, ROWS, COLUMNS)
        return tl.load(places, mask=real, other=0.0)


@triton.jit
def store_tile(tensor, batch, head, row, tile, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """The reverse of `load_tile`, rounded to the tensor's dtype."""
    if isinstance(tensor, tl.core.tensor_descriptor_base):
        tensor.store([batch, head, row, 0], tile.to(tensor.dtype).reshape(1, 1, ROWS, COLUMNS))
    else:
        places, real = _places(tensor, batch, head, row, 0, ROWS, COLUMNS)
        tl.store(places, tile.to(tensor[0].dtype.element_ty), mask=real)


@triton.jit
def load_block(tensor, batch, head, row, column, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """A block of a matrix that may end in both directions."""
    if isinstance(tensor, tl.core.tensor_descriptor_base):
        return tensor.load([batch, head, row, column]).reshape(ROWS, COLUMNS)
    else:
        places, real = _places(tensor, batch, head, row, column, ROWS, COLUMNS)
        return tl.load(places, mask=real & (column + tl.arange(0, COLUMNS)[None, :] < tensor[5]), other=0.0)


@triton.jit
def store_block(tensor, batch, head, row, column, block, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """The reverse of `load_block`, rounded to the tensor's dtype."""
    if isinstance(tensor, tl.core.tensor_descriptor_base):
        tensor.store([batch, head, row, column], block.to(tensor.dtype).reshape(1, 1, ROWS, COLUMNS))
    else:
        places, real = _places(tensor, batch, head, row, column, ROWS, COLUMNS)
        real = real & (column + tl.arange(0, COLUMNS)[None, :] < tensor[5])
        tl.store(places, block.to(tensor[0].dtype.element_ty), mask=real)


@triton.jit
def load_row(tensor, row, column, COLUMNS: tl.constexpr):
    """A piece of one row of a matrix without batch and heads; COLUMNS must divide the row's length."""
    if isinstance(tensor, tl.core.tensor_descriptor_base):
        return tensor.load([row, column]).reshape(COLUMNS)
    else:
        return tl.load(tensor[0] + row.to(tl.int64) * tensor[1] + column + tl.arange(0, COLUMNS))


@triton.jit
def _places(tensor, batch, head, row, column, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Pointers of a block and which of its rows exist, for a tuple (pointer, three strides, rows, columns)."""
    rows = row + tl.arange(0, ROWS)[:, None]
    start = batch.to(tl.int64) * tensor[1] + head.to(tl.int64) * tensor[2]
    columns = column + tl.arange(0, COLUMNS)[None, :]
    return tensor[0] + start + rows.to(tl.int64) * tensor[3] + columns, rows < tensor[4]


@triton.jit
def kept(seed, head, rows, keys, threshold):
    """Which entries dropout keeps. `rows` and `keys` are indices that broadcast against each other, `head` a number.

    Philox 4x32-10 of the counter (key, row, head, 0) under the key `seed`, as in `app.theory.dropout`: an entry's fate
    depends on where it is, so every pass makes the same mask again and none is stored.
    """
    zeros = (rows + keys) * 0
    word, _, _, _ = tl.philox(seed, zeros + keys, zeros + rows, zeros + head, zeros)
    return word.to(tl.int64) >= threshold
