"""Which blocks exist, how many real rows each has, and in which order they are visited.

Rows of q are cut into blocks of `block_m`, rows of k and v into blocks of `block_n`; last blocks may be partial and
only their real rows count. Under a causal mask (query row i sees keys 0 … i) a score block is skipped when its first
key comes after its last query. The sums below are closed forms, so a length of a million costs no more than one of ten
(except with a block-sparse pattern, whose blocks are looked at one by one).
"""

from collections.abc import Iterator

from app.theory.block_sparse import BlockPattern
from app.theory.shapes import AttentionShape, BlockShape


def num_blocks(length: int, block: int) -> int:
    """Blocks of `block` rows needed for `length` rows, the last possibly partial."""
    return -(-length // block)


def block_rows(index: int, length: int, block: int) -> int:
    """Real rows in block `index`. IndexError when there is no such block."""
    if not 0 <= index < num_blocks(length, block):
        raise IndexError(f"block {index} does not exist: {length} rows make {num_blocks(length, block)} blocks")
    return min(block, length - index * block)


def grid(shape: AttentionShape, block: BlockShape) -> tuple[int, int]:
    """(blocks of q, blocks of k and v): the papers' T_r and T_c."""
    return num_blocks(shape.seqlen, block.block_m), num_blocks(shape.seqlen, block.block_n)


def block_exists(m_block: int, n_block: int, shape: AttentionShape, block: BlockShape) -> bool:
    """Whether score block (m_block, n_block) has at least one entry the mask lets through."""
    return n_block <= last_n_block(m_block, shape, block)


def last_n_block(m_block: int, shape: AttentionShape, block: BlockShape) -> int:
    """Last block of k and v that q block `m_block` needs."""
    if not shape.causal:
        return num_blocks(shape.seqlen, block.block_n) - 1
    last_query = min((m_block + 1) * block.block_m, shape.seqlen) - 1
    return last_query // block.block_n


def first_m_block(n_block: int, shape: AttentionShape, block: BlockShape) -> int:
    """First block of q that needs k/v block `n_block`."""
    return n_block * block.block_n // block.block_m if shape.causal else 0


def q_outer_order(shape: AttentionShape, block: BlockShape) -> Iterator[tuple[int, int]]:
    """(m_block, n_block) as FlashAttention-2 forward visits them: one q block after the other."""
    blocks_m, _ = grid(shape, block)
    for m_block in range(blocks_m):
        for n_block in range(last_n_block(m_block, shape, block) + 1):
            yield m_block, n_block


def kv_outer_order(shape: AttentionShape, block: BlockShape) -> Iterator[tuple[int, int]]:
    """(m_block, n_block) as FlashAttention-1, and every backward pass, visits them: one k/v block after the other."""
    blocks_m, blocks_n = grid(shape, block)
    for n_block in range(blocks_n):
        for m_block in range(first_m_block(n_block, shape, block), blocks_m):
            yield m_block, n_block


def keys_visited(shape: AttentionShape, block: BlockShape, pattern: BlockPattern | None = None) -> int:
    """Rows of k loaded for one head when each q block loads every k block it needs (q outer).

    seqlen · T_r without a mask; with a causal one the sum over q blocks of the keys up to the end of the last block
    each needs.
    """
    if pattern is not None:
        return sum(keys for _, keys in _pattern_blocks(shape, block, pattern))
    blocks_m, blocks_n = grid(shape, block)
    if not shape.causal:
        return shape.seqlen * blocks_m
    return _keys_of_full_q_blocks(shape, block, blocks_m, blocks_n) + shape.seqlen


def queries_visited(shape: AttentionShape, block: BlockShape, pattern: BlockPattern | None = None) -> int:
    """Rows of q loaded for one head when each k/v block loads every q block that needs it (k/v outer)."""
    if pattern is not None:
        return sum(rows for rows, _ in _pattern_blocks(shape, block, pattern))
    _, blocks_n = grid(shape, block)
    if not shape.causal:
        return shape.seqlen * blocks_n
    skipped_blocks = _floor_sum(blocks_n, block.block_m, block.block_n, 0)
    return shape.seqlen * blocks_n - block.block_m * skipped_blocks


def score_entries_visited(shape: AttentionShape, block: BlockShape, pattern: BlockPattern | None = None) -> int:
    """Entries of the score matrix in all visited blocks of one head, masked ones inside them included."""
    if pattern is not None:
        return sum(rows * keys for rows, keys in _pattern_blocks(shape, block, pattern))
    if not shape.causal:
        return shape.seqlen * shape.seqlen
    blocks_m, blocks_n = grid(shape, block)
    last_rows = block_rows(blocks_m - 1, shape.seqlen, block.block_m)
    return block.block_m * _keys_of_full_q_blocks(shape, block, blocks_m, blocks_n) + last_rows * shape.seqlen


def fa1_block_rule(memory_elements: int, head_dim: int) -> BlockShape:
    """Block shape by the first paper's rule (arXiv 2205.14135, Algorithm 1, line 1).

    `memory_elements` is the on-chip memory M as a *number of elements*, as in the paper's proof (its prose says KB).
    The rule leaves no room for the score block inside M. ValueError when either is below 1.
    """
    if memory_elements < 1 or head_dim < 1:
        raise ValueError(f"memory_elements and head_dim must be at least 1, got {memory_elements} and {head_dim}")
    block_n = -(-memory_elements // (4 * head_dim))
    return BlockShape(block_m=min(block_n, head_dim), block_n=block_n)


def _pattern_blocks(shape: AttentionShape, block: BlockShape, pattern: BlockPattern) -> Iterator[tuple[int, int]]:
    """(query rows, key rows) of every block that both the mask and the pattern let through."""
    pattern.check(*grid(shape, block))
    for m_block, n_block in q_outer_order(shape, block):
        if pattern.keeps(m_block, n_block):
            yield (
                block_rows(m_block, shape.seqlen, block.block_m),
                block_rows(n_block, shape.seqlen, block.block_n),
            )


def _keys_of_full_q_blocks(shape: AttentionShape, block: BlockShape, blocks_m: int, blocks_n: int) -> int:
    """Keys loaded under the causal mask by all q blocks but the last (the last always loads all of them).

    Q block i ends at row last = (i+1)·block_m - 1 and loads (last // block_n + 1)·block_n keys, except when that
    reaches the last, possibly partial, k block: then it loads all seqlen.
    """
    # q blocks whose last row lies before the first key of the last k block
    clear_of_last = min(blocks_m - 1, (blocks_n - 1) * block.block_n // block.block_m)
    whole = _floor_sum(clear_of_last, block.block_n, block.block_m, block.block_m - 1) + clear_of_last
    return whole * block.block_n + (blocks_m - 1 - clear_of_last) * shape.seqlen


def _floor_sum(count: int, divisor: int, slope: int, offset: int) -> int:
    """Sum of (slope·i + offset) // divisor for i = 0 … count-1, all arguments ≥ 0, divisor ≥ 1.

    Euclid's algorithm on the lattice points under the line: whole multiples are taken out, then the axes are swapped.
    """
    total = 0
    while count > 0:
        total += count * (count - 1) // 2 * (slope // divisor) + count * (offset // divisor)
        slope %= divisor
        offset %= divisor
        top = slope * count + offset
        if top < divisor:
            break
        count, offset = divmod(top, divisor)
        divisor, slope = slope, divisor
    return total
