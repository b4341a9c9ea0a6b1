"""One-pass softmax: the worked example, a 60-digit decimal reference, extreme rows, masked rows, bad input."""

import math
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.theory.online_softmax import trace
from tests.theory.strategies import repeatable

SCORES = (0.5, -1.0, 1.5, 0.0, 2.5, 2.0, -0.5, 1.0)
VALUES = (1.0, -2.0, 3.0, 0.5, -1.0, 2.0, 4.0, -0.5)
finite = st.floats(allow_nan=False, allow_infinity=False)
moderate = st.floats(-50, 50)


def decimal_softmax(scores) -> list[Decimal]:
    with localcontext(prec=60, Emin=-(10**12)):
        top = max(Decimal(score) for score in scores)
        weights = [(Decimal(score) - top).exp() if Decimal(score) - top > -2000 else Decimal(0) for score in scores]
        return [weight / sum(weights) for weight in weights]


def test_worked_example_step_by_step():
    result = trace(SCORES, 2, VALUES)
    assert [(s.index, s.start, s.stop, s.row_max) for s in result.steps] == [
        (0, 0, 2, 0.5),
        (1, 2, 4, 1.5),
        (2, 4, 6, 2.5),
        (3, 6, 8, 2.5),
    ]
    assert [s.rescale for s in result.steps] == [0.0, math.exp(-1), math.exp(-1), 1.0]
    assert [s.row_sum for s in result.steps] == pytest.approx(
        [1.2231301601484299, 1.6730945999437711, 2.2220277661669057, 2.4949449946831996], rel=1e-15
    )
    assert [s.acc for s in result.steps] == pytest.approx(
        [0.5537396797031403, 3.3152745239978600, 1.4326826586435188, 1.5202658520407597], rel=1e-15
    )
    assert result.output == pytest.approx(0.6093384244063459, rel=1e-15)
    assert result.lse == pytest.approx(3.4142666827413020, rel=1e-15)
    assert result.difference <= 4.5e-16


@repeatable
@given(scores=st.lists(moderate, min_size=1, max_size=64), block=st.integers(1, 70))
def test_probabilities_equal_a_decimal_reference(scores, block):
    result = trace(scores, block)
    exact = decimal_softmax(scores)
    for ours in (result.probs, result.direct_probs):
        assert [float(p) for p in exact] == pytest.approx(list(ours), rel=1e-13, abs=1e-300)
    assert sum(result.probs) == pytest.approx(1, rel=1e-14)


@repeatable
@given(data=st.data(), scores=st.lists(moderate, min_size=1, max_size=64), block=st.integers(1, 70))
def test_output_equals_a_decimal_reference(data, scores, block):
    values = data.draw(st.lists(st.floats(-100, 100), min_size=len(scores), max_size=len(scores)))
    exact = sum(p * Decimal(v) for p, v in zip(decimal_softmax(scores), values, strict=True))
    result = trace(scores, block, values)
    assert result.output == pytest.approx(float(exact), rel=1e-12, abs=1e-12)
    assert result.direct_output == pytest.approx(float(exact), rel=1e-12, abs=1e-12)


@repeatable
@given(scores=st.lists(moderate, min_size=1, max_size=64), block=st.integers(1, 70), size=st.sampled_from([1, 1e6]))
def test_difference_is_the_largest_over_output_and_probabilities(scores, block, size):
    result = trace(scores, block, [size * (index + 1) for index in range(len(scores))])
    of_probs = max(abs(p - direct) for p, direct in zip(result.probs, result.direct_probs, strict=True))
    assert result.difference == max(of_probs, abs(result.output - result.direct_output))
    assert trace(scores, block).difference == of_probs


@repeatable
@given(scores=st.lists(finite, min_size=1, max_size=64), block=st.integers(1, 70))
def test_any_finite_row_gives_finite_results(scores, block):
    result = trace(scores, block, [1.0] * len(scores))
    for step in result.steps:
        assert all(math.isfinite(number) for number in (step.row_max, step.row_sum, step.rescale, step.acc))
        assert 0 <= step.rescale <= 1
        assert step.row_max == max(scores[: step.stop])
        assert 1 <= step.row_sum <= step.stop
    assert all(0 <= p <= 1 for p in result.probs)
    assert result.output == pytest.approx(1, rel=1e-14)
    assert result.difference < 1e-14


@pytest.mark.parametrize(
    "scores",
    [
        [1.7e308, -1.7e308, 1.7e308],
        [1e-300] * 5,
        [5e-324, 0.0, -5e-324],
        [float(64 - i) for i in range(64)],
        [700.0 * i for i in range(64)],
        [-1e5] * 64,
        [0.0],
    ],
    ids=["huge", "tiny", "subnormal", "descending", "steep", "equal", "one"],
)
@pytest.mark.parametrize("block", [1, 3, 64])
def test_extreme_rows_equal_a_decimal_reference(scores, block):
    result = trace(scores, block)
    assert list(result.probs) == pytest.approx([float(p) for p in decimal_softmax(scores)], rel=1e-13, abs=1e-300)


def test_equal_scores_share_equally():
    result = trace([3.25] * 7, 2)
    assert result.probs == (1 / 7,) * 7
    assert (result.row_max, result.row_sum) == (3.25, 7.0)


def test_masked_scores_get_nothing():
    result = trace([-math.inf, 1.0, -math.inf, 2.0], 1, [9.0, 1.0, 9.0, 2.0])
    assert result.probs[0] == result.probs[2] == 0
    assert result.probs[1:4:2] == pytest.approx([1 / (1 + math.e), math.e / (1 + math.e)])
    assert result.steps[0].row_max == -math.inf
    assert [step.rescale for step in result.steps] == [1.0, 0.0, 1.0, math.exp(-1)]


def test_fully_masked_row_is_defined_and_holds_no_nan():
    result = trace([-math.inf] * 5, 2, [1.0] * 5)
    assert (result.row_max, result.row_sum, result.lse) == (-math.inf, 0.0, -math.inf)
    assert (result.output, result.direct_output, result.difference) == (0.0, 0.0, 0.0)
    assert result.probs == result.direct_probs == (0.0,) * 5


def test_without_values_there_is_no_output():
    result = trace([1.0, 2.0], 1)
    assert (result.output, result.direct_output, result.steps[0].acc) == (None, None, None)


@pytest.mark.parametrize(
    ("scores", "block", "values", "message"),
    [
        ([], 1, None, "scores must be 1 to 64 numbers, got 0"),
        ([0.0] * 65, 1, None, "scores must be 1 to 64 numbers, got 65"),
        ([0.0, math.nan], 1, None, "number 1 is nan"),
        ([math.inf], 1, None, "number 0 is inf"),
        ([0.0], 0, None, "block must be a whole number of at least 1, got 0"),
        ([0.0], 1.5, None, "block must be a whole number of at least 1, got 1.5"),
        ([0.0], True, None, "block must be a whole number"),
        ([0.0, 1.0], 1, [1.0], "2 scores, 1 values"),
        ([0.0], 1, [math.nan], "number 0 is nan"),
        ([0.0], 1, [1e301], "at most 1e\\+300"),
    ],
)
def test_bad_rows_are_refused(scores, block, values, message):
    with pytest.raises(ValueError, match=message):
        trace(scores, block, values)
