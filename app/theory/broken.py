"""What happens when one thing is left out: a small seeded head computed right and wrong, with the error beside it.

Three kinds. no_rescale and no_running_max are wrong forms of `wrong`; keep_s gives the right result and pays in bytes.
Each kind has cases that show where it fails and where it slips through. One head, float64, always the same input.
"""

from dataclasses import dataclass

import numpy as np

from app.theory import attention, instrumented_fa2, instrumented_standard, wrong
from app.theory.dropout import Array
from app.theory.shapes import AttentionShape, BlockShape

KINDS = ("no_rescale", "no_running_max", "keep_s")
SEED = 14
SEQLEN, HEAD_DIM, BLOCK = 64, 16, 16
# exp overflows float64 past 709; queries 3,000 times as long make scores well beyond that.
LARGE = 3000


@dataclass(frozen=True, slots=True)
class Case:
    """One run. `row_errors`: largest error of each row of O, None where the row holds a NaN; `right` and `wrong` are
    the first four numbers of the row that is furthest off. `moved_bytes` are counted with 16-bit elements."""

    name: str
    block_n: int
    largest_score: float
    row_errors: tuple[float | None, ...]
    max_error: float | None
    nan_rows: int
    row: int
    right: tuple[float, ...]
    wrong: tuple[float | None, ...]
    moved_bytes: int
    moved_bytes_right: int


@dataclass(frozen=True, slots=True)
class Broken:
    """All cases of one kind."""

    kind: str
    seed: int
    seqlen: int
    head_dim: int
    block_m: int
    cases: tuple[Case, ...]


def broken(kind: str) -> Broken:
    """Run the cases of `kind`. ValueError when it is not one of KINDS."""
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    cases = {
        "no_rescale": (("ordinary", 1, BLOCK), ("one_block", 1, SEQLEN)),
        "no_running_max": (("ordinary", 1, BLOCK), ("large_scores", LARGE, BLOCK)),
        "keep_s": (("ordinary", 1, BLOCK),),
    }[kind]
    made = tuple(_case(kind, name, size, BlockShape(BLOCK, block_n)) for name, size, block_n in cases)
    return Broken(kind, SEED, SEQLEN, HEAD_DIM, BLOCK, made)


def _case(kind: str, name: str, size: int, block: BlockShape) -> Case:
    shape = AttentionShape(SEQLEN, HEAD_DIM)
    q, k, v = np.random.default_rng(SEED).standard_normal((3, 1, 1, SEQLEN, HEAD_DIM))
    q = q * size
    right = attention.forward(q, k, v, shape).o[0, 0]
    flash = instrumented_fa2.forward(q, k, v, shape, block)
    standard = instrumented_standard.forward(q, k, v, shape)
    got: Array = standard.tensors["o"][0, 0] if kind == "keep_s" else wrong.WRONG[kind](q, k, v, shape, block)[0, 0]
    errors = np.abs(got - right).max(axis=-1)
    lost = np.isnan(errors)
    row = int(np.flatnonzero(lost)[0]) if lost.any() else int(errors.argmax())
    return Case(
        name=name,
        block_n=block.block_n,
        largest_score=float(np.abs(q @ k.swapaxes(-1, -2)).max() / np.sqrt(HEAD_DIM)),
        row_errors=tuple(_finite(error) for error in errors),
        max_error=None if lost.all() else float(np.nanmax(errors)),
        nan_rows=int(lost.sum()),
        row=row,
        right=tuple(float(number) for number in right[row, :4]),
        wrong=tuple(_finite(number) for number in got[row, :4]),
        moved_bytes=(standard if kind == "keep_s" else flash).total_bytes,
        moved_bytes_right=flash.total_bytes,
    )


def _finite(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
