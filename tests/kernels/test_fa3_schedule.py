"""The lists of the Hopper kernel's thread blocks: every tile once, balanced, the long ones first."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.kernels import fa3_schedule
from app.kernels.fa3_schedule import Tile, schedule
from app.theory import tiling
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
    for tiles in lists(True):
        visits = [tile.n_blocks for tile in tiles]
        assert visits == sorted(visits, reverse=True)


def test_heads_whose_k_and_v_do_not_fit_the_cache_together_are_worked_on_one_group_after_the_other() -> None:
    given_out = lists(True, bytes_per_head=fa3_schedule.RESIDENT_BYTES // 4)
    for tiles in given_out:
        groups = [tile.head // 4 for tile in tiles]
        assert groups == sorted(groups)


def test_the_kernel_finds_each_list_and_one_entry_beyond_the_last() -> None:
    starts, entries = fa3_schedule.flat(((Tile(3, 1, 4), Tile(2, 1, 3)), (Tile(1, 0, 2),)))
    assert starts == [0, 2, 3]
    assert entries == [3, 1, 4, 0, 2, 1, 3, 0, 1, 0, 2, 0, 0, 0, 1, 0]
