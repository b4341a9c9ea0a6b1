"""The reference of references: a row by hand, gradients by complex steps, masks, groups, dropout, bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.theory import attention
from app.theory.block_sparse import BlockPattern
from app.theory.dropout import Dropout
from app.theory.shapes import AttentionShape, BlockShape
from tests.theory.strategies import problems, random_tensors, repeatable, shape_of_problem


def loops_forward(q, k, v, shape, dropout=None):
    """Attention entry by entry with Python's complex numbers, so that complex steps pass through it."""
    group = shape.heads // shape.heads_kv
    o = np.zeros(q.shape, dtype=complex)
    for b, h, i in np.ndindex(q.shape[:3]):
        keys = range(i + 1) if shape.causal else range(shape.seqlen)
        scores = [q[b, h, i] @ k[b, h // group, j] / shape.head_dim**0.5 for j in keys]
        top = max(score.real for score in scores)
        weights = np.exp(np.array(scores) - top)
        factors = [1.0] * len(weights)
        if dropout:
            index = np.array([b * shape.num_heads + h])
            factors = [dropout.factor(index, np.array([i]), np.array([j])).item() for j in keys]
        kept = [weight * factor / weights.sum() for weight, factor in zip(weights, factors, strict=True)]
        o[b, h, i] = sum(p * v[b, h // group, j] for p, j in zip(kept, keys, strict=True))
    return o


@pytest.mark.parametrize("dropout", [None, Dropout(7, 0.4)])
@repeatable
@given(problem=problems(max_seqlen=7), seed=st.integers(0, 2**32))
def test_forward_equals_entry_by_entry_loops(dropout, problem, seed):
    shape = shape_of_problem(problem)
    q, k, v = random_tensors(problem, seed, "q", "k", "v")
    ours = attention.forward(q, k, v, shape, dropout=dropout)
    np.testing.assert_allclose(ours.o, loops_forward(q, k, v, shape, dropout).real, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(ours.probs.sum(axis=-1), 1, rtol=1e-13)


@pytest.mark.parametrize("dropout", [None, Dropout(8, 0.3)])
@repeatable
@given(data=st.data(), problem=problems(max_seqlen=6), seed=st.integers(0, 2**32))
def test_gradients_equal_complex_steps(dropout, data, problem, seed):
    shape = shape_of_problem(problem)
    tensors = dict(zip("qkv", random_tensors(problem, seed, "q", "k", "v"), strict=True))
    (do,) = random_tensors(problem, seed + 1, "do")
    gradients = attention.backward(*tensors.values(), do, shape, dropout=dropout)
    for name, gradient in (("q", gradients.dq), ("k", gradients.dk), ("v", gradients.dv)):
        entry = tuple(data.draw(st.integers(0, size - 1)) for size in tensors[name].shape)
        stepped = {key: values.astype(complex) for key, values in tensors.items()}
        stepped[name][entry] += 1e-30j
        slope = (loops_forward(**stepped, shape=shape, dropout=dropout) * do).sum().imag / 1e-30
        assert gradient[entry] == pytest.approx(slope, rel=1e-10, abs=1e-12)


def test_two_tokens_by_hand():
    # d = 1, q = 1, scores 0 and ln 3: probabilities 1/4 and 3/4.
    shape = AttentionShape(2, 1)
    column = lambda *entries: np.array(entries, dtype=float).reshape(1, 1, 2, 1)  # noqa: E731
    result = attention.forward(column(1, 1), column(0, np.log(3)), column(4, 8), shape)
    np.testing.assert_allclose(result.o.ravel(), [7, 7])
    np.testing.assert_allclose(result.lse.ravel(), np.log([4, 4]))


def test_rows_the_pattern_leaves_empty_give_zero_not_nan():
    shape, block = AttentionShape(6, 2), BlockShape(2, 3)
    pattern = BlockPattern(((True, False), (False, False), (True, True)))
    visible = attention.visible_entries(shape, block, pattern)
    assert visible.sum(axis=1).tolist() == [3, 3, 0, 0, 6, 6]
    tensors = [np.random.default_rng(1).standard_normal((1, 1, 6, 2)) for _ in range(4)]
    result = attention.forward(*tensors[:3], shape, visible=visible)
    assert (result.o[0, 0, 2:4] == 0).all()
    assert np.isneginf(result.lse[0, 0, 2:4]).all()
    gradients = attention.backward(*tensors, shape, visible=visible)
    assert (gradients.dq[0, 0, 2:4] == 0).all()
    assert all(np.isfinite(g).all() for g in (gradients.dq, gradients.dk, gradients.dv))


def test_wrong_shapes_are_named():
    shape = AttentionShape(4, 2, num_heads=2, num_heads_kv=1)
    good, bad = np.zeros((1, 2, 4, 2)), np.zeros((1, 2, 4, 3))
    with pytest.raises(ValueError, match=r"q must have shape \(1, 2, 4, 2\), got \(1, 2, 4, 3\)"):
        attention.forward(bad, good[:, :1], good[:, :1], shape)
    with pytest.raises(ValueError, match=r"k must have shape \(1, 1, 4, 2\)"):
        attention.forward(good, good, good[:, :1], shape)


def test_pattern_without_block_shape_is_refused():
    with pytest.raises(ValueError, match="needs a block shape"):
        attention.visible_entries(AttentionShape(4, 2), pattern=BlockPattern(((True,),)))
