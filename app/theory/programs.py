"""Which tiles each algorithm loads and stores in which step: the plots behind `schedule`.

Written as the algorithms are: loops over blocks with loads, one score block of work a step, and stores. Sources as in
`accesses`.
"""

from collections.abc import Callable
from typing import NamedTuple

from app.theory import tiling
from app.theory.shapes import FP32_BYTES, AttentionShape, BlockShape

ALGORITHMS = ("standard", "fa1", "fa2")

# (tensor, block of query rows, block of key rows); None where the tile has no such side.
Tile = tuple[str, int | None, int | None]

_QUERY_ROWS = frozenset({"q", "o", "do", "dq"})
_KEY_ROWS = frozenset({"k", "v", "dk", "dv"})
_STATISTICS = {"stats": 2, "lse": 1, "delta": 1}


class Event(NamedTuple):
    """A load into, or a store from, the SMs."""

    step: int
    tile: Tile
    is_load: bool


class TileSizes:
    """Bytes of each tile, real rows only, over all heads."""

    def __init__(self, shape: AttentionShape, block: BlockShape) -> None:
        self._shape, self._block = shape, block

    def tile_bytes(self, tile: Tile) -> int:
        """Bytes of one tile."""
        tensor, m_block, n_block = tile
        shape = self._shape
        rows = 1 if m_block is None else tiling.block_rows(m_block, shape.seqlen, self._block.block_m)
        keys = 1 if n_block is None else tiling.block_rows(n_block, shape.seqlen, self._block.block_n)
        if tensor in _KEY_ROWS:
            return keys * shape.head_dim * shape.element_bytes * shape.heads_kv
        if tensor in _STATISTICS:
            return rows * _STATISTICS[tensor] * FP32_BYTES * shape.heads
        if tensor in ("dq_acc", "acc"):
            return rows * shape.head_dim * FP32_BYTES * shape.heads
        if tensor in _QUERY_ROWS:
            return rows * shape.head_dim * shape.element_bytes * shape.heads
        return rows * keys * shape.element_bytes * shape.heads


class Tape:
    """What a program does, in order. The program moves on with `next_step`."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.computes: list[tuple[int, int, int]] = []
        self.num_steps = 0

    def load(self, tensor: str, m_block: int | None = None, n_block: int | None = None) -> None:
        """Bring a tile to the SMs in this step."""
        self.events.append(Event(self.num_steps, (tensor, m_block, n_block), True))

    def store(self, tensor: str, m_block: int | None = None, n_block: int | None = None) -> None:
        """Send a tile away from the SMs in this step."""
        self.events.append(Event(self.num_steps, (tensor, m_block, n_block), False))

    def compute(self, m_block: int, n_block: int) -> None:
        """Work on a score block in this step."""
        self.computes.append((self.num_steps, m_block, n_block))

    def next_step(self) -> None:
        """End the step."""
        self.num_steps += 1


def record(algorithm: str, shape: AttentionShape, block: BlockShape, direction: str, variant: str) -> Tape:
    """Run the program of an algorithm. KeyError for a combination that has none."""
    tape = Tape()
    _PROGRAMS[algorithm, direction](tape, shape, block, variant)
    return tape


def _standard_forward(tape: Tape, shape: AttentionShape, block: BlockShape, variant: str) -> None:
    """Three kernels. Each input matrix is read once by its kernel, as the model counts; S and P go through memory.

    A row of S must be complete before its softmax is known, so the row's tiles come in one a step and its P tiles
    leave together in the last one.
    """
    blocks_m, blocks_n = tiling.grid(shape, block)
    for m in range(blocks_m):
        for n in range(blocks_n):
            if n == 0:
                tape.load("q", m_block=m)
            if m == 0:
                tape.load("k", n_block=n)
            tape.compute(m, n)
            tape.store("s", m, n)
            tape.next_step()
    if variant == "unfused_mask":
        for m in range(blocks_m):
            for n in range(blocks_n):
                tape.load("s", m, n)
                tape.compute(m, n)
                tape.store("s", m, n)
                tape.next_step()
    for m in range(blocks_m):
        for n in range(blocks_n):
            tape.load("s", m, n)
            tape.compute(m, n)
            if n == blocks_n - 1:
                for column in range(blocks_n):
                    tape.store("p", m, column)
            tape.next_step()
    for m in range(blocks_m):
        for n in range(blocks_n):
            tape.load("p", m, n)
            if m == 0:
                tape.load("v", n_block=n)
            tape.compute(m, n)
            if n == blocks_n - 1:
                tape.store("o", m_block=m)
            tape.next_step()


def _fa2_forward(tape: Tape, shape: AttentionShape, block: BlockShape, variant: str) -> None:
    """One q block after the other; every K/V block it needs passes; O leaves at the end of the row."""
    for m, n in tiling.q_outer_order(shape, block):
        if n == 0:
            tape.load("q", m_block=m)
        tape.load("k", n_block=n)
        tape.load("v", n_block=n)
        tape.compute(m, n)
        if n == tiling.last_n_block(m, shape, block):
            tape.store("o", m_block=m)
            if variant == "with_lse":
                tape.store("lse", m_block=m)
        tape.next_step()


_PROGRAMS: dict[tuple[str, str], Callable[[Tape, AttentionShape, BlockShape, str], None]] = {
    ("standard", "forward"): _standard_forward,
    ("fa2", "forward"): _fa2_forward,
}
