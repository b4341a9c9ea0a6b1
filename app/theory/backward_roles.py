"""How our Hopper backward kernel in CUDA C++ divides its work (`app/kernels/cuda/fa3_backward.cu`).

A thread block keeps one block of k and v, 64 rows for each of two consumers, and blocks of q and do pass by. At
head_dim 256 dk and dv of 64 rows would take 256 registers a thread, more than there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from app.theory.hopper_roles import BARRIER_BYTES, CONSUMER_ROWS, ELEMENT_BYTES, WARPGROUP_THREADS

CONSUMERS = 2
BLOCK_N = CONSUMERS * CONSUMER_ROWS
HEAD_DIMS = (64, 128)
STATISTIC_BYTES = 4  # of a row: log-sum-exp and delta are fp32


@dataclass(frozen=True, slots=True)
class BackwardRoles:
    """Rows of q and do a visit takes, stages of both; registers a thread of a consumer and of the producer has."""

    block_m: int
    stages: int = 2
    consumer_registers: int = 240
    producer_registers: int = 24

    @property
    def threads(self) -> int:
        """Threads of a thread block: a warpgroup for each role."""
        return (CONSUMERS + 1) * WARPGROUP_THREADS

    def __str__(self) -> str:
        """As the bench prints it: 80 rows s2."""
        return f"{self.block_m} rows s{self.stages}"


# (head_dim, causal) → what is fastest where a sequence is many visits long, measured on an H200 (the kernels' LOG.md).
DEFAULTS: Mapping[tuple[int, bool], BackwardRoles] = MappingProxyType(
    {
        (64, False): BackwardRoles(128),
        (64, True): BackwardRoles(128),
        (128, False): BackwardRoles(80),
        (128, True): BackwardRoles(64),
    }
)
# At head_dim 128, no mask, a row of a visit of 64 costs so much more than one of 80 (measured, the kernels' LOG.md).
ROW_OF_64 = 1.08

# head_dim → what the bench tries besides.
OTHERS: Mapping[int, tuple[BackwardRoles, ...]] = MappingProxyType(
    {64: (BackwardRoles(96, 2), BackwardRoles(64, 3)), 128: (BackwardRoles(48, 3),)}
)


def default(head_dim: int, causal: bool, seqlen: int) -> BackwardRoles:
    """What is used without tuning: visits of 64 rows where a last one of 80 would be too empty."""
    usual, smaller = DEFAULTS[head_dim, causal], BackwardRoles(64)
    costs_less = _rows(smaller, seqlen) * ROW_OF_64 < _rows(usual, seqlen)
    return smaller if (head_dim, causal) == (128, False) and costs_less else usual


def _rows(roles: BackwardRoles, seqlen: int) -> int:
    return -(-seqlen // roles.block_m) * roles.block_m


def choices(head_dim: int) -> tuple[BackwardRoles, ...]:
    """Everything to try at one head_dim, each once."""
    return tuple(dict.fromkeys((*(DEFAULTS[head_dim, causal] for causal in (False, True)), *OTHERS[head_dim])))


def smem_bytes(roles: BackwardRoles, head_dim: int) -> int:
    """Shared memory the kernel asks for: k, v, stages of q and do with a number for each row, ds twice, barriers."""
    row = head_dim * ELEMENT_BYTES
    visits = 2 * roles.stages * roles.block_m * (row + STATISTIC_BYTES)
    ds = 2 * roles.block_m * BLOCK_N * ELEMENT_BYTES
    return 2 * BLOCK_N * row + visits + ds + (1 + 4 * roles.stages) * BARRIER_BYTES
