"""Rung 4, FlashAttention-3's order, forward, for Hopper. The idea: nobody waits, for different warps do different work.

One warp, the producer, does nothing but ask the copy engine (TMA) for tiles, several ahead. Two warpgroups, the
consumers, hold 64 rows of q each, multiply on the tensor cores (WGMMA) straight from shared memory, and take turns:
while one multiplies, the other computes its softmax (ping-pong). Inside a consumer the product QKᵀ of the next block
runs together with PV of the last one, and PV goes on while the softmax is computed. Thread blocks are persistent and
work off lists made by `fa3_schedule`; a tile's last PV runs together with the next tile's first QKᵀ, so nothing drains
in between. Source: arXiv 2407.08608, Section 3. Written in Gluon, Triton's layer for those who place data and warps
themselves.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)

from app.kernels import configs, fa3_schedule
from app.kernels.fa3_parts import (
    exp2,
    fetch,
    first_softmax,
    log2,
    masked,
    meet,
    tell,
    tell_once_known,
    tile_at,
    tma_load,
    tma_store,
    wait_for,
)
from app.kernels.launching import launch, strides_for_tma
from app.kernels.problem import Bound, Forward, Problem, Sizes, check
from app.theory.shapes import BlockShape

LOG2_E = 1.4426950408889634
LN_2 = gl.constexpr(0.6931471805599453)
# Named barriers 8 … 15 are free; the compiler keeps the lower ones. 8 + c is consumer c's turn, then one for each stage
# of k and one for each stage of v, on which the consumers tell the producer that the stage may be overwritten.
TURN = gl.constexpr(8)


@gluon.jit
def _producer(q, k, v, room, lists, sizes,
              CONSUMERS: gl.constexpr, BLOCK_N: gl.constexpr, HEAD_DIM: gl.constexpr, STAGES: gl.constexpr,
              Q_STAGES: gl.constexpr):  # fmt: skip
    """One warp: q of each tile, then its blocks of k from the last to the first, v always one block behind."""
    q_s, k_s, v_s, _, q_full, q_empty, k_full, v_full = room
    starts, entries = lists
    heads, group, _ = sizes
    K_FREE: gl.constexpr = TURN + CONSUMERS
    V_FREE: gl.constexpr = K_FREE + STAGES
    THREADS: gl.constexpr = CONSUMERS * 128 + 32
    Q_BYTES: gl.constexpr = 64 * HEAD_DIM * 2
    KV_BYTES: gl.constexpr = BLOCK_N * HEAD_DIM * 2
    first = gl.load(starts + gl.program_id(0))
    tiles = gl.load(starts + gl.program_id(0) + 1) - first
    count = 0  # blocks of k asked for so far
    batch_owed, head_owed, row_owed = 0, 0, 0  # the block of v that is owed
    for turn in range(tiles):
        m_block, batch_head, n_blocks = tile_at(entries, first + turn)
        batch = batch_head // heads
        head_kv = batch_head % heads // group
        for consumer in gl.static_range(CONSUMERS):
            slot = turn % Q_STAGES * CONSUMERS + consumer
            mbarrier.wait(q_empty.index(slot), (turn // Q_STAGES & 1) ^ 1)
            mbarrier.expect(q_full.index(slot), Q_BYTES)
            row = (m_block * CONSUMERS + consumer) * 64
            tma_load(q, [batch, batch_head % heads, row, 0], q_full.index(slot), q_s.index(slot))
        for visit in range(n_blocks):
            row = (n_blocks - 1 - visit) * BLOCK_N
            fetch(k, [batch, head_kv, row, 0], k_s, k_full, count, K_FREE, THREADS, STAGES, KV_BYTES)
            if count > 0:
                fetch(
                    v, [batch_owed, head_owed, row_owed, 0], v_s, v_full, count - 1, V_FREE, THREADS, STAGES, KV_BYTES
                )
            count += 1
            batch_owed, head_owed, row_owed = batch, head_kv, row
    fetch(v, [batch_owed, head_owed, row_owed, 0], v_s, v_full, count - 1, V_FREE, THREADS, STAGES, KV_BYTES)
    for last in gl.static_range(STAGES):  # take what the consumers still tell, so that no barrier is left half full
        if count + last >= STAGES:
            wait_for(K_FREE + (count + last) % STAGES, THREADS)
            wait_for(V_FREE + (count + last) % STAGES, THREADS)


@gluon.jit
def _visit(q_tile, probs, acc, row_max, row_sum, count, first_row, first_key, seqlen, scale, nothing,
           k_s, v_s, k_full, v_full,
           CONSUMER: gl.constexpr, CONSUMERS: gl.constexpr, STAGES: gl.constexpr, LATE: gl.constexpr,
           MASKED: gl.constexpr):  # fmt: skip
    """QKᵀ of this block together with PV of the one before; the softmax of this one while PV still runs."""
    NEXT: gl.constexpr = TURN + (CONSUMER + 1) % CONSUMERS
    K_FREE: gl.constexpr = TURN + CONSUMERS
    V_FREE: gl.constexpr = K_FREE + STAGES
    THREADS: gl.constexpr = CONSUMERS * 128 + 32
    k_stage = count % STAGES
    v_stage = (count - 1) % STAGES
    mbarrier.wait(k_full.index(k_stage), count // STAGES & 1)
    wait_for(TURN + CONSUMER, 256)  # my turn on the tensor cores
    scores_ahead = warpgroup_mma(q_tile, k_s.index(k_stage).permute((1, 0)), nothing, use_acc=False, is_async=True)
    mbarrier.wait(v_full.index(v_stage), (count - 1) // STAGES & 1)
    acc_ahead = warpgroup_mma(probs, v_s.index(v_stage), acc, is_async=True)
    tell(NEXT, 256)
    scores = warpgroup_mma_wait(1, deps=(scores_ahead,))
    if MASKED:
        scores = masked(scores, first_row, first_key, seqlen, True)
    new_max = gl.maximum(row_max, gl.max(scores, 1))
    rescale = exp2(row_max * scale - new_max * scale)
    new_probs = exp2(scores * scale - (new_max * scale)[:, None])
    row_sum = row_sum * rescale + gl.sum(new_probs, 1)
    if LATE:
        tell_once_known(K_FREE + k_stage, row_sum, THREADS)
    else:
        tell(K_FREE + k_stage, THREADS)
    acc, probs = warpgroup_mma_wait(0, deps=(acc_ahead, probs))
    tell(V_FREE + v_stage, THREADS)
    acc = acc * gl.convert_layout(rescale, gl.SliceLayout(1, acc.type.layout))[:, None]
    probs = gl.convert_layout(new_probs.to(probs.dtype), probs.type.layout)
    return probs, acc, new_max, row_sum


@gluon.jit
def _consumer(CONSUMER: gl.constexpr, o, o_places, lse, room, lists, sizes, scale,
              CONSUMERS: gl.constexpr, BLOCK_N: gl.constexpr, HEAD_DIM: gl.constexpr, STAGES: gl.constexpr,
              Q_STAGES: gl.constexpr, CAUSAL: gl.constexpr, TAIL: gl.constexpr, LATE: gl.constexpr):  # fmt: skip
    """One warpgroup: its 64 rows of every tile of this thread block."""
    q_s, k_s, v_s, o_s, q_full, q_empty, k_full, v_full = room
    starts, entries = lists
    heads, _, seqlen = sizes
    o_pointer, o_batch, o_head, o_row = o_places
    BLOCK_M: gl.constexpr = CONSUMERS * 64
    NEXT: gl.constexpr = TURN + (CONSUMER + 1) % CONSUMERS
    K_FREE: gl.constexpr = TURN + CONSUMERS
    V_FREE: gl.constexpr = K_FREE + STAGES
    THREADS: gl.constexpr = CONSUMERS * 128 + 32
    # Under a causal mask, blocks of k that may cross the diagonal of a tile, counted from its last one.
    CROSSING: gl.constexpr = (BLOCK_M + (BLOCK_N - 64 if BLOCK_M % BLOCK_N else 0) + BLOCK_N - 1) // BLOCK_N
    DTYPE: gl.constexpr = q_s.dtype
    SCORES: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 16])
    ACC: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HEAD_DIM, 16])
    PROBS: gl.constexpr = gl.DotOperandLayout(0, ACC, 2)  # the scores' own registers: no data moves
    if CONSUMER == CONSUMERS - 1:
        tell(TURN, 256)  # consumer 0 begins
    first = gl.load(starts + gl.program_id(0))
    tiles = gl.load(starts + gl.program_id(0) + 1) - first
    m_block, batch_head, n_blocks = tile_at(entries, first)
    first_row = m_block * BLOCK_M + CONSUMER * 64
    nothing = gl.zeros([64, BLOCK_N], gl.float32, SCORES)

    mbarrier.wait(q_full.index(CONSUMER), 0)
    mbarrier.wait(k_full.index(0), 0)
    scores = warpgroup_mma(q_s.index(CONSUMER), k_s.index(0).permute((1, 0)), nothing, use_acc=False, is_async=True)
    scores = warpgroup_mma_wait(0, deps=(scores,))
    tell(K_FREE, THREADS)
    new_probs, row_max, row_sum = first_softmax(
        scores, first_row, (n_blocks - 1) * BLOCK_N, seqlen, scale, CAUSAL, TAIL
    )
    probs = gl.convert_layout(new_probs.to(DTYPE), PROBS)
    count = 1  # blocks of k used so far; v is one behind
    for turn in range(tiles):
        slot = turn % Q_STAGES * CONSUMERS + CONSUMER
        q_tile = q_s.index(slot)
        acc = gl.zeros([64, HEAD_DIM], gl.float32, ACC)
        next_m_block, next_batch_head, next_n_blocks = tile_at(entries, first + turn + 1)
        # Loaded again, not carried: Triton 3.6 replaces a carried number that only bounds an inner loop by its first
        # value (pass triton-loop-aware-cse), and the consumers would wait for ever.
        _, _, visits = tile_at(entries, first + turn)
        if CAUSAL and CROSSING > 1:
            for visit in range(1, gl.minimum(CROSSING, visits)):
                probs, acc, row_max, row_sum = _visit(
                    q_tile, probs, acc, row_max, row_sum, count, first_row, (visits - 1 - visit) * BLOCK_N, seqlen,
                    scale, nothing, k_s, v_s, k_full, v_full, CONSUMER, CONSUMERS, STAGES, LATE, True,
                )  # fmt: skip
                count += 1
        for _ in range(CROSSING if CAUSAL else 1, visits):
            probs, acc, row_max, row_sum = _visit(
                q_tile, probs, acc, row_max, row_sum, count, first_row, 0, seqlen, scale, nothing, k_s, v_s, k_full,
                v_full, CONSUMER, CONSUMERS, STAGES, LATE, False,
            )  # fmt: skip
            count += 1
        mbarrier.arrive(q_empty.index(slot))

        # The tile's last PV together with the next tile's first QKᵀ (of stale data, unused, when there is no next).
        more = turn + 1 < tiles
        row_of_head, head_of_all = first_row, batch_head
        first_row = next_m_block * BLOCK_M + CONSUMER * 64
        next_slot = (turn + 1) % Q_STAGES * CONSUMERS + CONSUMER
        k_stage = count % STAGES
        v_stage = (count - 1) % STAGES
        mbarrier.wait(q_full.index(next_slot), (turn + 1) // Q_STAGES & 1, pred=more)
        mbarrier.wait(k_full.index(k_stage), count // STAGES & 1, pred=more)
        wait_for(TURN + CONSUMER, 256)
        scores_ahead = warpgroup_mma(
            q_s.index(next_slot), k_s.index(k_stage).permute((1, 0)), nothing, use_acc=False, is_async=True
        )
        mbarrier.wait(v_full.index(v_stage), (count - 1) // STAGES & 1)
        acc_ahead = warpgroup_mma(probs, v_s.index(v_stage), acc, is_async=True)
        tell(NEXT, 256)
        rows = row_of_head + gl.arange(0, 64, gl.SliceLayout(1, SCORES))
        row_lse = (row_max * scale + log2(row_sum)) * LN_2
        gl.store(lse + head_of_all.to(gl.int64) * seqlen + rows, row_lse, mask=rows < seqlen)
        inverse = gl.convert_layout(1.0 / row_sum, gl.SliceLayout(1, ACC))
        scores = warpgroup_mma_wait(1, deps=(scores_ahead,))
        if more:
            tell(K_FREE + k_stage, THREADS)
        new_probs, row_max, row_sum = first_softmax(
            scores, first_row, (next_n_blocks - 1) * BLOCK_N, seqlen, scale, CAUSAL, TAIL
        )
        acc, probs = warpgroup_mma_wait(0, deps=(acc_ahead, probs))
        tell(V_FREE + v_stage, THREADS)
        count += 1
        out = (acc * inverse[:, None]).to(DTYPE)
        batch, head = head_of_all // heads, head_of_all % heads
        if HEAD_DIM <= 128:
            tma.store_wait(0)  # the last tile's output has left its place
            meet()  # and all threads know
            o_s.index(CONSUMER).store(out)
            fence_async_shared()
            meet()
            tma_store(o, [batch, head, row_of_head, 0], o_s.index(CONSUMER))
        else:  # no shared memory is left: rmem → hbm
            out_rows = row_of_head + gl.arange(0, 64, gl.SliceLayout(1, ACC))
            columns = gl.arange(0, HEAD_DIM, gl.SliceLayout(0, ACC))
            start = o_pointer + batch.to(gl.int64) * o_batch + head.to(gl.int64) * o_head
            places = start + out_rows[:, None].to(gl.int64) * o_row + columns[None, :]
            gl.store(places, out, mask=(out_rows < seqlen)[:, None] & (columns >= 0)[None, :])
        batch_head = next_batch_head
        probs = gl.convert_layout(new_probs.to(DTYPE), PROBS)
    tma.store_wait(0)
    if CONSUMER == 0:
        wait_for(TURN, 256)  # the last turn given


@gluon.jit(do_not_specialize=["heads", "group", "seqlen"])
def fa3_forward(q, k, v, o, o_pointer, lse, starts, entries, heads, group, seqlen, scale, o_batch, o_head, o_row,
                CONSUMERS: gl.constexpr, BLOCK_N: gl.constexpr, HEAD_DIM: gl.constexpr, STAGES: gl.constexpr,
                Q_STAGES: gl.constexpr, CAUSAL: gl.constexpr, TAIL: gl.constexpr, LATE: gl.constexpr,
                CONSUMER_REGISTERS: gl.constexpr, PRODUCER_REGISTERS: gl.constexpr):  # fmt: skip
    """One persistent thread block: makes room and barriers in smem, then splits into its roles."""
    DTYPE: gl.constexpr = q.dtype
    ROWS_LAYOUT: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, HEAD_DIM], DTYPE)
    KV_LAYOUT: gl.constexpr = gl.NVMMASharedLayout.get_default_for([BLOCK_N, HEAD_DIM], DTYPE)
    q_s = gl.allocate_shared_memory(DTYPE, [Q_STAGES * CONSUMERS, 64, HEAD_DIM], ROWS_LAYOUT)
    o_s = q_s
    if HEAD_DIM <= 128:
        o_s = gl.allocate_shared_memory(DTYPE, [CONSUMERS, 64, HEAD_DIM], ROWS_LAYOUT)
    k_s = gl.allocate_shared_memory(DTYPE, [STAGES, BLOCK_N, HEAD_DIM], KV_LAYOUT)
    v_s = gl.allocate_shared_memory(DTYPE, [STAGES, BLOCK_N, HEAD_DIM], KV_LAYOUT)
    q_full = gl.allocate_shared_memory(gl.int64, [Q_STAGES * CONSUMERS, 1], mbarrier.MBarrierLayout())
    q_empty = gl.allocate_shared_memory(gl.int64, [Q_STAGES * CONSUMERS, 1], mbarrier.MBarrierLayout())
    k_full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    v_full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for slot in gl.static_range(Q_STAGES * CONSUMERS):
        mbarrier.init(q_full.index(slot), count=1)
        mbarrier.init(q_empty.index(slot), count=1)
    for stage in gl.static_range(STAGES):
        mbarrier.init(k_full.index(stage), count=1)
        mbarrier.init(v_full.index(stage), count=1)
    fence_async_shared()
    room = (q_s, k_s, v_s, o_s, q_full, q_empty, k_full, v_full)
    lists = (starts, entries)
    sizes = (heads, group, seqlen)
    o_places = (o_pointer, o_batch, o_head, o_row)
    if CONSUMERS == 2:
        gl.warp_specialize(
            [
                (_consumer, (0, o, o_places, lse, room, lists, sizes, scale, CONSUMERS, BLOCK_N, HEAD_DIM, STAGES,
                             Q_STAGES, CAUSAL, TAIL, LATE)),
                (_consumer, (1, o, o_places, lse, room, lists, sizes, scale, CONSUMERS, BLOCK_N, HEAD_DIM, STAGES,
                             Q_STAGES, CAUSAL, TAIL, LATE)),
                (_producer, (q, k, v, room, lists, sizes, CONSUMERS, BLOCK_N, HEAD_DIM, STAGES, Q_STAGES)),
            ],
            [4, 1],
            [CONSUMER_REGISTERS, PRODUCER_REGISTERS],
        )  # fmt: skip
    else:
        gl.warp_specialize(
            [
                (_consumer, (0, o, o_places, lse, room, lists, sizes, scale, CONSUMERS, BLOCK_N, HEAD_DIM, STAGES,
                             Q_STAGES, CAUSAL, TAIL, LATE)),
                (_consumer, (1, o, o_places, lse, room, lists, sizes, scale, CONSUMERS, BLOCK_N, HEAD_DIM, STAGES,
                             Q_STAGES, CAUSAL, TAIL, LATE)),
                (_consumer, (2, o, o_places, lse, room, lists, sizes, scale, CONSUMERS, BLOCK_N, HEAD_DIM, STAGES,
                             Q_STAGES, CAUSAL, TAIL, LATE)),
                (_producer, (q, k, v, room, lists, sizes, CONSUMERS, BLOCK_N, HEAD_DIM, STAGES, Q_STAGES)),
            ],
            [4, 4, 1],
            [CONSUMER_REGISTERS, CONSUMER_REGISTERS, PRODUCER_REGISTERS],
        )  # fmt: skip


def _descriptor(tensor: torch.Tensor, rows: int) -> Any:
    """A descriptor that moves blocks of `rows` whole rows of one head, laid out as the tensor cores read them."""
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    dtype = gl.bfloat16 if tensor.dtype == torch.bfloat16 else gl.float16
    block = [1, 1, rows, tensor.shape[-1]]
    layout = gl.NVMMASharedLayout.get_default_for(block, dtype)
    return TensorDescriptor(tensor, list(tensor.shape), strides_for_tma(tensor), block, layout)


@lru_cache(maxsize=64)
def lists_for(
    sizes: Sizes, roles: configs.Roles, causal: bool, thread_blocks: int, device: torch.device, element_bytes: int = 2
) -> tuple[torch.Tensor, torch.Tensor, int]:
    """(starts, entries, number of lists) on the device; see `fa3_schedule`."""
    lists = fa3_schedule.schedule(
        seqlen=sizes.seqlen_q,
        heads=sizes.heads,
        block_m=roles.block_m,
        block_n=roles.block_n,
        causal=causal,
        bytes_per_head=2 * sizes.seqlen_k * sizes.head_dim * element_bytes * sizes.num_heads_kv // sizes.num_heads or 1,
        thread_blocks=thread_blocks,
    )
    starts, entries = (torch.tensor(numbers, dtype=torch.int32, device=device) for numbers in fa3_schedule.flat(lists))
    return starts, entries, len(lists)


def thread_blocks(device: torch.device) -> int:
    """SMs of the GPU; those of an H100 or H200 when there is none and kernels are only compiled."""
    if device.type != "cuda":
        return 132
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def bind(problem: Problem, roles: configs.Roles | None = None) -> Bound:
    """The kernel tied to `problem` (self-attention; key/value heads may be shared), outputs NaN until written.

    KernelInputError when the tensors do not fit.
    """
    sizes = check(problem, same_lengths=True, grouped=True)
    q, k, v = problem.q, problem.k, problem.v
    roles = roles or configs.roles_for(sizes.head_dim, problem.causal, sizes.seqlen_q)
    o = torch.full_like(q, float("nan"))
    lse = q.new_full(q.shape[:3], float("nan"), dtype=torch.float32)
    starts, entries, count = lists_for(sizes, roles, problem.causal, thread_blocks(q.device), q.device)
    arguments = (
        _descriptor(q, configs.CONSUMER_ROWS),
        _descriptor(k, roles.block_n),
        _descriptor(v, roles.block_n),
        _descriptor(o, configs.CONSUMER_ROWS),
        o,
        lse,
        starts,
        entries,
        sizes.num_heads,
        sizes.num_heads // sizes.num_heads_kv,
        sizes.seqlen_q,
        problem.softmax_scale * LOG2_E,
        *o.stride()[:3],
    )
    constants = {
        "CONSUMERS": roles.consumers,
        "BLOCK_N": roles.block_n,
        "HEAD_DIM": sizes.head_dim,
        "STAGES": roles.stages,
        "Q_STAGES": roles.q_stages,
        "CAUSAL": problem.causal,
        "TAIL": sizes.seqlen_k % roles.block_n != 0,
        "LATE": roles.late,
        "CONSUMER_REGISTERS": roles.consumer_registers,
        "PRODUCER_REGISTERS": roles.producer_registers,
        "num_warps": 4,  # of a consumer; the producer has one
        "maxnreg": roles.launch_registers,
    }

    def run() -> Forward:
        launch(fa3_forward, (count,), *arguments, **constants)
        return Forward(o, lse)

    return Bound(run, block=BlockShape(roles.block_m, roles.block_n), settings=str(roles))
