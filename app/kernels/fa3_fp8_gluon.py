"""Rung 5, FlashAttention-3's forward in 8-bit numbers, for Hopper. The idea: half the bits, twice the products.

The order of work is `fa3_gluon`'s, written out again because what differs is spread over all of it. q, k, v and the
probabilities are e4m3 numbers (`fa3_fp8_quantize`), sums, softmax and lse stay fp32. The timed call takes q, k and v as
e4m3 already, as the paper's does; they are made when the kernel is bound. Three things are new:

- Scales. A block's scores are multiplied by its q's and its k's scale, so the running maximum is kept in scaled units.
  Its probabilities are multiplied by its v's scale and by 2^8 (e4m3 reaches from 2^-9 to 448): both are added to the
  exponent, the scale before the maximum is taken, so that the largest entry of every row becomes 2^8. The row sum gets
  the block's sum divided by the scale. What is then left divides out of the output.
- Places. An 8-bit operand wants four neighbouring columns a thread, the scores come two and two. v's rows are stored in
  the order that makes up for it, so the probabilities go from one product to the next without leaving their thread.
- Sums. The row sum is that of the probabilities before rounding; those after would have to be unpacked again. The
  difference is the mean of the rounding errors, far below a single one.

Error: an e4m3 probability is off by at most 2^-4 of itself, independently of the next one; `bench/rounded.py` has the
bound that follows. The tensor cores keep about 14 bits while they add 8-bit products (not documented), here over the
whole sequence; adding each block's product to fp32 registers would mend that for one more addition an entry. Source:
arXiv 2407.08608, Section 3.3 (without its random rotation, which is for inputs with outliers).
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
from app.kernels.fa3_fp8_parts import each, operand, own_sums, packed
from app.kernels.fa3_fp8_quantize import NOTE, quantize, scale_tables
from app.kernels.fa3_gluon import LN_2, TURN
from app.kernels.fa3_parts import (
    LOWEST,
    exp2,
    fetch,
    log2,
    masked,
    meet,
    tell,
    tile_at,
    tma_load,
    tma_store,
    wait_for,
)
from app.kernels.launching import launch, strides_for_tma
from app.kernels.problem import Bound, Forward, Problem, check
from app.theory.shapes import BlockShape

SHIFT = 8  # probabilities are rounded after multiplication by 2^SHIFT
SHIFTED = gl.constexpr(SHIFT)


@gluon.jit
def _softmax(scores, row_max, q_scale, scales):
    """Probabilities of a block times v's scale and 2^SHIFT, their sums without v's scale, and the new maximum."""
    scale, lift, back = scales
    scale = scale * q_scale
    new_max = gl.maximum(row_max, gl.max(scores, 1) * scale + lift)
    probs = exp2(scores * scale - (new_max - (lift + SHIFTED))[:, None])
    return probs, own_sums(probs) * back, new_max


@gluon.jit
def _scales_at(scales, place):
    """(k's scale in the softmax's unit, log2 of v's scale, 1 / v's scale) of one block of k and v."""
    return gl.load(scales + 4 * place), gl.load(scales + 4 * place + 1), gl.load(scales + 4 * place + 2)


@gluon.jit
def _producer(q, k, v, room, lists, sizes,
              CONSUMERS: gl.constexpr, BLOCK_N: gl.constexpr, HEAD_DIM: gl.constexpr, STAGES: gl.constexpr,
              Q_STAGES: gl.constexpr):  # fmt: skip
    """One warp: q of each tile, then its blocks of k from the last to the first, v always one block behind."""
    q_s, k_s, v_s, _, q_full, q_empty, k_full, v_full = room
    starts, entries = lists
    heads, group, _, _, _ = sizes
    K_FREE: gl.constexpr = TURN + CONSUMERS
    V_FREE: gl.constexpr = K_FREE + STAGES
    THREADS: gl.constexpr = CONSUMERS * 128 + 32
    Q_BYTES: gl.constexpr = 64 * HEAD_DIM
    KV_BYTES: gl.constexpr = BLOCK_N * HEAD_DIM
    first = gl.load(starts + gl.program_id(0))
    tiles = gl.load(starts + gl.program_id(0) + 1) - first
    count = 0  # blocks of k asked for so far
    batch_owed, head_owed, row_owed = 0, 0, 0  # the block of v that is owed
    for turn in range(tiles):
        m_block, batch_head, n_blocks, _ = tile_at(entries, first + turn)
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
                    v, [batch_owed, head_owed, 0, row_owed], v_s, v_full, count - 1, V_FREE, THREADS, STAGES, KV_BYTES
                )
            count += 1
            batch_owed, head_owed, row_owed = batch, head_kv, row
    fetch(v, [batch_owed, head_owed, 0, row_owed], v_s, v_full, count - 1, V_FREE, THREADS, STAGES, KV_BYTES)
    for last in gl.static_range(STAGES):  # take what the consumers still tell, so that no barrier is left half full
        if count + last >= STAGES:
            wait_for(K_FREE + (count + last) % STAGES, THREADS)
            wait_for(V_FREE + (count + last) % STAGES, THREADS)


@gluon.jit
def _visit(q_tile, words, acc, row_max, row_sum, count, first_row, first_key, seqlen, scales, place, q_scale, nothing,
           k_s, v_s, k_full, v_full,
           CONSUMER: gl.constexpr, CONSUMERS: gl.constexpr, STAGES: gl.constexpr,
           MASKED: gl.constexpr):  # fmt: skip
    """QKᵀ of this block together with PV of the one before; the softmax of this one while PV still runs."""
    NEXT: gl.constexpr = TURN + (CONSUMER + 1) % CONSUMERS
    K_FREE: gl.constexpr = TURN + CONSUMERS
    V_FREE: gl.constexpr = K_FREE + STAGES
    THREADS: gl.constexpr = CONSUMERS * 128 + 32
    PROBS: gl.constexpr = gl.DotOperandLayout(0, acc.type.layout, 4)
    k_stage = count % STAGES
    v_stage = (count - 1) % STAGES
    block_scales = _scales_at(scales, place)
    mbarrier.wait(k_full.index(k_stage), count // STAGES & 1)
    wait_for(TURN + CONSUMER, 256)  # my turn on the tensor cores
    scores_ahead = warpgroup_mma(q_tile, k_s.index(k_stage).permute((1, 0)), nothing, use_acc=False, is_async=True)
    mbarrier.wait(v_full.index(v_stage), (count - 1) // STAGES & 1)
    acc_ahead = warpgroup_mma(operand(words, PROBS), v_s.index(v_stage).permute((1, 0)), acc, is_async=True)
    tell(NEXT, 256)
    scores = warpgroup_mma_wait(1, deps=(scores_ahead,))
    if MASKED:
        scores = masked(scores, first_row, first_key, seqlen, True)
    new_probs, new_sum, new_max = _softmax(scores, row_max, q_scale, block_scales)
    rescale = exp2(row_max - new_max)
    row_sum = row_sum * each(rescale, row_sum) + new_sum
    tell(K_FREE + k_stage, THREADS)
    acc, words = warpgroup_mma_wait(0, deps=(acc_ahead, words))
    tell(V_FREE + v_stage, THREADS)
    acc = acc * each(rescale, acc)
    return packed(new_probs), acc, new_max, row_sum


@gluon.jit
def _first_visit(scores, first_row, first_key, seqlen, scales, place, q_scale, CAUSAL: gl.constexpr,
                 TAIL: gl.constexpr):  # fmt: skip
    """Softmax state after a tile's first block, which is the last one of k: the one with the masks."""
    if CAUSAL or TAIL:
        scores = masked(scores, first_row, first_key, seqlen, CAUSAL)
    lowest = gl.full([scores.shape[0]], LOWEST, gl.float32, gl.SliceLayout(1, scores.type.layout))
    probs, row_sum, row_max = _softmax(scores, lowest, q_scale, _scales_at(scales, place))
    return probs, row_max, row_sum


