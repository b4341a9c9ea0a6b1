"""Blocks: counts, partial last blocks, the causal edge, visiting order, the first paper's block rule."""

import pytest
from hypothesis import given

from app.theory import tiling
from app.theory.shapes import AttentionShape, BlockShape
from tests.theory import walkers
from tests.theory.reference import REFERENCE
from tests.theory.strategies import block_of_problem, problems, repeatable, shape_of_problem


@repeatable
@given(problem=problems())
def test_blocks_cover_the_rows_once(problem):
    shape, block = shape_of_problem(problem), block_of_problem(problem)
    assert tiling.grid(shape, block) == (
        len(walkers.cut(problem.seqlen, problem.block_m)),
        len(walkers.cut(problem.seqlen, problem.block_n)),
    )
    for index, rows in enumerate(walkers.cut(problem.seqlen, problem.block_m)):
        assert tiling.block_rows(index, problem.seqlen, problem.block_m) == len(rows)


@repeatable
@given(problem=problems())
def test_visited_blocks_are_those_with_an_entry_the_mask_lets_through(problem):
    shape, block = shape_of_problem(problem), block_of_problem(problem)
    q_blocks = walkers.cut(problem.seqlen, problem.block_m)
    k_blocks = walkers.cut(problem.seqlen, problem.block_n)
    seen = {
        (m, n)
        for m, queries in enumerate(q_blocks)
        for n, keys in enumerate(k_blocks)
        if walkers.sees(problem, queries, keys)
    }
    assert list(tiling.q_outer_order(shape, block)) == sorted(seen)
    assert list(tiling.kv_outer_order(shape, block)) == sorted(seen, key=lambda pair: pair[::-1])
    for m in range(len(q_blocks)):
        for n in range(len(k_blocks)):
            assert tiling.block_exists(m, n, shape, block) == ((m, n) in seen)
    assert tiling.keys_visited(shape, block) == sum(len(k_blocks[n]) for _, n in seen)
    assert tiling.queries_visited(shape, block) == sum(len(q_blocks[m]) for m, _ in seen)
    assert tiling.score_entries_visited(shape, block) == walkers.score_entries_visited(problem)


@pytest.mark.parametrize("label", REFERENCE["fa1_block_rule"])
def test_first_papers_block_rule_equals_the_golden_file(label):
    kib, element, head_dim = (int("".join(c for c in part if c.isdigit())) for part in label.split(", "))
    rule = tiling.fa1_block_rule(kib * 1024 // element, head_dim)
    assert {"br": rule.block_m, "bc": rule.block_n} == REFERENCE["fa1_block_rule"][label]


@pytest.mark.parametrize("index", [-1, 4])
def test_a_block_that_does_not_exist_is_refused(index):
    with pytest.raises(IndexError, match="100 rows make 4 blocks"):
        tiling.block_rows(index, 100, 32)


def test_block_rule_refuses_nonsense():
    with pytest.raises(ValueError, match="at least 1"):
        tiling.fa1_block_rule(0, 64)


def test_causal_edge_of_uneven_blocks():
    # 10 rows, q blocks of 4 (rows 0-3, 4-7, 8-9), key blocks of 3 (0-2, 3-5, 6-8, 9).
    shape, block = AttentionShape(10, 8, causal=True), BlockShape(4, 3)
    assert [tiling.last_n_block(m, shape, block) for m in range(3)] == [1, 2, 3]
    assert [tiling.first_m_block(n, shape, block) for n in range(4)] == [0, 0, 1, 2]
