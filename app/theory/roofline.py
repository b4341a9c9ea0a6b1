"""The roofline: arithmetic and memory each need a time, and the longer one is the bound (Williams et al., 2009).

It is a lower bound on time, not a forecast: it assumes both at their published peak and perfectly overlapped.
"""

from dataclasses import dataclass

from app.theory.gpus import Gpu

_US_PER_S = 1_000_000


@dataclass(frozen=True, slots=True)
class Roofline:
    """Microseconds of arithmetic and of memory, the longer of both, and which one it is ("compute" or "memory")."""

    compute_us: float
    memory_us: float
    time_us: float
    bound: str


def arithmetic_intensity(flops: int, num_bytes: int) -> float:
    """FLOP per byte. ValueError unless `num_bytes` is positive."""
    if num_bytes <= 0:
        raise ValueError(f"num_bytes must be positive, got {num_bytes}")
    return flops / num_bytes


def attainable(intensity: float, gpu: Gpu) -> float:
    """FLOP/s a kernel of this intensity (FLOP per HBM byte) can reach at most on `gpu`."""
    return min(float(gpu.flops_per_s), intensity * gpu.hbm_bytes_per_s)


def roofline(flops: int, num_bytes: int, gpu: Gpu) -> Roofline:
    """Least time for `flops` operations at the dense 16-bit peak and `num_bytes` over HBM. ValueError if negative."""
    if flops < 0 or num_bytes < 0:
        raise ValueError(f"flops and num_bytes must not be negative, got {flops} and {num_bytes}")
    compute_us = flops / gpu.flops_per_s * _US_PER_S
    memory_us = num_bytes / gpu.hbm_bytes_per_s * _US_PER_S
    bound = "compute" if compute_us >= memory_us else "memory"
    return Roofline(compute_us, memory_us, max(compute_us, memory_us), bound)
