"""Block shapes, warps and stages each Triton rung may use: short fixed lists, the first entry the default.

What limits a choice is named beside it: shared memory of one thread block (227 KiB on Hopper, 163 on an A100, 99 on the
smaller Ampere and Ada parts), 65,536 registers an SM, at most 255 a thread.
The bench can time every entry of a list and use the fastest (`--tune`); without it nothing is searched at run time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from types import MappingProxyType
from typing import Any

from app.kernels import capability


@dataclass(frozen=True, slots=True)
class Tile:
    """Rows of q and of k/v handled at once, warps of the thread block, and stages of the pipeline of loads.

    `tma_add` (backward only): dq is added up in memory by the copy engine instead of by atomic adds of the threads.
    """

    block_m: int
    block_n: int
    num_warps: int
    num_stages: int
    tma_add: bool = False

    def __str__(self) -> str:
        """As the bench prints it: 128x64 w8 s3."""
        return f"{self.block_m}x{self.block_n} w{self.num_warps} s{self.num_stages}{' tma' if self.tma_add else ''}"


CONSUMER_ROWS = 64  # rows of q a consumer of the Hopper kernel holds: the height of one WGMMA


@dataclass(frozen=True, slots=True)
class Roles:
    """How the Hopper kernel divides its work: consumers, rows of a k or v block, stages of k and v, and of q.

    Registers a thread: what the kernel is launched with, then what each role is given. `late`: a consumer waits for PV
    only when its softmax is done, else when the compiler thinks fit.
    """

    consumers: int
    block_n: int
    stages: int
    q_stages: int
    launch_registers: int
    consumer_registers: int
    producer_registers: int
    late: bool = True

    @property
    def block_m(self) -> int:
        """Rows of q a thread block works on."""
        return self.consumers * CONSUMER_ROWS

    def __str__(self) -> str:
        """As the bench prints it: 2 consumers x 128 s2 late."""
        return f"{self.consumers} consumers x{self.block_n} s{self.stages}{' late' if self.late else ''}"


Choice = Tile | Roles

# The product that writes S has few steps to make and much to store: with two thread blocks an SM one stores while
# the other computes.
STANDARD = (
    Tile(128, 256, 8, 3),
    Tile(128, 128, 8, 2),
    Tile(128, 128, 4, 2),
    Tile(256, 128, 8, 2),
)

# (kernel, direction, head_dim) → choices.
HOPPER: Mapping[tuple[str, str, int], tuple[Choice, ...]] = MappingProxyType(
    {
        ("fa3_gluon", "forward", 64): (
            Roles(2, 128, 2, 2, 168, 240, 24),
            Roles(2, 128, 2, 2, 168, 240, 24, late=False),
            Roles(3, 128, 2, 2, 128, 160, 32),  # few enough registers for a third; pays when all tiles are long
            Roles(3, 128, 2, 2, 128, 160, 32, late=False),
        ),
        ("fa3_gluon", "forward", 128): (
            Roles(2, 128, 2, 2, 168, 240, 24),  # q twice 32 KiB, k and v 128 KiB, o 32 KiB
            Roles(2, 128, 2, 2, 168, 240, 24, late=False),
        ),
        ("fa3_gluon", "forward", 256): (
            Roles(2, 64, 2, 1, 168, 240, 24),  # q 64 KiB, k and v 128 KiB; o leaves from registers
            Roles(2, 64, 2, 1, 168, 240, 24, late=False),
        ),
        # half the bytes: at head_dim 128 q twice 16 KiB, k and v 16 KiB a stage each, o 32 KiB; named barriers allow
        # three stages with two consumers, two with three
        ("fa3_fp8_gluon", "forward", 64): (
            Roles(2, 128, 2, 2, 168, 240, 24),
            Roles(2, 256, 2, 2, 168, 240, 24),
            Roles(2, 256, 3, 2, 168, 240, 24, late=False),
            Roles(3, 128, 2, 2, 128, 160, 32),
        ),
        ("fa3_fp8_gluon", "forward", 128): (
            Roles(2, 128, 2, 2, 168, 240, 24),  # 256 keys at once need more than 240 registers
            Roles(2, 128, 2, 2, 168, 240, 24, late=False),
            Roles(2, 128, 3, 2, 168, 240, 24),
            Roles(2, 128, 3, 2, 168, 240, 24, late=False),
        ),
        ("fa3_fp8_gluon", "forward", 256): (
            Roles(2, 128, 2, 1, 168, 240, 24),
            Roles(2, 128, 2, 2, 168, 240, 24, late=False),
            Roles(2, 64, 3, 2, 168, 240, 24),
        ),
        ("fa2_triton", "forward", 64): (
            Tile(128, 128, 8, 3),
            Tile(128, 128, 8, 2),
            Tile(128, 64, 4, 3),  # at most 255 registers a thread: two thread blocks an SM
            Tile(64, 128, 4, 3),
            Tile(128, 64, 8, 4),
        ),
        ("fa2_triton", "forward", 128): (
            Tile(128, 128, 8, 2),  # q 32 KiB, k and v 2 x 64 KiB
            Tile(128, 64, 8, 3),
            Tile(128, 64, 4, 2),  # 250 registers x 128 threads, 96 KiB: two thread blocks an SM
            Tile(64, 128, 4, 2),
            Tile(64, 64, 4, 2),  # 80 KiB: two thread blocks an SM
        ),
        ("fa2_triton", "forward", 256): (
            Tile(128, 64, 8, 2),  # q 64 KiB, k and v 2 x 64 KiB
            Tile(64, 64, 4, 2),
            Tile(128, 32, 8, 2),
        ),
        ("fa1_triton", "forward", 64): (Tile(128, 64, 8, 1),),
        ("fa1_triton", "forward", 128): (Tile(128, 64, 8, 1),),
        ("fa1_triton", "forward", 256): (Tile(64, 32, 8, 1),),
        ("blocksparse_triton", "forward", 64): (Tile(128, 128, 8, 2),),
        ("blocksparse_triton", "forward", 128): (Tile(128, 128, 8, 2),),
        ("blocksparse_triton", "forward", 256): (Tile(128, 64, 8, 2),),
        ("fa2_triton", "backward", 64): (
            Tile(64, 128, 8, 2),
            Tile(64, 128, 8, 2, tma_add=True),
            Tile(128, 128, 8, 2, tma_add=True),
            Tile(64, 64, 4, 2),
            Tile(64, 64, 4, 2, tma_add=True),
        ),
        ("fa2_triton", "backward", 128): (
            Tile(64, 128, 8, 2),  # dk and dv alone take 128 registers a thread
            Tile(64, 128, 8, 2, tma_add=True),
            Tile(64, 64, 4, 1),  # two thread blocks an SM
            Tile(64, 64, 4, 1, tma_add=True),
            Tile(64, 64, 8, 2, tma_add=True),
        ),
        ("fa2_triton", "backward", 256): (
            Tile(64, 64, 8, 1),  # a second stage would take 257 KiB: q and do wait for no one
            Tile(64, 64, 8, 1, tma_add=True),
            Tile(32, 64, 8, 2),  # two stages in 144 KiB; the product for dq is then too short for WGMMA
            Tile(32, 64, 8, 2, tma_add=True),
        ),
        # tiles of S: block_m rows of q against block_n of k
        ("standard", "forward", 64): STANDARD,
        ("standard", "forward", 128): STANDARD,
        ("standard", "forward", 256): STANDARD,
    }
)

# What older GPUs use, sized for 99 KiB of shared memory; also the shapes of the rungs that are not tuned.
PLAIN: Mapping[tuple[str, str, int], tuple[Choice, ...]] = MappingProxyType(
    {
        ("fa1_triton", "forward", 64): (Tile(64, 64, 4, 1),),
        ("fa1_triton", "forward", 128): (Tile(64, 64, 4, 1),),
        ("fa1_triton", "forward", 256): (Tile(32, 32, 4, 1),),
        ("fa2_triton", "forward", 64): (Tile(128, 64, 4, 2),),
        ("fa2_triton", "forward", 128): (Tile(64, 64, 4, 2),),
        ("fa2_triton", "forward", 256): (Tile(64, 32, 4, 1),),
        ("fa2_triton", "backward", 64): (Tile(64, 64, 4, 1),),
        ("fa2_triton", "backward", 128): (Tile(32, 64, 4, 1),),
        ("fa2_triton", "backward", 256): (Tile(16, 32, 4, 1),),
        ("blocksparse_triton", "forward", 64): (Tile(128, 64, 4, 2),),
        ("blocksparse_triton", "forward", 128): (Tile(64, 64, 4, 2),),
        ("blocksparse_triton", "forward", 256): (Tile(64, 32, 4, 1),),
        ("standard", "forward", 64): (Tile(128, 128, 8, 2),),
        ("standard", "forward", 128): (Tile(128, 128, 8, 2),),
        ("standard", "forward", 256): (Tile(128, 128, 8, 2),),
    }
)

# Up to this length a sequence counts as short: what is fastest there need not be for long ones.
SHORT = 1024

_chosen: dict[tuple[str, str, int, bool, bool], Choice] = {}


def choices(kernel: str, direction: str, head_dim: int) -> tuple[Choice, ...]:
    """What to try on this machine's GPU. KeyError for a kernel that has none."""
    key = (kernel, direction, head_dim)
    hopper = capability.is_hopper() and key in HOPPER
    return HOPPER[key] if hopper else PLAIN[key]


