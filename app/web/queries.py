"""What the JSON addresses may be asked: one model per address, every parameter with its range and unit."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.theory import exactness
from app.theory.shapes import AttentionShape, BlockShape
from app.web.problems import BadParameterError

GpuId = Literal["a100_sxm4_40", "a100_sxm4_80", "h100_sxm5", "h200_sxm"]
Dtype = Literal["fp16", "bf16", "fp8", "fp32"]
Model = Literal["least", "standard", "fa1", "fa2"]
Line = Literal["hbm", "l2_to_sm"]
Direction = Literal["forward", "backward"]
Algorithm = Literal["standard", "fa1", "fa2"]
Tensor = Literal[
    "q", "k", "v", "s", "p", "o", "o_acc", "stats", "lse", "delta", "do", "dq", "dq_acc", "dk", "dv", "dp", "ds"
]
Level = Literal["hbm", "l2", "sm"]

Seqlen = Annotated[int, Field(ge=1, le=1_048_576, description="sequence length N: queries and keys, in tokens")]
BlockRows = Annotated[int, Field(ge=16, le=512)]
BlockCount = Annotated[int, Field(ge=1, le=32)]


class Query(BaseModel):
    """A parameter this address does not know is refused: a misspelt name must not be ignored in silence."""

    model_config = ConfigDict(extra="forbid")


class HeadQuery(Query):
    """The attention problem without its length."""

    head_dim: int = Field(128, ge=8, le=256, multiple_of=8, description="head dimension d, in elements")
    batch: int = Field(1, ge=1, le=1024, description="number of sequences")
    num_heads: int = Field(1, ge=1, le=256, description="query heads per sequence")
    num_heads_kv: int | None = Field(
        None,
        ge=1,
        le=256,
        description="key/value heads, a divisor of num_heads (grouped queries); left out: num_heads",
    )
    causal: bool = Field(False, description="causal mask: row i sees columns up to i")
    dtype: Dtype = Field("fp16", description="precision of Q, K, V, O, S and P; row statistics stay fp32")

    def shape(self, seqlen: int) -> AttentionShape:
        """The attention problem at length `seqlen`.

        Raises:
            BadParameterError: the query heads cannot be shared out evenly among the key/value heads.
        """
        if self.num_heads_kv is not None and self.num_heads % self.num_heads_kv:
            message = f"{self.num_heads} query heads cannot share {self.num_heads_kv} key/value heads evenly"
            raise BadParameterError("num_heads_kv", message, "a divisor of num_heads", self.num_heads_kv)
        return AttentionShape(
            seqlen=seqlen,
            head_dim=self.head_dim,
            batch=self.batch,
            num_heads=self.num_heads,
            num_heads_kv=self.num_heads_kv,
            causal=self.causal,
            dtype=self.dtype,
        )


class SweepQuery(HeadQuery):
    """Everything but the length: the lever's stops supply it."""

    block_m: BlockRows = Field(128, description="rows of Q handled at once (the papers' B_r)")
    block_n: BlockRows = Field(128, description="rows of K and V handled at once (the papers' B_c)")
    direction: Direction = Field("forward", description="forward or backward pass")
    gpu: GpuId = Field("h100_sxm5", description="GPU whose limits and rates are used")

    def block(self) -> BlockShape:
        """The block shape asked for."""
        return BlockShape(self.block_m, self.block_n)


class TrafficQuery(SweepQuery):
    """One length, one setting."""

    seqlen: Seqlen = 4096


class LabSweepQuery(SweepQuery):
    """The lever's stops, and a few lengths between or beyond them."""

    also: str | None = Field(
        None, description="up to 4 lengths answered beside the stops, comma-separated", examples=["5000,10000"]
    )


class BrokenQuery(Query):
    """Which thing is left out."""

    kind: Literal["no_rescale", "no_running_max", "keep_s"] = Field(
        description="no_rescale: sums are not corrected when the maximum rises; no_running_max: exp without "
        "subtracting a maximum; keep_s: S and P go through memory"
    )


