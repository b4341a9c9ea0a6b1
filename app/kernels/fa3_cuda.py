"""FlashAttention-3's order once more, forward, in CUDA C++. The idea is `fa3_gluon`'s; what is new is what Gluon has not.

Blocks of K and V need not be a power of two (176 rows at head_dim 128, 80 at 256: more work for each reading of q, or the
largest that fits), and two thread blocks that work on the same head share each load (multicast), which halves what the
SMs fetch from the L2 cache. The kernel is `cuda/fa3_forward.cu`; here it is given its sizes, compiled and launched.
Source of the order: arXiv 2407.08608, section 3.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

import torch

from app.kernels import configs, fa3_schedule, launching, nvrtc
from app.kernels.launching import strides_for_tma
from app.kernels.problem import Bound, Forward, KernelInputError, Problem, Sizes, check
from app.theory.shapes import BlockShape

EXTRA = {"PER_CHUNK": 1, "HINTS": 1, "PINGPONG": 1, "LATE": 0, "LAZY": 0}
OTHER = {"resident": 32, "promo": 128}
LOG2_E = 1.4426950408889634
SMS = 132  # of an H100 or H200, when there is no GPU and a kernel is only compiled
BARRIER_BYTES = 8


class _Arguments(ctypes.Structure):
    """`Arguments` of the kernel's source."""

    _fields_ = (
        ("o", ctypes.c_void_p),
        ("lse", ctypes.c_void_p),
        ("starts", ctypes.c_void_p),
        ("tiles", ctypes.c_void_p),
        ("o_batch", ctypes.c_longlong),
        ("o_head", ctypes.c_longlong),
        ("o_row", ctypes.c_longlong),
        ("scale", ctypes.c_float),
        ("heads", ctypes.c_int),
        ("group", ctypes.c_int),
        ("seqlen", ctypes.c_int),
    )


def wgmma_header(block_n: int, head_dim: int, dtype: str) -> str:
    """The two tensor-core instructions a kernel of these sizes needs: 64 rows, 16 steps of depth, 32-bit sums.

    Written by a program because an instruction names every register of its result. Source: PTX ISA, wgmma.mma_async.
    """
    return "\n".join(
        ("#pragma once", _product("product_ss", block_n, dtype, False), _product("product_rs", head_dim, dtype, True))
    )


def _product(name: str, columns: int, dtype: str, left_in_registers: bool) -> str:
    count = columns // 2
    results = ", ".join(f"%{i}" for i in range(count))
    constraints = ", ".join(f'"+f"(d[{i}])' for i in range(count))
    if left_in_registers:
        takes = "u32 a0, u32 a1, u32 a2, u32 a3"
        left = "{" + ", ".join(f"%{count + i}" for i in range(4)) + "}"
        inputs = ", ".join(f'"r"(a{i})' for i in range(4))
        used, transposed = 4, "1"  # the right operand's rows lie one after the other, as V's do
    else:
        takes, left, inputs, used, transposed = "u64 a", f"%{count}", '"l"(a)', 1, "0, 0"
    right, keep = f"%{count + used}", f"%{count + used + 1}"
    return f"""
__device__ __forceinline__ void {name}(float (&d)[{count}], {takes}, u64 b, int keep) {{
    asm volatile(
        "{{ .reg .pred p; setp.ne.b32 p, {keep}, 0;"
        " wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.{dtype}.{dtype}"
        " {{{results}}}, {left}, {right}, p, 1, 1, {transposed}; }}"
        : {constraints}
        : {inputs}, "l"(b), "r"(keep));
}}"""


def smem_bytes(head_dim: int, shape: configs.ClusterRoles) -> int:
    """Shared memory of one thread block: q, the stages of k and v, and a barrier for full and one for empty of each."""
    q = shape.q_stages * shape.consumers * configs.CONSUMER_ROWS * head_dim * 2
    kv = 2 * shape.stages * shape.block_n * head_dim * 2
    return q + kv + BARRIER_BYTES * 2 * (shape.q_stages + 2 * shape.stages)


