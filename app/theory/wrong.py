"""Three wrong forms of FlashAttention, kept so that the checks can be seen to catch them. Never use their results.

Each leaves out one thing that looks optional. They share the loop of `instrumented_fa2` without the counting.
Shapes and mask as in `attention`; q, k, v in float64, as many key/value heads as query heads.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from app.theory.attention import check_inputs
from app.theory.counted_memory import spans
from app.theory.dropout import Array
from app.theory.folding import finite
from app.theory.shapes import AttentionShape, BlockShape

Wrong = Callable[[Array, Array, Array, AttentionShape, BlockShape], Array]


def no_rescale(q: Array, k: Array, v: Array, shape: AttentionShape, block: BlockShape) -> Array:
    """The running max is updated, but what was summed before is not multiplied by the correction factor.

    Wrong whenever a later block raises a row's maximum.
    """
    return _forward(q, k, v, shape, block, rescaling=False)


def no_running_max(q: Array, k: Array, v: Array, shape: AttentionShape, block: BlockShape) -> Array:
    """exp(score) without subtracting a maximum.

    Right on small scores, which is why it is tempting; inf / inf = NaN once a score passes 709 (in fp32: 88).
    """
    return _forward(q, k, v, shape, block, subtracting_max=False)


def last_block_unmasked(q: Array, k: Array, v: Array, shape: AttentionShape, block: BlockShape) -> Array:
    """A partial last K/V block is padded with zero rows and their scores are not set to -inf.

    Otherwise every row also attends to keys that do not exist. Right when block_n divides the length, and under a
    causal mask, which hides the padding too: checks without uneven lengths, or with causal ones only, do not see it.
    """
    return _forward(q, k, v, shape, block, masking_padding=False)


WRONG: Mapping[str, Wrong] = MappingProxyType(
    {"no_rescale": no_rescale, "no_running_max": no_running_max, "last_block_unmasked": last_block_unmasked}
)


def none_left_out(q: Array, k: Array, v: Array, shape: AttentionShape, block: BlockShape) -> Array:
    """The same loop with nothing left out: right, so that what fails in the others is what they leave out."""
    return _forward(q, k, v, shape, block)


def _forward(
    q: Array,
    k: Array,
    v: Array,
    shape: AttentionShape,
    block: BlockShape,
    *,
    rescaling: bool = True,
    subtracting_max: bool = True,
    masking_padding: bool = True,
) -> Array:
    check_inputs(shape, q=q, k=k, v=v)
    if shape.heads != shape.heads_kv:
        raise ValueError("the wrong forms take as many key/value heads as query heads")
    padding = -shape.seqlen % block.block_n
    k, v = (np.pad(tensor, ((0, 0), (0, 0), (0, padding), (0, 0))) for tensor in (k, v))
    o = np.empty(q.shape)
    with np.errstate(over="ignore", invalid="ignore"):  # overflow is what one of them is kept to show
        for rows in spans(shape.seqlen, block.block_m):
            row_max = np.full((*q.shape[:2], rows.stop - rows.start), -np.inf)
            row_sum, acc = np.zeros(row_max.shape), np.zeros(q[:, :, rows].shape)
            for keys in spans(shape.seqlen + padding, block.block_n):
                if shape.causal and keys.start >= rows.stop:
                    continue
                scores = q[:, :, rows] @ k[:, :, keys].swapaxes(-1, -2) / np.sqrt(shape.head_dim)
                columns = np.arange(keys.start, keys.stop)
                hidden = (columns >= shape.seqlen) & masking_padding
                if shape.causal:
                    hidden = hidden | (columns > np.arange(rows.start, rows.stop)[:, None])
                scores = np.where(hidden, -np.inf, scores)
                new_max = np.maximum(row_max, scores.max(axis=-1))
                reference = finite(new_max) if subtracting_max else np.zeros(new_max.shape)
                rescale = np.exp(row_max - new_max) if rescaling and subtracting_max else np.ones(new_max.shape)
                weights = np.exp(scores - reference[..., None])
                row_sum = rescale * row_sum + weights.sum(axis=-1)
                acc = rescale[..., None] * acc + weights @ v[:, :, keys]
                row_max = new_max
            o[:, :, rows] = acc / row_sum[..., None]
    return o
