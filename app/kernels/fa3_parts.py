"""Small device functions of the Hopper kernel: named barriers, fast exponentials, the work list, the masks."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

from app.kernels import fa3_schedule

# Triton 3.9 has other names for three things of 3.6.
tma_load = tma.async_load if hasattr(tma, "async_load") else tma.async_copy_global_to_shared
tma_store = tma.async_store if hasattr(tma, "async_store") else tma.async_copy_shared_to_global
meet = gl.thread_barrier if hasattr(gl, "thread_barrier") else gl.barrier
ENTRY = gl.constexpr(fa3_schedule.ENTRY)
LOWEST = gl.constexpr(-1e30)  # stands for -inf where a row may not have seen a key yet


@gluon.constexpr_function
def _barrier_text(kind, threads):
    return f"bar.{kind} $1, {threads}; mov.b32 $0, $1;"


@gluon.jit
def wait_for(barrier, THREADS: gl.constexpr):
    """Wait until THREADS threads have come to a named barrier, this warp's included."""
    number = gl.to_tensor(barrier)
    gl.inline_asm_elementwise(_barrier_text("sync", THREADS), "=r,r", [number], dtype=gl.int32, is_pure=False, pack=1)


@gluon.jit
def tell(barrier, THREADS: gl.constexpr):
    """Come to a named barrier without waiting."""
    number = gl.to_tensor(barrier)
    gl.inline_asm_elementwise(_barrier_text("arrive", THREADS), "=r,r", [number], dtype=gl.int32, is_pure=False, pack=1)


@gluon.jit
def fetch(tensor, place, smem, full, count, BARRIER: gl.constexpr, THREADS: gl.constexpr, STAGES: gl.constexpr,
          BYTES: gl.constexpr):  # fmt: skip
    """Producer: the `count`-th block of k or v, l2 → smem, into the stage whose turn it is once that is free."""
    stage = count % STAGES
    if count >= STAGES:
        wait_for(BARRIER + stage, THREADS)
    mbarrier.expect(full.index(stage), BYTES)
    tma_load(tensor, place, full.index(stage), smem.index(stage))


@gluon.constexpr_function
def _conditional_text(threads):
    return f"{{ .reg .pred p; setp.ne.b32 p, $2, 0; @p bar.arrive $1, {threads}; mov.b32 $0, $1; }}"


@gluon.jit
def tell_if(condition, barrier, THREADS: gl.constexpr):
    """Come to a named barrier without waiting if `condition`, which is the same for the whole warp, holds."""
    number, holds = gl.to_tensor(barrier), gl.to_tensor(condition).to(gl.int32)
    gl.inline_asm_elementwise(
        _conditional_text(THREADS), "=r,r,r", [number, holds], dtype=gl.int32, is_pure=False, pack=1
    )


