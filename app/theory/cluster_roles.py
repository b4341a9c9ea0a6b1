"""How our Hopper kernel in CUDA C++ divides its work; the fields that `hopper_roles.Roles` has too mean the same here.

The kernel is `app/kernels/cuda/fa3_forward.cu`. Which choice serves which kind of problem best was measured on an H200
(LOG.md of the kernels).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from app.theory.hopper_roles import BARRIER_BYTES, CONSUMER_ROWS, ELEMENT_BYTES, WARPGROUP_THREADS, Smem


@dataclass(frozen=True, slots=True)
class ClusterRoles:
    """Consumers, rows of a k or v block, stages of k and v, and of q; `cluster` thread blocks share loads of k and v.

    `late`: a consumer waits for PV after so many percent of its exponentials; 0: when the compiler thinks fit. `lazy`:
    the output is rescaled only when a maximum has grown, with 16-bit numbers only when it has grown 256-fold.
    `patient`: a consumer hands its turn on when its scores are there, else as soon as it has asked for them. `drawn`:
    tiles come from one list, each to whichever thread block is free, else they are dealt out beforehand. `ordered`: the
    exponentials of a thread's first row begin while the maximum of its second row is taken. `relying`: only the first
    consumer waits for blocks of k and v, the others rely on its turn having come before theirs. `held`: so many steps
    of a product, of PRODUCT_BYTES of a row of q each, find q in registers while its tile lasts, so that they need not
    read it from shared memory. `fitted`: a block of which few keys are seen takes smaller products (`few_keys`).
    `coded`: e4m3 probabilities are made as codes, without exponentials, and tensor cores take the rows' sums (of V with
    SUM_COLUMNS more). `agreeing`: maxima are compared as floats until a consumer's warps agree that none is negative,
    then as integers, three at a time; else always as integers, and checked.
    `cut_last`: without a mask the last tiles, too few for all SMs, are cut along k and v where that pays.
    """

    consumers: int
    block_n: int
    stages: int
    q_stages: int
    cluster: int
    consumer_registers: int = 232
    producer_registers: int = 40
    late: int = 0
    lazy: bool = False
    patient: bool = False
    drawn: bool = False
    ordered: bool = False
    relying: bool = False
    held: int = 0
    fitted: bool = False
    coded: bool = False
    agreeing: bool = False
    cut_last: bool = False

    @property
    def block_m(self) -> int:
        """Rows of q a thread block works on."""
        return self.consumers * CONSUMER_ROWS

    @property
    def threads(self) -> int:
        """Threads of a thread block: a warpgroup for each role."""
        return (self.consumers + 1) * WARPGROUP_THREADS

    def serves(self, causal: bool) -> bool:
        """Whether the kernel can be made so: under a mask a pair's blocks that only one sees need places at once."""
        return not causal or self.cluster == 1 or self.block_m <= self.stages * self.block_n

    def __str__(self) -> str:
        """As the bench prints it: 2 consumers x128 s2 cluster late25."""
        named = {
            "cluster": self.cluster > 1,
            f"late{self.late}": self.late > 0,
            "lazy": self.lazy,
            "patient": self.patient,
            "drawn": self.drawn,
            "ordered": self.ordered,
            "relying": self.relying,
            f"held{self.held}": self.held > 0,
            "fitted": self.fitted,
            "coded": self.coded,
            "agreeing": self.agreeing,
            "cut": self.cut_last,
        }
        unusual = "".join(f" {name}" for name, on in named.items() if on)
        return f"{self.consumers} consumers x{self.block_n} s{self.stages}{unusual}"


SUM_COLUMNS = 8  # beside V's own with `coded`: as few as a tensor-core instruction can have more
PRODUCT_BYTES = 32  # of a row that one tensor-core instruction takes
TILE_BYTES = 20  # five numbers say which tile is worked on

# Up to these lengths sequences count as short, middling and long: what is fastest there need not be beyond.
SHORT, MIDDLING, LONG = 1024, 6144, 24576

