"""The 8-bit kernel's arithmetic in PyTorch on the CPU, step by step, and the same with one thing wrong.

What it shares with the kernel are the tables of scales and the order of v's rows; what it lacks is the order of the
tensor cores' sums, and their precision.
"""

import torch

from app.kernels.fa3_fp8_gluon import SHIFT
from app.kernels.fa3_fp8_quantize import (
    LARGEST,
    LEAST,
    SUM_COLUMNS,
    Quantized,
    key_of_place,
    scale_tables,
    write_sum_columns,
)
from app.kernels.problem import Bound, Forward, Problem

WRONG = ("v_in_its_own_order", "k_scale_of_next_block", "v_scale_left_out_of_sum", "no_rescale", "shift_left_in_lse")
LN_2 = 0.6931471805599453


def quantized(x: torch.Tensor, rows: int, turned: bool = False, summing: bool = False) -> Quantized:
    """What `fa3_fp8_quantize.quantize` makes, by PyTorch."""
    batch, heads, seqlen, head_dim = x.shape
    filled = torch.nn.functional.pad(x.float(), (0, 0, 0, -seqlen % rows))
    blocks = filled.view(batch, heads, -1, rows, head_dim)
    scales = blocks.abs().amax((-2, -1)) / LARGEST
    if summing:
        least = scales.amax(-1, keepdim=True) * LEAST
        scales = torch.maximum(scales, least)
        scales = torch.where(scales == 0, 0.0, torch.exp2(torch.ceil(torch.log2(scales.double())))).float()
    divisor = torch.where(scales == 0, 1.0, scales)
    numbers = (blocks / divisor[..., None, None]).view_as(filled).to(torch.float8_e4m3fn)
    if not turned:
        return Quantized(numbers[:, :, :seqlen], scales, rows)
    places = key_of_place(torch.arange(filled.shape[2]))
    turned_numbers = numbers.float()[:, :, places].mT.to(torch.float8_e4m3fn)
    if summing:
        more = torch.empty((batch, heads, SUM_COLUMNS, filled.shape[2]), dtype=turned_numbers.dtype)
        turned_numbers = torch.cat((turned_numbers, more), 2)
        write_sum_columns(turned_numbers, scales, rows)
    return Quantized(turned_numbers.contiguous(), scales, rows, turned=True, summing=summing)


def quantize(x: torch.Tensor, rows: int, *, turn: bool = False, summing: bool = False) -> Quantized:
    """In the place of `fa3_fp8_quantize.quantize`."""
    return quantized(x, rows, turn, summing)


def placed(probs: torch.Tensor) -> torch.Tensor:
    """Columns of probabilities in the order in which the kernel's threads hand them on."""
    rows, columns = probs.shape[-2:]
    parts = probs.reshape(*probs.shape[:-2], rows, columns // 16, 2, 4, 2)
    return parts.transpose(-3, -2).reshape(probs.shape)


def attention(problem: Problem, block_n: int, wrong: str = "") -> Bound:
    """Forward pass of self-attention in blocks of 64 rows and `block_n` keys, the last block first."""
    q8, k8 = quantized(problem.q, 64), quantized(problem.k, block_n)
    v8 = quantized(problem.v, block_n, turned=True)
    seqlen = problem.q.shape[2]
    q_scales, tables = scale_tables(q8, k8, v8, problem.softmax_scale, 1)
    tables = tables.unflatten(0, problem.k.shape[:2])
    q_scales = q_scales.view(*problem.q.shape[:2], -1)
    if wrong == "k_scale_of_next_block":
        tables[..., 0] = tables[..., 0].roll(-1, 2)
    if wrong == "v_scale_left_out_of_sum":
        tables[..., 2] = tables[..., 2].mean(-1, keepdim=True)
    o, lse = torch.empty_like(problem.q), torch.empty(problem.q.shape[:3])
    k_all = torch.nn.functional.pad(k8.numbers.float(), (0, 0, 0, -seqlen % block_n))
    for first in range(0, seqlen, 64):
        q = q8.numbers.float()[:, :, first : first + 64]
        rows = torch.arange(first, first + q.shape[2])
        row_max = torch.full(q.shape[:3], -1e30)
        row_sum = torch.zeros(q.shape[:3])
        acc = torch.zeros(q.shape)
        visits = -(-min(seqlen, first + 64 if problem.causal else seqlen) // block_n)
        for block in reversed(range(visits)):
            keys = torch.arange(block * block_n, (block + 1) * block_n)
            scale, lift, back, _ = tables[:, :, block].unbind(-1)
            scores = q @ k_all[:, :, keys].mT * (scale * q_scales[:, :, first // 64])[..., None, None]
            last = rows.clamp(max=seqlen - 1) if problem.causal else torch.full_like(rows, seqlen - 1)
            scores = scores.masked_fill(keys[None, :] > last[:, None], float("-inf"))
            new_max = torch.maximum(row_max, scores.amax(-1) + lift[..., None])
            probs = torch.exp2(scores - (new_max - lift[..., None] - SHIFT)[..., None])
            rescale = torch.ones_like(row_max) if wrong == "no_rescale" else torch.exp2(row_max - new_max)
            row_sum = row_sum * rescale + probs.sum(-1) * back[..., None]
            row_max = new_max
            v = v8.numbers.float()[..., keys].mT
            if wrong != "v_in_its_own_order":
                probs = placed(probs)
            acc = acc * rescale[..., None] + probs.to(torch.float8_e4m3fn).float() @ v
        o[:, :, first : first + 64] = (acc / row_sum[..., None]).to(o.dtype)
        shift = 0 if wrong == "shift_left_in_lse" else SHIFT
        lse[:, :, first : first + 64] = (row_max + row_sum.log2() - shift) * LN_2

    def meant() -> Problem:
        q, k, v = (x.values(seqlen) for x in (q8, k8, v8))
        return Problem(q, k, v, causal=problem.causal)

    return Bound(lambda: Forward(o, lse), meant=meant)