@gluon.jit
def _consumer(CONSUMER: gl.constexpr, o, o_places, lse, room, lists, sizes, scales,
              CONSUMERS: gl.constexpr, BLOCK_N: gl.constexpr, HEAD_DIM: gl.constexpr, STAGES: gl.constexpr,
              Q_STAGES: gl.constexpr, CAUSAL: gl.constexpr, TAIL: gl.constexpr):  # fmt: skip
    """One warpgroup: its 64 rows of every tile of this thread block."""
    q_s, k_s, v_s, o_s, q_full, q_empty, k_full, v_full = room
    starts, entries = lists
    heads, group, seqlen, q_blocks, k_blocks = sizes
    q_scales, kv_scales = scales
    o_pointer, o_batch, o_head, o_row = o_places
    BLOCK_M: gl.constexpr = CONSUMERS * 64
    NEXT: gl.constexpr = TURN + (CONSUMER + 1) % CONSUMERS
    K_FREE: gl.constexpr = TURN + CONSUMERS
    V_FREE: gl.constexpr = K_FREE + STAGES
    THREADS: gl.constexpr = CONSUMERS * 128 + 32
    # Under a causal mask, blocks of k that may cross the diagonal of a tile, counted from its last one.
    APART: gl.constexpr = 0 if BLOCK_M % BLOCK_N == 0 or BLOCK_N % BLOCK_M == 0 else BLOCK_N - 64
    CROSSING: gl.constexpr = (BLOCK_M + APART + BLOCK_N - 1) // BLOCK_N
    SCORES: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK_N, 32])
    ACC: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HEAD_DIM, 32])
    PROBS: gl.constexpr = gl.DotOperandLayout(0, ACC, 4)  # the scores' own registers: no data moves
    if CONSUMER == CONSUMERS - 1:
        tell(TURN, 256)  # consumer 0 begins
    first = gl.load(starts + gl.program_id(0))
    tiles = gl.load(starts + gl.program_id(0) + 1) - first
    m_block, batch_head, n_blocks, _ = tile_at(entries, first)
    first_row = m_block * BLOCK_M + CONSUMER * 64
    nothing = gl.zeros([64, BLOCK_N], gl.float32, SCORES)
    head_kv = batch_head // group
    q_scale = gl.load(q_scales + batch_head * q_blocks + m_block * CONSUMERS + CONSUMER)

    mbarrier.wait(q_full.index(CONSUMER), 0)
    mbarrier.wait(k_full.index(0), 0)
    scores = warpgroup_mma(q_s.index(CONSUMER), k_s.index(0).permute((1, 0)), nothing, use_acc=False, is_async=True)
    scores = warpgroup_mma_wait(0, deps=(scores,))
    tell(K_FREE, THREADS)
    new_probs, row_max, row_sum = _first_visit(
        scores, first_row, (n_blocks - 1) * BLOCK_N, seqlen, kv_scales, head_kv * k_blocks + n_blocks - 1, q_scale,
        CAUSAL, TAIL,
    )  # fmt: skip
    words = packed(new_probs)
    count = 1  # blocks of k used so far; v is one behind
    for turn in range(tiles):
        slot = turn % Q_STAGES * CONSUMERS + CONSUMER
        q_tile = q_s.index(slot)
        acc = gl.zeros([64, HEAD_DIM], gl.float32, ACC)
        next_m_block, next_batch_head, next_n_blocks, _ = tile_at(entries, first + turn + 1)
        # Loaded again, not carried: Triton 3.6 replaces a carried number that only bounds an inner loop by its first
        # value (pass triton-loop-aware-cse), and the consumers would wait for ever.
        _, _, visits, _ = tile_at(entries, first + turn)
        last_place = head_kv * k_blocks + visits - 1
        if CAUSAL and CROSSING > 1:
            for visit in range(1, gl.minimum(CROSSING, visits)):
                words, acc, row_max, row_sum = _visit(
                    q_tile, words, acc, row_max, row_sum, count, first_row, (visits - 1 - visit) * BLOCK_N, seqlen,
                    kv_scales, last_place - visit, q_scale, nothing, k_s, v_s, k_full, v_full, CONSUMER, CONSUMERS,
                    STAGES, True,
                )  # fmt: skip
                count += 1
        for visit in range(CROSSING if CAUSAL else 1, visits):
            words, acc, row_max, row_sum = _visit(
                q_tile, words, acc, row_max, row_sum, count, first_row, 0, seqlen, kv_scales, last_place - visit,
                q_scale, nothing, k_s, v_s, k_full, v_full, CONSUMER, CONSUMERS, STAGES, False,
            )  # fmt: skip
            count += 1
        mbarrier.arrive(q_empty.index(slot))

        # The tile's last PV together with the next tile's first QKᵀ (of stale data, unused, when there is no next).
        more = turn + 1 < tiles
        row_of_head, head_of_all = first_row, batch_head
        first_row = next_m_block * BLOCK_M + CONSUMER * 64
        head_kv = next_batch_head // group
        q_scale = gl.load(q_scales + next_batch_head * q_blocks + next_m_block * CONSUMERS + CONSUMER)
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
        acc_ahead = warpgroup_mma(operand(words, PROBS), v_s.index(v_stage).permute((1, 0)), acc, is_async=True)
        tell(NEXT, 256)
        rows = row_of_head + gl.arange(0, 64, gl.SliceLayout(1, SCORES))
        whole_sum = gl.convert_layout(gl.sum(row_sum, 1), gl.SliceLayout(1, SCORES))
        row_lse = (row_max + log2(whole_sum) - SHIFTED) * LN_2
        gl.store(lse + head_of_all.to(gl.int64) * seqlen + rows, row_lse, mask=rows < seqlen)
        inverse = gl.convert_layout(1.0 / whole_sum, gl.SliceLayout(1, ACC))
        scores = warpgroup_mma_wait(1, deps=(scores_ahead,))
        if more:
            tell(K_FREE + k_stage, THREADS)
        new_probs, row_max, row_sum = _first_visit(
            scores, first_row, (next_n_blocks - 1) * BLOCK_N, seqlen, kv_scales,
            head_kv * k_blocks + next_n_blocks - 1, q_scale, CAUSAL, TAIL,
        )  # fmt: skip
        acc, words = warpgroup_mma_wait(0, deps=(acc_ahead, words))
        tell(V_FREE + v_stage, THREADS)
        count += 1
        out = (acc * inverse[:, None]).to(o.dtype)
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
        words = packed(new_probs)
    tma.store_wait(0)
    if CONSUMER == 0:
        wait_for(TURN, 256)  # the last turn given


