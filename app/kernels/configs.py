"""Block shapes, warps and stages each Triton rung may use: short fixed lists, the first entry the default
(what tuning chose most often on an H200).

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
from app.theory import backward_roles, cluster_roles, hopper_roles


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


# The Hopper kernels' roles and their defaults are theory's, because chapter 11 shows them too.
CONSUMER_ROWS = hopper_roles.CONSUMER_ROWS
MOST_O_COLUMNS = hopper_roles.MOST_O_COLUMNS
Roles = hopper_roles.Roles
ClusterRoles = cluster_roles.ClusterRoles
kind_of_length = cluster_roles.kind_of_length
BackwardRoles = backward_roles.BackwardRoles
Choice = Tile | Roles | ClusterRoles | BackwardRoles

# The product that writes S has few steps to make and much to store: with two thread blocks an SM one stores while
# the other computes.
STANDARD = (
    Tile(128, 128, 4, 2),
    Tile(128, 128, 4, 3),
    Tile(64, 128, 4, 2),
    Tile(128, 128, 8, 3),
)


def smaller_tile(tile: Tile) -> Tile | None:
    """Half of a tile of a matrix product, for the warps and the stages that suit it; None for the smallest."""
    halves = {256: 128, 128: 64}
    if tile.block_n >= tile.block_m and tile.block_n in halves:
        return Tile(tile.block_m, halves[tile.block_n], 8 if tile.block_m * tile.block_n > 128 * 128 else 4, 3)
    if tile.block_m in halves:
        return Tile(halves[tile.block_m], tile.block_n, 4, 4 if tile.block_m == 128 else 3)
    return None


# (kernel, direction, head_dim) → choices.
HOPPER: Mapping[tuple[str, str, int], tuple[Choice, ...]] = MappingProxyType(
    {
        ("fa3_gluon", "forward", 64): (
            hopper_roles.DEFAULTS[64],
            Roles(2, 128, 2, 2, 168, 240, 24, cut_last=True),
            Roles(2, 128, 3, 2, 168, 240, 24),  # a visit takes hardly longer than fetching the next block
            Roles(2, 128, 3, 2, 168, 240, 24, cut_last=True),
            Roles(3, 128, 2, 2, 128, 160, 32),  # few enough registers for a third; pays when all tiles are long
            Roles(3, 128, 2, 2, 128, 160, 32, cut_last=True),
            Roles(3, 128, 2, 2, 128, 160, 32, more_k_stages=1),  # no named barriers are left for more
            Roles(3, 128, 2, 2, 128, 160, 32, more_k_stages=1, cut_last=True),
        ),
        ("fa3_gluon", "forward", 128): (
            hopper_roles.DEFAULTS[128],  # q twice 32 KiB, k and v 128 KiB, o 32 KiB
            Roles(2, 128, 2, 2, 168, 240, 24, cut_last=True),
        ),
        ("fa3_gluon", "forward", 256): (
            hopper_roles.DEFAULTS[256],  # q 64 KiB, k and v 128 KiB
            Roles(2, 64, 2, 1, 168, 240, 24),  # and 32 KiB for half of o
            Roles(2, 64, 2, 1, 168, 240, 24, o_staged=False, more_k_stages=1),  # and 32 KiB for a block of k
            Roles(2, 64, 2, 1, 168, 240, 24, cut_last=True),
        ),
        ("fa3_cuda", "forward", 64): cluster_roles.choices(64),
        ("fa3_cuda", "forward", 128): cluster_roles.choices(128),
        ("fa3_cuda", "forward", 256): cluster_roles.choices(256),
        ("fa3_fp8_cuda", "forward", 128): cluster_roles.byte_choices(128),
        ("fa3_fp8_cuda", "forward", 256): cluster_roles.byte_choices(256),
        ("fa3_cuda", "backward", 64): backward_roles.choices(64),
        ("fa3_cuda", "backward", 128): backward_roles.choices(128),
        # half the bytes: at head_dim 128 q twice 16 KiB, k and v 16 KiB a stage each, o 32 KiB; named barriers allow
        # three stages with two consumers, two with three
        ("fa3_fp8_gluon", "forward", 64): (
            Roles(2, 128, 2, 2, 168, 240, 24),
            Roles(2, 256, 2, 2, 168, 240, 24),
            Roles(2, 256, 3, 2, 168, 240, 24),
            Roles(3, 128, 2, 2, 128, 160, 32),
        ),
        ("fa3_fp8_gluon", "forward", 128): (
            Roles(2, 128, 2, 2, 168, 240, 24),  # 256 keys at once need more than 240 registers
            Roles(2, 128, 3, 2, 168, 240, 24),
        ),
        ("fa3_fp8_gluon", "forward", 256): (
            Roles(2, 128, 2, 1, 168, 240, 24),
            Roles(2, 128, 2, 2, 168, 240, 24),
            Roles(2, 64, 3, 2, 168, 240, 24),
        ),
        ("fa2_triton", "forward", 64): (
            Tile(64, 128, 4, 3),
            Tile(128, 128, 8, 3),
            Tile(128, 128, 8, 2),
            Tile(128, 64, 4, 3),  # at most 255 registers a thread: two thread blocks an SM
            Tile(128, 64, 8, 4),
        ),
        ("fa2_triton", "forward", 128): (
            Tile(128, 64, 4, 2),  # 250 registers x 128 threads, 96 KiB: two thread blocks an SM
            Tile(128, 128, 8, 2),  # q 32 KiB, k and v 2 x 64 KiB
            Tile(128, 64, 8, 3),
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
            Tile(128, 128, 8, 2, tma_add=True),
            Tile(64, 128, 8, 2),
            Tile(64, 128, 8, 2, tma_add=True),
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

_chosen: dict[tuple[str, str, int, bool, int], Choice] = {}


def choices(kernel: str, direction: str, head_dim: int) -> tuple[Choice, ...]:
    """What to try on this machine's GPU. KeyError for a kernel that has none."""
    key = (kernel, direction, head_dim)
    hopper = capability.is_hopper() and key in HOPPER
    return HOPPER[key] if hopper else PLAIN[key]


