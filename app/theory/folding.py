"""The steps the instrumented FlashAttention algorithms share: a score block, one fold of the online softmax, dS.

Arrays carry the query heads of one group first: (heads, rows, keys), (heads, rows) for row statistics. A row that has
seen nothing but masked scores has row_max -inf and row_sum 0; no step turns that into NaN.
"""

import numpy as np

from app.theory.block_sparse import BlockPattern
from app.theory.counted_memory import Group
from app.theory.dropout import Array, Dropout
from app.theory.shapes import AttentionShape, BlockShape


class ScoreBlocks:
    """Computes score blocks of one problem: scale, causal mask, dropout factor; says which are needed."""

    def __init__(
        self, shape: AttentionShape, block: BlockShape, dropout: Dropout | None, pattern: BlockPattern | None
    ) -> None:
        self.scale = 1 / np.sqrt(shape.head_dim)
        self._causal = shape.causal
        self._block, self._dropout, self._pattern = block, dropout, pattern

    def needed(self, rows: slice, keys: slice) -> bool:
        """Whether the mask lets anything of the block through and the pattern keeps it."""
        if self._causal and keys.start > rows.stop - 1:
            return False
        m_block, n_block = rows.start // self._block.block_m, keys.start // self._block.block_n
        return self._pattern is None or self._pattern.keeps(m_block, n_block)

    def scores(self, q: Array, k: Array, rows: slice, keys: slice) -> Array:
        """q (heads, rows, d) times kᵀ (d, keys), scaled, masked entries -inf."""
        scores: Array = q @ k.T * self.scale
        if self._causal:
            visible = np.arange(keys.start, keys.stop)[None, :] <= np.arange(rows.start, rows.stop)[:, None]
            scores = np.where(visible, scores, -np.inf)
        return scores

    def dropout_factor(self, group: Group, rows: slice, keys: slice) -> Array:
        """The dropout mask of the block, made again from the generator's state; ones without dropout."""
        if self._dropout is None:
            return np.ones((1, 1, 1))
        return self._dropout.factor(group.heads, np.arange(rows.start, rows.stop), np.arange(keys.start, keys.stop))


def fold(row_max: Array, row_sum: Array, scores: Array) -> tuple[Array, Array, Array, Array]:
    """One step of the online softmax over a score block.

    Returns (new row_max, new row_sum, rescale = exp(old max - new max), weights = exp(scores - new max)).
    """
    new_max = np.maximum(row_max, scores.max(axis=-1))
    reference = finite(new_max)
    rescale = np.exp(row_max - reference)
    weights = np.exp(scores - reference[..., None])
    return new_max, rescale * row_sum + weights.sum(axis=-1), rescale, weights


def finite(row_max: Array) -> Array:
    """row_max, or lse, with 0 in rows that saw nothing: their scores are -inf, and exp(-inf - 0) is the 0 wanted."""
    return np.where(np.isneginf(row_max), 0.0, row_max)


def divided(numerator: Array, row_sum: Array) -> Array:
    """numerator / row_sum by row, 0 in rows that saw nothing."""
    some = row_sum > 0
    return np.where(some, 1 / np.where(some, row_sum, 1), 0.0)[..., None] * numerator
