"""What is left out breaks what it should, slips through where it should, and the right one is right."""

import math

import numpy as np
import pytest

from app.theory import broken


def direct(scale: float) -> np.ndarray:
    """Softmax attention of the same seeded input, in plain numpy."""
    q, k, v = np.random.default_rng(broken.SEED).standard_normal((3, 1, 1, broken.SEQLEN, broken.HEAD_DIM))[:, 0, 0]
    scores = scale * q @ k.T / math.sqrt(broken.HEAD_DIM)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ v


def case(kind: str, name: str) -> broken.Case:
    return next(item for item in broken.broken(kind).cases if item.name == name)


def test_without_rescaling_ordinary_scores_go_wrong_and_a_single_block_does_not():
    assert case("no_rescale", "ordinary").max_error > 0.1
    assert case("no_rescale", "one_block").max_error < 1e-12


def test_without_a_maximum_small_scores_forgive_and_large_ones_do_not():
    small, large = case("no_running_max", "ordinary"), case("no_running_max", "large_scores")
    assert small.nan_rows == 0
    assert small.max_error < 1e-12
    assert large.largest_score > 709
    assert large.nan_rows > 0
    assert large.row_errors[large.row] is None
    assert None in large.wrong


def test_keeping_s_is_right_and_moves_more():
    kept = case("keep_s", "ordinary")
    assert kept.max_error < 1e-12
    n, d = broken.SEQLEN, broken.HEAD_DIM
    assert kept.moved_bytes == 8 * n * n + 8 * n * d
    assert kept.moved_bytes_right == 4 * n * d + 4 * n * d * (n // broken.BLOCK)


@pytest.mark.parametrize("kind", broken.KINDS)
def test_the_right_numbers_are_those_of_plain_softmax(kind):
    for item in broken.broken(kind).cases:
        expected = direct(broken.LARGE if item.name == "large_scores" else 1)
        assert item.right == pytest.approx(expected[item.row, :4], abs=1e-12)
        assert len(item.row_errors) == broken.SEQLEN
        finite = [error for error in item.row_errors if error is not None]
        assert item.nan_rows == broken.SEQLEN - len(finite)
        assert item.max_error == max(finite, default=None)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind must be one of"):
        broken.broken("no_such_thing")