def default(kernel: str, direction: str, head_dim: int, causal: bool, seqlen: int) -> Choice:
    """What is used without tuning: the first choice, but for the kernel that has a choice for each kind of problem."""
    if kernel == "fa3_cuda" and direction == "backward":
        return backward_roles.default(head_dim, causal, seqlen)
    if kernel == "fa3_fp8_cuda":
        return cluster_roles.BYTE_DEFAULTS[head_dim, causal][kind_of_length(seqlen)]
    if kernel == "fa3_cuda":
        return cluster_roles.DEFAULTS[head_dim, causal][kind_of_length(seqlen)]
    return choices(kernel, direction, head_dim)[0]


def alternatives(kernel: str, direction: str, head_dim: int, causal: bool, seqlen: int) -> tuple[Choice, ...]:
    """What may be tried besides the default, with this mask; nothing for a pass that has nothing to choose."""
    try:
        listed = choices(kernel, direction, head_dim)
    except KeyError:
        return ()
    mine = default(kernel, direction, head_dim, causal, seqlen)
    return tuple(choice for choice in listed if choice != mine and _serves(choice, causal))


def _serves(choice: Choice, causal: bool) -> bool:
    return not isinstance(choice, ClusterRoles) or choice.serves(causal)


def in_use(kernel: str, direction: str, head_dim: int, causal: bool, seqlen: int) -> Choice:
    """What was chosen with `choose` for problems of this kind, else the default."""
    chosen = _chosen.get((kernel, direction, head_dim, causal, kind_of_length(seqlen)))
    return chosen or default(kernel, direction, head_dim, causal, seqlen)


def tile_for(kernel: str, direction: str, head_dim: int, causal: bool, seqlen: int) -> Tile:
    """`in_use` of a kernel whose choices are tiles."""
    found = in_use(kernel, direction, head_dim, causal, seqlen)
    assert isinstance(found, Tile)
    return found


def roles_for(head_dim: int, causal: bool, seqlen: int, kernel: str = "fa3_gluon") -> Roles:
    """`in_use` of a kernel in Gluon."""
    found = in_use(kernel, "forward", head_dim, causal, seqlen)
    assert isinstance(found, Roles)
    return found


def cluster_roles_for(head_dim: int, causal: bool, seqlen: int, kernel: str = "fa3_cuda") -> ClusterRoles:
    """`in_use` of a kernel in CUDA C++."""
    found = in_use(kernel, "forward", head_dim, causal, seqlen)
    assert isinstance(found, ClusterRoles)
    return found


def backward_roles_for(head_dim: int, causal: bool, seqlen: int) -> BackwardRoles:
    """`in_use` of its backward pass."""
    found = in_use("fa3_cuda", "backward", head_dim, causal, seqlen)
    assert isinstance(found, BackwardRoles)
    return found


def choose(kernel: str, direction: str, head_dim: int, causal: bool, seqlen: int, choice: Choice) -> None:
    """Use `choice` from now on, in this process, for sequences of the kind `seqlen` is."""
    _chosen[kernel, direction, head_dim, causal, kind_of_length(seqlen)] = choice


def chosen() -> list[list[Any]]:
    """Everything chosen so far, for another process to `restore`: lists that JSON can carry."""
    return [[*key, list(astuple(choice))] for key, choice in _chosen.items()]


def restore(listed: Sequence[Sequence[Any]]) -> None:
    """Choose what another process had chosen."""
    for *key, choice in listed:
        kernel, direction, head_dim, causal, kind_of = key
        kind = type(choices(kernel, direction, head_dim)[0])
        _chosen[kernel, direction, head_dim, causal, kind_of] = kind(*choice)
