"""Bytes read and written by each way of computing attention, and the memory each needs.

Four models. least: every input and result once, no algorithm can do with less. standard: S and P go through memory.
fa1, fa2: FlashAttention in its first and second version's order. All counts are exact integers; partial last blocks
count their real rows. `accesses` has the tables and the sources.

A count belongs to a line. The standard way's bytes cross between HBM and the chip (once S no longer fits in the L2
cache). FlashAttention's repeated passes over K and V cross between the L2 cache and the SMs, where hardware counters
find them to within 0.01 %; HBM then sees little more than `least`, as long as what is in use fits in the L2.
"""

from dataclasses import dataclass

from app.theory import memory, tiling
from app.theory.accesses import VARIANTS, Access, accesses, variant_name
from app.theory.block_sparse import BlockPattern
from app.theory.shapes import AttentionShape, BlockShape

MODELS = ("least", "standard", "fa1", "fa2")
DIRECTIONS = ("forward", "backward")
LINES = ("hbm", "l2_to_sm")
__all__ = ["DIRECTIONS", "LINES", "MODELS", "VARIANTS", "Traffic", "Transfer", "count", "kv_passes", "own_line"]


@dataclass(frozen=True, slots=True)
class Transfer:
    """Bytes of one tensor that cross the line, towards the SMs (read) and away from them (written)."""

    tensor: str
    read_bytes: int
    written_bytes: int


@dataclass(frozen=True, slots=True)
class Traffic:
    """What one model moves across one line, over all heads.

    `needed_bytes` is the memory allocated while the pass runs; `saved_bytes` is what the forward pass leaves for the
    backward one beyond Q, K and V. Both are defined in `memory`. `approximate` marks block-sparse attention: what is
    counted does not compute exact attention.
    """

    model: str
    direction: str
    variant: str
    line: str
    by_tensor: tuple[Transfer, ...]
    needed_bytes: int
    saved_bytes: int
    approximate: bool = False

    @property
    def read_bytes(self) -> int:
        """Bytes towards the SMs."""
        return sum(transfer.read_bytes for transfer in self.by_tensor)

    @property
    def written_bytes(self) -> int:
        """Bytes away from the SMs."""
        return sum(transfer.written_bytes for transfer in self.by_tensor)

    @property
    def total_bytes(self) -> int:
        """Bytes in both directions."""
        return self.read_bytes + self.written_bytes


def own_line(model: str) -> str:
    """The line a model's count is about: hbm for least and standard, l2_to_sm for fa1 and fa2."""
    return "l2_to_sm" if model in ("fa1", "fa2") else "hbm"


def count(
    model: str,
    shape: AttentionShape,
    block: BlockShape,
    direction: str = "forward",
    variant: str | None = None,
    line: str | None = None,
    pattern: BlockPattern | None = None,
) -> Traffic:
    """Count what `model` moves. ValueError for an unknown name.

    `variant` names a form in VARIANTS (default: the first). `line` defaults to the model's own. On the HBM line fa1
    and fa2 are counted with an L2 cache that holds what is in use: a tensor found in memory comes in once, a tensor
    that is written goes out once, whatever happens between L2 and SMs. least and standard cross both lines alike.
    `pattern` leaves out blocks (fa1 and fa2, on their own line only): the result is then no longer exact attention.
    """
    variant = variant_name(model, direction, variant)
    line = own_line(model) if line is None else line
    if line not in LINES:
        raise ValueError(f"line must be one of {', '.join(LINES)}, got {line!r}")
    listed = accesses(model, shape, block, direction, variant, pattern)
    through_l2 = line == "hbm" and own_line(model) == "l2_to_sm"
    if through_l2 and pattern is not None:
        raise ValueError("a block-sparse pattern is counted on line l2_to_sm only")
    return Traffic(
        model=model,
        direction=direction,
        variant=variant,
        line=line,
        by_tensor=tuple(_beyond_l2(access) if through_l2 else _at_sm(access) for access in listed),
        needed_bytes=memory.needed_bytes(model, shape, direction, variant),
        saved_bytes=memory.saved_bytes(model, shape),
        approximate=pattern is not None,
    )


def kv_passes(shape: AttentionShape, block: BlockShape, model: str) -> float:
    """How often the forward pass loads K (and V): rows loaded over rows there are. ValueError for an unknown model.

    1 for least, standard and fa1; the number of q blocks for fa2, less (and not whole) under a causal mask.
    """
    variant_name(model, "forward", None)
    return tiling.keys_visited(shape, block) / shape.seqlen if model == "fa2" else 1.0


def _at_sm(access: Access) -> Transfer:
    return Transfer(access.tensor, access.read_bytes, access.written_bytes)


def _beyond_l2(access: Access) -> Transfer:
    return Transfer(
        access.tensor,
        access.size_bytes if access.starts_in_memory else 0,
        access.size_bytes if access.written_bytes else 0,
    )
