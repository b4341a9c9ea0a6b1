"""Makes e4m3 numbers of q, k and v for `fa3_fp8_gluon` and `fa3_fp8_cuda`: one scale for every block of rows of a head.

A block's scale is its largest magnitude / 448, so that this magnitude becomes e4m3's largest number; number × scale is
the value meant. An e4m3 number has 3 bits behind the leading one: it is off by at most 2^-4 of its size, and by at most
2^-10 steps of the scale below 2^-6. Q and K keep their shape. V is turned over, (…, head_dim, rows), because the tensor
cores read 8-bit operands along the summed axis only, and its rows are put into the order in which a thread holds the
probabilities: see `key_of_place`. Source: arXiv 2407.08608, Section 3.3.

`summing` is for a kernel that lets tensor cores add up probabilities: V has a column more, which a probability times
V's scale meets as UNIT · largest scale of the head / scale of the block. For that to be an e4m3 number V's scales are
powers of two, none below LEAST of the head's largest; seven columns of zeros make an instruction's width of it.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from dataclasses import dataclass

import torch
import triton
import triton.language as tl

from app.kernels.launching import launch
from app.kernels.problem import LOG2_E
from app.theory.cluster_roles import SUM_COLUMNS

LARGEST = 448.0  # e4m3's largest number
NOTE = "q, k, v quantised beforehand, not timed"
LEAST, UNIT = 2.0**-14, 2.0**-6  # with summing: UNIT … UNIT / LEAST are e4m3 numbers
PERIOD = 16  # places after which the order of v's rows repeats


@dataclass(frozen=True, slots=True)
class Quantized:
    """e4m3 numbers of one tensor and the scale of each block of `rows` rows, (batch, heads, blocks) in fp32.

    `numbers` are (batch, heads, rows, head_dim) or, `turned`, (batch, heads, head_dim, rows filled up with zeros to
    whole blocks) with the rows of every block in the order of `key_of_place`; `summing`: head_dim and SUM_COLUMNS more.
    """

    numbers: torch.Tensor
    scales: torch.Tensor
    rows: int
    turned: bool = False
    summing: bool = False

    def values(self, seqlen: int) -> torch.Tensor:
        """What the numbers stand for: (batch, heads, seqlen, head_dim) in fp32."""
        numbers = self.numbers.float()
        if self.turned:
            places = torch.arange(numbers.shape[-1], device=numbers.device)
            turned = torch.empty_like(numbers)
            turned[..., key_of_place(places)] = numbers
            columns = turned.shape[2] - (SUM_COLUMNS if self.summing else 0)
            numbers = turned.mT[:, :, :seqlen, :columns]
        return numbers * self.scales.repeat_interleave(self.rows, 2)[:, :, :seqlen, None]


def key_of_place(place: torch.Tensor) -> torch.Tensor:
    """Row of v that stands at a place of the turned tensor.

    Of 16 neighbouring scores, the thread that is t-th of its four holds columns 2t, 2t + 1, 2t + 8 and 2t + 9, and as
    an 8-bit operand it has to give places 4t … 4t + 3. Sums do not mind the order, so v's rows move instead.
    """
    inside = place % PERIOD
    return place - inside + inside // 2 % 2 * 8 + inside // 4 * 2 + inside % 2


LEAST_SCALE = tl.constexpr(LEAST)  # kernels cannot read plain globals


@triton.jit(do_not_specialize=["heads", "seqlen", "places"])
def quantize_block(x, numbers, scales, of_head, x_batch, x_head, x_row, heads, seqlen, places,
                   ROWS: tl.constexpr, BLOCK: tl.constexpr, HEAD_DIM: tl.constexpr,
                   COLUMNS: tl.constexpr, TURN: tl.constexpr, SUMMING: tl.constexpr):  # fmt: skip
    """One block of `ROWS` rows of one head; a block of zeros has scale 0. `BLOCK`: the power of two that holds them.

    `of_head`: the largest scale of each head, for SUMMING only.
    """
    block, head = tl.program_id(0), tl.program_id(1).to(tl.int64)
    inside = tl.arange(0, BLOCK)
    place = block * ROWS + inside
    row = place
    if TURN:
        row = place // 16 * 16 + place // 2 % 2 * 8 + place // 4 % 4 * 2 + place % 2
    column = tl.arange(0, HEAD_DIM)
    start = x + head // heads * x_batch + head % heads * x_head
    real = ((row < seqlen) & (inside < ROWS))[:, None]
    values = tl.load(start + row[:, None].to(tl.int64) * x_row + column[None, :], mask=real, other=0.0)
    values = values.to(tl.float32)
    largest = tl.max(tl.max(tl.abs(values), 1), 0)
    scale = largest / 448.0
    if SUMMING:
        scale = tl.maximum(scale, tl.load(of_head + head) * LEAST_SCALE)
        bits = scale.to(tl.int32, bitcast=True) + 0x7FFFFF
        scale = (bits & 0x7F800000).to(tl.float32, bitcast=True)
    rounded = (values / tl.where(scale > 0, scale, 1.0)).to(tl.float8e4nv)
    if TURN:
        target = numbers + head * COLUMNS * places
        turned = target + column[:, None].to(tl.int64) * places + place[None, :]
        tl.store(turned, tl.trans(rounded), mask=(inside < ROWS)[None, :])
    else:
        target = numbers + head * seqlen * HEAD_DIM
        tl.store(target + row[:, None].to(tl.int64) * HEAD_DIM + column[None, :], rounded, mask=real)
    tl.store(scales + head * tl.num_programs(0) + block, scale)


def quantize(x: torch.Tensor, rows: int, *, turn: bool = False, summing: bool = False) -> Quantized:
    """e4m3 of a (batch, heads, seqlen, head_dim) tensor with contiguous rows, one scale for each `rows` rows.

    `rows` is a multiple of 16. `summing`: with the columns that add up probabilities; for a turned tensor.
    """
    batch, heads, seqlen, head_dim = x.shape
    blocks = -(-seqlen // rows)
    places = blocks * rows if turn else seqlen
    columns = head_dim + (SUM_COLUMNS if summing else 0)
    shape = (batch, heads, columns, places) if turn else (batch, heads, seqlen, head_dim)
    numbers = torch.empty(shape, dtype=torch.float8_e4m3fn, device=x.device)
    scales = torch.empty((batch, heads, blocks), dtype=torch.float32, device=x.device)
    sizes = (*x.stride()[:3], heads, seqlen, places)

    def quantized(of_head: torch.Tensor, *, summing: bool) -> None:
        launch(
            quantize_block,
            (blocks, batch * heads),
            x,
            numbers,
            scales,
            of_head,
            *sizes,
            ROWS=rows,
            BLOCK=triton.next_power_of_2(rows),
            HEAD_DIM=head_dim,
            COLUMNS=columns,
            TURN=turn,
            SUMMING=summing,
            num_warps=8,
        )

    quantized(scales, summing=False)
    if summing:
        quantized(scales.amax(2), summing=True)
        write_sum_columns(numbers, scales, rows)
    return Quantized(numbers, scales, rows, turn, summing)


def write_sum_columns(numbers: torch.Tensor, scales: torch.Tensor, rows: int) -> None:
    """The last SUM_COLUMNS of turned v: UNIT · largest scale of the head / scale of the block, then zeros."""
    largest = scales.amax(2, keepdim=True)
    weights = torch.where(scales == 0, UNIT, UNIT * largest / scales).repeat_interleave(rows, 2)
    first = numbers.shape[2] - SUM_COLUMNS
    numbers[:, :, first] = weights.to(numbers.dtype)
    numbers[:, :, first + 1 :].view(torch.uint8).zero_()


def scale_tables(
    q: Quantized, k: Quantized, v: Quantized, softmax_scale: float, q_blocks: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """What the kernels read scales from, fp32: first q's, (batch · heads, blocks of 64 rows).

    There are as many of these as whole tiles of `q_blocks` have. Second, (batch · kv heads, blocks, 4): k's scale ·
    softmax_scale / ln 2, log2 of v's scale, 1 / v's scale, 1 / (UNIT · largest of v's scales of the head).

    A block of zeros gets a scale that does no harm: any for k, the largest of its head for v.
    """
    q_scales = torch.nn.functional.pad(q.scales, (0, -q.scales.shape[2] % q_blocks))
    k_scales = torch.where(k.scales == 0, 1.0, k.scales) * (softmax_scale * LOG2_E)
    v_scales = torch.where(v.scales == 0, v.scales.amax(2, keepdim=True), v.scales)
    v_scales = torch.where(v_scales == 0, 1.0, v_scales)
    units = (1 / (UNIT * v_scales.amax(2, keepdim=True))).expand_as(k_scales)
    columns = (k_scales, v_scales.log2(), 1 / v_scales, units)
    ready = torch.where(q_scales == 0, 1.0, q_scales)
    return ready.flatten(0, 1).contiguous(), torch.stack(columns, -1).flatten(0, 1).contiguous()
