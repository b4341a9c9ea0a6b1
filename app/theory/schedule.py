"""The order in which tiles move between HBM, the L2 cache and the SMs, step by step.

A step is one score block worked on (some backward passes add steps that touch rows only). `programs_forward` and
`programs_backward` say which tiles each algorithm loads and stores in which step; this file turns that into moves
between neighbouring levels:

- standard: each matrix is streamed, every load crosses hbm → l2 → sm and every store sm → l2 → hbm.
- fa1, fa2: the L2 cache holds what is in use. The first load of a tile that lies in memory crosses hbm → l2, every
  load l2 → sm, every store sm → l2, and a tile's last store is followed by l2 → hbm.

A move's bytes are those of the tile's real rows over all heads (k, v, dk, dv: over all key/value heads), so the moves
on each line add up exactly to `traffic.count` of the same shape on that line.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from app.theory import programs_backward, programs_forward, tiling
from app.theory.accesses import variant_name
from app.theory.shapes import AttentionShape, BlockShape
from app.theory.tiles import Event, Tape, Tile, TileSizes

ALGORITHMS = ("standard", "fa1", "fa2")
MAX_BLOCKS = 32

_PROGRAMS: dict[tuple[str, str], Callable[[Tape, AttentionShape, BlockShape, str], None]] = {
    ("standard", "forward"): programs_forward.standard,
    ("fa1", "forward"): programs_forward.fa1,
    ("fa2", "forward"): programs_forward.fa2,
    ("standard", "backward"): programs_backward.standard,
    ("fa1", "backward"): programs_backward.fa1,
    ("fa2", "backward"): programs_backward.fa2,
}


@dataclass(frozen=True, slots=True)
class Move:
    """One tile crossing one line during `step`.

    `m_block` is the block of query rows, `n_block` the block of key rows; None where the tile has no such side.
    """

    step: int
    tensor: str
    m_block: int | None
    n_block: int | None
    source: str
    target: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """All moves in order. `computes` lists (step, m_block, n_block): the score block worked on in that step."""

    algorithm: str
    direction: str
    variant: str
    causal: bool
    blocks_m: int
    blocks_n: int
    block_m: int
    block_n: int
    num_steps: int
    moves: tuple[Move, ...]
    computes: tuple[tuple[int, int, int], ...]

    def line_bytes(self, line: str) -> tuple[int, int]:
        """(bytes towards the SMs, bytes away from them) on line "hbm" or "l2_to_sm". KeyError for another line."""
        near, far = {"hbm": ("l2", "hbm"), "l2_to_sm": ("sm", "l2")}[line]
        read = sum(move.bytes for move in self.moves if (move.source, move.target) == (far, near))
        written = sum(move.bytes for move in self.moves if (move.source, move.target) == (near, far))
        return read, written


def build(
    algorithm: str,
    shape: AttentionShape,
    block: BlockShape,
    direction: str = "forward",
    variant: str | None = None,
) -> Schedule:
    """The schedule of one pass.

    Raises ValueError for an unknown algorithm, direction or variant, and when either side has more than 32 blocks.
    """
    if algorithm not in ALGORITHMS:
        raise ValueError(f"algorithm must be one of {', '.join(ALGORITHMS)}, got {algorithm!r}")
    variant = variant_name(algorithm, direction, variant)
    if variant == "v_twice":
        raise ValueError("variant v_twice is a published count, no algorithm moves V like that: it has no schedule")
    blocks_m, blocks_n = tiling.grid(shape, block)
    if max(blocks_m, blocks_n) > MAX_BLOCKS:
        raise ValueError(f"a schedule has at most {MAX_BLOCKS} blocks on a side, got {blocks_m} x {blocks_n}")
    tape = Tape()
    _PROGRAMS[algorithm, direction](tape, shape, block, variant)
    sizes = TileSizes(shape, block)
    moves = _streamed(tape.events, sizes) if algorithm == "standard" else _through_l2(tape.events, sizes)
    return Schedule(
        algorithm=algorithm,
        direction=direction,
        variant=variant,
        causal=shape.causal,
        blocks_m=blocks_m,
        blocks_n=blocks_n,
        block_m=block.block_m,
        block_n=block.block_n,
        num_steps=tape.num_steps,
        moves=tuple(moves),
        computes=tuple(tape.computes),
    )


def _streamed(events: Iterable[Event], sizes: TileSizes) -> Iterable[Move]:
    for event in events:
        path = ("hbm", "l2", "sm") if event.is_load else ("sm", "l2", "hbm")
        yield _move(event, sizes, path[0], path[1])
        yield _move(event, sizes, path[1], path[2])


def _through_l2(events: list[Event], sizes: TileSizes) -> Iterable[Move]:
    last_store = {event.tile: index for index, event in enumerate(events) if not event.is_load}
    in_l2: set[Tile] = set()
    for index, event in enumerate(events):
        if event.is_load:
            if event.tile not in in_l2:
                yield _move(event, sizes, "hbm", "l2")
            yield _move(event, sizes, "l2", "sm")
        else:
            yield _move(event, sizes, "sm", "l2")
            if last_store[event.tile] == index:
                yield _move(event, sizes, "l2", "hbm")
        in_l2.add(event.tile)


def _move(event: Event, sizes: TileSizes, source: str, target: str) -> Move:
    tensor, m_block, n_block = event.tile
    return Move(event.step, tensor, m_block, n_block, source, target, sizes.tile_bytes(event.tile))
