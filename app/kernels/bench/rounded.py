"""What a kernel may be off by that computes with e4m3 numbers, against float64 attention of its own quantised inputs.

An e4m3 number has 3 bits behind the leading one, so rounding multiplies a probability p by 1 + e with |e| <= 2^-4. Just
above a power of two e is anything between, as often as any other: its root mean square is 2^-4 / √3 there and less
elsewhere (0.74 of it on the average). Rounding errors of different probabilities are independent, so their squares add
up: the output row Σ p v moves by 2^-4 / √3 · √(Σ p² |v|²) at most, as a root mean square. Many keys average out; no
assumption about v is needed. To that comes, added in proportion:

- Sums of products: tensor cores keep about 14 bits while they add 8-bit products, 32 at a time, and drop what is below.
  Half a last bit, 2^-14 of the running sum, for each 32 keys, whose sizes are those of the row and of its spread.
- One rounding of the result.

A kernel that makes probabilities as codes (`Bound.coded`) rounds the logarithm to eighths instead, by up to
2^(1/16) - 1, and replaces the curve between two powers of two by a line, which is off by up to 1 - 1 / HEIGHT, most of
all at a power of two. Its sums are those of the codes, so an lse is off as o is: ln Σ p (1 + e) moves by √(Σ p²) times
e's root mean square.

The quantised inputs themselves must lie within e4m3's rounding of those given, number by number (`unlike`), or a
kernel that mixes up its inputs would be right about the wrong problem.

The rule: the whole tensor may be off by twice that, any single row by four times. lse has the scores' error, which are
sums of the same kind (head_dim products) but few: LSE_ERROR of 1 + its size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from app.kernels.problem import Problem

PROBABILITY = 2.0**-4 / math.sqrt(3)
KEYS_AT_ONCE = 32
SUM = 2.0**-14
LSE_ERROR = 2.0**-8
LARGEST, TOP_CODE = 448.0, 126
HEIGHT = LARGEST / 2 ** (TOP_CODE / 8 - 7)  # the line over the curve at the largest number, which is met exactly
CODED_PROBABILITY = math.hypot(1 - 1 / HEIGHT, (2 ** (1 / 16) - 1) / math.sqrt(3))
TIMES = 2.0
ROW_TIMES = 4.0


@dataclass(frozen=True, slots=True)
class Limits:
    """`exact` o, (heads, rows, head_dim); the error to expect of each row and the limit of its lse, (heads, rows);
    limit of the whole.
    """

    exact: torch.Tensor
    expected: torch.Tensor
    lse: torch.Tensor
    relative: float

    def judge(self, ours: torch.Tensor, heads: list[int]) -> tuple[float, str]:
        """The relative error of the whole and what is wrong with it, nothing when it is right."""
        import torch

        error = torch.linalg.vector_norm(ours.double() - self.exact, dim=-1)
        relative = float(torch.linalg.vector_norm(error)) / _size(self.exact)
        share = (error / (ROW_TIMES * self.expected)).nan_to_num(posinf=math.inf)
        worst = int(share.argmax())
        head, row = worst // error.shape[1], worst % error.shape[1]
        if not relative <= self.relative:
            return relative, f"o is off by {relative:.2e} of its quantised inputs' truth, at most {self.relative:.2e}"
        if not float(share.max()) <= 1:
            found, limit = float(error[head, row]), ROW_TIMES * float(self.expected[head, row])
            return relative, f"o of head {heads[head]}, row {row} is off by {found:.2e}, at most {limit:.2e}"
        return relative, ""

    def judge_lse(self, apart: torch.Tensor) -> str:
        """What is wrong with an lse that lies so far from the truth's, (heads, rows); nothing when it is right."""
        share = (apart / self.lse).nan_to_num(nan=math.inf)
        worst = int(share.argmax())
        if float(share.max()) <= 1:
            return ""
        found, limit = float(apart.flatten()[worst]), float(self.lse.flatten()[worst])
        return f"lse of row {worst % apart.shape[1]} is off by {found:.2e}, at most {limit:.2e}"


def unlike(given: Problem, meant: Problem) -> str:
    """What of `meant` is not q, k or v of `given` rounded to e4m3 with some scale a block; nothing when all is.

    A block's scale is at most the power of two above the head's largest magnitude / 448, and e4m3 has steps of 2^-9 of
    it below 2^-6.
    """
    for name in ("q", "k", "v"):
        x, rounded = (getattr(problem, name).float() for problem in (given, meant))
        least = 2 * x.abs().amax((2, 3), keepdim=True) / LARGEST * 2.0**-10
        off = (rounded - x).abs() > 1.001 * (x.abs() * 2.0**-4 + least)
        if bool(off.any()):
            place = [int(index) for index in off.nonzero()[0]]
            return f"{name}{place} was quantised wrongly"
    return ""


def limits(meant: dict[str, torch.Tensor], rounding: float, *, coded: bool = False) -> Limits:
    """Limits from exact results of the quantised inputs (o, lse, spread, weight) and the result's own rounding.

    Every row is taken to see all keys; under a causal mask that is generous.
    """
    import torch

    exact, spread = meant["o"], meant["spread"]
    size = torch.linalg.vector_norm(exact, dim=-1)
    steps = -(-exact.shape[1] // KEYS_AT_ONCE)
    probability = CODED_PROBABILITY if coded else PROBABILITY
    expected = probability * spread + SUM * steps * (size + spread) + rounding * size
    lse = LSE_ERROR * (1 + meant["lse"].abs()) + (ROW_TIMES * probability * meant["weight"] if coded else 0)
    return Limits(exact, expected, lse, TIMES * float(torch.linalg.vector_norm(expected)) / _size(exact))


def _size(exact: torch.Tensor) -> float:
    """Norm of the truth; 1 an entry for a truth of zeros."""
    import torch

    return float(torch.linalg.vector_norm(exact)) or math.sqrt(exact.numel())
