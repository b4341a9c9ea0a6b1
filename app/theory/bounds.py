"""Between which two counts the bytes that HBM really sees must lie.

Upper edge: no help from the L2 cache. For the standard way that is its count on the HBM line; for FlashAttention what
crosses from the L2 into the SMs. Lower edge: the most an L2 cache can spare. FlashAttention then moves each tensor
once. The standard way runs one kernel after the other over all heads, so between two kernels the L2 holds at most its
own size of a score matrix; a byte held there spares the passes over it, the first load of what was already in memory
excepted. Real kernels lie between the edges: a dirty line that is evicted has been spared nothing.
"""

from dataclasses import dataclass

from app.theory import traffic
from app.theory.accesses import accesses
from app.theory.gpus import Gpu
from app.theory.shapes import AttentionShape, BlockShape

SCORE_TENSORS = frozenset({"s", "p", "dp", "ds"})


@dataclass(frozen=True, slots=True)
class Band:
    """Both edges, in bytes over all heads."""

    lower_bytes: int
    upper_bytes: int


def spared_passes(shape: AttentionShape, block: BlockShape, direction: str) -> int:
    """Passes of the standard way over score matrices that a large enough L2 could spare: 4 forward, 6 backward."""
    return sum(
        (item.read_bytes + item.written_bytes) // item.size_bytes - item.starts_in_memory
        for item in accesses("standard", shape, block, direction)
        if item.tensor in SCORE_TENSORS
    )


def band(model: str, shape: AttentionShape, block: BlockShape, gpu: Gpu, direction: str = "forward") -> Band:
    """Edges of HBM traffic for `model`. ValueError for an unknown name."""
    upper = traffic.count(model, shape, block, direction).total_bytes
    if model != "standard":
        return Band(traffic.count(model, shape, block, direction, line="hbm").total_bytes, upper)
    least = traffic.count("least", shape, block, direction).total_bytes
    spared = spared_passes(shape, block, direction) * min(gpu.l2_bytes, shape.scores_bytes)
    return Band(max(least, upper - spared), upper)
