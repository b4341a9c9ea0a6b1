"""The band of HBM traffic: its edges in the right order, and real counters between them."""

import pytest
from hypothesis import given

from app.theory import bounds, traffic
from app.theory.gpus import GPUS
from app.theory.shapes import AttentionShape, BlockShape
from tests.theory.strategies import block_of_problem, problems, repeatable, shape_of_problem

BLOCK = BlockShape(128, 128)
H200 = GPUS["h200_sxm"]


@pytest.mark.parametrize("direction", traffic.DIRECTIONS)
@repeatable
@given(problem=problems())
def test_least_is_below_the_lower_edge_and_that_below_the_upper(problem, direction):
    shape, block = shape_of_problem(problem), block_of_problem(problem)
    least = traffic.count("least", shape, block, direction).total_bytes
    for model in traffic.MODELS:
        edges = bounds.band(model, shape, block, H200, direction)
        assert edges.upper_bytes == traffic.count(model, shape, block, direction).total_bytes
        if model in ("standard", "least"):
            assert least <= edges.lower_bytes <= edges.upper_bytes
        else:
            assert least <= edges.lower_bytes


def test_scores_that_fit_in_the_l2_could_be_spared_altogether():
    shape = AttentionShape(2048, 128)
    assert shape.scores_bytes < H200.l2_bytes
    edges = bounds.band("standard", shape, BLOCK, H200)
    assert edges.lower_bytes == traffic.count("least", shape, BLOCK).total_bytes


def test_of_scores_far_beyond_the_l2_little_can_be_spared():
    shape = AttentionShape(65_536, 128)
    edges = bounds.band("standard", shape, BLOCK, H200)
    assert edges.upper_bytes - edges.lower_bytes == 4 * H200.l2_bytes


# Counters read on an H200, forward, d = 128: HBM bytes read and written.
COUNTED = [
    ("standard", AttentionShape(4096, 128, num_heads=16), 1_126_994_176 + 1_040_410_880),
    ("standard", AttentionShape(4096, 128), 93_500_000),
]


@pytest.mark.parametrize(("model", "shape", "counted"), COUNTED)
def test_what_was_counted_lies_in_the_band(model, shape, counted):
    edges = bounds.band(model, shape, BLOCK, H200)
    assert edges.lower_bytes <= counted <= edges.upper_bytes


@pytest.mark.parametrize(("direction", "passes"), [("forward", 4), ("backward", 6)])
def test_passes_that_could_be_spared(direction, passes):
    # Forward: S and P each out and back. Backward: P's second load; dP out and back; dS out and twice back.
    assert bounds.spared_passes(AttentionShape(64, 8), BLOCK, direction) == passes
