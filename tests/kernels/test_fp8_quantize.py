"""Quantising to e4m3: numbers, scales, and the order of v's rows.

Triton's interpreter does not carry when it rounds to e4m3, so it gets inputs that need no rounding; that the rounding
is e4m3's own is PyTorch's part here and the bench's on a GPU.
"""

import pytest
import torch

from app.kernels import fa3_fp8_quantize as quantizing
from tests.kernels import fp8_emulation


def representable(seqlen: int, head_dim: int, rows: int, dtype: torch.dtype, device: str) -> torch.Tensor:
    """Random e4m3 numbers, 448 in every block, times a power of two for each block; one block is zero."""
    generator = torch.Generator().manual_seed(seqlen)
    blocks = -(-seqlen // rows)
    numbers = torch.randint(-7, 8, (2, 2, blocks, rows, head_dim), generator=generator) * 2.0
    numbers[..., 0, 0] = 448.0
    numbers *= torch.exp2(torch.randint(-9, -3, (2, 2, blocks, 1, 1), generator=generator).float())
    numbers[1, 1, -1] = 0
    return numbers.view(2, 2, -1, head_dim)[:, :, :seqlen].to(dtype).to(device)


@pytest.mark.parametrize("turn", [False, True])
@pytest.mark.parametrize(
    ("seqlen", "head_dim", "rows"), [(1, 64, 64), (150, 64, 64), (129, 128, 128), (300, 64, 256), (500, 128, 192)]
)
def test_what_needs_no_rounding_comes_back_exactly(
    seqlen: int, head_dim: int, rows: int, turn: bool, device: str
) -> None:
    x = representable(seqlen, head_dim, rows, torch.float16, device)
    strided = x.transpose(1, 2).contiguous().transpose(1, 2)
    found = quantizing.quantize(strided, rows, turn=turn)
    expected = fp8_emulation.quantized(x.cpu(), rows, turn)
    assert torch.equal(found.scales.cpu(), expected.scales)
    assert torch.equal(found.numbers.float().cpu(), expected.numbers.float())
    assert torch.equal(found.values(seqlen), x.float())
    if turn:
        assert found.numbers.shape == (2, 2, head_dim, -(-seqlen // rows) * rows)


@pytest.mark.parametrize(("seqlen", "rows"), [(1, 192), (150, 64), (500, 192)])
def test_columns_that_sum_weigh_every_block_alike(seqlen: int, rows: int, device: str) -> None:
    """A probability comes multiplied with V's scale; times the column's number that is the same for all blocks."""
    x = representable(seqlen, 128, rows, torch.float16, device)
    found = quantizing.quantize(x, rows, turn=True, summing=True)
    expected = fp8_emulation.quantized(x.cpu(), rows, turned=True, summing=True)
    assert torch.equal(found.scales.cpu(), expected.scales)
    assert torch.equal(found.numbers.float().cpu(), expected.numbers.float())
    assert torch.equal(found.values(seqlen), x.float())
    exponents = torch.frexp(found.scales[found.scales > 0])[0]
    assert bool((exponents == 0.5).all()), "powers of two"
    summing = found.numbers.float()[..., -quantizing.SUM_COLUMNS :, :]
    assert not bool(summing[..., 1:, :].any())
    weighed = summing[..., 0, :] * found.scales.repeat_interleave(rows, 2)
    largest = found.scales.amax(2, keepdim=True)
    there = (found.scales > 0).repeat_interleave(rows, 2)
    assert torch.equal(weighed[there], (quantizing.UNIT * largest).expand_as(there)[there])


def test_a_block_that_is_tiny_beside_its_head_has_a_scale_its_column_can_say(device: str) -> None:
    x = torch.full((1, 1, 128, 64), 2.0**-9, dtype=torch.float16, device=device)
    x[:, :, 64:] = 2.0**-9 * 2.0**-14
    x[:, :, :64] = 30000.0
    found = quantizing.quantize(x, 64, turn=True, summing=True)
    assert float(found.scales[0, 0, 1]) >= quantizing.LEAST * float(found.scales[0, 0, 0])
    numbers = found.numbers.float()[0, 0, 64]
    assert float(numbers[0]) == quantizing.UNIT
    assert float(numbers[64]) == quantizing.UNIT / quantizing.LEAST == 2.0**8
    off = (found.values(128) - x.float())[:, :, 64:].abs().max()
    assert float(off) <= 2.0**-10 * float(found.scales[0, 0, 1])


def test_every_row_has_one_place_and_keeps_to_its_sixteen() -> None:
    places = torch.arange(256)
    keys = quantizing.key_of_place(places)
    assert torch.equal(keys.sort().values, places)
    assert torch.equal(keys // 16, places // 16)
    assert keys[:16].tolist() == [0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15]


@pytest.mark.parametrize("turned", [False, True])
def test_an_e4m3_number_is_off_by_a_sixteenth_at_most(turned: bool) -> None:
    x = torch.randn(1, 2, 200, 64, generator=torch.Generator().manual_seed(1))
    found = fp8_emulation.quantized(x, 64, turned)
    smallest = found.scales.repeat_interleave(64, 2)[:, :, :200, None] * 2.0**-10
    assert bool(((found.values(200) - x).abs() <= torch.maximum(x.abs() * 2.0**-4, smallest) * 1.0001).all())
