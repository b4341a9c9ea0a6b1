"""Softmax in one pass over blocks of a row, with every step kept, next to softmax computed directly.

For each block the row's running max m and running sum ℓ are brought up to date; what was summed before is multiplied by
the correction factor exp(old max - new max). Source: Milakov and Gimelshein, "Online normalizer calculation for
softmax" (arXiv 1805.02867); FlashAttention (2205.14135) Section 3.1. Everything is float64.

Masked scores are given as -inf and get probability 0. A row with nothing but masked scores has no softmax; here its
running max and log-sum-exp are -inf, its running sum 0, all its probabilities 0 and its output 0, as attention kernels
do it. No result is ever NaN.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

MAX_SCORES = 64
# Values beyond this could overflow when 64 of them are added before the division.
MAX_ABS_VALUE = 1e300


@dataclass(frozen=True, slots=True)
class Step:
    """State after block `index`, scores[start:stop].

    `rescale` is exp(old max - new max), the factor on everything summed before: 0 when nothing came before, 1 when the
    max stays. `acc` is the output before division by `row_sum`, None without values.
    """

    index: int
    start: int
    stop: int
    row_max: float
    row_sum: float
    rescale: float
    acc: float | None


@dataclass(frozen=True, slots=True)
class Trace:
    """The steps, the result of the one-pass method, the direct result, and the largest difference between the two.

    `lse` is row_max + log(row_sum). `output` and `direct_output` are None without values. `difference` is the largest
    absolute difference over the outputs and all probabilities.
    """

    steps: tuple[Step, ...]
    row_max: float
    row_sum: float
    lse: float
    output: float | None
    direct_output: float | None
    probs: tuple[float, ...]
    direct_probs: tuple[float, ...]
    difference: float


def trace(scores: Sequence[float], block: int, values: Sequence[float] | None = None) -> Trace:
    """Run the one-pass softmax over `scores`, `block` at a time.

    `scores`: 1 to 64 numbers, finite or -inf (masked). `values`: one finite number per score, at most 1e300 in size,
    or None. Raises ValueError, naming the argument, for anything else.
    """
    _check(scores, block, values)
    row_max, row_sum, acc = -math.inf, 0.0, 0.0
    steps: list[Step] = []
    for index, start in enumerate(range(0, len(scores), block)):
        stop = min(start + block, len(scores))
        new_max = max(row_max, *scores[start:stop])
        rescale = _exp_of_difference(row_max, new_max) if new_max > row_max else 1.0
        row_sum *= rescale
        acc *= rescale
        for position in range(start, stop):
            weight = _exp_of_difference(scores[position], new_max)
            row_sum += weight
            if values is not None:
                acc += weight * values[position]
        row_max = new_max
        steps.append(Step(index, start, stop, row_max, row_sum, rescale, None if values is None else acc))

    masked = row_sum == 0.0
    probs = tuple(0.0 if masked else _exp_of_difference(score, row_max) / row_sum for score in scores)
    output = None if values is None else 0.0 if masked else acc / row_sum
    direct_probs = direct_softmax(scores)
    direct_output = None if values is None else sum(p * v for p, v in zip(direct_probs, values, strict=True))
    difference = max(abs(p - direct) for p, direct in zip(probs, direct_probs, strict=True))
    if output is not None and direct_output is not None:
        difference = max(difference, abs(output - direct_output))
    return Trace(
        steps=tuple(steps),
        row_max=row_max,
        row_sum=row_sum,
        lse=-math.inf if masked else row_max + math.log(row_sum),
        output=output,
        direct_output=direct_output,
        probs=probs,
        direct_probs=direct_probs,
        difference=difference,
    )


def direct_softmax(scores: Sequence[float]) -> tuple[float, ...]:
    """Softmax of the whole row at once: max first, then sum, then divide. All zeros when every score is -inf."""
    row_max = max(scores)
    weights = [_exp_of_difference(score, row_max) for score in scores]
    row_sum = sum(weights)
    return tuple(weight / row_sum if row_sum else 0.0 for weight in weights)


def _exp_of_difference(score: float, row_max: float) -> float:
    """exp(score - row_max) for score ≤ row_max; 0 for a masked score, so that -inf - -inf never arises."""
    return 0.0 if score == -math.inf else math.exp(score - row_max)


def _check(scores: Sequence[float], block: int, values: Sequence[float] | None) -> None:
    if not 1 <= len(scores) <= MAX_SCORES:
        raise ValueError(f"scores must be 1 to {MAX_SCORES} numbers, got {len(scores)}")
    if isinstance(block, bool) or not isinstance(block, int) or block < 1:
        raise ValueError(f"block must be a whole number of at least 1, got {block!r}")
    for index, score in enumerate(scores):
        if math.isnan(score) or score == math.inf:
            raise ValueError(f"scores must be finite, or -inf where masked; number {index} is {score}")
    if values is None:
        return
    if len(values) != len(scores):
        raise ValueError(f"values must have one number per score: {len(scores)} scores, {len(values)} values")
    for index, value in enumerate(values):
        if not abs(value) <= MAX_ABS_VALUE:
            raise ValueError(f"values must be finite and at most {MAX_ABS_VALUE:g} in size; number {index} is {value}")
