"""How exact is exact? The same attention three ways on the same input: standard in fp16, tiled in fp16, and float64.

FlashAttention computes attention itself, not an approximation; what differs is rounding. Both 16-bit ways multiply fp16
inputs and add up in fp32, as tensor cores do (numpy's float32 stands for their adders). The standard way rounds S and P
to fp16 because they go through memory; the tiled way keeps the score block and the row statistics in fp32 and rounds
only the weights it feeds to the second multiply, and O at the end. `floor` is what rounding the float64 result to fp16
costs: no 16-bit output can do better on average.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.theory.counted_memory import spans
from app.theory.dropout import Array

MAX_SEQLEN = 1024
MAX_HEAD_DIM = 256
_Single = NDArray[np.float32]
_Half = NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class Error:
    """Distance from the float64 result over all entries of O: largest, and root mean square."""

    max_abs: float
    rms: float


@dataclass(frozen=True, slots=True)
class Exactness:
    """The errors of both ways, the unavoidable rounding of O, and the size of O to compare them with (its rms).

    `standard_over_tiled` is the ratio of the rms errors; None if the tiled way has no error at all.
    """

    seed: int
    seqlen: int
    head_dim: int
    block_m: int
    block_n: int
    causal: bool
    outliers: bool
    standard: Error
    tiled: Error
    floor: Error
    output_rms: float
    standard_over_tiled: float | None


def exactness(
    seed: int,
    seqlen: int,
    head_dim: int,
    block_m: int,
    block_n: int,
    causal: bool = False,
    *,
    outliers: bool = False,
) -> Exactness:
    """Compute one head three ways and compare. Input is drawn from N(0, 1) and rounded to fp16 once for all three.

    `outliers` adds N(0, 100) to one entry in a thousand, the distribution of FlashAttention-3's Table 3 (arXiv
    2407.08608), on which the difference between the two ways shows. ValueError, naming the argument, outside seed ≥ 0,
    seqlen 1 … 1024, head_dim 1 … 256, blocks ≥ 1.
    """
    bounds = {"seqlen": (seqlen, MAX_SEQLEN), "head_dim": (head_dim, MAX_HEAD_DIM)}
    for name, (value, most) in bounds.items():
        if not 1 <= value <= most:
            raise ValueError(f"{name} must be from 1 to {most}, got {value}")
    for name, value, least in (("seed", seed, 0), ("block_m", block_m, 1), ("block_n", block_n, 1)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")

    q, k, v = random_input(seed, seqlen, head_dim, outliers=outliers)
    exact = _float64(q, k, v, causal)
    standard = _error(_standard_fp16(q, k, v, causal), exact)
    tiled = _error(_tiled_fp16(q, k, v, causal, block_m, block_n), exact)
    return Exactness(
        seed=seed,
        seqlen=seqlen,
        head_dim=head_dim,
        block_m=block_m,
        block_n=block_n,
        causal=causal,
        outliers=outliers,
        standard=standard,
        tiled=tiled,
        floor=_error(exact.astype(np.float16), exact),
        output_rms=float(np.sqrt(np.mean(exact**2))),
        standard_over_tiled=standard.rms / tiled.rms if tiled.rms else None,
    )


def random_input(seed: int, seqlen: int, head_dim: int, *, outliers: bool = False) -> tuple[_Half, _Half, _Half]:
    """q, k, v of one head, (seqlen, head_dim) each, in fp16."""
    generator = np.random.default_rng(seed)
    drawn = generator.standard_normal((3, seqlen, head_dim))
    if outliers:
        drawn += 10 * generator.standard_normal(drawn.shape) * (generator.random(drawn.shape) < 0.001)
    q, k, v = drawn.astype(np.float16)
    return q, k, v


def _float64(q: _Half, k: _Half, v: _Half, causal: bool) -> Array:
    q64, k64, v64 = (tensor.astype(np.float64) for tensor in (q, k, v))
    scores = q64 @ k64.T / np.sqrt(q.shape[1])
    if causal:
        scores = np.where(np.tri(q.shape[0], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    o: Array = weights @ v64 / weights.sum(axis=1, keepdims=True)
    return o


def _standard_fp16(q: _Half, k: _Half, v: _Half, causal: bool) -> _Half:
    """S to memory in fp16; softmax in fp32; P to memory in fp16; O in fp16."""
    scores = (_matmul(q, k.T) * _scale(q)).astype(np.float16).astype(np.float32)
    if causal:
        scores = np.where(np.tri(q.shape[0], dtype=bool), scores, np.float32(-np.inf))
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    probs = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float16)
    return _matmul(probs, v).astype(np.float16)


def _tiled_fp16(q: _Half, k: _Half, v: _Half, causal: bool, block_m: int, block_n: int) -> _Half:
    """Scores, statistics and accumulator in fp32; only the weights are rounded to fp16 for the second multiply."""
    o = np.empty(q.shape, dtype=np.float16)
    for rows in spans(q.shape[0], block_m):
        height = rows.stop - rows.start
        row_max = np.full(height, -np.inf, dtype=np.float32)
        row_sum = np.zeros(height, dtype=np.float32)
        acc = np.zeros((height, q.shape[1]), dtype=np.float32)
        for keys in spans(k.shape[0], block_n):
            if causal and keys.start >= rows.stop:
                break
            scores = _matmul(q[rows], k[keys].T) * _scale(q)
            if causal:
                visible = np.arange(keys.start, keys.stop) <= np.arange(rows.start, rows.stop)[:, None]
                scores = np.where(visible, scores, np.float32(-np.inf))
            new_max = np.maximum(row_max, scores.max(axis=1))
            rescale = np.exp(row_max - new_max)
            weights = np.exp(scores - new_max[:, None])
            row_sum = rescale * row_sum + weights.sum(axis=1)
            acc = rescale[:, None] * acc + _matmul(weights.astype(np.float16), v[keys])
            row_max = new_max
        o[rows] = (acc / row_sum[:, None]).astype(np.float16)
    return o


def _matmul(a: _Half, b: _Half) -> _Single:
    """fp16 inputs, products and sums in fp32."""
    return a.astype(np.float32) @ b.astype(np.float32)


def _scale(q: _Half) -> np.float32:
    return np.float32(1 / np.sqrt(q.shape[1]))


def _error(result: _Half, exact: Array) -> Error:
    difference = np.abs(result.astype(np.float64) - exact)
    return Error(max_abs=float(difference.max()), rms=float(np.sqrt(np.mean(difference**2))))