# A third consumer has 160 registers a thread: enough for 128 columns of scores at head_dim 64.
_AT_64 = ClusterRoles(3, 128, 2, 2, 1, 160, 32, lazy=True, cut_last=True)
_AT_64_LONG = replace(_AT_64, late=10, patient=True, relying=True, agreeing=True)
_AT_64_CAUSAL = ClusterRoles(3, 128, 2, 2, 1, 160, 32, late=10, drawn=True, fitted=True, agreeing=True)
_AT_64_SHORT_CAUSAL = ClusterRoles(
    2, 128, 3, 1, 1, patient=True, drawn=True, relying=True, held=4, fitted=True, agreeing=True
)
_AT_128 = ClusterRoles(2, 128, 2, 2, 2, late=25, lazy=True, patient=True, ordered=True, agreeing=True, cut_last=True)
# A third consumer makes the tile 192 rows high: a third less of K and V is fetched, and the tensor cores have always
# someone's products at hand. Its registers are enough for 80 keys.
_AT_128_LONG = ClusterRoles(
    3, 80, 2, 1, 1, 160, 32, lazy=True, ordered=True, relying=True, agreeing=True, cut_last=True
)
# At the power limit the bytes from the L2 cache count more than the cycles that pairs wait for each other.
_AT_128_VERY_LONG = replace(_AT_128_LONG, cluster=2, ordered=False)
_AT_128_SHORT_CAUSAL = ClusterRoles(2, 128, 2, 1, 1, late=35, lazy=True, patient=True, held=8, fitted=True)
_AT_128_CAUSAL = replace(_AT_128_SHORT_CAUSAL, patient=False, agreeing=True)
# As many keys a block as there is room for: the waits and shuffles of a visit then weigh less. What registers are left
# hold a half of q.
_AT_128_VERY_LONG_CAUSAL = ClusterRoles(
    2, 176, 2, 1, 2, 240, 24, late=25, lazy=True, ordered=True, held=4, agreeing=True
)
_AT_256 = ClusterRoles(2, 80, 2, 1, 1, lazy=True, fitted=True, cut_last=True)
_AT_256_VERY_LONG = replace(_AT_256, cluster=2, fitted=False)
_AT_256_CAUSAL = replace(_AT_256, drawn=True, agreeing=True, cut_last=False)
_AT_256_VERY_LONG_CAUSAL = replace(_AT_256_VERY_LONG, cut_last=False)

# (head_dim, causal) → for short, middling, long and very long sequences (`kind_of_length`). Sharing loads in a cluster
# saves half of the bytes from the L2 cache and the power for them, but its thread blocks wait for each other, the more
# so under a mask, where they see different blocks. Tiles that differ in length are dealt out or drawn, whichever was
# faster.
ByLength = tuple[ClusterRoles, ClusterRoles, ClusterRoles, ClusterRoles]
DEFAULTS: Mapping[tuple[int, bool], ByLength] = MappingProxyType(
    {
        (64, False): (_AT_64, _AT_64_LONG, _AT_64_LONG, _AT_64_LONG),
        (64, True): (_AT_64_SHORT_CAUSAL, _AT_64_CAUSAL, _AT_64_CAUSAL, _AT_64_CAUSAL),
        (128, False): (_AT_128, _AT_128_LONG, _AT_128_LONG, _AT_128_VERY_LONG),
        (128, True): (_AT_128_SHORT_CAUSAL, _AT_128_CAUSAL, _AT_128_CAUSAL, _AT_128_VERY_LONG_CAUSAL),
        (256, False): (_AT_256, _AT_256, _AT_256, _AT_256_VERY_LONG),
        (256, True): (_AT_256_CAUSAL, _AT_256_CAUSAL, _AT_256_CAUSAL, _AT_256_VERY_LONG_CAUSAL),
    }
)

