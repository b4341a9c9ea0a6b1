"""A memory that counts: the instrumented algorithms get at their tensors only through it.

Values are float64 whatever the declared width: the instrumented algorithms show that the *algorithm* is right to
float64's precision, while bytes are counted at the width the tensor would have. `exactness` is about rounding.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.theory.dropout import Array
from app.theory.shapes import AttentionShape
from app.theory.traffic import Transfer


class CountedMemory:
    """Named tensors with counted loads and stores."""

    def __init__(self) -> None:
        self._arrays: dict[str, Array] = {}
        self._element_bytes: dict[str, int] = {}
        self._read: Counter[str] = Counter()
        self._written: Counter[str] = Counter()

    def place(self, tensor: str, values: Array, element_bytes: int) -> None:
        """Put a tensor in memory, uncounted: an input, or running values found there."""
        self._arrays[tensor] = np.array(values, dtype=np.float64)
        self._element_bytes[tensor] = element_bytes

    def reserve(self, tensor: str, shape: tuple[int, ...], element_bytes: int) -> None:
        """Make room for a result. It holds NaN until stored, so that reading or leaving a gap shows."""
        self.place(tensor, np.full(shape, np.nan), element_bytes)

    def load(self, tensor: str, index: Any = ...) -> Array:
        """A copy of part of a tensor; its bytes count as read."""
        values = np.array(self._arrays[tensor][index])
        self._read[tensor] += values.size * self._element_bytes[tensor]
        return values

    def store(self, tensor: str, index: Any, values: Array) -> None:
        """Overwrite part of a tensor; its bytes count as written. ValueError when the sizes differ."""
        target = self._arrays[tensor][index]
        if target.shape != values.shape:
            raise ValueError(f"store to {tensor}: {values.shape} into {target.shape}")
        self._arrays[tensor][index] = values
        self._written[tensor] += values.size * self._element_bytes[tensor]

    def run(self) -> "Run":
        """What lies in memory now, and what has been counted."""
        moved = sorted({*self._read, *self._written})
        transfers = tuple(Transfer(tensor, self._read[tensor], self._written[tensor]) for tensor in moved)
        return Run(dict(self._arrays), transfers)


@dataclass(frozen=True, slots=True)
class Run:
    """End of an instrumented pass: all tensors by name, and what was loaded and stored (sorted by tensor name)."""

    tensors: dict[str, Array]
    by_tensor: tuple[Transfer, ...]

    @property
    def total_bytes(self) -> int:
        """Bytes loaded and stored."""
        return sum(transfer.read_bytes + transfer.written_bytes for transfer in self.by_tensor)


@dataclass(frozen=True, slots=True)
class Group:
    """One key/value head of one sequence and the query heads that share it.

    `q` indexes the first two axes of q-like tensors, `kv` those of k-like ones; `heads` counts query heads over the
    batch, as dropout does.
    """

    q: tuple[int, slice]
    kv: tuple[int, int]
    heads: NDArray[np.int64]


def groups(shape: AttentionShape) -> Iterator[Group]:
    """All groups; with as many key/value heads as query heads, one query head each."""
    heads_kv = shape.heads_kv // shape.batch
    size = shape.num_heads // heads_kv
    for sequence in range(shape.batch):
        for head in range(heads_kv):
            first = sequence * shape.num_heads + head * size
            sharing = slice(head * size, (head + 1) * size)
            yield Group((sequence, sharing), (sequence, head), np.arange(first, first + size))


def spans(length: int, block: int) -> list[slice]:
    """The blocks of `length` rows as slices, the last one possibly shorter."""
    return [slice(start, min(start + block, length)) for start in range(0, length, block)]