def compiled(head_dim: int, causal: bool, dtype: str, shape: configs.ClusterRoles) -> nvrtc.Cubin:
    """The machine code for one kind of problem."""
    constants = {
        **EXTRA,
        "HEAD_DIM": head_dim,
        "BLOCK_N": shape.block_n,
        "CONSUMERS": shape.consumers,
        "STAGES": shape.stages,
        "Q_STAGES": shape.q_stages,
        "CLUSTER": shape.cluster,
        "CAUSAL": int(causal),
        "BF16": int(dtype == "bf16"),
        "CONSUMER_REGISTERS": shape.consumer_registers,
        "PRODUCER_REGISTERS": shape.producer_registers,
    }
    kind = "bf16" if dtype == "bf16" else "f16"
    header = {"wgmma.cuh": wgmma_header(shape.block_n, head_dim, kind)}
    return nvrtc.compiled("fa3_forward.cu", "fa3_forward", constants, header)


@lru_cache(maxsize=64)
def _loaded(head_dim: int, causal: bool, dtype: str, shape: configs.ClusterRoles, device: int, extra) -> nvrtc.Kernel:
    del device  # a module belongs to one GPU
    return nvrtc.Kernel(compiled(head_dim, causal, dtype, shape), smem_bytes(head_dim, shape))


@lru_cache(maxsize=64)
def _lists(
    sizes: Sizes, shape: configs.ClusterRoles, causal: bool, clusters: int, device: torch.device, resident=(32,0)
) -> tuple[torch.Tensor, torch.Tensor, int]:
    """(starts, tiles, number of lists) on the device, a list for each cluster; see `fa3_schedule`."""
    fa3_schedule.HEADMAJOR[0] = resident[1]
    fa3_schedule.schedule.cache_clear()
    lists = fa3_schedule.schedule(
        seqlen=sizes.seqlen_q,
        heads=sizes.heads,
        block_m=shape.block_m * shape.cluster,
        block_n=shape.block_n,
        causal=causal,
        bytes_per_head=2 * sizes.seqlen_k * sizes.head_dim * 2 * sizes.num_heads_kv // sizes.num_heads or 1,
        thread_blocks=clusters,
        resident=resident[0] * 2**20,
    )
    starts, tiles = (torch.tensor(numbers, dtype=torch.int32, device=device) for numbers in fa3_schedule.flat(lists))
    return starts, tiles, len(lists)


def bind(problem: Problem, roles: configs.ClusterRoles | None = None) -> Bound:
    """The kernel tied to `problem` (self-attention; key/value heads may be shared), outputs NaN until written.

    KernelInputError when the tensors do not fit.
    """
    sizes = check(problem, same_lengths=True, grouped=True)
    shape = roles or configs.cluster_roles_for(sizes.head_dim, problem.causal, sizes.seqlen_q)
    q, k, v = problem.q, problem.k, problem.v
    dtype = "bf16" if q.dtype == torch.bfloat16 else "fp16"
    o = torch.full_like(q, float("nan"))
    lse = q.new_full(q.shape[:3], float("nan"), dtype=torch.float32)
    if launching.compiling():
        compiled(sizes.head_dim, problem.causal, dtype, shape)
        return Bound(lambda: Forward(o, lse), block=BlockShape(shape.block_m, shape.block_n), settings=str(shape))
    kernel = _loaded(sizes.head_dim, problem.causal, dtype, shape, q.device.index or 0, tuple(EXTRA.items()))
    sms = torch.cuda.get_device_properties(q.device).multi_processor_count
    starts, tiles, count = _lists(sizes, shape, problem.causal, sms // shape.cluster, q.device, (OTHER['resident'], OTHER.get('order',0)))
    chunks = sizes.head_dim // 64
    maps: list[Any] = [nvrtc.tensor_map(q, strides_for_tma(q), shape.block_m, chunks, OTHER['promo'])]
    maps += [nvrtc.tensor_map(t, strides_for_tma(t), shape.block_n, 1 if EXTRA['PER_CHUNK'] else chunks // shape.cluster, OTHER['promo']) for t in (k, v)]
    given = _Arguments(
        o.data_ptr(),
        lse.data_ptr(),
        starts.data_ptr(),
        tiles.data_ptr(),
        *o.stride()[:3],
        problem.softmax_scale * LOG2_E,
        sizes.num_heads,
        sizes.num_heads // sizes.num_heads_kv,
        sizes.seqlen_q,
    )
    threads = (shape.consumers + 1) * 128
    held = (q, k, v, starts, tiles)  # the kernel knows them by address only

    def run() -> Forward:
        assert held
        kernel.launch(count * shape.cluster, threads, shape.cluster, [*maps, given])
        return Forward(o, lse)

    return Bound(run, block=BlockShape(shape.block_m, shape.block_n), settings=str(shape))