class SoftmaxQuery(Query):
    """A row of scores and how many of them are taken at a time."""

    scores: str = Field(description="1 to 64 finite numbers, comma-separated", examples=["0.5,-1,1.5,0,2.5,2,-0.5,1"])
    values: str | None = Field(None, description="one value per score, comma-separated; ones when left out")
    block: int = Field(2, ge=1, le=64, description="scores taken per step")


class ScheduleQuery(HeadQuery):
    """The order in which tiles move, on a grid of blocks_m by blocks_n score blocks."""

    algorithm: Algorithm = Field(description="whose order of moves")
    direction: Direction = Field("forward", description="forward or backward pass")
    seqlen: Seqlen = 4096
    blocks_m: BlockCount = Field(8, description="blocks of Q rows wanted; a short sequence may make fewer")
    blocks_n: BlockCount = Field(8, description="blocks of K and V rows wanted; a short sequence may make fewer")
    block_m: BlockRows | None = Field(
        None, description="rows of a Q block; given, blocks_m is the most blocks drawn, each standing for whole blocks"
    )
    block_n: BlockRows | None = Field(None, description="the same for K and V rows and blocks_n")


class ExactnessQuery(Query):
    """One head with seeded random input, small enough to be computed while the reader waits."""

    seed: int = Field(1, ge=0, le=2**32 - 1, description="seed of the random input")
    seqlen: int = Field(256, ge=1, le=exactness.MAX_SEQLEN, description="sequence length N, in tokens")
    head_dim: int = Field(64, ge=8, le=exactness.MAX_HEAD_DIM, multiple_of=8, description="head dimension d")
    block_m: int = Field(64, ge=1, le=512, description="rows of Q handled at once")
    block_n: int = Field(64, ge=1, le=512, description="rows of K and V handled at once")
    causal: bool = Field(False, description="causal mask")
    outliers: bool = Field(False, description="one entry in a thousand drawn from N(0, 100) instead of N(0, 1)")


class RooflineQuery(Query):
    """The roof of one GPU, read off at some intensities."""

    gpu: GpuId = Field("h100_sxm5", description="GPU whose rates are used")
    intensities: str | None = Field(
        None,
        description="1 to 16 positive numbers, comma-separated, FLOP per byte; left out: eight stops an octave",
        examples=["1.25,62.06,2048"],
    )


class TimingsQuery(Query):
    """Which recorded timings; every parameter narrows the choice."""

    record: str | None = Field(None, max_length=120, description="id of a record")
    kernel: str | None = Field(None, max_length=60, description="id of a kernel, such as fa2_triton or sdpa_cudnn")
    direction: Direction | None = Field(None, description="forward or backward pass")
    dtype: Dtype | None = Field(None, description="precision of the inputs")
    batch: int | None = Field(None, ge=1, le=1024, description="number of sequences")
    num_heads: int | None = Field(None, ge=1, le=256, description="heads per sequence")
    seqlen: int | None = Field(None, ge=1, le=1_048_576, description="sequence length, in tokens")
    head_dim: int | None = Field(None, ge=8, le=256, description="head dimension")
    causal: bool | None = Field(None, description="causal mask")
    l2: Literal["warm", "flushed"] | None = Field(None, description="state of the L2 cache before each run")
    gpu: str | None = Field(None, max_length=60, description="name the GPU reports, such as NVIDIA H200")


class MeasurementsQuery(TimingsQuery):
    """What the page of measurements is narrowed to: as the JSON address, and how the page shows it."""

    model_config = ConfigDict(frozen=True)

    plot: str | None = Field(None, max_length=20, description="which sizes of problem the plots show")
    over: Literal["sdpa_flash", "sdpa_cudnn", "fa3_wheel"] = Field("sdpa_flash", description="what ratios refer to")
    theme: Literal["gallery", "dark", "projector"] | None = Field(None, description="theme of the page")
