"""Operation counts against the golden file and against blocks walked one by one."""

import pytest
from hypothesis import given

from app.theory import flops
from app.theory.shapes import AttentionShape, BlockShape
from tests.theory import walkers
from tests.theory.reference import ROWS, block_of, row_id, shape_of
from tests.theory.strategies import block_of_problem, problems, repeatable, shape_of_problem


@pytest.mark.parametrize("row", ROWS, ids=row_id)
def test_operations_equal_the_golden_row(row):
    shape, block = shape_of(row), block_of(row)
    causal = flops.count(shape_of(row, causal=True), block)
    assert {
        "fwd": flops.count(shape, block).convention_flops,
        "bwd_standard": flops.count(shape, block, "standard", "backward").convention_flops,
        "bwd_flash": flops.count(shape, block, "fa2", "backward").convention_flops,
        "fwd_causal_convention": causal.convention_flops,
        "fwd_causal_exact_entries": causal.entries_flops,
        "fwd_causal_blocks": causal.computed_flops,
    } == row["flops"]


@repeatable
@given(problem=problems(max_seqlen=25))
def test_operations_equal_the_entries_walked(problem):
    shape, block = shape_of_problem(problem), block_of_problem(problem)
    heads = problem.batch * problem.num_heads
    allowed = sum(1 for q in range(problem.seqlen) for k in range(problem.seqlen) if not problem.causal or k <= q)
    for direction, multiplies in (("forward", 2), ("backward", 5)):
        counted = flops.count(shape, block, "fa1", direction)
        per_score = 2 * multiplies * problem.head_dim * heads
        assert counted.entries_flops == per_score * allowed
        assert counted.computed_flops == per_score * walkers.score_entries_visited(problem)


def test_standard_way_computes_the_masked_half_too():
    shape, block = AttentionShape(512, 64, causal=True), BlockShape(64, 64)
    counted = flops.count(shape, block, "standard")
    assert counted.computed_flops == 4 * 512 * 512 * 64 == 2 * counted.convention_flops


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="model must be one of"):
        flops.matmuls("fa4")
    with pytest.raises(ValueError, match="direction must be"):
        flops.matmuls("fa2", "up")
