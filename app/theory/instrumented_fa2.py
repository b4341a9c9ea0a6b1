"""FlashAttention in its second version's order, instrumented: it computes attention and counts its loads and stores.

Forward: q blocks outside, K/V blocks inside, O leaves once, divided by the running sum at the end. Backward: delta
first, then K/V blocks outside. Source: arXiv 2307.08691, Algorithms 1 and 2; variant kernel of the backward pass as the
released kernels do it (dQ added up in fp32 and converted at the end, O not loaded in the loop). The query heads of a
group work on a K/V block together. Counts equal `traffic.count("fa2", …)` tensor by tensor.
"""

import numpy as np

from app.theory.attention import check_inputs
from app.theory.block_sparse import BlockPattern
from app.theory.counted_memory import CountedMemory, Run, groups, spans
from app.theory.dropout import Array, Dropout
from app.theory.folding import ScoreBlocks, divided, finite, fold
from app.theory.shapes import FP32_BYTES, AttentionShape, BlockShape


def forward(
    q: Array,
    k: Array,
    v: Array,
    shape: AttentionShape,
    block: BlockShape,
    *,
    variant: str = "without_lse",
    dropout: Dropout | None = None,
    pattern: BlockPattern | None = None,
) -> Run:
    """Result o and, with variant with_lse, lse (batch, num_heads, seqlen).

    With a `pattern` the result is approximate. ValueError for a wrong array shape or an unknown variant.
    """
    check_inputs(shape, q=q, k=k, v=v)
    if variant not in ("without_lse", "with_lse"):
        raise ValueError(f"variant must be without_lse or with_lse, got {variant!r}")
    memory = CountedMemory()
    for tensor, values in (("q", q), ("k", k), ("v", v)):
        memory.place(tensor, values, shape.element_bytes)
    memory.reserve("o", q.shape, shape.element_bytes)
    memory.reserve("lse", q.shape[:3], FP32_BYTES)

    blocks = ScoreBlocks(shape, block, dropout, pattern)
    for group in groups(shape):
        for rows in spans(shape.seqlen, block.block_m):
            here = (*group.q, rows)
            q_tile = memory.load("q", here)
            row_max, row_sum = np.full(q_tile.shape[:2], -np.inf), np.zeros(q_tile.shape[:2])
            acc = np.zeros(q_tile.shape)
            for keys in spans(shape.seqlen, block.block_n):
                if not blocks.needed(rows, keys):
                    continue
                k_tile, v_tile = memory.load("k", (*group.kv, keys)), memory.load("v", (*group.kv, keys))
                scores = blocks.scores(q_tile, k_tile, rows, keys)
                row_max, row_sum, rescale, weights = fold(row_max, row_sum, scores)
                acc = rescale[..., None] * acc + (weights * blocks.dropout_factor(group, rows, keys)) @ v_tile
            memory.store("o", here, divided(acc, row_sum))
            if variant == "with_lse":
                some = row_sum > 0
                memory.store("lse", here, np.where(some, row_max + np.log(np.where(some, row_sum, 1)), -np.inf))
    return memory.run()


def backward(
    q: Array,
    k: Array,
    v: Array,
    o: Array,
    do: Array,
    lse: Array,
    shape: AttentionShape,
    block: BlockShape,
    *,
    variant: str = "kernel",
    dropout: Dropout | None = None,
    pattern: BlockPattern | None = None,
) -> Run:
    """Results dq, dk, dv; P is computed again from `lse`. ValueError for a wrong array shape or an unknown variant."""
    check_inputs(shape, q=q, k=k, v=v, o=o, do=do)
    if variant not in ("kernel", "listed"):
        raise ValueError(f"variant must be kernel or listed, got {variant!r}")
    memory = CountedMemory()
    for tensor, values in (("q", q), ("k", k), ("v", v), ("o", o), ("do", do)):
        memory.place(tensor, values, shape.element_bytes)
    memory.place("lse", lse, FP32_BYTES)
    memory.reserve("delta", lse.shape, FP32_BYTES)
    for tensor, like in (("dk", k), ("dv", v)):
        memory.reserve(tensor, like.shape, shape.element_bytes)
    listed = variant == "listed"
    running, running_bytes = ("dq", shape.element_bytes) if listed else ("dq_acc", FP32_BYTES)
    memory.place(running, np.zeros(q.shape), running_bytes)
    row_spans = spans(shape.seqlen, block.block_m)

    blocks = ScoreBlocks(shape, block, dropout, pattern)
    for group in groups(shape):
        for rows in row_spans:
            here = (*group.q, rows)
            memory.store("delta", here, (memory.load("do", here) * memory.load("o", here)).sum(axis=-1))
        for keys in spans(shape.seqlen, block.block_n):
            k_tile, v_tile = memory.load("k", (*group.kv, keys)), memory.load("v", (*group.kv, keys))
            dk_tile, dv_tile = np.zeros(k_tile.shape), np.zeros(v_tile.shape)
            for rows in row_spans:
                if not blocks.needed(rows, keys):
                    continue
                here = (*group.q, rows)
                q_tile, do_tile = memory.load("q", here), memory.load("do", here)
                if listed:
                    memory.load("o", here)  # the listing loads O here and does not use it
                scores = blocks.scores(q_tile, k_tile, rows, keys)
                probs = np.exp(scores - finite(memory.load("lse", here))[..., None])
                factor = blocks.dropout_factor(group, rows, keys)
                dv_tile += ((probs * factor).swapaxes(-1, -2) @ do_tile).sum(axis=0)
                delta = memory.load("delta", here)[..., None]
                ds = probs * (do_tile @ v_tile.T * factor - delta) * blocks.scale
                memory.store(running, here, memory.load(running, here) + ds @ k_tile)
                dk_tile += (ds.swapaxes(-1, -2) @ q_tile).sum(axis=0)
            memory.store("dk", (*group.kv, keys), dk_tile)
            memory.store("dv", (*group.kv, keys), dv_tile)
    if not listed:
        memory.reserve("dq", q.shape, shape.element_bytes)
        for group in groups(shape):
            for rows in row_spans:
                here = (*group.q, rows)
                memory.store("dq", here, memory.load("dq_acc", here))
    return memory.run()
