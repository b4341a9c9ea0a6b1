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

from app.kernels import configs, fa3_work, launching
from app.kernels.fa3_parts import (
    exp2,
    first_softmax,
    log2,
    masked,
    packed,
    partial_sums,
    row_maxima,
    send,
    slot_at,
    tell,
    tell_if,
    tile_at,
    tma_load,
    unpacked,
    wait_for,
)
from app.kernels.launching import launch, strides_for_tma
from app.kernels.problem import LOG2_E, Bound, Forward, Problem, check
from app.theory.shapes import BlockShape

LN_2 = gl.constexpr(0.6931471805599453)
# Named barriers 8 … 15 are free; the compiler keeps the lower ones. 8 + c is consumer c's turn, then one for each stage
# of k and one for each stage of v, on which the consumers tell the producer that the stage may be overwritten, and one
# for q when it has a single stage.
TURN = gl.constexpr(8)


@gluon.jit
def _fetch(tensor, batch, head, row, smem, full, count, BARRIER: gl.constexpr, THREADS: gl.constexpr,
           STAGES: gl.constexpr, BYTES: gl.constexpr):  # fmt: skip
    """Producer: the `count`-th block of k or v, l2 → smem, into the stage whose turn it is once that is free."""
    stage = count % STAGES
    if count >= STAGES:
        wait_for(BARRIER + stage, THREADS)
    mbarrier.expect(full.index(stage), BYTES)
    tma_load(tensor, [batch, head, row, 0], full.index(stage), smem.index(stage))