# (head_dim, causal) → with e4m3 numbers; blocks are multiples of 64 keys, and 192 are what fits the registers at 128.
_BYTES_AT_128 = ClusterRoles(2, 192, 3, 2, 1, 240, 24, late=50, lazy=True, coded=True, cut_last=True)
_BYTES_AT_128_SHORT = replace(_BYTES_AT_128, late=5, fitted=True, cut_last=False)
_BYTES_AT_128_CAUSAL = replace(_BYTES_AT_128_SHORT, relying=True)
_BYTES_AT_256 = ClusterRoles(2, 128, 2, 2, 1, 240, 24, drawn=True)
_BYTES_AT_256_LAZY = replace(_BYTES_AT_256, lazy=True)
_BYTES_AT_256_LONG = replace(_BYTES_AT_256_LAZY, late=20, drawn=False, cut_last=True)
_BYTES_AT_256_LONG_CAUSAL = replace(_BYTES_AT_256_LONG, cut_last=False)
BYTE_DEFAULTS: Mapping[tuple[int, bool], ByLength] = MappingProxyType(
    {
        (128, False): (_BYTES_AT_128_SHORT, _BYTES_AT_128, _BYTES_AT_128, _BYTES_AT_128),
        (128, True): (
            replace(_BYTES_AT_128_SHORT, late=50),
            _BYTES_AT_128_CAUSAL,
            _BYTES_AT_128_CAUSAL,
            _BYTES_AT_128_CAUSAL,
        ),
        (256, False): (_BYTES_AT_256, _BYTES_AT_256_LAZY, _BYTES_AT_256_LONG, _BYTES_AT_256_LONG),
        (256, True): (_BYTES_AT_256, _BYTES_AT_256_LAZY, _BYTES_AT_256_LONG_CAUSAL, _BYTES_AT_256_LONG_CAUSAL),
    }
)


def kind_of_length(seqlen: int) -> int:
    """0 for a short sequence, 1 for a middling one, 2 for a long one, 3 for a very long one."""
    return (seqlen > SHORT) + (seqlen > MIDDLING) + (seqlen > LONG)


def choices(head_dim: int) -> tuple[ClusterRoles, ...]:
    """Everything to try at one head_dim, each once."""
    return tuple(dict.fromkeys(roles for causal in (False, True) for roles in DEFAULTS[head_dim, causal]))


def byte_choices(head_dim: int) -> tuple[ClusterRoles, ...]:
    """The same for e4m3 numbers."""
    return tuple(dict.fromkeys(roles for causal in (False, True) for roles in BYTE_DEFAULTS[head_dim, causal]))


def few_keys(roles: ClusterRoles, seqlen: int, *, causal: bool, element_bytes: int = ELEMENT_BYTES) -> int:
    """The keys that the smaller products of a tile's last block are made for; 0 when all its products are whole.

    Without a mask it is the sequence's last block, and they come in quarters of a block, so that lengths share machine
    code. Under a mask it is a block that a consumer sees the beginning of, or nothing: where blocks are made of the
    consumers' own heights CONSUMER_ROWS keys, else as few as there can be. A product's depth is 32 bytes of numbers.
    """
    if not roles.fitted:
        return 0
    depth = PRODUCT_BYTES // element_bytes
    if causal:
        return CONSUMER_ROWS if roles.block_n % CONSUMER_ROWS == 0 else depth
    quarter = -(-roles.block_n // (4 * depth)) * depth
    few = -(-(seqlen % roles.block_n) // quarter) * quarter
    return few if few < roles.block_n else 0


def held_share(roles: ClusterRoles, head_dim: int) -> float:
    """How much of a q of 16-bit numbers lies in registers while its tile lasts: 0 … 1."""
    return roles.held * PRODUCT_BYTES / (head_dim * ELEMENT_BYTES)


def smem(roles: ClusterRoles, head_dim: int, *, element_bytes: int = ELEMENT_BYTES) -> Smem:
    """Shared memory the kernel asks for: tiles of q, blocks of k and of v, `stages` each, and two barriers for each.

    One barrier of a place says that it is full, the other that it is empty again; beside a place for q stands which
    tile it holds. o leaves from registers.
    """
    row = head_dim * element_bytes
    sums = SUM_COLUMNS * element_bytes if roles.coded else 0
    return Smem(
        q=roles.q_stages * roles.block_m * row,
        kv=roles.stages * roles.block_n * (2 * row + sums),
        o=0,
        barriers=2 * (roles.q_stages + 2 * roles.stages) * BARRIER_BYTES + roles.q_stages * TILE_BYTES,
    )
