"""Is a kernel's result right? Compared with float64 on fresh random input, before anything is timed.

The rule: the error may be at most twice that of plain PyTorch code in the same precision. An error is the norm of the
difference over the norm of the truth, for each tensor as a whole; no single row may be more than four times as far off
as the worst row of the plain code (which is what finds one bad row among thousands). Neither has to be smaller than one
rounding of the result. NaN, left over or made, never passes.

A kernel that rounds its inputs to fewer bits cannot pass that; it is judged in `rounded` against attention of the
rounded inputs, and its whole error is reported beside plain code's.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.kernels import reference
from app.kernels.bench import rounded
from app.kernels.bench.cases import CheckCase
from app.kernels.problem import Bound, Problem, torch_dtype
from app.theory.dropout import Dropout

if TYPE_CHECKING:
    import torch

TIMES_PLAIN = 2.0
ROW_TIMES_PLAIN = 4.0
# Half the distance from 1 to the next number of the dtype: what rounding a result may cost.
ROUNDING = {"bf16": 2.0**-9, "fp16": 2.0**-12}
# lse is fp32 whatever the inputs are; it is compared by its largest difference, relative to 1 + its size.
LSE_ERROR = 1e-4
SEED_LIMIT = 2**31
UNEVEN_ROWS = 64


@dataclass(frozen=True, slots=True)
class Difference:
    """How far one tensor is from the truth: relative error as a whole, worst row, and where that row is."""

    relative: float
    worst_row: float
    row: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Verdict:
    """`ok`, the kernel's relative error beside the plain code's (the tensor where it is worst), and why not.

    `computing` is there for quantised inputs: the error against exact attention of those.
    """

    ok: bool
    relative: float
    plain: float
    message: str = ""
    computing: float | None = None

    @property
    def error(self) -> dict[str, float]:
        """The errors by the names that records give them."""
        known = {"relative": self.relative, "plain": self.plain}
        return known if self.computing is None else known | {"computing": self.computing}


@dataclass(frozen=True, slots=True)
class Truth:
    """Results to compare with, of some heads of one problem; `meant` are exact ones of quantised inputs, if any.

    dk and dv are of `heads_kv`, which are fewer where query heads share k and v.
    """

    heads: list[int]
    heads_kv: list[int]
    exact: dict[str, torch.Tensor]
    plain: dict[str, torch.Tensor]
    meant: dict[str, torch.Tensor] | None = None
    coded: bool = False


def draw(case: CheckCase, device: str, seed: int | None = None) -> tuple[Problem, int]:
    """Random tensors for a case, and the seed they came from (a new one each time unless given)."""
    import torch

    seed = secrets.randbelow(SEED_LIMIT) if seed is None else seed
    generator = torch.Generator(device).manual_seed(seed)
    dtype = torch_dtype(case.dtype)

    def normal(rows: int, spread: float = 1.0, heads: int | None = None) -> torch.Tensor:
        size = (case.batch, heads or case.num_heads, rows, case.head_dim)
        return (torch.randn(size, generator=generator, device=device) * spread).to(dtype)

    q, k, v = normal(case.seqlen_q, case.spread), *(normal(case.seqlen_k, heads=case.num_heads_kv) for _ in range(2))
    if case.uneven:
        q, k, v = (_uneven(tensor, case.uneven, generator) for tensor in (q, k, v))
    do = normal(case.seqlen_q) if case.direction == "backward" else None
    dropout = Dropout(seed, case.dropout) if case.dropout else None
    return Problem(q, k, v, do, case.causal, dropout), seed


def _uneven(tensor: torch.Tensor, spread: float, generator: torch.Generator) -> torch.Tensor:
    """The tensor with every UNEVEN_ROWS rows of a head multiplied by a power of two of their own."""
    import torch

    batch, heads, rows, _ = tensor.shape
    size = (batch, heads, -(-rows // UNEVEN_ROWS))
    powers = (torch.randn(size, generator=generator, device=tensor.device) * spread).round().exp2()
    return (tensor * powers.repeat_interleave(UNEVEN_ROWS, 2)[:, :, :rows, None]).to(tensor.dtype)


def truth(problem: Problem, bound: Bound | None = None, most_heads: int | None = None) -> Truth:
    """float64 and same-precision results of all heads, or of `most_heads` of them spread from first to last.

    For gradients of shared k and v they are whole groups of heads, at least one.
    `bound` matters for approximate kernels only: it says which blocks are kept.
    """
    group = problem.q.shape[1] // problem.k.shape[1]
    together = 1 if problem.do is None else group
    heads = problem.q.shape[0] * problem.q.shape[1] // together
    count = heads if most_heads is None else min(heads, max(1, most_heads // together))
    spread = [round(i * (heads - 1) / max(1, count - 1)) for i in range(count)]
    chosen = [first * together + i for first in spread for i in range(together)]
    chosen_kv = list(dict.fromkeys(head // group for head in chosen))
    pattern, block = (bound.pattern, bound.block) if bound else (None, None)
    exact = reference.exact(problem, chosen, pattern, block).tensors
    known = Truth(chosen, chosen_kv, exact, reference.plain(problem, chosen, pattern, block).tensors)
    return known if bound is None else beside(known, problem, bound)


def beside(known: Truth, problem: Problem, bound: Bound) -> Truth:
    """The same truth, with exact results of the quantised inputs beside it when `bound` computes with such.

    ValueError when those are not what quantising the problem's inputs may give.
    """
    if bound.meant is None:
        return known
    meant = bound.meant()
    wrong = rounded.unlike(problem, meant)
    if wrong:
        raise ValueError(wrong)
    return replace(known, meant=reference.exact(meant, known.heads, spread=True).tensors, coded=bound.coded)


def results(bound: Bound, direction: str) -> dict[str, torch.Tensor]:
    """Run one pass of a bound kernel; its tensors by name. ValueError when it has no such pass."""
    if direction == "forward":
        out = bound.forward()
        return {"o": out.o} if out.lse is None else {"o": out.o, "lse": out.lse}
    if bound.backward is None:
        raise ValueError("this kernel was bound without a backward pass")
    gradients = bound.backward()
    return {"dq": gradients.dq, "dk": gradients.dk, "dv": gradients.dv}


def judge(found: dict[str, torch.Tensor], known: Truth, dtype: str) -> Verdict:
    """Compare a kernel's tensors with the truth. The error reported is that of the tensor nearest to its limit."""
    worst: Verdict | None = None
    share = -1.0
    limits = None if known.meant is None else rounded.limits(known.meant, ROUNDING[dtype], coded=known.coded)
    for name, tensor in found.items():
        missing = _first_missing(tensor)
        if missing is not None and not (name == "lse" and _minus_inf_alone(tensor)):
            return Verdict(False, math.nan, math.nan, f"{name}{missing} is NaN or infinite: not written, or wrong")
        ours = reference.of_heads(tensor, known.heads_kv if name in ("dk", "dv") else known.heads)
        if limits is not None and known.meant is not None:
            verdict, used = _judge_rounded(name, ours, known, known.meant, limits)
        else:
            verdict, used = _judge_lse(ours, known) if name == "lse" else _judge_tensor(name, ours, known, dtype)
        if not verdict.ok:
            return verdict
        if worst is None or (used > share and name != "lse"):
            worst, share = verdict, used
    if worst is None:
        raise ValueError("there is nothing to judge")
    return worst