def alternatives(kernel: str, direction: str, head_dim: int) -> tuple[Choice, ...]:
    """What may be tried besides the default; nothing for a pass that has nothing to choose."""
    try:
        return choices(kernel, direction, head_dim)[1:]
    except KeyError:
        return ()


def tile_for(kernel: str, direction: str, head_dim: int, causal: bool, seqlen: int) -> Tile:
    """The tile chosen with `choose` for sequences of this kind, else the default."""
    found = _chosen.get((kernel, direction, head_dim, causal, seqlen <= SHORT))
    found = found or choices(kernel, direction, head_dim)[0]
    assert isinstance(found, Tile)
    return found


def roles_for(head_dim: int, causal: bool, seqlen: int, kernel: str = "fa3_gluon") -> Roles:
    """The same for a Hopper kernel."""
    key = (kernel, "forward", head_dim)
    found = _chosen.get((*key, causal, seqlen <= SHORT)) or HOPPER[key][0]
    assert isinstance(found, Roles)
    return found


def choose(kernel: str, direction: str, head_dim: int, causal: bool, seqlen: int, choice: Choice) -> None:
    """Use `choice` from now on, in this process, for short or long sequences as `seqlen` is one."""
    _chosen[kernel, direction, head_dim, causal, seqlen <= SHORT] = choice


def chosen() -> list[list[Any]]:
    """Everything chosen so far, for another process to `restore`: lists that JSON can carry."""
    return [[*key, list(astuple(choice))] for key, choice in _chosen.items()]


def restore(listed: Sequence[Sequence[Any]]) -> None:
    """Choose what another process had chosen."""
    for *key, choice in listed:
        kernel, direction, head_dim, causal, short = key
        kind = type(choices(kernel, direction, head_dim)[0])
        _chosen[kernel, direction, head_dim, causal, short] = kind(*choice)
