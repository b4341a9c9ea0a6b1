"""What every kernel takes and gives: tensors of one attention call in, results out, inputs checked in one place.

Tensor order is (batch, num_heads, seqlen, head_dim); q, o, do and dq have `seqlen_q` rows, k, v, dk and dv `seqlen_k`.
Under a causal mask query row i sees key rows 0 … i, whatever the two lengths are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import e, log2, sqrt
from typing import TYPE_CHECKING

from app.kernels import capability, launching
from app.theory.block_sparse import BlockPattern
from app.theory.dropout import Dropout
from app.theory.shapes import BlockShape

if TYPE_CHECKING:
    import torch

HEAD_DIMS = (64, 128, 256)
LOG2_E = log2(e)  # kernels take exponentials in base 2
DTYPES = ("bf16", "fp16")
# The copy engine moves rows whose distance is a multiple of this many bytes (CUDA driver API, tensor maps).
ROW_ALIGNMENT_BYTES = 16


class KernelInputError(ValueError):
    """A kernel cannot take these tensors; the message says which one and why."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One attention call. `do`, the gradient of the output, is there when the backward pass is wanted."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    do: torch.Tensor | None = None
    causal: bool = False
    dropout: Dropout | None = None

    @property
    def softmax_scale(self) -> float:
        """1/√head_dim."""
        return 1 / sqrt(self.q.shape[-1])


@dataclass(frozen=True, slots=True)
class Forward:
    """Output (like q) and log-sum-exp per row, (batch, num_heads, seqlen_q) in fp32; None when it is not given."""

    o: torch.Tensor
    lse: torch.Tensor | None


@dataclass(frozen=True, slots=True)
class Gradients:
    """Gradients of q, k and v, in their shapes and dtypes."""

    dq: torch.Tensor
    dk: torch.Tensor
    dv: torch.Tensor


@dataclass(frozen=True, slots=True)
class Bound:
    """A kernel tied to a problem's tensors: calling `forward` or `backward` only launches work.

    `backward` belongs to the forward pass made when it was bound. The blocks are those really used, None where a
    library keeps them to itself; `settings` names what else was chosen. `pattern` is there for approximate attention:
    what is computed, exactly, are the blocks it keeps. `meant` is there when the inputs were quantised: it gives the
    problem whose q, k and v the quantised numbers stand for, in fp32. `coded`: probabilities are made as e4m3's codes,
    along a straight line between powers of two, and row sums are sums of those.
    """

    forward: Callable[[], Forward]
    backward: Callable[[], Gradients] | None = None
    block: BlockShape | None = None
    backward_block: BlockShape | None = None
    settings: str = ""
    pattern: BlockPattern | None = None
    meant: Callable[[], Problem] | None = None
    coded: bool = False


@dataclass(frozen=True, slots=True)
class Sizes:
    """Lengths of a checked problem."""

    batch: int
    num_heads: int
    num_heads_kv: int
    seqlen_q: int
    seqlen_k: int
    head_dim: int

    @property
    def heads(self) -> int:
        """Heads over the batch."""
        return self.batch * self.num_heads


def dtype_name(dtype: torch.dtype) -> str:
    """bf16, fp16, or PyTorch's own name for any other."""
    name = str(dtype).removeprefix("torch.")
    return {"bfloat16": "bf16", "float16": "fp16"}.get(name, name)


def torch_dtype(name: str) -> torch.dtype:
    """The PyTorch dtype called `name` (bf16 or fp16). KeyError otherwise."""
    import torch

    return {"bf16": torch.bfloat16, "fp16": torch.float16}[name]


def check(
    problem: Problem,
    *,
    head_dims: Sequence[int] = HEAD_DIMS,
    dtypes: Sequence[str] = DTYPES,
    same_lengths: bool = False,
    dropout: bool = False,
    grouped: bool = False,
) -> Sizes:
    """Lengths of the problem, or a KernelInputError that says what this kernel cannot take.

    `same_lengths`: seqlen_q must equal seqlen_k. `dropout`: the kernel knows dropout.
    `grouped`: groups of query heads may share a key/value head.
    """
    q, k, v = problem.q, problem.k, problem.v
    tensors = {"q": q, "k": k, "v": v} | ({} if problem.do is None else {"do": problem.do})
    for name, tensor in tensors.items():
        if tensor.dim() != 4:
            raise KernelInputError(f"{name} must be (batch, num_heads, seqlen, head_dim), got {tuple(tensor.shape)}")
    batch, num_heads, seqlen_q, head_dim = q.shape
    num_heads_kv, seqlen_k = k.shape[1:3]
    if num_heads_kv != num_heads and not (grouped and num_heads_kv and num_heads % num_heads_kv == 0):
        rule = "divide q's" if grouped else "be q's"
        raise KernelInputError(f"the number of k's heads must {rule}, got {num_heads_kv} and {num_heads}")
    for name, tensor in tensors.items():
        keys = name in ("k", "v")
        expected = (batch, num_heads_kv if keys else num_heads, seqlen_k if keys else seqlen_q, head_dim)
        if tuple(tensor.shape) != expected:
            raise KernelInputError(f"{name} must have shape {expected}, got {tuple(tensor.shape)}")
        if tensor.dtype != q.dtype or tensor.device != q.device:
            raise KernelInputError(
                f"{name} is {dtype_name(tensor.dtype)} on {tensor.device}, q is {dtype_name(q.dtype)} on {q.device}"
            )
    if dtype_name(q.dtype) not in dtypes:
        raise KernelInputError(f"dtype must be one of {', '.join(dtypes)}, got {dtype_name(q.dtype)}")
    if head_dim not in head_dims:
        raise KernelInputError(f"head_dim must be one of {', '.join(map(str, head_dims))}, got {head_dim}")
    if min(batch, num_heads, seqlen_q, seqlen_k) < 1:
        raise KernelInputError("batch, num_heads and both lengths must be at least 1")
    if same_lengths and seqlen_q != seqlen_k:
        raise KernelInputError(f"seqlen_q and seqlen_k must be equal here, got {seqlen_q} and {seqlen_k}")
    if problem.dropout is not None and not dropout:
        raise KernelInputError("this kernel has no dropout")
    for name, tensor in tensors.items():
        _check_layout(name, tensor)
    return Sizes(batch, num_heads, num_heads_kv, seqlen_q, seqlen_k, head_dim)


def _check_layout(name: str, tensor: torch.Tensor) -> None:
    """Rows contiguous, everything else at distances the copy engine can take."""
    if tensor.device.type == "cpu" and not (capability.interpreting() or launching.compiling()):
        raise KernelInputError(f"{name} lies on the CPU; it must be on the GPU")
    if tensor.stride(-1) != 1:
        raise KernelInputError(f"{name} must be contiguous along head_dim, its stride there is {tensor.stride(-1)}")
    size = tensor.element_size()
    for axis, meaning in enumerate(("batch", "num_heads", "seqlen")):
        bytes_apart = tensor.stride(axis) * size
        if tensor.shape[axis] > 1 and (bytes_apart <= 0 or bytes_apart % ROW_ALIGNMENT_BYTES):
            raise KernelInputError(
                f"the stride of {name} along {meaning} is {bytes_apart} bytes; "
                f"it must be a positive multiple of {ROW_ALIGNMENT_BYTES}"
            )
    if tensor.data_ptr() % ROW_ALIGNMENT_BYTES:
        raise KernelInputError(f"{name} must start at a multiple of {ROW_ALIGNMENT_BYTES} bytes")