def run(case: CheckCase, bind: Callable[[Problem], Bound], device: str, seed: int | None = None) -> Verdict:
    """Draw, bind, run and judge one case. `bind` ties a kernel to a Problem (see the registry)."""
    problem, seed = draw(case, device, seed)
    bound = bind(problem)
    verdict = judge(results(bound, case.direction), truth(problem, bound), case.dtype)
    if verdict.ok:
        return verdict
    return replace(verdict, message=f"{case}, seed {seed}: {verdict.message}")


def difference(tensor: torch.Tensor, exact: torch.Tensor) -> Difference:
    """How far `tensor` is from `exact`, both (heads, rows, columns).

    A truth of zeros (the gradient of q with a single key, say) has no scale of its own; inputs have unit variance, so 1
    an entry is used. Rows are compared by the root mean square of the truth's rows, because single rows may be zero.
    """
    import torch

    error = torch.linalg.vector_norm(tensor.double() - exact, dim=-1)
    size = float(torch.linalg.vector_norm(exact)) or math.sqrt(exact.numel())
    rows = error.numel()
    position = int(error.argmax())
    return Difference(
        float(torch.linalg.vector_norm(error)) / size,
        float(error.flatten()[position]) / (size / math.sqrt(rows)),
        (position // error.shape[1], position % error.shape[1]),
    )


def _judge_tensor(name: str, ours: torch.Tensor, known: Truth, dtype: str) -> tuple[Verdict, float]:
    mine = difference(ours, known.exact[name])
    plain = difference(known.plain[name], known.exact[name])
    limit = max(TIMES_PLAIN * plain.relative, ROUNDING[dtype])
    row_limit = max(ROW_TIMES_PLAIN * plain.worst_row, ROW_TIMES_PLAIN * ROUNDING[dtype])
    head, row = mine.row
    where = f"{name} of head {known.heads[head]}, row {row}"
    if not mine.relative <= limit:
        message = f"{where} is worst; error {mine.relative:.2e}, at most {limit:.2e} (plain {plain.relative:.2e})"
        return Verdict(False, mine.relative, plain.relative, message), math.inf
    if not mine.worst_row <= row_limit:
        message = f"{where} is off by {mine.worst_row:.2e}, at most {row_limit:.2e} (plain {plain.worst_row:.2e})"
        return Verdict(False, mine.relative, plain.relative, message), math.inf
    return Verdict(True, mine.relative, plain.relative), mine.relative / limit


def _judge_rounded(
    name: str, ours: torch.Tensor, known: Truth, meant: dict[str, torch.Tensor], limits: rounded.Limits
) -> tuple[Verdict, float]:
    """Judged against attention of the quantised inputs; reported against that of the inputs as they were."""
    if name == "lse":
        apart = _lse_apart(ours, meant["lse"])
        message = limits.judge_lse((ours.double() - meant["lse"]).abs())
        return Verdict(not message, apart, math.nan if message else 0.0, message), math.inf if message else 0.0
    whole, plain = difference(ours, known.exact[name]), difference(known.plain[name], known.exact[name])
    computing, message = limits.judge(ours, known.heads)
    verdict = Verdict(not message, whole.relative, plain.relative, message, computing)
    return verdict, computing / limits.relative if verdict.ok else math.inf


def _judge_lse(ours: torch.Tensor, known: Truth) -> tuple[Verdict, float]:
    exact = known.exact["lse"]
    mine, plain = _lse_apart(ours, exact), _lse_apart(known.plain["lse"], exact)
    limit = max(TIMES_PLAIN * plain, LSE_ERROR)
    if not mine <= limit:
        return Verdict(False, mine, plain, f"lse is off by {mine:.2e}, at most {limit:.2e}"), math.inf
    return Verdict(True, mine, plain), mine / limit


def _lse_apart(tensor: torch.Tensor, exact: torch.Tensor) -> float:
    """Largest difference relative to 1 + the truth's size; equal infinities are no difference."""
    import torch

    apart = torch.where(tensor.double() == exact, torch.zeros_like(exact), tensor.double() - exact)
    return float((apart.abs() / (1 + exact.abs().nan_to_num(posinf=0.0))).max())


def _first_missing(tensor: torch.Tensor) -> list[int] | None:
    """Index of the first entry that is no number, None when all are."""
    import torch

    bad = ~torch.isfinite(tensor)
    return [int(i) for i in bad.nonzero()[0]] if bool(bad.any()) else None


def _minus_inf_alone(tensor: torch.Tensor) -> bool:
    """Whether what is no number is -inf everywhere: the lse of rows that see nothing."""
    import torch

    return bool((torch.isfinite(tensor) | (tensor == -math.inf)).all())
