"""The tables that stand in for the touches without a script, counted when the server starts: nothing is typed twice.

Each is what the touch shows before anybody moves it, by the same formulas the API answers with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.facts.formatting import written
from app.facts.registry import Registry
from app.facts.timings import Found, Timings
from app.theory import cluster_roles, exactness, flops, hopper_roles, online_softmax, pipeline, traffic
from app.theory.gpus import GPUS
from app.theory.shapes import AttentionShape, BlockShape
from app.web.kernel_names import NAMES

SHAPE = AttentionShape(seqlen=4096, head_dim=128)
BLOCK = BlockShape(128, 128)
BLOCK_ROWS = (64, 128, 256)
SOFTMAX_BLOCK = 2
# As many blocks as fit on a board; stages and consumer groups are those of our own kernel at this head dimension.
TIMELINE_BLOCKS = 3
OWN_ROLES = hopper_roles.DEFAULTS[SHAPE.head_dim]
# Kernel → tensors read and written; the order of the standard way.
KERNELS = (
    ("1 · S = Q Kᵀ / √d", ("q", "k"), ("s",)),
    ("2 · P = softmax(S)", ("s",), ("p",)),
    ("3 · O = P V", ("p", "v"), ("o",)),
)
RUNGS = ("standard", "fa1_triton", "fa2_triton", "fa3_gluon", "fa3_cuda")
# The library each rung is set against, where it ran in the same run.
AGAINST = "fa3_wheel"
# The case every rung is compared in, as the records name it.
CASE: dict[str, Any] = {
    "direction": "forward",
    "dtype": "bf16",
    "batch": 1,
    "num_heads": 16,
    "seqlen": 16384,
    "head_dim": 128,
    "causal": False,
    "l2": "warm",
}
# Name a GPU reports → its row in the hardware table.
PEAKS = {"NVIDIA H200": "h200_sxm"}
LINES = {"hbm": "HBM ↔ chip", "l2_to_sm": "L2 ↔ SMs"}


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel of the standard way: (tensor, bytes) it reads and writes."""

    title: str
    reads: tuple[tuple[str, int], ...]
    writes: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """HBM traffic of the standard way, kernel by kernel, in bytes."""

    seqlen: int
    head_dim: int
    kernels: tuple[Kernel, ...]
    read_bytes: int
    written_bytes: int


@dataclass(frozen=True, slots=True)
class BlockRow:
    """Passes and bytes into the SMs for one size of block, both loop orders."""

    seqlen: int
    head_dim: int
    rows: int
    fa1_q_passes: int
    fa1_bytes: int
    fa2_kv_passes: int
    fa2_bytes: int


@dataclass(frozen=True, slots=True)
class SoftmaxRow:
    """One step over our own row: the scores it takes and the state after it."""

    scores: tuple[float, ...]
    row_max: float
    rescale: float
    row_sum: float
    acc: float


@dataclass(frozen=True, slots=True)
class SoftmaxTable:
    """Our own row of the ledger, taken `block` at a time."""

    scores: tuple[float, ...]
    values: tuple[float, ...]
    block: int
    steps: tuple[SoftmaxRow, ...]


@dataclass(frozen=True, slots=True)
class BackwardRow:
    """One way of getting P for the backward pass: bytes kept, bytes moved, operations."""

    title: str
    seqlen: int
    head_dim: int
    rows: int
    saved_bytes: int
    moved_bytes: int
    line: str
    matmuls: int
    flops: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """Who does what on one SM: names of the rows, and spans in units that are not to scale."""

    blocks: int
    stages: int
    rows: tuple[str, ...]
    spans: tuple[pipeline.Span, ...]


@dataclass(frozen=True, slots=True)
class OwnRoles:
    """What our own Hopper kernel uses at one head dimension."""

    head_dim: int
    roles: hopper_roles.Roles
    smem: hopper_roles.Smem


@dataclass(frozen=True, slots=True)
class OwnClusterRoles:
    """What our kernel in CUDA C++ uses at one head dimension, with or without a mask, for sequences of one kind."""

    head_dim: int
    causal: bool
    roles: cluster_roles.ClusterRoles
    smem: hopper_roles.Smem
    held_share: float


