"""What one block holds on the SM, and whether it fits.

Shared memory holds one block of q and `stages` blocks each of k and v in the input precision, because the tensor
cores read them there. Registers hold, in fp32, the score block and the output block, because the tensor cores
accumulate in fp32, plus the running max and sum of each row. The 16-bit copy of P is not counted.
"""

from dataclasses import dataclass

from app.theory.gpus import Gpu
from app.theory.shapes import FP32_BYTES, AttentionShape, BlockShape

# A thread can use 255 registers of 4 bytes (CUDA programming guide, technical specifications by compute capability).
MAX_REGISTERS_PER_THREAD = 255
_THREADS_PER_WARP = 32
_WARP_RMEM_BYTES = MAX_REGISTERS_PER_THREAD * 4 * _THREADS_PER_WARP


@dataclass(frozen=True, slots=True)
class Violation:
    """One limit that is broken: "smem" (one thread block's shared memory) or "rmem" (one SM's registers)."""

    resource: str
    needed_bytes: int
    limit_bytes: int
    over_bytes: int


@dataclass(frozen=True, slots=True)
class Budget:
    """Bytes one block needs against a GPU's limits; `min_warps` is the fewest warps that can hold the registers."""

    smem_bytes: int
    smem_limit_bytes: int
    rmem_bytes: int
    rmem_limit_bytes: int
    scores_rmem_bytes: int
    acc_rmem_bytes: int
    row_statistics_rmem_bytes: int
    min_warps: int
    violations: tuple[Violation, ...]

    @property
    def fits(self) -> bool:
        """Whether no limit is broken."""
        return not self.violations


def budget(shape: AttentionShape, block: BlockShape, gpu: Gpu, stages: int = 1) -> Budget:
    """What a forward block needs with `stages` buffers of k and v. ValueError when stages is below 1."""
    if stages < 1:
        raise ValueError(f"stages must be at least 1, got {stages}")
    smem = shape.element_bytes * shape.head_dim * (block.block_m + 2 * stages * block.block_n)
    scores = FP32_BYTES * block.block_m * block.block_n
    acc = FP32_BYTES * block.block_m * shape.head_dim
    row_statistics = 2 * FP32_BYTES * block.block_m
    rmem = scores + acc + row_statistics
    checks = (("smem", smem, gpu.smem_per_block_bytes), ("rmem", rmem, gpu.rmem_per_sm_bytes))
    return Budget(
        smem_bytes=smem,
        smem_limit_bytes=gpu.smem_per_block_bytes,
        rmem_bytes=rmem,
        rmem_limit_bytes=gpu.rmem_per_sm_bytes,
        scores_rmem_bytes=scores,
        acc_rmem_bytes=acc,
        row_statistics_rmem_bytes=row_statistics,
        min_warps=-(-rmem // _WARP_RMEM_BYTES),
        violations=tuple(
            Violation(resource, needed, limit, needed - limit) for resource, needed, limit in checks if needed > limit
        ),
    )
