"""The instrumented algorithms: right results, and counts equal to the formulas, on the same random problems.

Each is judged twice on every example: its tensors against plain attention in float64, and the loads and stores it made
against `traffic.count`, tensor by tensor. Lengths are rarely a multiple of a block; heads are grouped, masks and
dropout come and go.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.theory import attention, instrumented_fa1, instrumented_fa2, instrumented_standard, traffic
from app.theory.shapes import AttentionShape, BlockShape
from tests.theory.strategies import (
    block_of_problem,
    dropouts,
    patterns,
    problems,
    random_tensors,
    repeatable,
    shape_of_problem,
)

seeds = st.integers(0, 2**32)


def assert_close(ours, exact):
    np.testing.assert_allclose(ours, exact, rtol=1e-10, atol=1e-12)


def assert_counted(run, model, problem, direction, variant, pattern=None):
    shape, block = shape_of_problem(problem), block_of_problem(problem)
    counted = traffic.count(model, shape, block, direction, variant, pattern=pattern)
    moved = {t.tensor: t for t in counted.by_tensor if t.read_bytes or t.written_bytes}
    assert {transfer.tensor: transfer for transfer in run.by_tensor} == moved
    assert run.total_bytes == counted.total_bytes


@pytest.mark.parametrize("variant", ["fused_mask", "unfused_mask"])
@repeatable
@given(problem=problems(max_seqlen=40), seed=seeds, dropout=dropouts())
def test_standard_forward(variant, problem, seed, dropout):
    shape = shape_of_problem(problem)
    q, k, v = random_tensors(problem, seed, "q", "k", "v")
    run = instrumented_standard.forward(q, k, v, shape, variant=variant, dropout=dropout)
    exact = attention.forward(q, k, v, shape, dropout=dropout)
    assert_close(run.tensors["o"], exact.o)
    assert_close(run.tensors["p"], exact.probs)
    if variant == "fused_mask" or problem.causal:
        assert_counted(run, "standard", problem, "forward", variant)


@repeatable
@given(problem=problems(max_seqlen=40), seed=seeds, dropout=dropouts())
def test_standard_backward(problem, seed, dropout):
    shape = shape_of_problem(problem)
    q, k, v, do = random_tensors(problem, seed, "q", "k", "v", "do")
    probs = attention.forward(q, k, v, shape, dropout=dropout).probs
    run = instrumented_standard.backward(q, k, v, do, probs, shape, dropout=dropout)
    exact = attention.backward(q, k, v, do, shape, dropout=dropout)
    for tensor in ("dq", "dk", "dv"):
        assert_close(run.tensors[tensor], getattr(exact, tensor))
    assert_counted(run, "standard", problem, "backward", None)


@pytest.mark.parametrize(("variant", "result"), [("without_init", "o"), ("with_init", "o"), ("acc32", "o_acc")])
@repeatable
@given(problem=problems(max_seqlen=40), seed=seeds, dropout=dropouts())
def test_fa1_forward(variant, result, problem, seed, dropout):
    shape, block = shape_of_problem(problem), block_of_problem(problem)
    q, k, v = random_tensors(problem, seed, "q", "k", "v")
    run = instrumented_fa1.forward(q, k, v, shape, block, variant=variant, dropout=dropout)
    exact = attention.forward(q, k, v, shape, dropout=dropout)
    assert_close(run.tensors[result], exact.o)
    stats = run.tensors["stats"]
    assert_close(stats[..., 0] + np.log(stats[..., 1]), exact.lse)
    assert_counted(run, "fa1", problem, "forward", variant)


@repeatable
@given(problem=problems(max_seqlen=40), seed=seeds, dropout=dropouts())
def test_fa1_backward(problem, seed, dropout):
    shape, block = shape_of_problem(problem), block_of_problem(problem)
    q, k, v, do = random_tensors(problem, seed, "q", "k", "v", "do")
    kept = attention.forward(q, k, v, shape, dropout=dropout)
    # Any max and sum that give the row's log-sum-exp will do: a max of zero here, the true one in the chained test.
    stats = np.stack([np.zeros(kept.lse.shape), np.exp(kept.lse)], axis=-1)
    run = instrumented_fa1.backward(q, k, v, kept.o, do, stats, shape, block, dropout=dropout)
    exact = attention.backward(q, k, v, do, shape, dropout=dropout)
    for tensor in ("dq", "dk", "dv"):
        assert_close(run.tensors[tensor], getattr(exact, tensor))
    assert_counted(run, "fa1", problem, "backward", None)


@pytest.mark.parametrize("variant", ["without_lse", "with_lse"])
@repeatable
@given(problem=problems(max_seqlen=40), seed=seeds, dropout=dropouts())
def test_fa2_forward(variant, problem, seed, dropout):
    shape, block = shape_of_problem(problem), block_of_problem(problem)
    q, k, v = random_tensors(problem, seed, "q", "k", "v")
    run = instrumented_fa2.forward(q, k, v, shape, block, variant=variant, dropout=dropout)
    exact = attention.forward(q, k, v, shape, dropout=dropout)
    assert_close(run.tensors["o"], exact.o)
    if variant == "with_lse":
        assert_close(run.tensors["lse"], exact.lse)
    assert_counted(run, "fa2", problem, "forward", variant)


@pytest.mark.parametrize("variant", ["kernel", "listed"])
@repeatable
@given(problem=problems(max_seqlen=40), seed=seeds, dropout=dropouts())
def test_fa2_backward(variant, problem, seed, dropout):
    shape, block = shape_of_problem(problem), block_of_problem(problem)
    q, k, v, do = random_tensors(problem, seed, "q", "k", "v", "do")
    kept = attention.forward(q, k, v, shape, dropout=dropout)
    run = instrumented_fa2.backward(q, k, v, kept.o, do, kept.lse, shape, block, variant=variant, dropout=dropout)
    exact = attention.backward(q, k, v, do, shape, dropout=dropout)
    for tensor in ("dq", "dk", "dv"):
        assert_close(run.tensors[tensor], getattr(exact, tensor))
    assert_counted(run, "fa2", problem, "backward", variant)


@repeatable
@given(data=st.data(), problem=problems(max_seqlen=40), seed=seeds, dropout=dropouts())
def test_block_sparse_forward_and_backward_equal_attention_with_blocks_masked_out(data, problem, seed, dropout):
    shape, block = shape_of_problem(problem), block_of_problem(problem)
    pattern = data.draw(patterns(problem))
    visible = attention.visible_entries(shape, block, pattern)
    q, k, v, do = random_tensors(problem, seed, "q", "k", "v", "do")
    exact = attention.forward(q, k, v, shape, visible=visible, dropout=dropout)
    exact_gradients = attention.backward(q, k, v, do, shape, visible=visible, dropout=dropout)
    options = {"dropout": dropout, "pattern": pattern}

    first = instrumented_fa1.forward(q, k, v, shape, block, **options)
    second = instrumented_fa2.forward(q, k, v, shape, block, variant="with_lse", **options)
    assert_close(first.tensors["o"], exact.o)
    assert_close(second.tensors["o"], exact.o)
    assert_close(second.tensors["lse"], exact.lse)
    assert_counted(first, "fa1", problem, "forward", None, pattern)
    assert_counted(second, "fa2", problem, "forward", "with_lse", pattern)

    o, stats, lse = exact.o, first.tensors["stats"], second.tensors["lse"]
    first = instrumented_fa1.backward(q, k, v, o, do, stats, shape, block, **options)
    second = instrumented_fa2.backward(q, k, v, o, do, lse, shape, block, **options)
    for run, model in ((first, "fa1"), (second, "fa2")):
        for tensor in ("dq", "dk", "dv"):
            assert_close(run.tensors[tensor], getattr(exact_gradients, tensor))
        assert_counted(run, model, problem, "backward", None, pattern)


@repeatable
@given(problem=problems(max_seqlen=40), seed=seeds, dropout=dropouts())
def test_each_backward_pass_works_from_what_its_own_forward_pass_saved(problem, seed, dropout):
    shape, block = shape_of_problem(problem), block_of_problem(problem)
    q, k, v, do = random_tensors(problem, seed, "q", "k", "v", "do")
    exact = attention.backward(q, k, v, do, shape, dropout=dropout)
    kept = instrumented_standard.forward(q, k, v, shape, dropout=dropout).tensors
    runs = [instrumented_standard.backward(q, k, v, do, kept["p"], shape, dropout=dropout)]
    kept = instrumented_fa1.forward(q, k, v, shape, block, dropout=dropout).tensors
    runs.append(instrumented_fa1.backward(q, k, v, kept["o"], do, kept["stats"], shape, block, dropout=dropout))
    kept = instrumented_fa2.forward(q, k, v, shape, block, variant="with_lse", dropout=dropout).tensors
    runs.append(instrumented_fa2.backward(q, k, v, kept["o"], do, kept["lse"], shape, block, dropout=dropout))
    for run in runs:
        for tensor in ("dq", "dk", "dv"):
            assert_close(run.tensors[tensor], getattr(exact, tensor))


def test_scores_far_beyond_what_exp_can_hold():
    shape, block = AttentionShape(13, 4), BlockShape(4, 3)
    q, k, v = (np.random.default_rng(3).standard_normal((3, 1, 1, 13, 4))) * np.array([1e4, 1, 1]).reshape(
        3, 1, 1, 1, 1
    )
    exact = attention.forward(q, k, v, shape).o
    assert_close(instrumented_fa1.forward(q, k, v, shape, block).tensors["o"], exact)
    assert_close(instrumented_fa2.forward(q, k, v, shape, block).tensors["o"], exact)
    assert_close(instrumented_standard.forward(q, k, v, shape).tensors["o"], exact)


@pytest.mark.parametrize(
    "call",
    [
        lambda q, shape, block: instrumented_standard.forward(q, q, q, shape, variant="v_twice"),
        lambda q, shape, block: instrumented_fa1.forward(q, q, q, shape, block, variant="listed"),
        lambda q, shape, block: instrumented_fa2.forward(q, q, q, shape, block, variant="kernel"),
        lambda q, shape, block: instrumented_fa2.backward(q, q, q, q, q, q[..., 0], shape, block, variant="with_lse"),
    ],
)
def test_unknown_variants_are_refused(call):
    with pytest.raises(ValueError, match="variant must be"):
        call(np.zeros((1, 1, 4, 2)), AttentionShape(4, 2), BlockShape(2, 2))
