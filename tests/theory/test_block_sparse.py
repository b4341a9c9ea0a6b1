"""Block-sparse patterns, and their counts against a walk over the kept blocks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.theory import traffic
from app.theory.block_sparse import BlockPattern, banded
from app.theory.shapes import AttentionShape, BlockShape
from tests.theory import walkers
from tests.theory.strategies import block_of_problem, patterns, problems, repeatable, shape_of_problem


@repeatable
@given(data=st.data(), problem=problems())
def test_counts_equal_the_walk_over_kept_blocks(data, problem):
    pattern = data.draw(patterns(problem))
    element, heads = walkers.ELEMENT[problem.dtype], problem.batch * problem.num_heads
    rows = keys = 0
    for m, q_block in enumerate(walkers.cut(problem.seqlen, problem.block_m)):
        for n, k_block in enumerate(walkers.cut(problem.seqlen, problem.block_n)):
            if walkers.sees(problem, q_block, k_block) and pattern.kept[m][n]:
                rows, keys = rows + len(q_block), keys + len(k_block)
    shape, block = shape_of_problem(problem), block_of_problem(problem)
    fa1 = {t.tensor: t.read_bytes for t in traffic.count("fa1", shape, block, pattern=pattern).by_tensor}
    fa2 = {t.tensor: t.read_bytes for t in traffic.count("fa2", shape, block, pattern=pattern).by_tensor}
    one_row = problem.head_dim * element
    assert (fa1["q"], fa1["o"], fa1["stats"]) == (rows * one_row * heads, rows * one_row * heads, rows * 8 * heads)
    assert fa2["k"] == fa2["v"] == keys * one_row * problem.batch * problem.num_heads_kv


def test_a_full_pattern_counts_as_no_pattern():
    shape, block = AttentionShape(100, 8, causal=True), BlockShape(16, 24)
    full = BlockPattern(((True,) * 5,) * 7)
    assert full.density == 1
    for model in ("fa1", "fa2"):
        for direction in traffic.DIRECTIONS:
            sparse = traffic.count(model, shape, block, direction, pattern=full)
            dense = traffic.count(model, shape, block, direction)
            assert sparse.by_tensor == dense.by_tensor
            assert (sparse.approximate, dense.approximate) == (True, False)


def test_banded_keeps_the_diagonal_and_the_first_column():
    assert banded(4, 4, 0).kept == (
        (True, False, False, False),
        (True, True, False, False),
        (True, False, True, False),
        (True, False, False, True),
    )
    assert banded(2, 4, 1).kept == ((True, True, True, False), (True, False, True, True))
    assert banded(4, 4, 3).density == 1


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        ((), "rows of one length"),
        (((True,), (True, False)), "rows of one length"),
        (((),), "at least 1 x 1"),
        (((1, 0),), "True and False only"),
    ],
)
def test_bad_patterns_are_refused(kept, message):
    with pytest.raises(ValueError, match=message):
        BlockPattern(kept)


def test_bad_bands_are_refused():
    with pytest.raises(ValueError, match="sides must be at least 1"):
        banded(0, 4, 1)


def test_patterns_that_do_not_fit_the_question_are_refused():
    shape, block, pattern = AttentionShape(64, 8), BlockShape(16, 16), banded(4, 4, 1)
    with pytest.raises(ValueError, match="needs model fa1 or fa2, got standard"):
        traffic.count("standard", shape, block, pattern=pattern)
    with pytest.raises(ValueError, match="counted on line l2_to_sm only"):
        traffic.count("fa2", shape, block, line="hbm", pattern=pattern)
    with pytest.raises(ValueError, match="the block pattern is 4 x 4, the problem has 8 x 4 blocks"):
        traffic.count("fa2", shape, BlockShape(8, 16), pattern=pattern)
