"""The reference in torch against the theory's, which shares no code with it, and against automatic differentiation."""

import numpy as np
import pytest
import torch

from app.kernels import reference
from app.kernels.problem import Problem
from app.theory import attention, block_sparse
from app.theory.dropout import Dropout
from app.theory.shapes import AttentionShape, BlockShape

ALL = list(range(6))


def problem(causal: bool = False, dropout: Dropout | None = None, seqlen_k: int = 37) -> Problem:
    generator = torch.Generator().manual_seed(3)
    size = (2, 3, 37, 16)
    q, do = (torch.randn(size, generator=generator, dtype=torch.float64) for _ in range(2))
    k, v = (torch.randn(2, 3, seqlen_k, 16, generator=generator, dtype=torch.float64) for _ in range(2))
    return Problem(q, k, v, do, causal, dropout)


def assert_same(found: torch.Tensor, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found.numpy(), expected.reshape(tuple(found.shape)), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dropout", [None, Dropout(2**40 + 7, 0.3)])
def test_it_is_the_theory_s_attention(causal: bool, dropout: Dropout | None) -> None:
    given = problem(causal, dropout)
    shape = AttentionShape(37, 16, batch=2, num_heads=3, causal=causal)
    arrays = [tensor.numpy() for tensor in (given.q, given.k, given.v)]
    forward = attention.forward(*arrays, shape, dropout=dropout)
    assert given.do is not None
    backward = attention.backward(*arrays, given.do.numpy(), shape, dropout=dropout)
    found = reference.exact(given, ALL).tensors
    for name, expected in (
        ("o", forward.o),
        ("lse", forward.lse),
        ("dq", backward.dq),
        ("dk", backward.dk),
        ("dv", backward.dv),
    ):
        assert_same(found[name], expected)


def test_chunks_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = reference.exact(problem(True), ALL).tensors
    monkeypatch.setattr(reference, "CHUNK_ENTRIES", 6 * 37 * 5)
    for name, tensor in reference.exact(problem(True), ALL).tensors.items():
        assert_same(tensor, whole[name].numpy())


def test_a_pattern_leaves_blocks_out() -> None:
    block = BlockShape(8, 10)
    pattern = block_sparse.banded(5, 4, 0)
    given, shape = problem(True), AttentionShape(37, 16, batch=2, num_heads=3, causal=True)
    visible = attention.visible_entries(shape, block, pattern)
    expected = attention.forward(*(t.numpy() for t in (given.q, given.k, given.v)), shape, visible=visible)
    found = reference.exact(given, ALL, pattern, block).tensors
    assert_same(found["o"], expected.o)
    assert_same(found["lse"], expected.lse)


@pytest.mark.parametrize(("causal", "seqlen_k"), [(True, 20), (True, 50), (False, 50)])
def test_lengths_may_differ(causal: bool, seqlen_k: int) -> None:
    given = problem(causal, seqlen_k=seqlen_k)
    leaves = [tensor.clone().requires_grad_() for tensor in (given.q, given.k, given.v)]
    mask = torch.ones(37, seqlen_k, dtype=torch.bool).tril() if causal else None
    o = torch.nn.functional.scaled_dot_product_attention(*leaves, attn_mask=mask)
    gradients = torch.autograd.grad(o, leaves, given.do)
    found = reference.exact(given, ALL).tensors
    assert_same(found["o"], o.detach().numpy())
    for name, expected in zip(("dq", "dk", "dv"), gradients, strict=True):
        assert_same(found[name], expected.numpy())


def test_some_heads_only() -> None:
    every = reference.exact(problem(), ALL).tensors["o"]
    assert_same(reference.exact(problem(), [5, 1]).tensors["o"], every[[5, 1]].numpy())


def test_plain_attention_rounds_as_pytorch_does() -> None:
    given = problem(True)
    low = Problem(*(tensor.half() for tensor in (given.q, given.k, given.v)), causal=True)
    scores = (low.q @ low.k.mT * low.softmax_scale).masked_fill(torch.ones(37, 37).triu(1).bool(), float("-inf"))
    expected = torch.softmax(scores, -1) @ low.v
    assert torch.equal(reference.plain(low, ALL).tensors["o"], expected.flatten(0, 1))