@gluon.jit(do_not_specialize=["heads", "group", "seqlen", "q_blocks", "k_blocks"])
def fa3_fp8_forward(q, k, v, o, o_pointer, lse, starts, entries, q_scales, kv_scales, heads, group, seqlen,
                    q_blocks, k_blocks, o_batch, o_head, o_row,
                    CONSUMERS: gl.constexpr, BLOCK_N: gl.constexpr, HEAD_DIM: gl.constexpr, STAGES: gl.constexpr,
                    Q_STAGES: gl.constexpr, CAUSAL: gl.constexpr, TAIL: gl.constexpr,
                    CONSUMER_REGISTERS: gl.constexpr, PRODUCER_REGISTERS: gl.constexpr):  # fmt: skip
    """One persistent thread block: makes room and barriers in smem, then splits into its roles."""
    Q_LAYOUT: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, HEAD_DIM], q.dtype)
    K_LAYOUT: gl.constexpr = gl.NVMMASharedLayout.get_default_for([BLOCK_N, HEAD_DIM], k.dtype)
    V_LAYOUT: gl.constexpr = gl.NVMMASharedLayout.get_default_for([HEAD_DIM, BLOCK_N], v.dtype)
    O_LAYOUT: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, HEAD_DIM], o.dtype)
    q_s = gl.allocate_shared_memory(q.dtype, [Q_STAGES * CONSUMERS, 64, HEAD_DIM], Q_LAYOUT)
    o_s = q_s
    if HEAD_DIM <= 128:
        o_s = gl.allocate_shared_memory(o.dtype, [CONSUMERS, 64, HEAD_DIM], O_LAYOUT)
    k_s = gl.allocate_shared_memory(k.dtype, [STAGES, BLOCK_N, HEAD_DIM], K_LAYOUT)
    v_s = gl.allocate_shared_memory(v.dtype, [STAGES, HEAD_DIM, BLOCK_N], V_LAYOUT)
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
    sizes = (heads, group, seqlen, q_blocks, k_blocks)
    scales = (q_scales, kv_scales)
    o_places = (o_pointer, o_batch, o_head, o_row)
    if CONSUMERS == 2:
        gl.warp_specialize(
            [
                (_consumer, (0, o, o_places, lse, room, lists, sizes, scales, CONSUMERS, BLOCK_N, HEAD_DIM, STAGES,
                             Q_STAGES, CAUSAL, TAIL)),
                (_consumer, (1, o, o_places, lse, room, lists, sizes, scales, CONSUMERS, BLOCK_N, HEAD_DIM, STAGES,
                             Q_STAGES, CAUSAL, TAIL)),
                (_producer, (q, k, v, room, lists, sizes, CONSUMERS, BLOCK_N, HEAD_DIM, STAGES, Q_STAGES)),
            ],
            [4, 1],
            [CONSUMER_REGISTERS, PRODUCER_REGISTERS],
        )  # fmt: skip
    else:
        gl.warp_specialize(
            [
                (_consumer, (0, o, o_places, lse, room, lists, sizes, scales, CONSUMERS, BLOCK_N, HEAD_DIM, STAGES,
                             Q_STAGES, CAUSAL, TAIL)),
                (_consumer, (1, o, o_places, lse, room, lists, sizes, scales, CONSUMERS, BLOCK_N, HEAD_DIM, STAGES,
                             Q_STAGES, CAUSAL, TAIL)),
                (_consumer, (2, o, o_places, lse, room, lists, sizes, scales, CONSUMERS, BLOCK_N, HEAD_DIM, STAGES,
                             Q_STAGES, CAUSAL, TAIL)),
                (_producer, (q, k, v, room, lists, sizes, CONSUMERS, BLOCK_N, HEAD_DIM, STAGES, Q_STAGES)),
            ],
            [4, 4, 1],
            [CONSUMER_REGISTERS, CONSUMER_REGISTERS, PRODUCER_REGISTERS],
        )  # fmt: skip


