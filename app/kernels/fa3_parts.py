"""Small device functions of the Hopper kernel: named barriers, fast exponentials, the work list, the masks."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

# Triton 3.9 has other names for three things of 3.6.
tma_load = tma.async_load if hasattr(tma, "async_load") else tma.async_copy_global_to_shared
tma_store = tma.async_store if hasattr(tma, "async_store") else tma.async_copy_shared_to_global
meet = gl.thread_barrier if hasattr(gl, "thread_barrier") else gl.barrier
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
def _known_text(threads):
    return (
        "{ .reg .pred p; .reg .b32 n; setp.lt.f32 p, $4, 0f00000000; setp.lt.or.f32 p, $5, 0f00000000, p; "
        f"selp.b32 n, 0, $2, p; bar.arrive n, {threads}; mov.b32 $0, n; mov.b32 $1, n; }}"
    )


@gluon.jit
def tell_once_known(barrier, values, THREADS: gl.constexpr):
    """Come to a named barrier, but not before `values` (sums of exponentials of each row) have been computed.

    The compiler may move a wait for the tensor cores up over arithmetic, but not over this: the barrier's number seems
    to depend on the values, which are never negative.
    """
    number = gl.full(values.shape, 0, gl.int32, values.type.layout) + barrier
    gl.inline_asm_elementwise(
        _known_text(THREADS), "=r,=r,r,r,f,f", [number, values], dtype=gl.int32, is_pure=False, pack=2
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
    """(block of q, head over the batch, blocks of k and v to visit) of one entry of the lists."""
    return gl.load(entries + 4 * index), gl.load(entries + 4 * index + 1), gl.load(entries + 4 * index + 2)


@gluon.jit
def masked(scores, first_row, first_key, seqlen, CAUSAL: gl.constexpr):
    """Scores with -inf where the key does not exist or comes after the row."""
    layout: gl.constexpr = scores.type.layout
    rows = first_row + gl.arange(0, scores.type.shape[0], gl.SliceLayout(1, layout))
    keys = first_key + gl.arange(0, scores.type.shape[1], gl.SliceLayout(0, layout))
    last = gl.minimum(rows, seqlen - 1) if CAUSAL else rows * 0 + (seqlen - 1)
    return gl.where(keys[None, :] <= last[:, None], scores, float("-inf"))


@gluon.jit
def first_softmax(scores, first_row, first_key, seqlen, scale, CAUSAL: gl.constexpr, TAIL: gl.constexpr):
    """Softmax state after a tile's first block, which is the last one of k: the one with the masks."""
    if CAUSAL or TAIL:
        scores = masked(scores, first_row, first_key, seqlen, CAUSAL)
    row_max = gl.maximum(gl.max(scores, 1), LOWEST)
    probs = exp2(scores * scale - (row_max * scale)[:, None])
    return probs, row_max, gl.sum(probs, 1)
