"""How our Hopper kernel divides one thread block: a producer and consumers, blocks, stages, registers, shared memory.

The kernel (`app/kernels/fa3_gluon.py`) takes its defaults from here and chapter 11 shows them, so each number stands in
one place. The order of the work is `app.theory.pipeline`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

CONSUMER_ROWS = 64  # rows of q a consumer holds: the height of one WGMMA
WARPGROUP_THREADS = 128
ELEMENT_BYTES = 2  # bf16 and fp16
BARRIER_BYTES = 8  # one mbarrier
MOST_O_COLUMNS = 128  # of the output a consumer stages in shared memory at a time


@dataclass(frozen=True, slots=True)
class Roles:
    """How the Hopper kernel divides its work: consumers, rows of a k or v block, stages of k and v, and of q.

    Registers a thread: what the kernel is launched with, then what each role is given. `o_staged`: the output leaves
    through shared memory, by the copy engine, else from registers. `more_k_stages`: stages that only k has.
    `cut_last`: without a mask the last tiles, too few for all SMs, are cut along k and v where that pays.
    """

    consumers: int
    block_n: int
    stages: int
    q_stages: int
    launch_registers: int
    consumer_registers: int
    producer_registers: int
    o_staged: bool = True
    more_k_stages: int = 0
    cut_last: bool = False

    @property
    def block_m(self) -> int:
        """Rows of q a thread block works on."""
        return self.consumers * CONSUMER_ROWS

    @property
    def k_stages(self) -> int:
        """Stages of k; v has `stages`."""
        return self.stages + self.more_k_stages

    @property
    def threads(self) -> int:
        """Threads of a thread block: a warpgroup for each role, though the producer works with one warp of its own."""
        return (self.consumers + 1) * WARPGROUP_THREADS

    def __str__(self) -> str:
        """As the bench prints it: 2 consumers x128 s2, then what is unusual (k3: three stages of k)."""
        k_stages = f" k{self.k_stages}" if self.more_k_stages else ""
        unusual = f"{k_stages}{'' if self.o_staged else ' registers'}{' cut' if self.cut_last else ''}"
        return f"{self.consumers} consumers x{self.block_n} s{self.stages}{unusual}"


# head_dim → what is used unless the bench finds something else faster.
DEFAULTS: Mapping[int, Roles] = MappingProxyType(
    {
        64: Roles(2, 128, 2, 2, 168, 240, 24),
        128: Roles(2, 128, 2, 2, 168, 240, 24),
        256: Roles(2, 64, 2, 1, 168, 240, 24, o_staged=False),  # 128 rows would take 256 KiB for k and v
    }
)


@dataclass(frozen=True, slots=True)
class Smem:
    """Bytes of shared memory of one thread block, by what lies there; `o` is 0 where it leaves from registers."""

    q: int
    kv: int
    o: int
    barriers: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.q + self.kv + self.o + self.barriers


def smem(roles: Roles, head_dim: int) -> Smem:
    """Shared memory the kernel asks for: tiles of whole rows in 16-bit numbers, and the barriers that announce them.

    q has `q_stages` tiles of block_m rows; each consumer's part of a tile has a barrier "full" and one "empty". k and v
    have a barrier "full" for each stage of block_n rows; that a stage is free again is told by named barriers, which
    take no memory. The compiler adds some 200 bytes of its own, for what it hands to the roles.
    """
    row = head_dim * ELEMENT_BYTES
    kv_stages = roles.k_stages + roles.stages
    barriers = 2 * roles.q_stages * roles.consumers + kv_stages
    return Smem(
        q=roles.q_stages * roles.block_m * row,
        kv=kv_stages * roles.block_n * row,
        o=roles.block_m * min(head_dim, MOST_O_COLUMNS) * ELEMENT_BYTES if roles.o_staged else 0,
        barriers=barriers * BARRIER_BYTES,
    )
