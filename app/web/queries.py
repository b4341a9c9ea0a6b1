"""What the JSON addresses may be asked: one model per address, every parameter with its range and unit."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.theory.shapes import AttentionShape, BlockShape

GpuId = Literal["a100_sxm4_40", "a100_sxm4_80", "h100_sxm5", "h200_sxm"]
Dtype = Literal["fp16", "bf16", "fp8", "fp32"]
Model = Literal["least", "standard", "fa1", "fa2"]
Line = Literal["hbm", "l2_to_sm"]
Tensor = Literal["q", "k", "v", "s", "p", "o", "lse"]
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
    num_heads: int = Field(1, ge=1, le=256, description="heads per sequence")
    causal: bool = Field(False, description="causal mask: row i sees columns up to i")
    dtype: Dtype = Field("fp16", description="precision of Q, K, V, O, S and P; row statistics stay fp32")

    def shape(self, seqlen: int) -> AttentionShape:
        """The attention problem at length `seqlen`."""
        return AttentionShape(
            seqlen=seqlen,
            head_dim=self.head_dim,
            batch=self.batch,
            num_heads=self.num_heads,
            causal=self.causal,
            dtype=self.dtype,
        )


class SweepQuery(HeadQuery):
    """Everything but the length: the lever's stops supply it."""

    block_m: BlockRows = Field(128, description="rows of Q handled at once (the papers' B_r)")
    block_n: BlockRows = Field(128, description="rows of K and V handled at once (the papers' B_c)")
    direction: Literal["forward"] = Field("forward", description="forward pass")
    gpu: GpuId = Field("h100_sxm5", description="GPU whose limits and rates are used")

    def block(self) -> BlockShape:
        """The block shape asked for."""
        return BlockShape(self.block_m, self.block_n)


class TrafficQuery(SweepQuery):
    """One length, one setting."""

    seqlen: Seqlen = 4096


class SoftmaxQuery(Query):
    """A row of scores and how many of them are taken at a time."""

    scores: str = Field(description="1 to 64 finite numbers, comma-separated", examples=["0.5,-1,1.5,0,2.5,2,-0.5,1"])
    values: str | None = Field(None, description="one value per score, comma-separated; ones when left out")
    block: int = Field(2, ge=1, le=64, description="scores taken per step")


class ScheduleQuery(HeadQuery):
    """The order in which tiles move, on a grid of blocks_m by blocks_n score blocks."""

    algorithm: Literal["standard", "fa2"] = Field(description="whose order of moves")
    direction: Literal["forward"] = Field("forward", description="forward pass")
    seqlen: Seqlen = 4096
    blocks_m: BlockCount = Field(8, description="blocks of Q rows wanted; a short sequence may make fewer")
    blocks_n: BlockCount = Field(8, description="blocks of K and V rows wanted; a short sequence may make fewer")