@dataclass(frozen=True, slots=True)
class OwnKernel:
    """What our own Hopper kernels use: at the head dimension compared, at each one, and an SM's limit.

    `in_cuda` is the kernel in CUDA C++ on sequences longer than the first of `lengths_in_cuda`, up to the second.
    """

    shown: OwnRoles
    listed: tuple[OwnRoles, ...]
    in_cuda: tuple[OwnClusterRoles, ...]
    lengths_in_cuda: tuple[int, int]
    consumer_rows: int
    smem_limit_bytes: int


@dataclass(frozen=True, slots=True)
class Rung:
    """One of our own kernels on the ladder; without a record `flops_per_s` and `share_of_peak` are None.

    `against` is its rate over the library's in the same run, "" where the library was not timed there.
    """

    kernel: str
    title: str
    idea: str
    shown: str = "not measured yet"
    flops_per_s: float | None = None
    share_of_peak: float | None = None
    against: str = ""
    gpu: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class TouchTables:
    """All of them, as the templates in `touches/` use them."""

    round_trip: RoundTrip
    blocks: tuple[BlockRow, ...]
    softmax: SoftmaxTable
    backward: tuple[BackwardRow, ...]
    exactness: exactness.Exactness
    timeline: Timeline
    own_kernel: OwnKernel
    rungs: tuple[Rung, ...]
    case: dict[str, Any]
    library_rates: str  # its slowest and its fastest run beside one of the rungs; "" with fewer than two


def build(registry: Registry, timings: Timings) -> TouchTables:
    """Count everything once, and look the measurements up."""
    return TouchTables(
        round_trip=_round_trip(),
        blocks=tuple(_block_row(rows) for rows in BLOCK_ROWS),
        softmax=_softmax(registry),
        backward=(_backward("standard", "Store P"), _backward("fa2", "Recompute P")),
        exactness=exactness.exactness(seed=1, seqlen=256, head_dim=64, block_m=64, block_n=64, outliers=True),
        timeline=_timeline(OWN_ROLES),
        own_kernel=_own_kernel(),
        rungs=tuple(_rung(timings.ours(), kernel) for kernel in RUNGS),
        case=CASE,
        library_rates=_library_rates(timings.ours()),
    )


def _round_trip() -> RoundTrip:
    counted = traffic.count("standard", SHAPE, BLOCK)
    by_tensor = {transfer.tensor: transfer for transfer in counted.by_tensor}
    return RoundTrip(
        seqlen=SHAPE.seqlen,
        head_dim=SHAPE.head_dim,
        kernels=tuple(
            Kernel(
                title,
                tuple((name.upper(), by_tensor[name].read_bytes) for name in reads),
                tuple((name.upper(), by_tensor[name].written_bytes) for name in writes),
            )
            for title, reads, writes in KERNELS
        ),
        read_bytes=counted.read_bytes,
        written_bytes=counted.written_bytes,
    )


def _block_row(rows: int) -> BlockRow:
    block = BlockShape(rows, rows)
    first, second = traffic.count("fa1", SHAPE, block), traffic.count("fa2", SHAPE, block)
    loaded = {transfer.tensor: transfer.read_bytes for transfer in first.by_tensor}
    return BlockRow(
        seqlen=SHAPE.seqlen,
        head_dim=SHAPE.head_dim,
        rows=rows,
        fa1_q_passes=loaded["q"] // SHAPE.q_bytes,
        fa1_bytes=first.total_bytes,
        fa2_kv_passes=round(traffic.kv_passes(SHAPE, block, "fa2")),
        fa2_bytes=second.total_bytes,
    )


def _softmax(registry: Registry) -> SoftmaxTable:
    scores = _numbers(registry, "own-softmax-row")
    values = _numbers(registry, "own-softmax-values")
    trace = online_softmax.trace(scores, SOFTMAX_BLOCK, values)
    steps = tuple(
        SoftmaxRow(scores[step.start : step.stop], step.row_max, step.rescale, step.row_sum, step.acc or 0.0)
        for step in trace.steps
    )
    return SoftmaxTable(scores, values, SOFTMAX_BLOCK, steps)


