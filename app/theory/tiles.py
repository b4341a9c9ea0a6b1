"""Tiles and the tape a schedule is written on: what a tile weighs, what is loaded and stored in which step."""

from typing import NamedTuple

from app.theory import tiling
from app.theory.shapes import FP32_BYTES, AttentionShape, BlockShape

# (tensor, block of query rows, block of key rows); None where the tile has no such side.
Tile = tuple[str, int | None, int | None]

# Tensors by what their rows are; s, p, dp and ds have both sides. Names as in `accesses`.
_QUERY_ROWS = frozenset({"q", "o", "do", "dq"})
_QUERY_ROWS_FP32 = frozenset({"o_acc", "dq_acc"})
_KEY_ROWS = frozenset({"k", "v", "dk", "dv"})
_STATISTICS_PER_ROW = {"stats": 2, "lse": 1, "delta": 1}


class Event(NamedTuple):
    """A load into, or a store from, the SMs."""

    step: int
    tile: Tile
    is_load: bool


class TileSizes:
    """Bytes of each tile: real rows only, over all heads (k, v, dk, dv: over all key/value heads)."""

    def __init__(self, shape: AttentionShape, block: BlockShape) -> None:
        self._shape, self._block = shape, block

    def tile_bytes(self, tile: Tile) -> int:
        """Bytes of one tile. IndexError when it lies outside the problem."""
        tensor, m_block, n_block = tile
        shape = self._shape
        rows = 1 if m_block is None else tiling.block_rows(m_block, shape.seqlen, self._block.block_m)
        keys = 1 if n_block is None else tiling.block_rows(n_block, shape.seqlen, self._block.block_n)
        if tensor in _KEY_ROWS:
            return keys * shape.head_dim * shape.element_bytes * shape.heads_kv
        if tensor in _STATISTICS_PER_ROW:
            return rows * _STATISTICS_PER_ROW[tensor] * FP32_BYTES * shape.heads
        if tensor in _QUERY_ROWS_FP32:
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
