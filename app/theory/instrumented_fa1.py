"""FlashAttention in its first version's order, instrumented: it computes attention and counts its loads and stores.

K/V blocks outside, q blocks inside; O, running max and running sum go to memory and back for every score block.
Source: arXiv 2205.14135, Algorithms 1, 4 and 5 (block-sparse), 2 (dropout from the generator's state). The query heads
of a group work on a K/V block together. Counts equal `traffic.count("fa1", …)` tensor by tensor.
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
    variant: str = "without_init",
    dropout: Dropout | None = None,
    pattern: BlockPattern | None = None,
) -> Run:
    """Results o (variant acc32: o_acc) and stats, (batch, num_heads, seqlen, 2): running max, running sum.

    With a `pattern` the result is approximate. ValueError for a wrong array shape or an unknown variant.
    """
    check_inputs(shape, q=q, k=k, v=v)
    if variant not in ("without_init", "with_init", "acc32"):
        raise ValueError(f"variant must be without_init, with_init or acc32, got {variant!r}")
    memory = CountedMemory()
    for tensor, values in (("q", q), ("k", k), ("v", v)):
        memory.place(tensor, values, shape.element_bytes)
    out, out_bytes = ("o_acc", FP32_BYTES) if variant == "acc32" else ("o", shape.element_bytes)
    empty_stats = np.stack([np.full(q.shape[:3], -np.inf), np.zeros(q.shape[:3])], axis=-1)
    if variant == "with_init":
        memory.reserve(out, q.shape, out_bytes)
        memory.reserve("stats", empty_stats.shape, FP32_BYTES)
        memory.store(out, ..., np.zeros(q.shape))
        memory.store("stats", ..., empty_stats)
    else:
        memory.place(out, np.zeros(q.shape), out_bytes)
        memory.place("stats", empty_stats, FP32_BYTES)

    blocks = ScoreBlocks(shape, block, dropout, pattern)
    for group in groups(shape):
        for keys in spans(shape.seqlen, block.block_n):
            k_tile, v_tile = memory.load("k", (*group.kv, keys)), memory.load("v", (*group.kv, keys))
            for rows in spans(shape.seqlen, block.block_m):
                if not blocks.needed(rows, keys):
                    continue
                here = (*group.q, rows)
                o_tile, stats = memory.load(out, here), memory.load("stats", here)
                scores = blocks.scores(memory.load("q", here), k_tile, rows, keys)
                row_max, row_sum, rescale, weights = fold(stats[..., 0], stats[..., 1], scores)
                carried = (stats[..., 1] * rescale)[..., None] * o_tile
                added = (weights * blocks.dropout_factor(group, rows, keys)) @ v_tile
                memory.store(out, here, divided(carried + added, row_sum))
                memory.store("stats", here, np.stack([row_max, row_sum], axis=-1))
    return memory.run()


def backward(
    q: Array,
    k: Array,
    v: Array,
    o: Array,
    do: Array,
    stats: Array,
    shape: AttentionShape,
    block: BlockShape,
    *,
    dropout: Dropout | None = None,
    pattern: BlockPattern | None = None,
) -> Run:
    """Results dq, dk, dv; P is computed again from `stats`. ValueError for a wrong array shape."""
    check_inputs(shape, q=q, k=k, v=v, o=o, do=do)
    memory = CountedMemory()
    for tensor, values in (("q", q), ("k", k), ("v", v), ("o", o), ("do", do), ("dq", np.zeros(q.shape))):
        memory.place(tensor, values, shape.element_bytes)
    memory.place("stats", stats, FP32_BYTES)
    for tensor, like in (("dk", k), ("dv", v)):
        memory.reserve(tensor, like.shape, shape.element_bytes)

    blocks = ScoreBlocks(shape, block, dropout, pattern)
    for group in groups(shape):
        for keys in spans(shape.seqlen, block.block_n):
            k_tile, v_tile = memory.load("k", (*group.kv, keys)), memory.load("v", (*group.kv, keys))
            dk_tile, dv_tile = np.zeros(k_tile.shape), np.zeros(v_tile.shape)
            for rows in spans(shape.seqlen, block.block_m):
                if not blocks.needed(rows, keys):
                    continue
                here = (*group.q, rows)
                q_tile, o_tile, do_tile = (memory.load(tensor, here) for tensor in ("q", "o", "do"))
                saved = memory.load("stats", here)
                scores = blocks.scores(q_tile, k_tile, rows, keys)
                probs = divided(np.exp(scores - finite(saved[..., 0])[..., None]), saved[..., 1])
                factor = blocks.dropout_factor(group, rows, keys)
                dv_tile += ((probs * factor).swapaxes(-1, -2) @ do_tile).sum(axis=0)
                delta = (do_tile * o_tile).sum(axis=-1, keepdims=True)
                ds = probs * (do_tile @ v_tile.T * factor - delta) * blocks.scale
                memory.store("dq", here, memory.load("dq", here) + ds @ k_tile)
                dk_tile += (ds.swapaxes(-1, -2) @ q_tile).sum(axis=0)
            memory.store("dk", (*group.kv, keys), dk_tile)
            memory.store("dv", (*group.kv, keys), dv_tile)
    return memory.run()
