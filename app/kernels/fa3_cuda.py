"""FlashAttention-3's order once more, forward, in CUDA C++: `fa3_gluon`'s idea, and what Gluon has not.

Blocks of K and V need not be a power of two (80 rows are the most that fit at head_dim 256), nor consumers (three at
head_dim 64, and at 128 without a mask), and two thread blocks that work on the same head can share each load
(multicast), so that the L2 cache is asked once for what both need. The kernel is `cuda/fa3_forward.cu`; here it is
given its sizes, compiled and launched.
Source of the order: arXiv 2407.08608, section 3.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import torch

from app.kernels import configs, fa3_cuda_backward, fa3_work, launching, nvrtc, wgmma
from app.kernels.launching import strides_for_tma
from app.kernels.problem import LOG2_E, Bound, Forward, KernelInputError, Problem, Sizes, check
from app.theory.backward_roles import BLOCK_N, HEAD_DIMS
from app.theory.cluster_roles import SUM_COLUMNS, few_keys, smem
from app.theory.shapes import BlockShape


class Arguments(ctypes.Structure):
    """`Arguments` of the kernel's source."""

    _fields_ = (
        ("o", ctypes.c_void_p),
        ("lse", ctypes.c_void_p),
        ("part_o", ctypes.c_void_p),
        ("part_lse", ctypes.c_void_p),
        ("starts", ctypes.c_void_p),
        ("tiles", ctypes.c_void_p),
        ("drawn", ctypes.c_void_p),
        ("o_batch", ctypes.c_longlong),
        ("o_head", ctypes.c_longlong),
        ("o_row", ctypes.c_longlong),
        ("scale", ctypes.c_float),
        ("heads", ctypes.c_int),
        ("group", ctypes.c_int),
        ("seqlen", ctypes.c_int),
        ("listed", ctypes.c_int),
    )


def compiled(
    head_dim: int, causal: bool, dtype: str, shape: configs.ClusterRoles, numbers: str | None = None, few: int = 0
) -> nvrtc.Cubin:
    """The machine code for one kind of problem; `numbers`: e4m3 when q, k and v are not of the output's dtype.

    KernelInputError for roles that cannot serve the mask.
    """
    if not shape.serves(causal):
        raise KernelInputError(f"{shape}: under a causal mask a pair needs places for as many keys as it has rows")
    constants = {
        "HEAD_DIM": head_dim,
        "BLOCK_N": shape.block_n,
        "CONSUMERS": shape.consumers,
        "STAGES": shape.stages,
        "Q_STAGES": shape.q_stages,
        "CLUSTER": shape.cluster,
        "LATE": shape.late,
        "LAZY": int(shape.lazy),
        "PATIENT": int(shape.patient),
        "DRAWN": int(shape.drawn),
        "ORDERED": int(shape.ordered),
        "RELYING": int(shape.relying),
        "HELD": shape.held,
        "FEW": few,
        "CODED": int(shape.coded),
        "SUM_COLUMNS": SUM_COLUMNS,
        "AGREEING": int(shape.agreeing),
        "CAUSAL": int(causal),
        "BF16": int(dtype == "bf16"),
        "FP8": int(numbers == "e4m3"),
        "CONSUMER_REGISTERS": shape.consumer_registers,
        "PRODUCER_REGISTERS": shape.producer_registers,
    }
    lefts = (("product_ss", "smem"), ("product_hs", "held"))
    columns = sorted({shape.block_n, few} - {0})
    scores = [wgmma.product(name, count, numbers or dtype, left=left) for name, left in lefts for count in columns]
    o_columns = head_dim + SUM_COLUMNS * shape.coded
    output = wgmma.product("product_rs", o_columns, numbers or dtype, left="registers")
    return nvrtc.compiled("fa3_forward.cu", "fa3_forward", constants, wgmma.header(*scores, output))


@lru_cache(maxsize=64)
def _loaded(
    head_dim: int, causal: bool, dtype: str, shape: configs.ClusterRoles, few: int, device: int
) -> nvrtc.Kernel:
    del device  # a module belongs to one GPU
    return nvrtc.Kernel(compiled(head_dim, causal, dtype, shape, few=few), smem(shape, head_dim).total)