@gluon.jit
def _fetch_q(tensor, batch, head, m_block, q_s, q_full, q_empty, turn, BARRIER: gl.constexpr, CONSUMERS: gl.constexpr,
             HEAD_DIM: gl.constexpr, Q_STAGES: gl.constexpr):  # fmt: skip
    """Producer: the `turn`-th tile's block of q, l2 → smem, each consumer's 64 rows once their place is free."""
    if Q_STAGES == 1 and turn > 0:
        wait_for(BARRIER, CONSUMERS * 128 + 32)
    for consumer in gl.static_range(CONSUMERS):
        slot = turn % Q_STAGES * CONSUMERS + consumer
        if Q_STAGES > 1:
            mbarrier.wait(q_empty.index(slot), (turn // Q_STAGES & 1) ^ 1)
        mbarrier.expect(q_full.index(slot), 64 * HEAD_DIM * 2)
        row = (m_block * CONSUMERS + consumer) * 64
        tma_load(tensor, [batch, head, row, 0], q_full.index(slot), q_s.index(slot))


@gluon.jit
def _producer(q, k, v, room, lists, sizes,
              CONSUMERS: gl.constexpr, BLOCK_N: gl.constexpr, HEAD_DIM: gl.constexpr, K_STAGES: gl.constexpr,
              V_STAGES: gl.constexpr, Q_STAGES: gl.constexpr):  # fmt: skip
    """One warp: q of each tile and its blocks of k from the last to the first, v always one block behind."""
    q_s, k_s, v_s, _, q_full, q_empty, k_full, v_full = room
    starts, entries = lists
    heads, group, _ = sizes
    K_FREE: gl.constexpr = TURN + CONSUMERS
    V_FREE: gl.constexpr = K_FREE + K_STAGES
    Q_FREE: gl.constexpr = V_FREE + V_STAGES
    THREADS: gl.constexpr = CONSUMERS * 128 + 32
    KV_BYTES: gl.constexpr = BLOCK_N * HEAD_DIM * 2
    first = gl.load(starts + gl.program_id(0))
    tiles = gl.load(starts + gl.program_id(0) + 1) - first
    count = 0  # blocks of k asked for so far
    batch_owed, head_owed, row_owed = 0, 0, 0  # the block of v that is owed
    for turn in range(tiles):
        m_block, batch_head, n_blocks, first_block = tile_at(entries, first + turn)
        batch = batch_head // heads
        head_kv = batch_head % heads // group
        if Q_STAGES > 1:
            _fetch_q(q, batch, batch_head % heads, m_block, q_s, q_full, q_empty, turn, Q_FREE, CONSUMERS,
                     HEAD_DIM, Q_STAGES)  # fmt: skip
        for visit in range(n_blocks):
            row = (first_block + n_blocks - 1 - visit) * BLOCK_N
            _fetch(k, batch, head_kv, row, k_s, k_full, count, K_FREE, THREADS, K_STAGES, KV_BYTES)
            if count > 0:
                _fetch(v, batch_owed, head_owed, row_owed, v_s, v_full, count - 1, V_FREE, THREADS, V_STAGES, KV_BYTES)
            # Q's only place is free when the consumers are through with the last tile, so what they need until then
            # goes first. No two can wait for one another: in the order of asking, every wait is for a step of the
            # consumers whose tiles all stand before it (block c of k for step c - STAGES, block c of v for the one
            # after that, q for its predecessor's last step), and a step needs nothing that is asked for later.
            if Q_STAGES == 1 and visit == 0:
                _fetch_q(q, batch, batch_head % heads, m_block, q_s, q_full, q_empty, turn, Q_FREE, CONSUMERS,
                         HEAD_DIM, 1)  # fmt: skip
            count += 1
            batch_owed, head_owed, row_owed = batch, head_kv, row
    _fetch(v, batch_owed, head_owed, row_owed, v_s, v_full, count - 1, V_FREE, THREADS, V_STAGES, KV_BYTES)
    # Take what the consumers still tell, so that no barrier is left half full.
    for last in gl.static_range(K_STAGES):
        if count + last >= K_STAGES:
            wait_for(K_FREE + (count + last) % K_STAGES, THREADS)
    for last in gl.static_range(V_STAGES):
        if count + last >= V_STAGES:
            wait_for(V_FREE + (count + last) % V_STAGES, THREADS)
    if Q_STAGES == 1:
        wait_for(Q_FREE, THREADS)


@gluon.jit
def _visit(q_tile, pairs, acc, row_max, row_sum, count, first_row, first_key, last, seqlen, scale, nothing,
           k_s, v_s, k_full, v_full,
           CONSUMER: gl.constexpr, CONSUMERS: gl.constexpr, K_STAGES: gl.constexpr, V_STAGES: gl.constexpr,
           Q_STAGES: gl.constexpr, MASKED: gl.constexpr):  # fmt: skip
    """QKᵀ of this block together with PV of the one before; the softmax of this one while PV still runs."""
    NEXT: gl.constexpr = TURN + (CONSUMER + 1) % CONSUMERS
    K_FREE: gl.constexpr = TURN + CONSUMERS
    V_FREE: gl.constexpr = K_FREE + K_STAGES
    Q_FREE: gl.constexpr = V_FREE + V_STAGES
    THREADS: gl.constexpr = CONSUMERS * 128 + 32
    k_stage = count % K_STAGES
    v_stage = (count - 1) % V_STAGES
    mbarrier.wait(k_full.index(k_stage), count // K_STAGES & 1)
    wait_for(TURN + CONSUMER, 256)  # my turn on the tensor cores
    scores_ahead = warpgroup_mma(q_tile, k_s.index(k_stage).permute((1, 0)), nothing, use_acc=False, is_async=True)
    mbarrier.wait(v_full.index(v_stage), (count - 1) // V_STAGES & 1)
    probs = unpacked(pairs, q_tile.dtype, gl.DotOperandLayout(0, acc.type.layout, 2))
    acc_ahead = warpgroup_mma(probs, v_s.index(v_stage), acc, is_async=True)
    tell(NEXT, 256)
    scores = warpgroup_mma_wait(1, deps=(scores_ahead,))
    if MASKED:
        scores = masked(scores, first_row, first_key, seqlen, True)
    if Q_STAGES == 1:
        tell_if(last, Q_FREE, THREADS)  # q's place is free as soon as the tile's last scores are there
    new_max = gl.maximum(row_max, row_maxima(scores))
    rescale = exp2(row_max * scale - new_max * scale)
    new_probs = exp2(scores * scale - (new_max * scale)[:, None])
    row_sum = row_sum * gl.convert_layout(rescale, gl.SliceLayout(1, row_sum.type.layout))[:, None]
    row_sum += partial_sums(new_probs)
    tell(K_FREE + k_stage, THREADS)
    acc, probs = warpgroup_mma_wait(0, deps=(acc_ahead, probs))
    tell(V_FREE + v_stage, THREADS)
    acc = acc * gl.convert_layout(rescale, gl.SliceLayout(1, acc.type.layout))[:, None]
    return packed(new_probs, q_tile.dtype), acc, new_max, row_sum


@gluon.jit
def _consumer(CONSUMER: gl.constexpr, o, o_places, lse, room, lists, sizes, scale,
              CONSUMERS: gl.constexpr, BLOCK_N: gl.constexpr, HEAD_DIM: gl.constexpr, K_STAGES: gl.constexpr,
              V_STAGES: gl.constexpr, Q_STAGES: gl.constexpr, O_COLUMNS: gl.constexpr,
              CAUSAL: gl.constexpr, TAIL: gl.constexpr, PARTS: gl.constexpr):  # fmt: skip
    """One warpgroup: its 64 rows of every tile of this thread block."""
    q_s, k_s, v_s, o_s, q_full, q_empty, k_full, v_full = room
    starts, entries = lists
    heads, _, seqlen = sizes
    o_pointer, o_batch, o_head, o_row, part_o, part_lse = o_places
    BLOCK_M: gl.constexpr = CONSUMERS * 64
    NEXT: gl.constexpr = TURN + (CONSUMER + 1) % CONSUMERS
    K_FREE: gl.constexpr = TURN + CONSUMERS
    V_FREE: gl.constexpr = K_FREE + K_STAGES
    Q_FREE: gl.constexpr = V_FREE + V_STAGES
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
    m_block, batch_head, n_blocks, first_block = tile_at(entries, first)
    first_row = m_block * BLOCK_M + CONSUMER * 64
    nothing = gl.zeros([64, BLOCK_N], gl.float32, SCORES)

    mbarrier.wait(q_full.index(CONSUMER), 0)
    mbarrier.wait(k_full.index(0), 0)
    scores = warpgroup_mma(q_s.index(CONSUMER), k_s.index(0).permute((1, 0)), nothing, use_acc=False, is_async=True)
    scores = warpgroup_mma_wait(0, deps=(scores,))
    tell(K_FREE, THREADS)
    if Q_STAGES == 1:
        tell_if(n_blocks == 1, Q_FREE, THREADS)
    new_probs, row_max, row_sum = first_softmax(
        scores, first_row, (first_block + n_blocks - 1) * BLOCK_N, seqlen, scale, CAUSAL, TAIL
    )
    pairs = packed(new_probs, DTYPE)
    count = 1  # blocks of k used so far; v is one behind
    for turn in range(tiles):
        slot = turn % Q_STAGES * CONSUMERS + CONSUMER
        q_tile = q_s.index(slot)
        acc = gl.zeros([64, HEAD_DIM], gl.float32, ACC)
        next_m_block, next_batch_head, next_n_blocks, next_first_block = tile_at(entries, first + turn + 1)
        # Loaded again, not carried: Triton 3.6 replaces a carried number that only bounds an inner loop by its first
        # value (pass triton-loop-aware-cse), and the consumers would wait for ever.
        _, _, visits, _ = tile_at(entries, first + turn)
        if CAUSAL and CROSSING > 1:
            for visit in range(1, gl.minimum(CROSSING, visits)):
                pairs, acc, row_max, row_sum = _visit(
                    q_tile, pairs, acc, row_max, row_sum, count, first_row, (visits - 1 - visit) * BLOCK_N,
                    visit == visits - 1, seqlen, scale, nothing, k_s, v_s, k_full, v_full, CONSUMER, CONSUMERS,
                    K_STAGES, V_STAGES, Q_STAGES, True,
                )  # fmt: skip
                count += 1
        for visit in range(CROSSING if CAUSAL else 1, visits):
            pairs, acc, row_max, row_sum = _visit(
                q_tile, pairs, acc, row_max, row_sum, count, first_row, 0, visit == visits - 1, seqlen, scale, nothing,
                k_s, v_s, k_full, v_full, CONSUMER, CONSUMERS, K_STAGES, V_STAGES, Q_STAGES, False,
            )  # fmt: skip
            count += 1
        if Q_STAGES > 1:
            mbarrier.arrive(q_empty.index(slot))

        # The tile's last PV together with the next tile's first QKᵀ (of stale data, unused, when there is no next).
        more = turn + 1 < tiles
        row_of_head, head_of_all = first_row, batch_head
        first_row = next_m_block * BLOCK_M + CONSUMER * 64
        next_slot = (turn + 1) % Q_STAGES * CONSUMERS + CONSUMER
        k_stage = count % K_STAGES
        v_stage = (count - 1) % V_STAGES
        mbarrier.wait(q_full.index(next_slot), (turn + 1) // Q_STAGES & 1, pred=more)
        mbarrier.wait(k_full.index(k_stage), count // K_STAGES & 1, pred=more)
        wait_for(TURN + CONSUMER, 256)
        scores_ahead = warpgroup_mma(
            q_s.index(next_slot), k_s.index(k_stage).permute((1, 0)), nothing, use_acc=False, is_async=True
        )
        mbarrier.wait(v_full.index(v_stage), (count - 1) // V_STAGES & 1)
        probs = unpacked(pairs, DTYPE, PROBS)
        acc_ahead = warpgroup_mma(probs, v_s.index(v_stage), acc, is_async=True)
        tell(NEXT, 256)
        rows = row_of_head + gl.arange(0, 64, gl.SliceLayout(1, SCORES))
        whole_sum = gl.convert_layout(gl.sum(row_sum, 1), row_max.type.layout)
        row_lse = (row_max * scale + log2(whole_sum)) * LN_2
        slot = gl.to_tensor(-1)
        if PARTS:
            slot = slot_at(entries, first + turn)
            in_slots = slot * BLOCK_M + CONSUMER * 64 + gl.arange(0, 64, gl.SliceLayout(1, SCORES))
            gl.store(part_lse + in_slots, row_lse, mask=(in_slots >= 0) & (slot >= 0))
        gl.store(lse + head_of_all.to(gl.int64) * seqlen + rows, row_lse, mask=(rows < seqlen) & (slot < 0))
        inverse = gl.convert_layout(1.0 / whole_sum, gl.SliceLayout(1, ACC))
        scores = warpgroup_mma_wait(1, deps=(scores_ahead,))
        if more:
            tell(K_FREE + k_stage, THREADS)
            if Q_STAGES == 1:
                tell_if(next_n_blocks == 1, Q_FREE, THREADS)
        new_probs, row_max, row_sum = first_softmax(
            scores, first_row, (next_first_block + next_n_blocks - 1) * BLOCK_N, seqlen, scale, CAUSAL, TAIL
        )
        acc, probs = warpgroup_mma_wait(0, deps=(acc_ahead, probs))
        tell(V_FREE + v_stage, THREADS)
        count += 1
        whole_acc = acc * inverse[:, None]
        out = whole_acc.to(DTYPE)
        if PARTS:  # a part of a tile stays fp32: rmem → scratch, in HBM or rather still in L2
            in_slots = slot.to(gl.int64) * BLOCK_M + CONSUMER * 64 + gl.arange(0, 64, gl.SliceLayout(1, ACC))
            columns = gl.arange(0, HEAD_DIM, gl.SliceLayout(0, ACC))
            gl.store(part_o + in_slots[:, None] * HEAD_DIM + columns[None, :], whole_acc,
                     mask=(in_slots >= 0)[:, None] & (columns >= 0)[None, :] & (slot >= 0))  # fmt: skip
        batch, head = head_of_all // heads, head_of_all % heads
        if O_COLUMNS == HEAD_DIM:
            send(o, [batch, head, row_of_head, 0], o_s.index(CONSUMER), out, slot < 0)
        elif O_COLUMNS > 0:  # half of the columns after the other, through a place for one
            HALF: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, O_COLUMNS, 16])
            left, right = gl.split(out.reshape([64, 2, O_COLUMNS]).permute((0, 2, 1)))
            send(o, [batch, head, row_of_head, 0], o_s.index(CONSUMER),
                 gl.convert_layout(left, HALF), slot < 0)  # fmt: skip
            send(o, [batch, head, row_of_head, O_COLUMNS], o_s.index(CONSUMER),
                 gl.convert_layout(right, HALF), slot < 0)  # fmt: skip
        else:  # rmem → hbm
            out_rows = row_of_head + gl.arange(0, 64, gl.SliceLayout(1, ACC))
            columns = gl.arange(0, HEAD_DIM, gl.SliceLayout(0, ACC))
            start = o_pointer + batch.to(gl.int64) * o_batch + head.to(gl.int64) * o_head
            places = start + out_rows[:, None].to(gl.int64) * o_row + columns[None, :]
            gl.store(places, out, mask=(out_rows < seqlen)[:, None] & (columns >= 0)[None, :] & (slot < 0))
        batch_head = next_batch_head
        pairs = packed(new_probs, DTYPE)
    tma.store_wait(0)
    if CONSUMER == 0:
        wait_for(TURN, 256)  # the last turn given


@gluon.jit(do_not_specialize=["heads", "group", "seqlen"])
def fa3_forward(q, k, v, o, o_pointer, lse, part_o, part_lse, starts, entries, heads, group, seqlen, scale,
                o_batch, o_head, o_row,
                CONSUMERS: gl.constexpr, BLOCK_N: gl.constexpr, HEAD_DIM: gl.constexpr, K_STAGES: gl.constexpr,
                V_STAGES: gl.constexpr, Q_STAGES: gl.constexpr, O_COLUMNS: gl.constexpr,
                CAUSAL: gl.constexpr, TAIL: gl.constexpr, PARTS: gl.constexpr,
                CONSUMER_REGISTERS: gl.constexpr, PRODUCER_REGISTERS: gl.constexpr):  # fmt: skip
    """One persistent thread block: makes room and barriers in smem, then splits into its roles."""
    DTYPE: gl.constexpr = q.dtype
    ROWS_LAYOUT: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, HEAD_DIM], DTYPE)
    KV_LAYOUT: gl.constexpr = gl.NVMMASharedLayout.get_default_for([BLOCK_N, HEAD_DIM], DTYPE)
    q_s = gl.allocate_shared_memory(DTYPE, [Q_STAGES * CONSUMERS, 64, HEAD_DIM], ROWS_LAYOUT)
    o_s = q_s
    if O_COLUMNS > 0:
        O_LAYOUT: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, O_COLUMNS], DTYPE)
        o_s = gl.allocate_shared_memory(DTYPE, [CONSUMERS, 64, O_COLUMNS], O_LAYOUT)
    k_s = gl.allocate_shared_memory(DTYPE, [K_STAGES, BLOCK_N, HEAD_DIM], KV_LAYOUT)
    v_s = gl.allocate_shared_memory(DTYPE, [V_STAGES, BLOCK_N, HEAD_DIM], KV_LAYOUT)
    q_full = gl.allocate_shared_memory(gl.int64, [Q_STAGES * CONSUMERS, 1], mbarrier.MBarrierLayout())
    q_empty = gl.allocate_shared_memory(gl.int64, [Q_STAGES * CONSUMERS, 1], mbarrier.MBarrierLayout())
    k_full = gl.allocate_shared_memory(gl.int64, [K_STAGES, 1], mbarrier.MBarrierLayout())
    v_full = gl.allocate_shared_memory(gl.int64, [V_STAGES, 1], mbarrier.MBarrierLayout())
    for slot in gl.static_range(Q_STAGES * CONSUMERS):
        mbarrier.init(q_full.index(slot), count=1)
        mbarrier.init(q_empty.index(slot), count=1)
    for stage in gl.static_range(K_STAGES):
        mbarrier.init(k_full.index(stage), count=1)
    for stage in gl.static_range(V_STAGES):
        mbarrier.init(v_full.index(stage), count=1)
    fence_async_shared()
    room = (q_s, k_s, v_s, o_s, q_full, q_empty, k_full, v_full)
    lists = (starts, entries)
    sizes = (heads, group, seqlen)
    o_places = (o_pointer, o_batch, o_head, o_row, part_o, part_lse)
    if CONSUMERS == 2:
        gl.warp_specialize(
            [
                (_consumer, (0, o, o_places, lse, room, lists, sizes, scale, CONSUMERS, BLOCK_N, HEAD_DIM,
                             K_STAGES, V_STAGES, Q_STAGES, O_COLUMNS, CAUSAL, TAIL, PARTS)),
                (_consumer, (1, o, o_places, lse, room, lists, sizes, scale, CONSUMERS, BLOCK_N, HEAD_DIM,
                             K_STAGES, V_STAGES, Q_STAGES, O_COLUMNS, CAUSAL, TAIL, PARTS)),
                (_producer, (q, k, v, room, lists, sizes, CONSUMERS, BLOCK_N, HEAD_DIM, K_STAGES, V_STAGES, Q_STAGES)),
            ],
            [4, 1],
            [CONSUMER_REGISTERS, PRODUCER_REGISTERS],
        )  # fmt: skip
    else:
        gl.warp_specialize(
            [
                (_consumer, (0, o, o_places, lse, room, lists, sizes, scale, CONSUMERS, BLOCK_N, HEAD_DIM,
                             K_STAGES, V_STAGES, Q_STAGES, O_COLUMNS, CAUSAL, TAIL, PARTS)),
                (_consumer, (1, o, o_places, lse, room, lists, sizes, scale, CONSUMERS, BLOCK_N, HEAD_DIM,
                             K_STAGES, V_STAGES, Q_STAGES, O_COLUMNS, CAUSAL, TAIL, PARTS)),
                (_consumer, (2, o, o_places, lse, room, lists, sizes, scale, CONSUMERS, BLOCK_N, HEAD_DIM,
                             K_STAGES, V_STAGES, Q_STAGES, O_COLUMNS, CAUSAL, TAIL, PARTS)),
                (_producer, (q, k, v, room, lists, sizes, CONSUMERS, BLOCK_N, HEAD_DIM, K_STAGES, V_STAGES, Q_STAGES)),
            ],
            [4, 4, 1],
            [CONSUMER_REGISTERS, CONSUMER_REGISTERS, PRODUCER_REGISTERS],
        )  # fmt: skip


def _descriptor(tensor: torch.Tensor, rows: int, columns: int | None = None) -> Any:
    """A descriptor that moves blocks of `rows` rows of one head, laid out as the tensor cores read them.

    The rows are whole, or `columns` long.
    """
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    dtype = gl.bfloat16 if tensor.dtype == torch.bfloat16 else gl.float16
    block = [1, 1, rows, columns or tensor.shape[-1]]
    layout = gl.NVMMASharedLayout.get_default_for(block, dtype)
    return TensorDescriptor(tensor, list(tensor.shape), strides_for_tma(tensor), block, layout)


def bind(problem: Problem, roles: configs.Roles | None = None) -> Bound:
    """The kernel tied to `problem` (self-attention; key/value heads may be shared), outputs NaN until written.

    KernelInputError when the tensors do not fit.
    """
    sizes = check(problem, same_lengths=True, grouped=True)
    q, k, v = problem.q, problem.k, problem.v
    roles = roles or configs.roles_for(sizes.head_dim, problem.causal, sizes.seqlen_q)
    o = torch.full_like(q, float("nan"))
    lse = q.new_full(q.shape[:3], float("nan"), dtype=torch.float32)
    work = fa3_work.work(
        sizes,
        block_m=roles.block_m,
        block_n=roles.block_n,
        causal=problem.causal,
        thread_blocks=launching.multiprocessors(q.device),
        cut_last=roles.cut_last,
        device=q.device,
    )
    parts = fa3_work.room_for_parts(work, q)
    columns = min(sizes.head_dim, configs.MOST_O_COLUMNS)
    arguments = (
        _descriptor(q, configs.CONSUMER_ROWS),
        _descriptor(k, roles.block_n),
        _descriptor(v, roles.block_n),
        _descriptor(o, configs.CONSUMER_ROWS, columns),
        o,
        lse,
        *parts,
        work.starts,
        work.tiles,
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
        "K_STAGES": roles.stages + roles.more_k_stages,
        "V_STAGES": roles.stages,
        "Q_STAGES": roles.q_stages,
        "O_COLUMNS": columns if roles.o_staged else 0,
        "CAUSAL": problem.causal,
        "TAIL": sizes.seqlen_k % roles.block_n != 0,
        "PARTS": work.parts > 0,
        "CONSUMER_REGISTERS": roles.consumer_registers,
        "PRODUCER_REGISTERS": roles.producer_registers,
        "num_warps": 4,  # of a consumer; the producer has one
        "maxnreg": roles.launch_registers,
    }

    def run() -> Forward:
        launch(fa3_forward, (work.thread_blocks,), *arguments, **constants)
        fa3_work.combine(work, parts, o, lse)
        return Forward(o, lse)

    return Bound(run, block=BlockShape(roles.block_m, roles.block_n), settings=str(roles))
