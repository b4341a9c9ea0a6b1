"""What a record of the bench holds, as frozen dataclasses: one run, the machine it was made on, and its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SCHEMA = 1

GPU_FIELDS = ("name", "sms", "l2_bytes", "hbm_bytes", "smem_per_sm_bytes")
VERSION_FIELDS = ("python", "torch", "cuda", "cudnn", "triton", "fa3_wheel")
CLOCK_FIELDS = ("sm_mhz", "memory_mhz", "power_w", "temperature_c")
RUN_FIELDS = ("date", "command", "commit", "gpu", "driver", "versions", "clocks")
# How the kernels of a case follow each other; what a record says that does not say it stands first.
ORDERS = ("one after the other", "in turns")
COUNTER_FIELDS = ("duration_us", "xu_instructions", "passes")
BYTE_FIELDS = ("hbm_read_bytes", "hbm_written_bytes", "l2_to_sm_bytes", "sm_to_l2_bytes")
CASE_FIELDS = ("kernel", "direction", "dtype", "batch", "num_heads", "seqlen", "head_dim", "causal", "l2")
DIRECTIONS = ("forward", "backward")
L2_STATES = ("warm", "flushed")
LAUNCHES = ("graph", "plain")
CANNOT = "cannot run: "


@dataclass(frozen=True, slots=True)
class Gpu:
    """The GPU as it reported itself."""

    name: str
    sms: int
    l2_bytes: int
    hbm_bytes: int
    smem_per_sm_bytes: int


@dataclass(frozen=True, slots=True)
class Clocks:
    """Clocks, power and temperature at one moment; -1 for what the GPU does not report."""

    sm_mhz: float
    memory_mhz: float
    power_w: float
    temperature_c: float


@dataclass(frozen=True, slots=True)
class Run:
    """One session of the bench: when, how and on what. `order`, of ORDERS: in turns all are timed at one clock."""

    date: str
    command: str
    commit: str
    gpu: Gpu
    driver: str
    versions: Mapping[str, str]
    clocks_before: Clocks
    clocks_after: Clocks
    order: str = ORDERS[0]


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds: median, 10th and 90th percentile, and every sample in the order taken."""

    median: float
    p10: float
    p90: float
    samples: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Bytes:
    """Bytes over HBM's line and over the line between L2 cache and SMs; None for what is not known."""

    hbm_read_bytes: int | None
    hbm_written_bytes: int | None
    l2_to_sm_bytes: int | None
    sm_to_l2_bytes: int | None


@dataclass(frozen=True, slots=True)
class Counters:
    """Read from the hardware for one call, L2 emptied before: bytes, microseconds, special-function instructions.

    `passes` is how often each kernel was run to read them all; above 1 the HBM figures mix cold and warm runs.
    """

    moved: Bytes
    duration_us: float
    xu_instructions: int
    passes: int


@dataclass(frozen=True, slots=True)
class Timing:
    """One kernel on one case.

    `l2`: warm or flushed before each run. `launch`: replayed from a CUDA graph or called plainly. `error` is the
    relative error of the result, `plain_error` that of plain PyTorch in the same precision, and `computing_error`, for
    a kernel that quantises its inputs, the part made after that: against exact attention of the quantised ones.
    `counters` are bytes read from the hardware, `counted` bytes by formula. `status` is "ok" or "cannot run: why"; then
    there are no times. `kernel_names` are the GPU kernels that really ran, `settings` what was chosen for them.
    """

    kernel: str
    direction: str
    dtype: str
    batch: int
    num_heads: int
    seqlen: int
    head_dim: int
    causal: bool
    l2: str
    status: str
    block_m: int | None
    block_n: int | None
    settings: str
    launch: str | None
    kernel_names: tuple[str, ...]
    time_ms: Times | None
    tflops_per_s: float | None
    error: float | None
    plain_error: float | None
    computing_error: float | None
    counters: Counters | None
    counted: Bytes | None

    @property
    def ran(self) -> bool:
        """Whether it was timed."""
        return self.time_ms is not None


@dataclass(frozen=True, slots=True)
class Record:
    """One file: its name without the ending, the run, its rows, and whether it is the reader's own."""

    id: str
    run: Run
    timings: tuple[Timing, ...]
    yours: bool = False
