"""The kernel that puts together tiles whose keys were shared out: against attention over all keys."""

import pytest
import torch

from app.kernels.fa3_combine import ROWS, fa3_combine
from app.kernels.launching import launch

BLOCK_M, HEADS = 128, 2


def parts_of(scores: torch.Tensor, v: torch.Tensor, cuts: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Output and log-sum-exp of each run of keys between two cuts, all rows: (parts, rows, columns), (parts, rows)."""
    runs = list(zip([0, *cuts], [*cuts, v.shape[0]], strict=True))
    outputs = [torch.softmax(scores[:, first:end], -1) @ v[first:end] for first, end in runs]
    return torch.stack(outputs), torch.stack([scores[:, first:end].logsumexp(-1) for first, end in runs])


@pytest.mark.parametrize("cuts", [[40], [1, 7, 90]])
def test_parts_become_the_whole(cuts: list[int], device: str, dtype: str) -> None:
    """One tile of head 1 of the second sequence, its rows end in the middle of the block; the rest stays untouched."""
    seqlen, head_dim, m_block, batch, head = 300, 64, 2, 1, 1
    generator = torch.Generator().manual_seed(5)
    scores = 4 * torch.randn(BLOCK_M, 120, generator=generator, dtype=torch.float64)
    v = torch.randn(120, head_dim, generator=generator, dtype=torch.float64)
    part_o, part_lse = (part.float() for part in parts_of(scores, v, cuts))
    before = 3  # slots of other tiles
    part_o = torch.cat([torch.full((before, BLOCK_M, head_dim), torch.nan), part_o]).to(device)
    part_lse = torch.cat([torch.full((before, BLOCK_M), torch.nan), part_lse]).to(device)
    o = torch.full((2, HEADS, seqlen, head_dim), 7.0, dtype={"fp16": torch.float16, "bf16": torch.bfloat16}[dtype])
    lse = torch.full((2, HEADS, seqlen), 7.0)
    o, lse = o.to(device), lse.to(device)
    cut_tiles = torch.tensor([[m_block, batch * HEADS + head, before, len(cuts) + 1]], dtype=torch.int32, device=device)
    launch(fa3_combine, (1, BLOCK_M // ROWS), part_o, part_lse, cut_tiles, o, lse, HEADS, seqlen, *o.stride()[:3],
           BLOCK_M=BLOCK_M, HEAD_DIM=head_dim, ROWS=ROWS)  # fmt: skip

    rows = seqlen - m_block * BLOCK_M
    expected = (torch.softmax(scores, -1) @ v)[:rows].float()
    found = o[batch, head, m_block * BLOCK_M :].float().cpu()
    assert torch.allclose(found, expected, atol=1e-2 if dtype == "bf16" else 1e-3)
    assert torch.allclose(lse[batch, head, m_block * BLOCK_M :].cpu(), scores.logsumexp(-1)[:rows].float(), atol=1e-5)
    assert bool((o[0] == 7).all())
    assert bool((o[:, 0] == 7).all())
    assert bool((o[batch, head, : m_block * BLOCK_M] == 7).all())
    assert bool((lse[batch, head, : m_block * BLOCK_M] == 7).all())
