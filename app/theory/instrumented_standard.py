"""The standard way, instrumented: it computes attention and counts what it loads and stores.

Each kernel loads its whole input matrices and stores its whole result once, as Algorithms 0 and 3 of the first paper
(arXiv 2205.14135) do: the on-chip side of a matrix multiply is taken to be ideal. Under a causal mask S and P stay
full. Dropout is applied to P while it is read; its mask is made again from the generator's state, so it moves no bytes.
Counts equal `traffic.count("standard", …)` tensor by tensor.
"""

import numpy as np

from app.theory.attention import check_inputs
from app.theory.counted_memory import CountedMemory, Group, Run, groups
from app.theory.dropout import Array, Dropout
from app.theory.shapes import AttentionShape


def forward(
    q: Array,
    k: Array,
    v: Array,
    shape: AttentionShape,
    *,
    variant: str = "fused_mask",
    dropout: Dropout | None = None,
) -> Run:
    """Three kernels, four with variant unfused_mask. Results o, p (and s) in the run's tensors.

    ValueError for a wrong array shape or an unknown variant.
    """
    check_inputs(shape, q=q, k=k, v=v)
    if variant not in ("fused_mask", "unfused_mask"):
        raise ValueError(f"variant must be fused_mask or unfused_mask, got {variant!r}")
    memory = _memory_with(shape, q=q, k=k, v=v)
    square = (shape.batch, shape.num_heads, shape.seqlen, shape.seqlen)
    for tensor, size in (("s", square), ("p", square), ("o", q.shape)):
        memory.reserve(tensor, size, shape.element_bytes)
    visible = np.tri(shape.seqlen, dtype=bool)
    for group in groups(shape):
        scores = memory.load("q", group.q) @ memory.load("k", group.kv).T / np.sqrt(shape.head_dim)
        if shape.causal and variant == "fused_mask":
            scores = np.where(visible, scores, -np.inf)
        memory.store("s", group.q, scores)
        if variant == "unfused_mask":
            memory.store("s", group.q, np.where(visible | (not shape.causal), memory.load("s", group.q), -np.inf))
        scores = memory.load("s", group.q)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        memory.store("p", group.q, weights / weights.sum(axis=-1, keepdims=True))
        probs = memory.load("p", group.q) * _dropout_factor(shape, group, dropout)
        memory.store("o", group.q, probs @ memory.load("v", group.kv))
    return memory.run()


def backward(
    q: Array,
    k: Array,
    v: Array,
    do: Array,
    probs: Array,
    shape: AttentionShape,
    *,
    dropout: Dropout | None = None,
) -> Run:
    """Five kernels from the saved probabilities. Results dq, dk, dv. ValueError for a wrong array shape."""
    check_inputs(shape, q=q, k=k, v=v, do=do)
    memory = _memory_with(shape, q=q, k=k, v=v, do=do, p=probs)
    for tensor, like in (("dp", probs), ("ds", probs), ("dq", q), ("dk", k), ("dv", v)):
        memory.reserve(tensor, like.shape, shape.element_bytes)
    scale = 1 / np.sqrt(shape.head_dim)
    for group in groups(shape):
        factor = _dropout_factor(shape, group, dropout)
        memory.store("dv", group.kv, _over_group(memory.load("p", group.q) * factor, memory.load("do", group.q)))
        memory.store("dp", group.q, memory.load("do", group.q) @ memory.load("v", group.kv).T * factor)
        p, dp = memory.load("p", group.q), memory.load("dp", group.q)
        memory.store("ds", group.q, p * (dp - (p * dp).sum(axis=-1, keepdims=True)) * scale)
        memory.store("dq", group.q, memory.load("ds", group.q) @ memory.load("k", group.kv))
        memory.store("dk", group.kv, _over_group(memory.load("ds", group.q), memory.load("q", group.q)))
    return memory.run()


def _over_group(scores: Array, rows: Array) -> Array:
    """Sum over the group's heads of scoresᵀ · rows."""
    summed: Array = (scores.swapaxes(-1, -2) @ rows).sum(axis=0)
    return summed


def _memory_with(shape: AttentionShape, **tensors: Array) -> CountedMemory:
    memory = CountedMemory()
    for name, values in tensors.items():
        memory.place(name, values, shape.element_bytes)
    return memory


def _dropout_factor(shape: AttentionShape, group: Group, dropout: Dropout | None) -> Array:
    if dropout is None:
        return np.ones((1, 1, 1))
    rows = np.arange(shape.seqlen)
    return dropout.factor(group.heads, rows, rows)
