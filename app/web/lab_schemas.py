"""Bodies of the answers only the laboratory asks for: formulas, bands, four GPUs, what a block holds, wrong forms."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from app.web.queries import GpuId, Model
from app.web.schemas import Answer, SweepAnswer, TensorTraffic


class FormulaAnswer(Answer):
    """One count and where it comes from."""

    readout: Literal["needs", "moves", "computes", "fits", "time"] = Field(description="the readout it belongs to")
    id: str = Field(description="which count: a model, a model with _lower, scores, passes, smem or rmem")
    unit: str = Field(description="unit of `value`")
    symbolic: str = Field(description="the formula with its symbols; an underscore starts a subscript")
    substituted: str = Field(description="the same with the numbers put in")
    expression: str = Field(description="a Python expression that evaluates to exactly `value`")
    value: float = Field(description="the count itself, in `unit`; whole numbers are exact")


class Edges(Answer):
    """Between which counts the bytes HBM sees must lie."""

    lower_bytes: int = Field(description="the L2 cache spares all it can, in bytes")
    upper_bytes: int = Field(description="the L2 cache spares nothing, in bytes")


class LeastTime(Answer):
    """The roofline's least time."""

    time_us: float = Field(description="the longer of arithmetic and memory at their peaks, in microseconds")
    bound: Literal["compute", "memory"] = Field(description="which of the two it is")


class GpuLimits(Answer):
    """Least times and fit on one GPU; the times are null for fp8 and fp32."""

    standard: LeastTime | None = Field(description="the standard way, every byte over HBM")
    fa2_lower: LeastTime | None = Field(description="FlashAttention 2, each byte over HBM once")
    fa2: LeastTime | None = Field(description="FlashAttention 2, no help from the L2 cache")
    fits: bool = Field(description="whether one block keeps this GPU's limits")


class Holding(Answer):
    """One thing a block holds on the SM."""

    resource: Literal["smem", "rmem"] = Field(description="smem: shared memory; rmem: registers")
    what: Literal["q", "k", "v", "s", "o", "stats"] = Field(description="block of which matrix")
    bytes: int = Field(description="bytes it takes")


class LabPoint(Answer):
    """What the laboratory shows beside /api/traffic, for one shape."""

    formulas: list[FormulaAnswer] = Field(description="where each count of this shape comes from")
    bands: dict[Model, Edges] = Field(description="edges of the HBM traffic, by way of computing")
    by_tensor_hbm: dict[Literal["fa1", "fa2"], list[TensorTraffic]] = Field(
        description="HBM line matrix by matrix, with an L2 cache that holds what is in use; "
        "least and standard cross both lines alike"
    )
    intensity: dict[Literal["standard", "fa2_lower", "fa2"], float] = Field(
        description="operations per byte: standard over HBM, FlashAttention 2 each byte once, and without the L2"
    )
    gpus: dict[GpuId, GpuLimits] = Field(description="least times and fit, by GPU")
    holds: list[Holding] = Field(description="what one block holds, piece by piece")


class LabSweepAnswer(SweepAnswer):
    """One setting at every stop of the lever, with what the laboratory shows beside the counts."""

    lab: list[LabPoint] = Field(description="one per stop, in the same order")


class BrokenCase(Answer):
    """One run of a wrong form on the seeded head."""

    name: Literal["ordinary", "one_block", "large_scores"] = Field(
        description="ordinary scores, a single block that holds the whole row, or scores beyond what exp can take"
    )
    block_n: int = Field(description="rows of K and V handled at once")
    largest_score: float = Field(description="largest absolute score")
    row_errors: list[float | None] = Field(
        description="largest absolute error in each row of O; null: the row is not a number"
    )
    max_error: float | None = Field(description="largest of them; null when every row is not a number")
    nan_rows: int = Field(description="rows of O that are not numbers")
    row: int = Field(description="the row that is furthest off, from 0")
    right: list[float] = Field(description="its first four numbers, right")
    wrong: list[float | None] = Field(description="its first four numbers as this form gives them; null: not a number")
    moved_bytes: int = Field(description="bytes this form moved, counted while it ran, 16-bit elements")
    moved_bytes_right: int = Field(description="bytes FlashAttention 2 moved on the same input")


class BrokenAnswer(Answer):
    """A form of the algorithm with one thing left out, beside the right result."""

    kind: Literal["no_rescale", "no_running_max", "keep_s"] = Field(description="what is left out")
    seed: int = Field(description="seed of the random input")
    seqlen: int = Field(description="tokens")
    head_dim: int = Field(description="head dimension d, in elements")
    block_m: int = Field(description="rows of Q handled at once")
    cases: list[BrokenCase] = Field(description="where it fails, and where it slips through")
