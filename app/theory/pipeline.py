"""Who does what on one SM over time when a producer loads and consumer groups take turns, as in the third version.

Durations are units of a drawing, not measurements: a load of one block of K or V and one block product take one unit, a
softmax takes two, so that one group's softmax just covers the other group's two products. What is exact is the order:
nothing is used before it has been loaded, the tensor cores serve one group at a time, and a stage of the ring is filled
again only when every group has used what lay in it.

Source of the order: Shah and others 2024 (FlashAttention-3), sections 3.1 and 3.2, algorithm 1 and figure 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LOAD = 1
MATMUL = 1
SOFTMAX = 2

Work = Literal["load", "matmul", "softmax"]
Operand = Literal["k", "v", "s", "o"]


@dataclass(frozen=True, slots=True)
class Span:
    """One piece of work: `row` 0 is the producer, 1 … the consumer groups; `start` and `stop` in units of time.

    `operand` is what the work makes or brings: K or V by a load, S by QKᵀ, O by PV, and S again for its softmax.
    """

    row: int
    start: int
    stop: int
    work: Work
    operand: Operand
    block: int


def timeline(blocks: int, stages: int, groups: int = 2) -> tuple[Span, ...]:
    """Spans of `groups` consumer groups over `blocks` blocks of K and V with a ring of `stages`, ordered by start.

    In a turn a group multiplies P of its last block with V and Q with the next block of K; then the tensor cores go to
    the next group while this one does its softmax.

    Raises:
        ValueError: a number is below 1.
    """
    if min(blocks, stages, groups) < 1:
        raise ValueError("blocks, stages and groups are at least 1")
    spans: list[Span] = []
    loaded: dict[tuple[Operand, int], int] = {}
    used: dict[tuple[Operand, int], int] = {}
    softmax_done = [0] * groups
    producer = tensor_cores = 0

    def load(operand: Operand, block: int) -> None:
        nonlocal producer
        start = max(producer, used.get((operand, block - stages), 0))
        producer = loaded[operand, block] = start + LOAD
        spans.append(Span(0, start, producer, "load", operand, block))

    def multiply(group: int, operand: Operand, loads: Operand, block: int) -> None:
        nonlocal tensor_cores
        start = max(tensor_cores, loaded[loads, block], softmax_done[group])
        tensor_cores = start + MATMUL
        used[loads, block] = max(used.get((loads, block), 0), tensor_cores)
        spans.append(Span(group + 1, start, tensor_cores, "matmul", operand, block))

    for block in range(blocks + 1):
        if block < blocks:
            load("k", block)
        for group in range(groups):
            if block > 0:
                multiply(group, "o", "v", block - 1)
            if block < blocks:
                multiply(group, "s", "k", block)
                start = tensor_cores
                softmax_done[group] = start + SOFTMAX
                spans.append(Span(group + 1, start, start + SOFTMAX, "softmax", "s", block))
        if block < blocks:
            load("v", block)
    return tuple(sorted(spans, key=lambda span: (span.start, span.row)))
