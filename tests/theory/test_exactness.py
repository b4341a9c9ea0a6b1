"""The three-way comparison: its float64 against plain attention, its rounding against arithmetic on known cases."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.theory import attention, exactness
from app.theory.exactness import Error
from app.theory.shapes import AttentionShape
from tests.theory.strategies import repeatable

sizes = st.integers(1, 90)


@repeatable
@given(seed=st.integers(0, 2**32), n=sizes, d=st.integers(1, 40), m=sizes, k=sizes, causal=st.booleans())
def test_errors_are_those_of_a_16_bit_output_near_the_truth(seed, n, d, m, k, causal):
    result = exactness.exactness(seed, n, d, m, k, causal)
    halves = exactness.random_input(seed, n, d)
    q, key, v = (half.astype(np.float64)[None, None] for half in halves)
    exact = attention.forward(q, key, v, AttentionShape(n, d, causal=causal)).o
    rounding = np.abs(exact.astype(np.float16).astype(np.float64) - exact)
    # float64 attention here and there agree to 1e-15, so the floor agrees unless an entry lies on a rounding boundary
    assert result.floor.max_abs == pytest.approx(rounding.max(), rel=1e-6, abs=1e-12)
    assert result.output_rms == pytest.approx(np.sqrt((exact**2).mean()), rel=1e-12)
    # every output is an average of v: rounding P (2^-11 of it) and O (2^-11) moves it by at most a few units of 2^-11
    largest = np.abs(v).max()
    assert result.tiled.max_abs <= 4 * 2**-11 * largest
    # the standard way also rounds S: a score of size s moves its weight by up to s * 2^-11
    score = np.abs(q @ key.swapaxes(-1, -2)).max() / np.sqrt(d)
    assert result.standard.max_abs <= (4 + 4 * score) * 2**-11 * largest
    assert result.floor.rms <= result.tiled.rms * (1 + 1e-6)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("outliers", [False, True])
def test_tiled_is_closer_than_standard_on_a_large_problem(causal, outliers):
    result = exactness.exactness(11, 256, 64, 64, 64, causal, outliers=outliers)
    assert result.floor.rms < result.tiled.rms < result.standard.rms
    assert result.standard_over_tiled == result.standard.rms / result.tiled.rms


def test_one_key_is_exact_in_all_three_ways():
    # One key has probability 1: O is V, which is fp16 already.
    result = exactness.exactness(0, 1, 16, 8, 8)
    nothing = Error(0.0, 0.0)
    assert (result.standard, result.tiled, result.floor) == (nothing, nothing, nothing)
    assert result.standard_over_tiled is None


def test_block_shape_moves_only_the_rounding():
    errors = {exactness.exactness(2, 100, 32, m, n).tiled.rms for m, n in ((16, 16), (100, 100), (7, 33))}
    assert max(errors) < 1.5 * min(errors)


def test_the_same_question_gets_the_same_answer():
    assert exactness.exactness(9, 64, 16, 16, 16) == exactness.exactness(9, 64, 16, 16, 16)
    other = exactness.exactness(10, 64, 16, 16, 16)
    assert dataclasses.replace(other, seed=9) != exactness.exactness(9, 64, 16, 16, 16)


def test_outliers_change_about_one_entry_in_a_thousand():
    plain = np.array(exactness.random_input(4, 512, 64))
    spiked = np.array(exactness.random_input(4, 512, 64, outliers=True))
    # 98,304 entries, 98 expected, five standard deviations are 50.
    assert 48 < (plain != spiked).sum() < 148


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 0, 64, 16, 16), "seqlen must be from 1 to 1024, got 0"),
        ((0, 1025, 64, 16, 16), "seqlen must be from 1 to 1024, got 1025"),
        ((0, 64, 257, 16, 16), "head_dim must be from 1 to 256, got 257"),
        ((-1, 64, 64, 16, 16), "seed must be at least 0, got -1"),
        ((0, 64, 64, 0, 16), "block_m must be at least 1, got 0"),
        ((0, 64, 64, 16, 0), "block_n must be at least 1, got 0"),
    ],
)
def test_sizes_out_of_bounds_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        exactness.exactness(*arguments)
