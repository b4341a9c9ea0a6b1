"""The check that the right algorithm passes rejects each wrong form; where a wrong form slips through is on record."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.theory import attention, instrumented_fa2, wrong
from app.theory.shapes import AttentionShape, BlockShape
from tests.theory.strategies import repeatable

UNEVEN = AttentionShape(50, 16)
BLOCK = BlockShape(16, 16)


def tensors(shape: AttentionShape, *, size: float = 1, seed: int = 5):
    q, k, v = np.random.default_rng(seed).standard_normal(
        (3, shape.batch, shape.num_heads, shape.seqlen, shape.head_dim)
    )
    return q * size, k, v


def passes_the_check(compute, shape: AttentionShape, *, size: float = 1, seed: int = 5) -> bool:
    q, k, v = tensors(shape, size=size, seed=seed)
    return np.allclose(compute(q, k, v, shape, BLOCK), attention.forward(q, k, v, shape).o, rtol=1e-9, atol=1e-11)


def right(q, k, v, shape, block):
    return instrumented_fa2.forward(q, k, v, shape, block).tensors["o"]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("size", [1, 3000])
def test_the_right_algorithm_and_the_bare_loop_pass(causal, size):
    shape = AttentionShape(50, 16, num_heads=2, causal=causal)
    assert passes_the_check(right, shape, size=size)
    assert passes_the_check(wrong.none_left_out, shape, size=size)


@pytest.mark.parametrize("name", wrong.WRONG)
def test_each_wrong_form_fails_the_check_on_some_ordinary_problem(name):
    problems = [(UNEVEN, 1), (UNEVEN, 3000)]
    assert not all(passes_the_check(wrong.WRONG[name], shape, size=size) for shape, size in problems)


@repeatable
@given(seed=st.integers(0, 2**32), causal=st.booleans())
def test_without_rescaling_a_rising_maximum_is_always_caught(seed, causal):
    assert not passes_the_check(wrong.no_rescale, AttentionShape(50, 16, causal=causal), seed=seed)


def test_without_rescaling_a_single_block_is_right():
    assert passes_the_check(wrong.no_rescale, AttentionShape(16, 16))


def test_without_a_maximum_large_scores_end_in_nan_and_small_ones_are_right():
    q, k, v = tensors(UNEVEN, size=3000)
    assert np.isnan(wrong.no_running_max(q, k, v, UNEVEN, BLOCK)).any()
    assert passes_the_check(wrong.no_running_max, UNEVEN)


def test_an_unmasked_last_block_fails_on_uneven_lengths_only_and_hides_behind_a_causal_mask():
    assert not passes_the_check(wrong.last_block_unmasked, UNEVEN)
    assert passes_the_check(wrong.last_block_unmasked, AttentionShape(48, 16))
    assert passes_the_check(wrong.last_block_unmasked, AttentionShape(50, 16, causal=True))


def test_grouped_heads_are_refused():
    shape = AttentionShape(8, 4, num_heads=2, num_heads_kv=1)
    q, kv = np.zeros((1, 2, 8, 4)), np.zeros((1, 1, 8, 4))
    with pytest.raises(ValueError, match="as many key/value heads"):
        wrong.no_rescale(q, kv, kv, shape, BLOCK)