def bind(
    problem: Problem,
    roles: configs.ClusterRoles | None = None,
    backward_roles: configs.BackwardRoles | None = None,
) -> Bound:
    """The kernel tied to `problem` (self-attention; key/value heads may be shared), outputs NaN until written.

    With `problem.do` the backward pass too, head_dim 64 and 128. KernelInputError when the tensors do not fit.
    """
    sizes = check(problem, same_lengths=True, grouped=True)
    shape = roles or configs.cluster_roles_for(sizes.head_dim, problem.causal, sizes.seqlen_q)
    q, k, v = problem.q, problem.k, problem.v
    out = Output.of(problem, sizes, shape)
    block, settings = BlockShape(shape.block_m, shape.block_n), str(shape)
    few = few_keys(shape, sizes.seqlen_k, causal=problem.causal)
    if launching.compiling():
        compiled(sizes.head_dim, problem.causal, out.dtype, shape, few=few)
        return _with_backward(problem, Bound(out.combined, block=block, settings=settings), backward_roles)
    kernel = _loaded(sizes.head_dim, problem.causal, out.dtype, compiled_part(shape), few, q.device.index or 0)
    maps: list[Any] = [nvrtc.tensor_map(q, strides_for_tma(q), shape.block_m, sizes.head_dim // 64)]
    maps += [nvrtc.tensor_map(tensor, strides_for_tma(tensor), shape.block_n, 1) for tensor in (k, v)]
    given = Arguments(*out.arguments(problem, sizes))
    held = (q, k, v)  # the kernel knows them by address only

    def run() -> Forward:
        assert held
        return out.launched(kernel, shape, [*maps, given])

    return _with_backward(problem, Bound(run, block=block, settings=settings), backward_roles)


@dataclass(frozen=True, slots=True)
class Output:
    """Where a run leaves its results (NaN until then), and the work lists that lead there. One run at a time."""

    o: torch.Tensor
    lse: torch.Tensor
    work: fa3_work.Work
    drawn: torch.Tensor
    parts: tuple[torch.Tensor, torch.Tensor]

    @classmethod
    def of(cls, problem: Problem, sizes: Sizes, shape: configs.ClusterRoles, element_bytes: int = 2) -> Output:
        """For `problem`, whose numbers of k and v take `element_bytes`."""
        q = problem.q
        work = fa3_work.work(
            sizes,
            block_m=shape.block_m * shape.cluster,
            block_n=shape.block_n,
            causal=problem.causal,
            thread_blocks=launching.multiprocessors(q.device) // shape.cluster,
            drawn=shape.drawn,
            cut_last=shape.cut_last,
            device=q.device,
            element_bytes=element_bytes,
        )
        lse = q.new_full(q.shape[:3], float("nan"), dtype=torch.float32)
        drawn = torch.zeros(1, dtype=torch.int32, device=q.device)
        return cls(torch.full_like(q, float("nan")), lse, work, drawn, fa3_work.room_for_parts(work, q))

    @property
    def dtype(self) -> str:
        """Of o, as `problem.DTYPES` names it."""
        return "bf16" if self.o.dtype == torch.bfloat16 else "fp16"

    def arguments(self, problem: Problem, sizes: Sizes) -> tuple[Any, ...]:
        """The values of `Arguments`, in order."""
        return (
            self.o.data_ptr(),
            self.lse.data_ptr(),
            *(part.data_ptr() for part in self.parts),
            self.work.starts.data_ptr(),
            self.work.tiles.data_ptr(),
            self.drawn.data_ptr(),
            *self.o.stride()[:3],
            problem.softmax_scale * LOG2_E,
            sizes.num_heads,
            sizes.num_heads // sizes.num_heads_kv,
            sizes.seqlen_q,
            self.work.listed,
        )

    def launched(self, kernel: nvrtc.Kernel, shape: configs.ClusterRoles, parameters: list[Any]) -> Forward:
        """The results of one run."""
        kernel.launch(self.work.thread_blocks * shape.cluster, shape.threads, shape.cluster, parameters)
        return self.combined()

    def combined(self) -> Forward:
        """The results once the tiles that were cut are put together."""
        fa3_work.combine(self.work, self.parts, self.o, self.lse)
        return Forward(self.o, self.lse)


def _with_backward(problem: Problem, bound: Bound, roles: configs.BackwardRoles | None) -> Bound:
    if problem.do is None:
        return bound
    check(problem, head_dims=HEAD_DIMS, grouped=True)
    head_dim, seqlen = problem.q.shape[-1], problem.q.shape[2]
    roles = roles or configs.backward_roles_for(head_dim, problem.causal, seqlen)
    return replace(
        bound,
        backward=fa3_cuda_backward.bind(problem, bound.forward(), roles),
        backward_block=BlockShape(roles.block_m, BLOCK_N),
        settings=f"{bound.settings}; backward {roles}",
    )


def compiled_part(shape: configs.ClusterRoles) -> configs.ClusterRoles:
    """What of the choice the machine code depends on: whether the last tiles are cut is a matter of the lists."""
    return replace(shape, cut_last=False)
