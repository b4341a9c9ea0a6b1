"""The four GPUs the exhibit compares, each constant with its source.

Rates are decimal (bytes per second, FLOP per second), memories on the die are exact bytes. `flops_per_s` is the
dense tensor-core peak for 16-bit inputs, the rate FlashAttention's papers compare themselves with.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True)
class Source:
    """Where one field of a Gpu comes from: document, place in it, and how it was checked.

    `verified` is "primary" (read in the document itself), "secondary" (read in a repeat of it) or "recomputed"
    (follows by arithmetic, or read from a device).
    """

    field: str
    document: str
    place: str
    verified: str


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU as the formulas need it.

    Units: `hbm_bytes_per_s` bytes/s, `flops_per_s` FLOP/s (dense, 16-bit), everything named `_bytes` bytes.
    `smem_per_block_bytes` is what one thread block can use: 1 KiB of each SM's shared memory is reserved per block.
    """

    id: str
    name: str
    hbm_label: str
    hbm_bytes_per_s: int
    flops_per_s: int
    sms: int
    smem_per_sm_bytes: int
    smem_per_block_bytes: int
    rmem_per_sm_bytes: int
    l2_bytes: int
    sources: tuple[Source, ...]

    @property
    def ridge_point(self) -> float:
        """FLOP per byte at which arithmetic and HBM take equally long."""
        return self.flops_per_s / self.hbm_bytes_per_s


_HOPPER_PAPER = "NVIDIA H100 Tensor Core GPU Architecture whitepaper"
_AMPERE_PAPER = "NVIDIA A100 Tensor Core GPU Architecture whitepaper"
_H100_SPECS = "NVIDIA H100 product specifications"
_H200_SPECS = "NVIDIA H200 product specifications"
_FA2_PAPER = "FlashAttention-2 (arXiv 2307.08691)"
_FA3_PAPER = "FlashAttention-3 (arXiv 2407.08608)"
_DEVICE = "device properties read on an H200"

_HOPPER_ON_CHIP = (
    Source("smem_per_sm_bytes", _HOPPER_PAPER, "section on combined L1 cache and shared memory: 228 KB", "primary"),
    Source("smem_per_block_bytes", _DEVICE, "shared_memory_per_block_optin: 232,448 bytes", "recomputed"),
    Source("rmem_per_sm_bytes", _FA3_PAPER, "Table 1: 256 KiB, 65,536 registers of 4 bytes", "primary"),
)
_AMPERE_ON_CHIP = (
    Source("smem_per_sm_bytes", _AMPERE_PAPER, "section 5.2 and the tuning guide: 164 KB", "primary"),
    Source("smem_per_block_bytes", _AMPERE_PAPER, "tuning guide: 163 KB for one thread block", "primary"),
    Source("rmem_per_sm_bytes", _AMPERE_PAPER, "65,536 registers of 4 bytes an SM", "primary"),
    Source("sms", _AMPERE_PAPER, "A100 description: 108", "primary"),
    Source("l2_bytes", _AMPERE_PAPER, "section on the L2 cache: 40 MB, a device reports 41,943,040 bytes", "primary"),
    Source("flops_per_s", _FA2_PAPER, "section 3.1: 312 TFLOP/s = 108 SMs x 2,048 x 1.41 GHz", "primary"),
)

_ALL = (
    Gpu(
        id="h100_sxm5",
        name="H100 SXM5 80 GB",
        hbm_label="80 GB HBM3",
        hbm_bytes_per_s=3_350_000_000_000,
        flops_per_s=989_000_000_000_000,
        sms=132,
        smem_per_sm_bytes=228 * KIB,
        smem_per_block_bytes=227 * KIB,
        rmem_per_sm_bytes=256 * KIB,
        l2_bytes=50 * MIB,
        sources=(
            Source("hbm_label", _HOPPER_PAPER, "H100 SXM5 unit list: 80 GB HBM3", "primary"),
            Source("hbm_bytes_per_s", _H100_SPECS, "memory bandwidth: 3.35 TB/s", "secondary"),
            Source("flops_per_s", _H100_SPECS, "FP16 tensor core without sparsity: 989 TFLOP/s", "secondary"),
            Source("sms", _HOPPER_PAPER, "H100 SXM5 unit list: 132", "primary"),
            Source("l2_bytes", _HOPPER_PAPER, "H100 SXM5 unit list: 50 MB", "primary"),
            *_HOPPER_ON_CHIP,
        ),
    ),
    Gpu(
        id="h200_sxm",
        name="H200 SXM 141 GB",
        hbm_label="141 GB HBM3e",
        hbm_bytes_per_s=4_800_000_000_000,
        flops_per_s=989_000_000_000_000,
        sms=132,
        smem_per_sm_bytes=228 * KIB,
        smem_per_block_bytes=227 * KIB,
        rmem_per_sm_bytes=256 * KIB,
        l2_bytes=60 * MIB,
        sources=(
            Source("hbm_label", _H200_SPECS, "141 GB HBM3e (a device reports 150,109,880,320 bytes)", "secondary"),
            Source("hbm_bytes_per_s", _H200_SPECS, "memory bandwidth: 4.8 TB/s", "secondary"),
            Source("flops_per_s", _H200_SPECS, "same die as the H100: 989 TFLOP/s", "secondary"),
            Source("sms", _DEVICE, "multiprocessor count: 132", "recomputed"),
            Source("l2_bytes", _DEVICE, "L2 cache size: 62,914,560 bytes", "recomputed"),
            *_HOPPER_ON_CHIP,
        ),
    ),
    Gpu(
        id="a100_sxm4_40",
        name="A100 SXM4 40 GB",
        hbm_label="40 GB HBM2",
        hbm_bytes_per_s=1_555_000_000_000,
        flops_per_s=312_000_000_000_000,
        sms=108,
        smem_per_sm_bytes=164 * KIB,
        smem_per_block_bytes=163 * KIB,
        rmem_per_sm_bytes=256 * KIB,
        l2_bytes=40 * MIB,
        sources=(
            Source("hbm_label", _AMPERE_PAPER, "memory subsystem: 40 GB HBM2", "primary"),
            Source("hbm_bytes_per_s", _AMPERE_PAPER, "memory subsystem: 1,555 GB/s", "primary"),
            *_AMPERE_ON_CHIP,
        ),
    ),
    Gpu(
        id="a100_sxm4_80",
        name="A100 SXM4 80 GB",
        hbm_label="80 GB HBM2e",
        hbm_bytes_per_s=2_039_000_000_000,
        flops_per_s=312_000_000_000_000,
        sms=108,
        smem_per_sm_bytes=164 * KIB,
        smem_per_block_bytes=163 * KIB,
        rmem_per_sm_bytes=256 * KIB,
        l2_bytes=40 * MIB,
        sources=(
            Source("hbm_label", "NVIDIA A100 datasheet", "80 GB HBM2e", "secondary"),
            Source("hbm_bytes_per_s", "NVIDIA A100 datasheet", "SXM: 2,039 GB/s", "secondary"),
            *_AMPERE_ON_CHIP,
        ),
    ),
)

GPUS: Mapping[str, Gpu] = MappingProxyType({gpu.id: gpu for gpu in _ALL})
