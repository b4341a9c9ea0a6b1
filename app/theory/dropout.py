"""Dropout whose mask is never stored: any block of it can be made again from the generator's state.

The generator is Philox 4x32 with ten rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011), a
pure function from a 128-bit counter and a 64-bit key to 128 bits. The counter is (key column, query row, head, 0) and
the key is the seed, so an entry's fate depends on where it is, not on the order in which blocks are visited. That is
what lets the backward pass work without a mask in memory.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_Words = tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]

_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_WORD = np.uint64(0xFFFFFFFF)
_ROUNDS = 10


def philox(counter: _Words, seed: int) -> _Words:
    """Four random 32-bit words for each counter: four arrays of 32-bit words held in uint64, shapes that broadcast.

    `seed` is the 64-bit key. ValueError outside 0 … 2^64 - 1.
    """
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed must be from 0 to 2^64 - 1, got {seed}")
    c0, c1, c2, c3 = counter
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    shift = np.uint64(32)
    for _ in range(_ROUNDS):
        # 32 x 32 bit products fit in 64 bits
        product_0, product_2 = _MULTIPLIERS[0] * c0, _MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (
            (product_2 >> shift) ^ c1 ^ np.uint64(k0),
            product_2 & _WORD,
            (product_0 >> shift) ^ c3 ^ np.uint64(k1),
            product_0 & _WORD,
        )
        k0, k1 = (k0 + _KEY_STEPS[0]) & 0xFFFFFFFF, (k1 + _KEY_STEPS[1]) & 0xFFFFFFFF
    return c0, c1, c2, c3


@dataclass(frozen=True, slots=True)
class Dropout:
    """The state of the generator, and the share of probabilities dropped (0 ≤ probability < 1, else ValueError)."""

    seed: int
    probability: float

    def __post_init__(self) -> None:
        """Check both fields."""
        if not 0 <= self.probability < 1:
            raise ValueError(f"probability must be at least 0 and below 1, got {self.probability}")
        if not 0 <= self.seed < 2**64:
            raise ValueError(f"seed must be from 0 to 2^64 - 1, got {self.seed}")

    def factor(self, heads: NDArray[np.int64], rows: NDArray[np.int64], keys: NDArray[np.int64]) -> Array:
        """What to multiply probabilities by: 0 where dropped, 1 / (1 - probability) where kept.

        `heads`, `rows`, `keys` are the indices of the entries wanted (head counted over the batch); the answer has
        shape (heads, rows, keys).
        """
        word, _, _, _ = philox(
            (
                keys.astype(np.uint64)[None, None, :],
                rows.astype(np.uint64)[None, :, None],
                heads.astype(np.uint64)[:, None, None],
                np.zeros((1, 1, 1), dtype=np.uint64),
            ),
            self.seed,
        )
        kept = word >= np.uint64(round(self.probability * 2**32))
        return np.where(kept, 1 / (1 - self.probability), 0.0)
