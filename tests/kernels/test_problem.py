"""What kernels refuse, and in which words."""

import pytest
import torch

from app.kernels import capability, fa1_triton, fa2_backward_triton, fa2_triton, standard
from app.kernels.problem import KernelInputError, Problem, Sizes, check, dtype_name, torch_dtype
from app.theory.block_sparse import banded
from app.theory.dropout import Dropout


def tensor(*size: int, dtype: torch.dtype = torch.float16) -> torch.Tensor:
    return torch.zeros(size or (2, 3, 16, 64), dtype=dtype)


def test_a_fitting_problem_tells_its_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    given = Problem(tensor(), tensor(2, 3, 20, 64), tensor(2, 3, 20, 64), tensor())
    sizes = check(given)
    assert sizes == Sizes(2, 3, 3, 16, 20, 64)
    assert sizes.heads == 6
    assert given.softmax_scale == 0.125


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Problem(tensor(16, 64), tensor(), tensor()), r"q must be \(batch, num_heads, seqlen, head_dim\)"),
        (Problem(tensor(), tensor(2, 2, 16, 64), tensor()), "number of k's heads must be q's, got 2 and 3"),
        (Problem(tensor(), tensor(1, 3, 16, 64), tensor()), r"k must have shape \(2, 3, 16, 64\), got \(1, 3"),
        (Problem(tensor(), tensor(), tensor(2, 3, 17, 64)), r"v must have shape \(2, 3, 16, 64\), got \(2, 3, 17"),
        (Problem(tensor(), tensor(), tensor(), tensor(2, 3, 4, 64)), "do must have shape"),
        (Problem(tensor(), tensor(dtype=torch.bfloat16), tensor()), "k is bf16 on cpu, q is fp16 on cpu"),
        (Problem(*(tensor(dtype=torch.float32) for _ in range(3))), "dtype must be one of bf16, fp16, got float32"),
        (Problem(*(tensor(1, 1, 8, 96) for _ in range(3))), "head_dim must be one of 64, 128, 256, got 96"),
        (Problem(*(tensor(1, 1, 0, 64) for _ in range(3))), "must be at least 1"),
        (Problem(*(tensor() for _ in range(3)), dropout=Dropout(1, 0.5)), "no dropout"),
        (Problem(tensor(2, 3, 64, 64).mT, *(tensor(2, 3, 64, 64) for _ in range(2))), "contiguous along head_dim"),
        (Problem(tensor(2, 3, 16, 68)[..., :64], tensor(), tensor()), "along seqlen is 136 bytes"),
        (Problem(tensor(1, 3, 16, 64).expand(2, 3, 16, 64), tensor(), tensor()), "along batch is 0 bytes"),
        (Problem(tensor(2, 3, 16, 72)[..., 4:68], tensor(), tensor()), "start at a multiple of 16 bytes"),
    ],
)
def test_what_does_not_fit_is_named(given: Problem, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    with pytest.raises(KernelInputError, match=message):
        check(given)


def test_tensors_on_the_cpu_are_refused_unless_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capability, "interpreting", lambda: False)
    with pytest.raises(KernelInputError, match="lies on the CPU"):
        check(Problem(tensor(), tensor(), tensor()))


def test_key_heads_may_be_shared_where_the_kernel_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    shared = [tensor(2, 6, 16, 64), tensor(2, 3, 16, 64), tensor(2, 3, 16, 64)]
    assert check(Problem(*shared), grouped=True).num_heads_kv == 3
    with pytest.raises(KernelInputError, match="must divide q's, got 4 and 6"):
        check(Problem(shared[0], tensor(2, 4, 16, 64), tensor(2, 4, 16, 64)), grouped=True)


def test_one_length_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    longer = tensor(2, 3, 20, 64)
    with pytest.raises(KernelInputError, match="must be equal here, got 16 and 20"):
        check(Problem(tensor(), longer, longer), same_lengths=True)


def test_kernels_without_dropout_refuse_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    given = Problem(tensor(), tensor(), tensor(), dropout=Dropout(1, 0.1))
    for bind in (standard.bind, fa1_triton.bind):
        with pytest.raises(KernelInputError, match="no dropout"):
            bind(given)


def test_backward_needs_what_forward_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    given = Problem(tensor(), tensor(), tensor())
    saved = fa2_triton.Forward(tensor(), None)
    with pytest.raises(KernelInputError, match="needs do and the log-sum-exp"):
        fa2_backward_triton.backward(given, saved)
    with pytest.raises(KernelInputError, match="needs do"):
        standard.backward(given, tensor(2, 3, 16, 16))


def test_a_pattern_must_have_the_problem_s_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    from app.kernels import blocksparse_triton

    monkeypatch.setenv("TRITON_INTERPRET", "1")
    with pytest.raises(KernelInputError, match="the block pattern is 3 x 3"):
        blocksparse_triton.forward(Problem(tensor(), tensor(), tensor()), banded(3, 3, 1))


def test_dtypes_have_the_exhibit_s_names() -> None:
    assert [dtype_name(torch_dtype(name)) for name in ("bf16", "fp16")] == ["bf16", "fp16"]
    with pytest.raises(KeyError):
        torch_dtype("fp8")
