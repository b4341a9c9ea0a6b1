"""Floating-point operations of attention.

Convention: matrix multiplies only, a multiply and an add are two operations, so one multiply over all scores is
2·N²·d per head. Forward has two (QKᵀ, PV); backward has four the standard way and five in FlashAttention, which
computes QKᵀ again. The third paper's ablation confirms it: 3.538 ms gives its printed 661 TFLOP/s.
"""

from dataclasses import dataclass

from app.theory import tiling
from app.theory.accesses import variant_name
from app.theory.shapes import AttentionShape, BlockShape


@dataclass(frozen=True, slots=True)
class Operations:
    """Operations of one pass over all heads, counted three ways that differ only under a causal mask.

    `convention_flops`: all N² scores, halved under a causal mask, as the papers do. `entries_flops`: exactly the
    entries the mask lets through, N(N+1)/2 a head. `computed_flops`: what is really computed, whole visited blocks
    (the standard way computes all N² scores).
    """

    matmuls: int
    convention_flops: int
    entries_flops: int
    computed_flops: int


def matmuls(model: str, direction: str = "forward") -> int:
    """Matrix multiplies over the scores: 2 forward; 4 backward, 5 when S is computed again. ValueError if unknown."""
    variant_name(model, direction, None)
    if direction == "forward":
        return 2
    return 5 if model in ("fa1", "fa2") else 4


def count(shape: AttentionShape, block: BlockShape, model: str = "fa2", direction: str = "forward") -> Operations:
    """Operations of `model` on `shape`. ValueError for an unknown model or direction."""
    multiplies = matmuls(model, direction)
    n = shape.seqlen
    per_score = 2 * multiplies * shape.head_dim * shape.heads
    visited = tiling.score_entries_visited(shape, block) if model in ("fa1", "fa2") else n * n
    if model == "least" and shape.causal:
        visited = n * (n + 1) // 2
    return Operations(
        matmuls=multiplies,
        convention_flops=per_score * n * n // (2 if shape.causal else 1),
        entries_flops=per_score * (n * (n + 1) // 2 if shape.causal else n * n),
        computed_flops=per_score * visited,
    )