@gluon.jit
def exp2(x):
    """2 to the x, one instruction."""
    return gl.inline_asm_elementwise("ex2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=gl.float32, is_pure=True, pack=1)


@gluon.jit
def log2(x):
    """Logarithm to base 2, one instruction."""
    return gl.inline_asm_elementwise("lg2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=gl.float32, is_pure=True, pack=1)


@gluon.jit
def tile_at(entries, index):
    """(block of q, head over the batch, blocks of k and v to visit, the first of them) of one entry of the lists."""
    entry = entries + ENTRY * index
    return gl.load(entry), gl.load(entry + 1), gl.load(entry + 2), gl.load(entry + 3)


@gluon.jit
def slot_at(entries, index):
    """Where the result of one entry goes if it is a part of a tile; negative for a whole tile."""
    return gl.load(entries + ENTRY * index + 4)


@gluon.jit
def masked(scores, first_row, first_key, seqlen, CAUSAL: gl.constexpr):
    """Scores with -inf where the key does not exist or comes after the row."""
    layout: gl.constexpr = scores.type.layout
    rows = first_row + gl.arange(0, scores.type.shape[0], gl.SliceLayout(1, layout))
    keys = first_key + gl.arange(0, scores.type.shape[1], gl.SliceLayout(0, layout))
    last = gl.minimum(rows, seqlen - 1) if CAUSAL else rows * 0 + (seqlen - 1)
    return gl.where(keys[None, :] <= last[:, None], scores, float("-inf"))


@gluon.constexpr_function
def _packing_text(dtype):
    return f"cvt.rn.{'bf16' if dtype == gl.bfloat16 else 'f16'}x2.f32 $0, $2, $1;"


@gluon.jit
def packed(values, DTYPE: gl.constexpr):
    """fp32 (rows, columns) → two neighbours of DTYPE in 32 bits, (rows, columns / 2).

    16-bit numbers that a loop carries are taken apart and put together again, two instructions each, if the compiler
    finds no better way; these are not.
    """
    M: gl.constexpr = values.type.shape[0]
    N: gl.constexpr = values.type.shape[1]
    low, high = gl.split(gl.reshape(values, [M, N // 2, 2]))
    return gl.inline_asm_elementwise(_packing_text(DTYPE), "=r,f,f", [low, high], dtype=gl.int32, is_pure=True, pack=1)


@gluon.jit
def unpacked(pairs, DTYPE: gl.constexpr, LAYOUT: gl.constexpr):
    """What was `packed`, in a layout that holds the same numbers in the same threads."""
    M: gl.constexpr = pairs.type.shape[0]
    N: gl.constexpr = pairs.type.shape[1]
    text: gl.constexpr = "mov.b32 {$0, $1}, $2;"
    if gl.bfloat16 == DTYPE:
        low, high = gl.inline_asm_elementwise(
            text, "=h,=h,r", [pairs], dtype=(gl.bfloat16, gl.bfloat16), is_pure=True, pack=1
        )
    else:
        low, high = gl.inline_asm_elementwise(
            text, "=h,=h,r", [pairs], dtype=(gl.float16, gl.float16), is_pure=True, pack=1
        )
    return gl.convert_layout(gl.reshape(gl.join(low, high), [M, 2 * N]), LAYOUT)


@gluon.jit
def row_maxima(scores):
    """Largest score of each row. First over every eighth column, which lie in one thread: short chains side by side."""
    M: gl.constexpr = scores.type.shape[0]
    N: gl.constexpr = scores.type.shape[1]
    of_columns = gl.max(gl.reshape(scores, [M, N // 8, 8]), 1)
    return gl.convert_layout(gl.max(of_columns, 1), gl.SliceLayout(1, scores.type.layout))


@gluon.jit
def partial_sums(probs):
    """(rows, 4): sums of each row over the columns that one thread holds; nothing moves between threads."""
    M: gl.constexpr = probs.type.shape[0]
    N: gl.constexpr = probs.type.shape[1]
    return gl.sum(gl.sum(gl.reshape(probs, [M, N // 8, 4, 2]), 1), 2)


@gluon.jit
def first_softmax(scores, first_row, first_key, seqlen, scale, CAUSAL: gl.constexpr, TAIL: gl.constexpr):
    """Softmax state after a tile's first block, which is the last one of k: the one with the masks."""
    if CAUSAL or TAIL:
        scores = masked(scores, first_row, first_key, seqlen, CAUSAL)
    row_max = gl.maximum(row_maxima(scores), LOWEST)
    probs = exp2(scores * scale - (row_max * scale)[:, None])
    return probs, row_max, partial_sums(probs)


@gluon.jit
def send(tensor, start, place, values, wanted):
    """Rmem → smem → hbm by the copy engine, once the warpgroup's last store has left `place`; waits for no more.

    The last step only if `wanted`, which is the same for all threads.
    """
    tma.store_wait(0)
    meet()  # and all threads know
    place.store(values)
    fence_async_shared()
    meet()
    if wanted:
        tma_store(tensor, start, place)
