"""Who works on what in the FlashAttention-3-style kernel: a list of tiles for each of its persistent thread blocks.

There are as many thread blocks as SMs, and each works off its own list. The lists are made on the host, greedily: the
tile that is next goes to the thread block with the least work. Under a causal mask tiles differ in length, so the
longest go first; but only among as many heads as have K and V in the L2 cache together, or every tile would fetch its
own from HBM.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import lru_cache

# Bytes of K and V that thread blocks may work on at a time: half of a Hopper L2 cache.
RESIDENT_BYTES = 32 * 2**20
# What starting and finishing a tile costs, in visits to a block of k and v.
TILE_COST = 0.75


@dataclass(frozen=True, slots=True)
class Tile:
    """One block of q of one head (counted over the batch), and how many blocks of k and v it visits."""

    m_block: int
    head: int
    n_blocks: int


@lru_cache(maxsize=64)
def schedule(
    *,
    seqlen: int,
    heads: int,
    block_m: int,
    block_n: int,
    causal: bool,
    bytes_per_head: int,
    thread_blocks: int,
) -> tuple[tuple[Tile, ...], ...]:
    """The list of each thread block; there are `thread_blocks` lists, or as many as there are tiles if fewer.

    `bytes_per_head` is K and V of one head. Every tile stands in exactly one list.
    """
    blocks_m = -(-seqlen // block_m)
    blocks_n = -(-seqlen // block_n)
    together = max(1, RESIDENT_BYTES // bytes_per_head)
    lists: list[list[Tile]] = [[] for _ in range(min(thread_blocks, blocks_m * heads))]
    loads = [(0.0, index) for index in range(len(lists))]
    for first_head in range(0, heads, together):
        for m_block in reversed(range(blocks_m)) if causal else range(blocks_m):
            visits = min(blocks_n, -(-(m_block + 1) * block_m // block_n)) if causal else blocks_n
            for head in range(first_head, min(heads, first_head + together)):
                load, index = loads[0]
                lists[index].append(Tile(m_block, head, visits))
                heapq.heapreplace(loads, (load + visits + TILE_COST, index))
    return tuple(map(tuple, lists))


def flat(lists: tuple[tuple[Tile, ...], ...]) -> tuple[list[int], list[int]]:
    """The lists as the kernel reads them: where each begins (and the last ends), and four numbers a tile.

    One more entry follows the last, because a thread block looks one tile ahead without asking whether there is one.
    """
    starts, entries = [0], []
    for tiles in lists:
        for tile in tiles:
            entries += [tile.m_block, tile.head, tile.n_blocks, 0]
        starts.append(len(entries) // 4)
    return starts, [*entries, 0, 0, 1, 0]