def _numbers(registry: Registry, fact_id: str) -> tuple[float, ...]:
    value = registry.fact(fact_id).value
    if not isinstance(value, tuple):
        raise TypeError(f"{fact_id} is not a list of numbers")
    return tuple(float(part) for part in value if isinstance(part, int | float))


def _backward(model: str, title: str) -> BackwardRow:
    moved = traffic.count(model, SHAPE, BLOCK, "backward")
    operations = flops.count(SHAPE, BLOCK, model, "backward")
    return BackwardRow(
        title=title,
        seqlen=SHAPE.seqlen,
        head_dim=SHAPE.head_dim,
        rows=BLOCK.block_m,
        saved_bytes=moved.saved_bytes,
        moved_bytes=moved.total_bytes,
        line=LINES[moved.line],
        matmuls=operations.matmuls,
        flops=operations.computed_flops,
    )


def _timeline(roles: hopper_roles.Roles) -> Timeline:
    groups = tuple(f"Consumer group {number}" for number in range(1, roles.consumers + 1))
    spans = pipeline.timeline(TIMELINE_BLOCKS, roles.stages, roles.consumers)
    return Timeline(TIMELINE_BLOCKS, roles.stages, ("Producer warp", *groups), spans)


def _own_kernel() -> OwnKernel:
    listed = tuple(
        OwnRoles(head_dim, roles, hopper_roles.smem(roles, head_dim))
        for head_dim, roles in hopper_roles.DEFAULTS.items()
    )
    kind = cluster_roles.kind_of_length(cluster_roles.MIDDLING)
    return OwnKernel(
        shown=next(own for own in listed if own.head_dim == SHAPE.head_dim),
        listed=listed,
        in_cuda=tuple(
            OwnClusterRoles(
                head_dim,
                causal,
                defaults[kind],
                cluster_roles.smem(defaults[kind], head_dim),
                cluster_roles.held_share(defaults[kind], head_dim),
            )
            for (head_dim, causal), defaults in cluster_roles.DEFAULTS.items()
        ),
        lengths_in_cuda=(cluster_roles.SHORT, cluster_roles.MIDDLING),
        consumer_rows=hopper_roles.CONSUMER_ROWS,
        smem_limit_bytes=GPUS["h100_sxm5"].smem_per_block_bytes,
    )


def _newest(timings: Timings, kernel: str) -> Found | None:
    """Of this kernel in the case compared."""
    found = [item for item in timings.select(kernel=kernel, ran=True, **CASE) if item.timing.tflops_per_s is not None]
    return max(found, key=lambda item: item.record.run.date, default=None)


def _library_rates(timings: Timings) -> str:
    records = {newest.record.id for kernel in RUNGS if (newest := _newest(timings, kernel))}
    beside = [item for each in records for item in timings.select(record=each, kernel=AGAINST, ran=True, **CASE)]
    rates = [rate for item in beside if (rate := item.timing.tflops_per_s) is not None]
    return written((min(rates), max(rates)), "TFLOP/s", digits=3) if len(rates) > 1 else ""


def _rung(timings: Timings, kernel: str) -> Rung:
    """The newest record of this kernel in the case compared."""
    title, idea = NAMES[kernel].name, NAMES[kernel].idea
    newest = _newest(timings, kernel)
    if newest is None:
        return Rung(kernel, title, idea)
    rate, gpu = newest.timing.tflops_per_s or 0.0, newest.record.run.gpu.name
    peak = GPUS[PEAKS[gpu]].flops_per_s if gpu in PEAKS else None
    beside = timings.select(record=newest.record.id, kernel=AGAINST, ran=True, **CASE)
    theirs = beside[0].timing.tflops_per_s if beside else None
    return Rung(
        kernel=kernel,
        title=title,
        idea=idea,
        shown=written(rate, "TFLOP/s", digits=3),
        flops_per_s=rate * 1e12,
        share_of_peak=rate * 1e12 / peak if peak else None,
        against=written(round(rate / theirs, 3), "×", digits=3) if theirs else "",
        gpu=gpu,
        date=newest.record.run.date[:10],
    )
