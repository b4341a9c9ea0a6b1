"""The two objects that state a problem: what attention is computed on, and in which blocks.

Both are small, immutable and hashable, so a caller may use them as cache keys. Tensor order is
(batch, num_heads, seqlen, head_dim); queries and keys have the same length (self-attention).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

# Bytes of one element of q, k, v, o, scores, probs and the gradients in each precision.
DTYPE_BYTES: Mapping[str, int] = MappingProxyType({"fp16": 2, "bf16": 2, "fp8": 1, "fp32": 4})

# Running max, running sum, log-sum-exp and the accumulators are kept in fp32 whatever the inputs are.
FP32_BYTES = 4


def _check_count(name: str, value: object) -> None:
    """Raise ValueError unless `value` is a whole number of at least 1 (True is not a number here)."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value}")


@dataclass(frozen=True, slots=True)
class AttentionShape:
    """One attention layer: its lengths, heads, mask and precision.

    `num_heads_kv` (default: `num_heads`) is the number of key/value heads; with grouped-query attention it is a
    divisor of `num_heads`, and each group of `num_heads // num_heads_kv` query heads shares one K and one V.
    Raises ValueError, naming the field and the value, when a field makes no sense.
    """

    seqlen: int
    head_dim: int
    batch: int = 1
    num_heads: int = 1
    num_heads_kv: int | None = None
    causal: bool = False
    dtype: str = "fp16"

    def __post_init__(self) -> None:
        """Check every field."""
        for name in ("seqlen", "head_dim", "batch", "num_heads"):
            _check_count(name, getattr(self, name))
        if self.num_heads_kv is not None:
            _check_count("num_heads_kv", self.num_heads_kv)
            if self.num_heads % self.num_heads_kv:
                raise ValueError(f"num_heads_kv must divide num_heads ({self.num_heads}), got {self.num_heads_kv}")
        if not isinstance(self.causal, bool):
            raise ValueError(f"causal must be True or False, got {self.causal!r}")
        if self.dtype not in DTYPE_BYTES:
            raise ValueError(f"dtype must be one of {', '.join(DTYPE_BYTES)}, got {self.dtype!r}")

    @property
    def element_bytes(self) -> int:
        """Bytes of one element of q, k, v, o, scores and probs."""
        return DTYPE_BYTES[self.dtype]

    @property
    def heads(self) -> int:
        """Query heads over the whole batch."""
        return self.batch * self.num_heads

    @property
    def heads_kv(self) -> int:
        """Key/value heads over the whole batch."""
        return self.batch * (self.num_heads if self.num_heads_kv is None else self.num_heads_kv)

    @property
    def q_bytes(self) -> int:
        """Bytes of Q over all heads; O, dO and dQ are as large."""
        return self.heads * self.seqlen * self.head_dim * self.element_bytes

    @property
    def kv_bytes(self) -> int:
        """Bytes of K alone over all key/value heads; V, dK and dV are as large."""
        return self.heads_kv * self.seqlen * self.head_dim * self.element_bytes

    @property
    def scores_bytes(self) -> int:
        """Bytes of one N×N matrix (S, say) over all query heads."""
        return self.heads * self.seqlen * self.seqlen * self.element_bytes

    @property
    def row_statistic_bytes(self) -> int:
        """Bytes of one fp32 number per query row over all heads (the log-sum-exp, say)."""
        return self.heads * self.seqlen * FP32_BYTES

    @property
    def q_fp32_bytes(self) -> int:
        """Bytes of a tensor of Q's shape held in fp32 (an accumulator in memory)."""
        return self.heads * self.seqlen * self.head_dim * FP32_BYTES


@dataclass(frozen=True, slots=True)
class BlockShape:
    """Rows handled at once: `block_m` of q (the papers' B_r), `block_n` of k and v (B_c). ValueError below 1."""

    block_m: int
    block_n: int

    def __post_init__(self) -> None:
        """Check both sides."""
        _check_count("block_m", self.block_m)
        _check_count("block_n", self.block_n)
