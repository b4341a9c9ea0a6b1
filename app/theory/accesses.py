"""What each way of computing attention loads and stores, tensor by tensor: the tables behind `traffic`.

All sizes are bytes over all heads. Tensors: q k v o, s (scores) and p (probs), do dq dk dv, dp and ds (gradients of
probs and scores); row statistics, always fp32: stats (running max and running sum, FlashAttention 1), lse
(log-sum-exp) and delta (row sums of dO∘O, FlashAttention 2); o_acc and dq_acc (O and dQ added up in fp32).

With grouped-query attention K and V count once per group: the query heads of a group are taken to work on a K/V block
together, so each pass over K and V is made once for the group, and dK and dV are written once per key/value head.
Every other tensor has one copy per query head.

Sources: FlashAttention (arXiv 2205.14135), Algorithms 0, 1, 3, 4; FlashAttention-2 (arXiv 2307.08691), Algorithms 1, 2
and the released kernels.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from app.theory import tiling
from app.theory.block_sparse import BlockPattern
from app.theory.shapes import AttentionShape, BlockShape

# For each (model, direction) the forms that can be counted; the first is meant when none is named.
VARIANTS: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {
        ("least", "forward"): ("once",),
        ("least", "backward"): ("once",),
        # fused_mask: the causal mask is applied while S is in registers. unfused_mask: a kernel of its own reads and
        # writes S once more. v_twice: a published count that reads V twice, kept so that it can be compared.
        ("standard", "forward"): ("fused_mask", "unfused_mask", "v_twice"),
        ("standard", "backward"): ("listed",),
        # without_init: O, m and l are found in memory as Algorithm 1's loop expects them. with_init: line 2, which
        # writes them first, is counted. acc32: the running O is fp32.
        ("fa1", "forward"): ("without_init", "with_init", "acc32"),
        ("fa1", "backward"): ("listed",),
        ("fa2", "forward"): ("without_lse", "with_lse"),
        # kernel: dQ is added up in fp32 and converted at the end, O is not loaded in the loop. listed: as printed.
        ("fa2", "backward"): ("kernel", "listed"),
    }
)


@dataclass(frozen=True, slots=True)
class Access:
    """One tensor's loads and stores.

    `size_bytes` is the tensor itself, `read_bytes` and `written_bytes` what moves in and out of the SMs, and
    `starts_in_memory` says whether its first use is a load (an input, or a running value found in memory).
    """

    tensor: str
    size_bytes: int
    read_bytes: int
    written_bytes: int
    starts_in_memory: bool


def _access(tensor: str, size: int, *, reads: int = 0, writes: int = 0, computed_first: bool = False) -> Access:
    """An Access whose loads and stores are whole passes over the tensor."""
    return Access(tensor, size, reads * size, writes * size, reads > 0 and not computed_first)


def variant_name(model: str, direction: str, variant: str | None) -> str:
    """The variant meant. ValueError for an unknown model, direction or variant, listing the known ones."""
    models = dict.fromkeys(known for known, _ in VARIANTS)
    if model not in models:
        raise ValueError(f"model must be one of {', '.join(models)}, got {model!r}")
    if direction not in ("forward", "backward"):
        raise ValueError(f"direction must be forward or backward, got {direction!r}")
    known = VARIANTS[model, direction]
    if variant is None:
        return known[0]
    if variant not in known:
        raise ValueError(f"variant of {model} {direction} must be one of {', '.join(known)}, got {variant!r}")
    return variant


def accesses(
    model: str,
    shape: AttentionShape,
    block: BlockShape,
    direction: str = "forward",
    variant: str | None = None,
    pattern: BlockPattern | None = None,
) -> tuple[Access, ...]:
    """Loads and stores of every tensor. ValueError for an unknown name or a variant that does not fit the shape.

    With a block-sparse `pattern` (fa1 and fa2 only) the loops skip what it leaves out; what is loaded or stored once a
    row of blocks or once a column still is, even where nothing is left in it, as in the first paper's Algorithm 5.
    """
    variant = variant_name(model, direction, variant)
    if pattern is not None and model not in ("fa1", "fa2"):
        raise ValueError(f"a block-sparse pattern needs model fa1 or fa2, got {model}")
    if model == "least":
        return _least(shape, direction)
    if model == "standard":
        return _standard_forward(shape, variant) if direction == "forward" else _standard_backward(shape)
    if (model, direction) == ("fa2", "forward"):
        return _fa2_forward(shape, tiling.keys_visited(shape, block, pattern), variant)
    rows = tiling.queries_visited(shape, block, pattern)
    if direction == "forward":
        return _fa1_forward(shape, rows, variant)
    return _fa1_backward(shape, rows) if model == "fa1" else _fa2_backward(shape, rows, variant)


def _least(shape: AttentionShape, direction: str) -> tuple[Access, ...]:
    """Every input once, every result once. Backward needs no O: it follows from Q, K and V."""
    q, kv = shape.q_bytes, shape.kv_bytes
    inputs = (_access("q", q, reads=1), _access("k", kv, reads=1), _access("v", kv, reads=1))
    if direction == "forward":
        return (*inputs, _access("o", q, writes=1))
    gradients = (_access("dq", q, writes=1), _access("dk", kv, writes=1), _access("dv", kv, writes=1))
    return (*inputs, _access("do", q, reads=1), *gradients)


def _standard_forward(shape: AttentionShape, variant: str) -> tuple[Access, ...]:
    """Algorithm 0: S = QKᵀ written; S read, P written; P and V read, O written. A causal mask saves nothing."""
    q, kv, scores = shape.q_bytes, shape.kv_bytes, shape.scores_bytes
    if variant == "unfused_mask" and not shape.causal:
        raise ValueError("variant unfused_mask needs a causal shape: without a mask there is no mask kernel")
    score_passes = 2 if variant == "unfused_mask" else 1
    return (
        _access("q", q, reads=1),
        _access("k", kv, reads=1),
        _access("v", kv, reads=2 if variant == "v_twice" else 1),
        _access("s", scores, reads=score_passes, writes=score_passes, computed_first=True),
        _access("p", scores, reads=1, writes=1, computed_first=True),
        _access("o", q, writes=1),
    )


def _standard_backward(shape: AttentionShape) -> tuple[Access, ...]:
    """Algorithm 3, five kernels: dV from P, dO; dP from dO, V; dS from P, dP; dQ from dS, K; dK from dS, Q."""
    q, kv, scores = shape.q_bytes, shape.kv_bytes, shape.scores_bytes
    return (
        _access("q", q, reads=1),
        _access("k", kv, reads=1),
        _access("v", kv, reads=1),
        _access("do", q, reads=2),
        _access("p", scores, reads=2),
        _access("dp", scores, reads=1, writes=1, computed_first=True),
        _access("ds", scores, reads=2, writes=1, computed_first=True),
        _access("dq", q, writes=1),
        _access("dk", kv, writes=1),
        _access("dv", kv, writes=1),
    )


def _passes(tensor: str, size: int, rows: int, seqlen: int, *, reads: int = 0, writes: int = 0) -> Access:
    """An Access of a tensor found in memory, `rows` of whose `seqlen` rows are moved in the loop."""
    moved = size // seqlen * rows
    return Access(tensor, size, reads * moved, writes * moved, reads > 0)


def _plus(access: Access, *, reads: int = 0, writes_before: int = 0) -> Access:
    """The same with whole passes added: reads, or writes that come before the first load."""
    return Access(
        access.tensor,
        access.size_bytes,
        access.read_bytes + reads * access.size_bytes,
        access.written_bytes + writes_before * access.size_bytes,
        access.starts_in_memory and not writes_before,
    )


def _fa1_forward(shape: AttentionShape, rows: int, variant: str) -> tuple[Access, ...]:
    """Algorithm 1: each K/V block stays while all q blocks pass with their O, m and l, which go back every time."""
    n, q, kv = shape.seqlen, shape.q_bytes, shape.kv_bytes
    name, size = ("o_acc", shape.q_fp32_bytes) if variant == "acc32" else ("o", q)
    o = _passes(name, size, rows, n, reads=1, writes=1)
    stats = _passes("stats", 2 * shape.row_statistic_bytes, rows, n, reads=1, writes=1)
    if variant == "with_init":
        o, stats = _plus(o, writes_before=1), _plus(stats, writes_before=1)
    return (
        _passes("q", q, rows, n, reads=1),
        _access("k", kv, reads=1),
        _access("v", kv, reads=1),
        o,
        stats,
    )


def _fa1_backward(shape: AttentionShape, rows: int) -> tuple[Access, ...]:
    """Algorithm 4: K/V blocks outside; Q, O, dO, dQ, m and l of every q block pass, dQ goes back every time."""
    n, q, kv = shape.seqlen, shape.q_bytes, shape.kv_bytes
    return (
        _passes("q", q, rows, n, reads=1),
        _access("k", kv, reads=1),
        _access("v", kv, reads=1),
        _passes("o", q, rows, n, reads=1),
        _passes("do", q, rows, n, reads=1),
        _passes("stats", 2 * shape.row_statistic_bytes, rows, n, reads=1),
        _passes("dq", q, rows, n, reads=1, writes=1),
        _access("dk", kv, writes=1),
        _access("dv", kv, writes=1),
    )


def _fa2_forward(shape: AttentionShape, keys: int, variant: str) -> tuple[Access, ...]:
    """Algorithm 1 of the second paper: each q block stays, all K/V blocks pass, O leaves once."""
    n, q, kv = shape.seqlen, shape.q_bytes, shape.kv_bytes
    lse = (_access("lse", shape.row_statistic_bytes, writes=1),) if variant == "with_lse" else ()
    return (
        _access("q", q, reads=1),
        _passes("k", kv, keys, n, reads=1),
        _passes("v", kv, keys, n, reads=1),
        _access("o", q, writes=1),
        *lse,
    )


def _fa2_backward(shape: AttentionShape, rows: int, variant: str) -> tuple[Access, ...]:
    """Algorithm 2 of the second paper: delta first, then K/V blocks outside and q blocks passing.

    listed: O is loaded in the loop and dQ is read and written in the precision of Q (the listing loads it on lines 9
    and 15; counted once). kernel: no O in the loop; dQ is added up in fp32 and converted by a last kernel.
    Setting dQ (or its accumulator) to zero beforehand is not counted.
    """
    n, q, kv, stat = shape.seqlen, shape.q_bytes, shape.kv_bytes, shape.row_statistic_bytes

    common = (
        _passes("q", q, rows, n, reads=1),
        _access("k", kv, reads=1),
        _access("v", kv, reads=1),
        _plus(_passes("do", q, rows, n, reads=1), reads=1),
        _passes("lse", stat, rows, n, reads=1),
        _plus(_passes("delta", stat, rows, n, reads=1), writes_before=1),
        _access("dk", kv, writes=1),
        _access("dv", kv, writes=1),
    )
    if variant == "listed":
        o = _plus(_passes("o", q, rows, n, reads=1), reads=1)
        return (*common, o, _passes("dq", q, rows, n, reads=1, writes=1))
    return (
        *common,
        _access("o", q, reads=1),
        _plus(_passes("dq_acc", shape.q_fp32_bytes, rows, n, reads=1, writes=1), reads=1),
        _access("dq", q, writes=1),
    )
