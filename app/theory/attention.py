"""Plain attention in float64, forward and backward: what every other way of computing it is checked against.

Shapes: q, o, do, dq (batch, num_heads, seqlen, head_dim); k, v, dk, dv (batch, num_heads_kv, seqlen, head_dim); scores
and probs (batch, num_heads, seqlen, seqlen). The softmax scale is 1/√head_dim. Whole matrices, no blocks, no counting.
A row with nothing to attend to (possible only with a block-sparse pattern) has probabilities 0, output 0, lse -inf.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.theory.block_sparse import BlockPattern
from app.theory.dropout import Array, Dropout
from app.theory.shapes import AttentionShape, BlockShape


@dataclass(frozen=True, slots=True)
class Attention:
    """A forward pass: output, log-sum-exp per row (batch, num_heads, seqlen), probabilities before dropout."""

    o: Array
    lse: Array
    probs: Array


@dataclass(frozen=True, slots=True)
class Gradients:
    """Gradients of the inputs, in their shapes."""

    dq: Array
    dk: Array
    dv: Array


def visible_entries(
    shape: AttentionShape, block: BlockShape | None = None, pattern: BlockPattern | None = None
) -> NDArray[np.bool_]:
    """(seqlen, seqlen) booleans: which entries the causal mask and the pattern let through. Pattern needs a block."""
    rows = np.arange(shape.seqlen)
    square = (shape.seqlen, shape.seqlen)
    visible: NDArray[np.bool_] = np.tri(*square, dtype=bool) if shape.causal else np.ones(square, dtype=bool)
    if pattern is None:
        return visible
    if block is None:
        raise ValueError("a block-sparse pattern needs a block shape")
    kept = np.array(pattern.kept)
    visible &= kept[np.ix_(rows // block.block_m, rows // block.block_n)]
    return visible


def forward(
    q: Array,
    k: Array,
    v: Array,
    shape: AttentionShape,
    *,
    visible: NDArray[np.bool_] | None = None,
    dropout: Dropout | None = None,
) -> Attention:
    """softmax(QKᵀ/√d)V. `visible` replaces the shape's mask when given. ValueError when an array's shape is wrong."""
    check_inputs(shape, q=q, k=k, v=v)
    visible = visible_entries(shape) if visible is None else visible
    scores = np.where(visible, q @ _per_query_head(k, shape).swapaxes(-1, -2) / np.sqrt(shape.head_dim), -np.inf)
    row_max = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(row_max), 0, row_max))
    row_sum = weights.sum(axis=-1, keepdims=True)
    some = row_sum > 0
    probs = weights / np.where(some, row_sum, 1)
    lse = np.where(some, row_max + np.log(np.where(some, row_sum, 1)), -np.inf)[..., 0]
    return Attention(probs * _dropout_factor(shape, dropout) @ _per_query_head(v, shape), lse, probs)


def backward(
    q: Array,
    k: Array,
    v: Array,
    do: Array,
    shape: AttentionShape,
    *,
    visible: NDArray[np.bool_] | None = None,
    dropout: Dropout | None = None,
) -> Gradients:
    """Gradients of sum(o * do). `visible` and `dropout` as in the forward pass. ValueError when a shape is wrong."""
    check_inputs(shape, q=q, k=k, v=v, do=do)
    probs = forward(q, k, v, shape, visible=visible, dropout=dropout).probs
    factor = _dropout_factor(shape, dropout)
    dv = (probs * factor).swapaxes(-1, -2) @ do
    dp = do @ _per_query_head(v, shape).swapaxes(-1, -2) * factor
    ds = probs * (dp - (probs * dp).sum(axis=-1, keepdims=True)) / np.sqrt(shape.head_dim)
    return Gradients(
        dq=ds @ _per_query_head(k, shape),
        dk=_sum_over_group(ds.swapaxes(-1, -2) @ q, shape),
        dv=_sum_over_group(dv, shape),
    )


def check_inputs(shape: AttentionShape, **arrays: Array) -> None:
    """ValueError, naming the tensor, unless each array has the shape its name calls for."""
    for name, array in arrays.items():
        heads = shape.heads_kv if name in ("k", "v") else shape.heads
        expected = (shape.batch, heads // shape.batch, shape.seqlen, shape.head_dim)
        if array.shape != expected:
            raise ValueError(f"{name} must have shape {expected}, got {array.shape}")


def _per_query_head(array: Array, shape: AttentionShape) -> Array:
    """k or v with each head repeated for the query heads that share it."""
    return np.repeat(array, shape.heads // shape.heads_kv, axis=1)


def _sum_over_group(array: Array, shape: AttentionShape) -> Array:
    """A gradient per query head, added up over the heads that share a key/value head."""
    group = shape.heads // shape.heads_kv
    heads_kv = shape.heads_kv // shape.batch
    summed: Array = array.reshape(shape.batch, heads_kv, group, shape.seqlen, shape.head_dim).sum(axis=2)
    return summed


def _dropout_factor(shape: AttentionShape, dropout: Dropout | None) -> Array:
    if dropout is None:
        return np.ones((1, 1, 1, 1))
    rows = np.arange(shape.seqlen)
    factor = dropout.factor(np.arange(shape.heads), rows, rows)
    return factor.reshape(shape.batch, shape.num_heads, shape.seqlen, shape.seqlen)
