"""The order of work on one SM: nothing before its time, one group on the tensor cores, no stage overwritten."""

from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.theory.pipeline import Span, timeline

COUNTS = st.integers(1, 6)


def find(spans: tuple[Span, ...], **wanted: object) -> list[Span]:
    return [span for span in spans if all(getattr(span, name) == value for name, value in wanted.items())]


def one(spans: tuple[Span, ...], **wanted: object) -> Span:
    (found,) = find(spans, **wanted)
    return found


@given(COUNTS, COUNTS, COUNTS)
def test_every_block_is_loaded_once_and_worked_on_once_by_each_group(blocks: int, stages: int, groups: int) -> None:
    spans = timeline(blocks, stages, groups)
    assert len(spans) == blocks * (2 + 3 * groups)
    for block, group in product(range(blocks), range(1, groups + 1)):
        k, v = one(spans, work="load", operand="k", block=block), one(spans, work="load", operand="v", block=block)
        scores = one(spans, row=group, work="matmul", operand="s", block=block)
        softmax = one(spans, row=group, work="softmax", block=block)
        output = one(spans, row=group, work="matmul", operand="o", block=block)
        assert k.stop <= scores.start
        assert scores.stop <= softmax.start
        assert max(softmax.stop, v.stop) <= output.start


@given(COUNTS, COUNTS, COUNTS)
def test_nobody_does_two_things_at_once(blocks: int, stages: int, groups: int) -> None:
    spans = timeline(blocks, stages, groups)
    tensor_cores = find(spans, work="matmul")
    for busy in [tensor_cores] + [find(spans, row=row) for row in range(groups + 1)]:
        for before, after in pairwise(sorted(busy, key=lambda span: span.start)):
            assert before.stop <= after.start


@given(COUNTS, COUNTS, COUNTS)
def test_a_stage_is_filled_again_only_when_all_have_used_it(blocks: int, stages: int, groups: int) -> None:
    spans = timeline(blocks, stages, groups)
    for operand, use in (("k", "s"), ("v", "o")):
        for block in range(stages, blocks):
            load = one(spans, work="load", operand=operand, block=block)
            uses = find(spans, work="matmul", operand=use, block=block - stages)
            assert max(span.stop for span in uses) <= load.start


def test_with_two_groups_softmax_hides_behind_the_other_groups_products() -> None:
    spans = timeline(6, 2)
    products = sorted(find(spans, work="matmul"), key=lambda span: span.start)
    # Between filling and draining the tensor cores never wait.
    assert all(before.stop == after.start for before, after in pairwise(products[2:-1]))
    for softmax in find(spans, row=1, work="softmax"):
        assert [span for span in find(spans, row=2, work="matmul") if span.start < softmax.stop <= span.stop + 1]


def test_one_group_alone_leaves_the_tensor_cores_waiting() -> None:
    spans = sorted(find(timeline(6, 2, groups=1), work="matmul"), key=lambda span: span.start)
    assert any(before.stop < after.start for before, after in pairwise(spans))


@pytest.mark.parametrize("counts", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_nothing_below_one(counts: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        timeline(*counts)
