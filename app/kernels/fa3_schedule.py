"""Who works on what in the FlashAttention-3-style kernel: a list of tiles for each of its persistent thread blocks.

There are as many thread blocks as SMs, and each works off its own list. The lists are made on the host, greedily: the
tile that is next goes to the thread block with the least work. Under a causal mask tiles differ in length, so the
longest go first; but only among as many heads as have K and V in the L2 cache together, or every tile would fetch its
own from HBM. The shortest, which see few keys, may all wait until the end, where they even out what is left. Without a
mask all tiles are alike, and the last ones may be too few for all thread blocks: they can be cut along K and V into
equal runs, one for each thread block, and put together afterwards (`fa3_combine`).

The lists count visits; how long a visit takes differs a little from SM to SM. `fa3_cuda` can also have the tiles in one
list (`schedule(drawn=True)`), from which whichever thread block is free draws the next.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

# Bytes of K and V that thread blocks may work on at a time: about half of a Hopper L2 cache; under a causal mask, where
# they are further apart, a quarter measured faster.
RESIDENT_BYTES, RESIDENT_BYTES_CAUSAL = 32 * 2**20, 16 * 2**20
# Tiles with at most this share of the longest one's visits are short.
SHORT = 1 / 8
# What starting and finishing a tile costs, in visits to a block of k and v.
TILE_COST = 0.75
# Cutting the last tiles pays when it saves more visits than this: a second kernel, and results that go through memory.
CUT_COST = 6
# Fewest visits a thread block does of tiles that are cut.
SHORTEST_RUN = 4
ENTRY = 5  # numbers of one tile in the lists as the kernel reads them


@dataclass(frozen=True, slots=True)
class Tile:
    """One block of q of one head (counted over the batch), and how many blocks of k and v it visits.

    A part of a tile begins at `first_block` of k and v, and its result goes to place `slot` of the scratch memory. A
    whole tile has no slot, -1.
    """

    m_block: int
    head: int
    n_blocks: int
    first_block: int = 0
    slot: int = -1


Lists = tuple[tuple[Tile, ...], ...]


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
    cut_last: bool = False,
    drawn: bool = False,
) -> Lists:
    """The list of each thread block; there are `thread_blocks` lists, or fewer when there is less to share out.

    `bytes_per_head` is K and V of one head. Every tile stands in exactly one list, or, with `cut_last`, its parts do.
    With `drawn` there is a single list, in the order in which tiles are given out.
    """
    tiles = _in_order(seqlen, heads, block_m, block_n, causal, bytes_per_head)
    left = len(tiles) % thread_blocks
    runs = _cut(tiles[len(tiles) - left :], thread_blocks) if cut_last and left and not causal else []
    if runs:
        tiles = tiles[: len(tiles) - left]
    count = min(thread_blocks, len(tiles)) or len(runs)
    orders = [tiles, _short_ones_last(tiles)] if causal else [tiles]
    dealt = [(_dealt(order, count), order) for order in orders]
    lists, tiles = min(dealt, key=lambda either: max(map(_load, either[0])))
    if drawn:
        return (tuple(tiles + [tile for run in runs for tile in run]),)
    for mine, run in zip(lists, runs, strict=False):  # whole tiles were dealt out evenly, so no list is ahead
        mine += run
    return tuple(map(tuple, lists))


def _load(tiles: Iterable[Tile]) -> float:
    """What a list takes, in visits."""
    return sum(tile.n_blocks + TILE_COST for tile in tiles)


def _dealt(tiles: list[Tile], count: int) -> list[list[Tile]]:
    """`count` lists: the tile that is next goes to the one with the least work."""
    lists: list[list[Tile]] = [[] for _ in range(count)]
    loads = [(0.0, index) for index in range(count)]
    for tile in tiles:
        load, index = loads[0]
        lists[index].append(tile)
        heapq.heapreplace(loads, (load + _load([tile]), index))
    return lists


def _short_ones_last(tiles: list[Tile]) -> list[Tile]:
    """The same tiles, those of all heads that are short behind the others, the longest of them first."""
    limit = SHORT * max((tile.n_blocks for tile in tiles), default=0)
    short = sorted((tile for tile in tiles if tile.n_blocks <= limit), key=lambda tile: -tile.n_blocks)
    return [tile for tile in tiles if tile.n_blocks > limit] + short


def _in_order(seqlen: int, heads: int, block_m: int, block_n: int, causal: bool, bytes_per_head: int) -> list[Tile]:
    """All tiles, whole, in the order in which they are given out."""
    blocks_m = -(-seqlen // block_m)
    blocks_n = -(-seqlen // block_n)
    together = max(1, (RESIDENT_BYTES_CAUSAL if causal else RESIDENT_BYTES) // bytes_per_head)
    return [
        Tile(m_block, head, min(blocks_n, -(-(m_block + 1) * block_m // block_n)) if causal else blocks_n)
        for first_head in range(0, heads, together)
        for m_block in (reversed(range(blocks_m)) if causal else range(blocks_m))
        for head in range(first_head, min(heads, first_head + together))
    ]


def _cut(tiles: list[Tile], thread_blocks: int) -> list[list[Tile]]:
    """Fewer tiles than thread blocks, all of one length, cut into runs of equally many visits; [] if it does not pay.

    A run goes on from one tile into the next, so it may hold parts of two. It pays by count: the longest run and
    `CUT_COST` must be shorter than a tile.
    """
    visits = tiles[0].n_blocks
    total = len(tiles) * visits
    count = min(thread_blocks, total // SHORTEST_RUN)
    if count == 0 or -(-total // count) + CUT_COST >= visits:
        return []
    runs: list[list[Tile]] = []
    slots = 0
    for run in range(count):
        position, end = run * total // count, (run + 1) * total // count
        runs.append([])
        while position < end:
            tile, first = divmod(position, visits)
            length = min(end - position, visits - first)
            whole = length == visits
            runs[-1].append(replace(tiles[tile], n_blocks=length, first_block=first, slot=-1 if whole else slots))
            slots += not whole
            position += length
    return runs


def parts(lists: Lists) -> int:
    """How many places of the scratch memory the lists use."""
    return sum(tile.slot >= 0 for tiles in lists for tile in tiles)


def cut_tiles(lists: Lists) -> list[tuple[int, int, int, int]]:
    """(block of q, head, first slot, parts) of every tile that was cut; its parts have slots one after the other."""
    slots: dict[tuple[int, int], list[int]] = {}
    for tile in (tile for tiles in lists for tile in tiles if tile.slot >= 0):
        slots.setdefault((tile.m_block, tile.head), []).append(tile.slot)
    return [(*tile, min(mine), len(mine)) for tile, mine in slots.items()]


def flat(lists: Iterable[tuple[Tile, ...]]) -> tuple[list[int], list[int]]:
    """The lists as the kernel reads them: where each begins (and the last ends), and `ENTRY` numbers a tile.

    One more entry follows the last, because a thread block looks one tile ahead without asking whether there is one.
    """
    starts, entries = [0], []
    for tiles in lists:
        for tile in tiles:
            entries += [tile.m_block, tile.head, tile.n_blocks, tile.first_block, tile.slot]
        starts.append(len(entries) // ENTRY)
    return starts, [*entries, 0, 0, 1, 0, -1]
