"""The lists of the Hopper kernel's thread blocks: every tile once, balanced, the long ones first."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.kernels import fa3_schedule
from app.kernels.fa3_schedule import Tile, schedule
from app.theory import cluster_roles, tiling
from app.theory.shapes import AttentionShape, BlockShape

BLOCKS = st.sampled_from([(128, 128), (192, 128), (128, 64)])


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(1, 3000), st.integers(1, 12), BLOCKS, st.booleans(), st.integers(1, 140), st.integers(1, 2**26))
def test_every_tile_is_worked_on_once_and_visits_what_the_theory_says(
    seqlen: int, heads: int, blocks: tuple[int, int], causal: bool, thread_blocks: int, bytes_per_head: int
) -> None:
    block = BlockShape(*blocks)
    lists = schedule(
        seqlen=seqlen,
        heads=heads,
        block_m=block.block_m,
        block_n=block.block_n,
        causal=causal,
        bytes_per_head=bytes_per_head,
        thread_blocks=thread_blocks,
    )
    shape = AttentionShape(seqlen, 128, causal=causal)
    blocks_m, _ = tiling.grid(shape, block)
    expected = {
        Tile(m_block, head, tiling.last_n_block(m_block, shape, block) + 1)
        for m_block in range(blocks_m)
        for head in range(heads)
    }
    given_out = [tile for tiles in lists for tile in tiles]
    assert len(given_out) == len(expected)
    assert set(given_out) == expected
    assert len(lists) == min(thread_blocks, len(expected))
    assert all(lists), "a thread block without work would read another one's first tile"


def lists(
    causal: bool, heads: int = 16, seqlen: int = 4096, bytes_per_head: int = 2**21
) -> tuple[tuple[Tile, ...], ...]:
    return schedule(
        seqlen=seqlen,
        heads=heads,
        block_m=128,
        block_n=128,
        causal=causal,
        bytes_per_head=bytes_per_head,
        thread_blocks=132,
    )


@pytest.mark.parametrize("causal", [False, True])
def test_no_thread_block_has_more_than_one_tile_more_work_than_another(causal: bool) -> None:
    loads = [sum(tile.n_blocks + fa3_schedule.TILE_COST for tile in tiles) for tiles in lists(causal)]
    longest = 32 + fa3_schedule.TILE_COST
    assert max(loads) - min(loads) <= longest


def test_under_a_mask_long_tiles_come_first() -> None:
    heads = 16
    for tiles in lists(True, heads, bytes_per_head=fa3_schedule.RESIDENT_BYTES_CAUSAL // heads):
        visits = [tile.n_blocks for tile in tiles]
        assert visits == sorted(visits, reverse=True)


@pytest.mark.parametrize(("seqlen", "heads", "bytes_per_head"), [(16_384, 32, 2**22), (65_536, 8, 2**24)])
def test_short_tiles_even_out_what_the_long_ones_left(seqlen: int, heads: int, bytes_per_head: int) -> None:
    """Dealt out group by group, the longest list would be nearly 1 % above the mean."""
    given_out = schedule(
        seqlen=seqlen,
        heads=heads,
        block_m=192,
        block_n=128,
        causal=True,
        bytes_per_head=bytes_per_head,
        thread_blocks=132,
    )
    loads = [sum(tile.n_blocks + fa3_schedule.TILE_COST for tile in tiles) for tiles in given_out]
    assert max(loads) < 1.002 * sum(loads) / len(loads)


def test_heads_whose_k_and_v_do_not_fit_the_cache_together_are_worked_on_one_group_after_the_other() -> None:
    given_out = lists(True, bytes_per_head=fa3_schedule.RESIDENT_BYTES_CAUSAL // 4)
    for tiles in given_out:
        groups = [tile.head // 4 for tile in tiles]
        assert groups == sorted(groups)


def test_an_entry_is_as_long_as_the_kernel_keeps_beside_q() -> None:
    assert fa3_schedule.ENTRY * 4 == cluster_roles.TILE_BYTES  # 32-bit numbers


def test_the_kernel_finds_each_list_and_one_entry_beyond_the_last() -> None:
    starts, entries = fa3_schedule.flat(((Tile(3, 1, 4), Tile(2, 1, 3)), (Tile(1, 0, 2),)))
    assert starts == [0, 2, 3]
    assert entries == [3, 1, 4, 0, -1, 2, 1, 3, 0, -1, 1, 0, 2, 0, -1, 0, 0, 1, 0, -1]


@pytest.mark.parametrize("cut_last", [False, True])
def test_tiles_to_be_drawn_stand_in_one_list_in_the_order_in_which_they_are_dealt_out(cut_last: bool) -> None:
    def made(*, drawn: bool) -> fa3_schedule.Lists:
        return schedule(
            seqlen=4000,
            heads=11,
            block_m=128,
            block_n=80,
            causal=not cut_last,
            bytes_per_head=2**21,
            thread_blocks=9,
            cut_last=cut_last,
            drawn=drawn,
        )

    (all_tiles,) = made(drawn=True)
    dealt = made(drawn=False)
    assert sorted(map(repr, all_tiles)) == sorted(repr(tile) for tiles in dealt for tile in tiles)
    for tiles in dealt:
        places = [all_tiles.index(tile) for tile in tiles]
        assert places == sorted(places)


def cut(seqlen: int, heads: int, thread_blocks: int = 132, block_n: int = 128) -> tuple[tuple[Tile, ...], ...]:
    return schedule(
        seqlen=seqlen,
        heads=heads,
        block_m=128,
        block_n=block_n,
        causal=False,
        bytes_per_head=2**21,
        thread_blocks=thread_blocks,
        cut_last=True,
    )


@settings(derandomize=True, deadline=None, max_examples=80)
@given(st.integers(1, 5000), st.integers(1, 9), st.integers(1, 40), st.sampled_from([64, 128]))
def test_cut_or_not_every_block_of_k_is_visited_once_by_every_tile(
    seqlen: int, heads: int, thread_blocks: int, block_n: int
) -> None:
    lists = cut(seqlen, heads, thread_blocks, block_n)
    visited = [
        (tile.m_block, tile.head, block)
        for tiles in lists
        for tile in tiles
        for block in range(tile.first_block, tile.first_block + tile.n_blocks)
    ]
    blocks_m, blocks_n = -(-seqlen // 128), -(-seqlen // block_n)
    assert len(visited) == len(set(visited)) == blocks_m * heads * blocks_n
    assert {block for _, _, block in visited} == set(range(blocks_n))
    assert all(lists), "a thread block without work would read another one's first tile"
    assert all(tile.n_blocks > 0 for tiles in lists for tile in tiles)
    assert len(lists) <= thread_blocks


@settings(derandomize=True, deadline=None, max_examples=80)
@given(st.integers(1, 5000), st.integers(1, 9), st.integers(1, 40))
def test_parts_of_a_tile_have_slots_of_their_own_one_after_the_other(
    seqlen: int, heads: int, thread_blocks: int
) -> None:
    lists = cut(seqlen, heads, thread_blocks)
    blocks_n = -(-seqlen // 128)
    slots = {tile.slot: (tile.m_block, tile.head) for tiles in lists for tile in tiles if tile.slot >= 0}
    assert len(slots) == fa3_schedule.parts(lists)
    assert set(slots) == set(range(len(slots)))
    named = {
        slot: (m_block, head)
        for m_block, head, first, count in fa3_schedule.cut_tiles(lists)
        for slot in range(first, first + count)
    }
    assert named == slots
    assert all((tile.slot < 0) == (tile.n_blocks == blocks_n) for tiles in lists for tile in tiles)


@pytest.mark.parametrize(("seqlen", "heads", "longest"), [(4096, 64, 15 * 32 + 17), (16384, 16, 15 * 128 + 66)])
def test_the_last_tiles_are_shared_by_all_thread_blocks(seqlen: int, heads: int, longest: int) -> None:
    """2,048 tiles on 132 SMs: 15 each, and 68 that are cut; uncut, the longest list would be 16 tiles."""
    visits = [sum(tile.n_blocks for tile in tiles) for tiles in cut(seqlen, heads)]
    assert max(visits) == longest
    assert max(visits) - min(visits) <= 1


def test_few_tiles_are_shared_by_all_thread_blocks_too() -> None:
    lists = cut(8192, 1)  # 64 tiles of 64 visits
    assert len(lists) == 132
    assert max(sum(tile.n_blocks for tile in tiles) for tiles in lists) == 32


def test_nothing_is_cut_where_it_does_not_pay() -> None:
    assert fa3_schedule.parts(cut(1024, 256)) == 0  # 8 visits a tile, the second kernel costs as much as is saved
    assert fa3_schedule.parts(cut(4096, 132)) == 0  # 32 times 132 tiles: no wave is partial
    assert fa3_schedule.parts(cut(4096, 64)) > 0


def test_a_run_is_not_shorter_than_a_few_visits() -> None:
    lists = cut(4096, 29)  # 928 tiles, 7 for each of 132 thread blocks and 4 more, which have 128 visits
    runs = [sum(tile.n_blocks for tile in tiles[7:]) for tiles in lists if len(tiles) > 7]
    assert len(runs) == 32
    assert min(runs) == max(runs) == fa3_schedule.SHORTEST_RUN


def test_under_a_mask_nothing_is_cut() -> None:
    given_out = schedule(
        seqlen=4096,
        heads=64,
        block_m=128,
        block_n=128,
        causal=True,
        bytes_per_head=2**21,
        thread_blocks=132,
        cut_last=True,
    )
    assert fa3_schedule.parts(given_out) == 0
