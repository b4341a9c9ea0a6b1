"""What every kernel is checked against: attention in float64, and plain attention in the tensors' own precision.

Both are the same few lines, whole rows at a time and no tricks. In float64 they are the truth; in bf16 or fp16, each
step rounded as PyTorch rounds it, they say how much error same-precision code makes anyway. Rows are taken in chunks so
that long sequences fit in memory; a chunk's result does not depend on its size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from app.kernels.problem import Problem
from app.theory.block_sparse import BlockPattern
from app.theory.shapes import BlockShape

if TYPE_CHECKING:
    import torch

# Entries of the score matrix worked on at once: 1 GiB in float64.
CHUNK_ENTRIES = 2**27


@dataclass(frozen=True, slots=True)
class Results:
    """Tensors by name: o and lse, and with a gradient of the output also dq, dk, dv; (heads, rows, head_dim).

    Where query heads share k and v, dk and dv are of the key/value heads: sums over each group.

    `spread`, where asked for, is √(Σ p² |v|²) over the keys of each row: how far o moves, as a root mean square, when
    every probability p is off by a share of its own of it, for each unit of that share.
    """

    tensors: dict[str, torch.Tensor]


def exact(
    problem: Problem,
    heads: list[int],
    pattern: BlockPattern | None = None,
    block: BlockShape | None = None,
    *,
    spread: bool = False,
) -> Results:
    """float64 results of the heads named (counted over the batch). A pattern comes with its block shape."""
    import torch

    return _attention(problem, heads, torch.float64, pattern, block, spread)


def plain(
    problem: Problem, heads: list[int], pattern: BlockPattern | None = None, block: BlockShape | None = None
) -> Results:
    """The same in the problem's own dtype."""
    return _attention(problem, heads, problem.q.dtype, pattern, block)


def of_heads(tensor: torch.Tensor, heads: list[int]) -> torch.Tensor:
    """(batch, num_heads, …) → (len(heads), …)."""
    import torch

    num_heads = tensor.shape[1]
    return torch.stack([tensor[head // num_heads, head % num_heads] for head in heads])


def _attention(
    problem: Problem,
    heads: list[int],
    dtype: torch.dtype,
    pattern: BlockPattern | None,
    block: BlockShape | None,
    spread: bool = False,
) -> Results:
    import torch

    wide = torch.float64 if dtype == torch.float64 else torch.float32  # what sums over chunks are kept in
    group = problem.q.shape[1] // problem.k.shape[1]
    heads_kv = [head // group for head in heads]  # heads are counted over the batch, and so are these
    q = of_heads(problem.q, heads).to(dtype)
    k, v = (of_heads(tensor, heads_kv).to(dtype) for tensor in (problem.k, problem.v))
    do = None if problem.do is None else of_heads(problem.do, heads).to(dtype)
    rows_at_once = max(1, CHUNK_ENTRIES // (len(heads) * k.shape[1]))
    kept_blocks = None if pattern is None else torch.tensor(pattern.kept, device=q.device)
    by_chunk: dict[str, list[torch.Tensor]] = {"o": [], "lse": [], "dq": [], "spread": [], "weight": []}
    dk, dv = (torch.zeros(k.shape, dtype=wide, device=k.device) for _ in range(2))
    for start in range(0, q.shape[1], rows_at_once):
        rows = slice(start, min(start + rows_at_once, q.shape[1]))
        scores = q[:, rows] @ k.mT * problem.softmax_scale
        visible = _visible(problem, rows, kept_blocks, block)
        if visible is not None:
            scores = scores.masked_fill(~visible, float("-inf"))
        probs = torch.softmax(scores, -1)
        if pattern is not None:
            probs = probs.nan_to_num(0.0)  # rows that see nothing
        factor = _dropout_factor(problem, heads, rows)
        kept = probs if factor is None else probs * factor.to(dtype)
        by_chunk["o"].append(kept @ v)
        by_chunk["lse"].append(torch.logsumexp(scores.to(wide), -1))
        if spread:
            by_chunk["spread"].append((probs.square() @ v.square().sum(-1, keepdim=True)).sqrt().squeeze(-1))
            by_chunk["weight"].append(probs.square().sum(-1).sqrt())
        if do is None:
            continue
        dprobs = do[:, rows] @ v.mT
        if factor is not None:
            dprobs = dprobs * factor.to(dtype)
        dscores = torch.ops.aten._softmax_backward_data(dprobs, probs, -1, dtype) * problem.softmax_scale
        by_chunk["dq"].append(dscores @ k)
        dk += dscores.to(wide).mT @ q[:, rows].to(wide)
        dv += kept.to(wide).mT @ do[:, rows].to(wide)
    tensors = {name: torch.cat(chunks, 1) for name, chunks in by_chunk.items() if chunks}
    if do is not None:
        tensors |= {name: _of_groups(sums, heads, group).to(dtype) for name, sums in (("dk", dk), ("dv", dv))}
    return Results(tensors)


def _of_groups(sums: torch.Tensor, heads: list[int], group: int) -> torch.Tensor:
    """Sums over the query heads of each group. ValueError when `heads` are not whole groups, one after the other."""
    firsts = heads[::group]
    if heads != [first + i for first in firsts for i in range(group)] or any(first % group for first in firsts):
        raise ValueError(f"gradients of shared k and v need whole groups of {group} heads, got {heads}")
    return sums.unflatten(0, (len(firsts), group)).sum(1)


def _visible(
    problem: Problem, rows: slice, kept_blocks: torch.Tensor | None, block: BlockShape | None
) -> torch.Tensor | None:
    """(rows, keys) booleans, or None when everything is visible."""
    import torch

    row = torch.arange(rows.start, rows.stop, device=problem.q.device)[:, None]
    key = torch.arange(problem.k.shape[2], device=problem.q.device)[None, :]
    visible = key <= row if problem.causal else None
    if kept_blocks is not None and block is not None:
        kept = kept_blocks[row // block.block_m, key // block.block_n]
        visible = kept if visible is None else visible & kept
    return visible


def _dropout_factor(problem: Problem, heads: list[int], rows: slice) -> torch.Tensor | None:
    """0 where an entry is dropped, 1 / (1 - probability) where kept, from the theory's own generator."""
    import torch

    if problem.dropout is None:
        return None
    factor = problem.dropout.factor(np.array(heads), np.arange(rows.start, rows.stop), np.arange(problem.k.shape[2]))
    return torch.from_numpy(factor).to(problem.q.device)