def _descriptor(tensor: torch.Tensor, rows: int, columns: int) -> Any:
    """A descriptor that moves (rows, columns) blocks of one head, laid out as the tensor cores read them."""
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    names = {torch.bfloat16: gl.bfloat16, torch.float16: gl.float16, torch.float8_e4m3fn: gl.float8e4nv}
    block = [1, 1, rows, columns]
    layout = gl.NVMMASharedLayout.get_default_for(block, names[tensor.dtype])
    return TensorDescriptor(tensor, list(tensor.shape), strides_for_tma(tensor), block, layout)


def bind(problem: Problem, roles: configs.Roles | None = None) -> Bound:
    """The kernel tied to `problem` (self-attention; key/value heads may be shared), outputs NaN until written.

    q, k and v are quantised here. KernelInputError when the tensors do not fit.
    """
    sizes = check(problem, same_lengths=True, grouped=True)
    q, k, v = problem.q, problem.k, problem.v
    roles = roles or configs.roles_for(sizes.head_dim, problem.causal, sizes.seqlen_q, "fa3_fp8_gluon")
    q8, k8 = quantize(q, configs.CONSUMER_ROWS), quantize(k, roles.block_n)
    v8 = quantize(v, roles.block_n, turn=True)
    o = torch.full_like(q, float("nan"))
    lse = q.new_full(q.shape[:3], float("nan"), dtype=torch.float32)
    work = fa3_work.work(
        sizes,
        block_m=roles.block_m,
        block_n=roles.block_n,
        causal=problem.causal,
        thread_blocks=launching.multiprocessors(q.device),
        cut_last=False,
        device=q.device,
        element_bytes=1,
    )
    tables = scale_tables(q8, k8, v8, problem.softmax_scale, roles.consumers)
    arguments = (
        _descriptor(q8.numbers, configs.CONSUMER_ROWS, sizes.head_dim),
        _descriptor(k8.numbers, roles.block_n, sizes.head_dim),
        _descriptor(v8.numbers, sizes.head_dim, roles.block_n),
        _descriptor(o, configs.CONSUMER_ROWS, sizes.head_dim),
        o,
        lse,
        work.starts,
        work.tiles,
        *tables,
        sizes.num_heads,
        sizes.num_heads // sizes.num_heads_kv,
        sizes.seqlen_q,
        tables[0].shape[1],
        tables[1].shape[1],
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
        "CONSUMER_REGISTERS": roles.consumer_registers,
        "PRODUCER_REGISTERS": roles.producer_registers,
        "num_warps": 4,  # of a consumer; the producer has one
        "maxnreg": roles.launch_registers,
    }

    def run() -> Forward:
        launch(fa3_fp8_forward, (work.thread_blocks,), *arguments, **constants)
        return Forward(o, lse)

    def meant() -> Problem:
        q_meant, k_meant, v_meant = (x.values(sizes.seqlen_k) for x in (q8, k8, v8))
        return Problem(q_meant, k_meant, v_meant, causal=problem.causal)

    block = BlockShape(roles.block_m, roles.block_n)
    return Bound(run, block=block, settings=f"{roles}; {NOTE}", meant=meant)
