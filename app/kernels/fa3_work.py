"""The work lists of the FlashAttention-3-style kernels on the device, and the room for tiles that were cut."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch

from app.kernels import fa3_schedule
from app.kernels.fa3_combine import ROWS, fa3_combine
from app.kernels.launching import launch
from app.kernels.problem import Sizes


@dataclass(frozen=True, slots=True)
class Work:
    """Lists as `fa3_schedule.flat` makes them, who works on them, the tiles that were cut, and into how many parts.

    `listed` entries in all, for `thread_blocks` thread blocks (or clusters).
    """

    starts: torch.Tensor
    tiles: torch.Tensor
    listed: int
    thread_blocks: int
    cut_tiles: torch.Tensor
    parts: int
    block_m: int


@lru_cache(maxsize=64)
def work(
    sizes: Sizes,
    *,
    block_m: int,
    block_n: int,
    causal: bool,
    thread_blocks: int,
    cut_last: bool,
    device: torch.device,
    element_bytes: int = 2,
    drawn: bool = False,
) -> Work:
    """Self-attention of `sizes` shared out among `thread_blocks` (or clusters), `block_m` rows of q a tile.

    `element_bytes` is what a number of k or v takes; `drawn`: one list for all.
    """
    lists = fa3_schedule.schedule(
        seqlen=sizes.seqlen_q,
        heads=sizes.heads,
        block_m=block_m,
        block_n=block_n,
        causal=causal,
        bytes_per_head=2 * sizes.seqlen_k * sizes.head_dim * element_bytes * sizes.num_heads_kv // sizes.num_heads or 1,
        thread_blocks=thread_blocks,
        cut_last=cut_last,
        drawn=drawn,
    )
    numbers = (*fa3_schedule.flat(lists), fa3_schedule.cut_tiles(lists))
    starts, tiles, cut_tiles = (torch.tensor(listed, dtype=torch.int32, device=device) for listed in numbers)
    listed = sum(map(len, lists))
    busy = min(thread_blocks, listed) if drawn else len(lists)
    return Work(starts, tiles, listed, busy, cut_tiles, fa3_schedule.parts(lists), block_m)


def room_for_parts(work: Work, q: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(part_o, part_lse): fp32, `block_m` rows for each part, at least one so that there is an address.

    NaN until written: what another run left in that memory may not pass for this one's.
    """
    part_o = q.new_full((max(1, work.parts), work.block_m, q.shape[-1]), float("nan"), dtype=torch.float32)
    return part_o, part_o.new_full(part_o.shape[:2], float("nan"))


def combine(work: Work, parts: tuple[torch.Tensor, torch.Tensor], o: torch.Tensor, lse: torch.Tensor) -> None:
    """Put the tiles that were cut together; nothing when there are none."""
    if not work.parts:
        return
    heads, seqlen, head_dim = o.shape[1:]
    grid = (work.cut_tiles.shape[0], work.block_m // ROWS)
    places = (*parts, work.cut_tiles, o, lse, heads, seqlen, *o.stride()[:3])
    launch(fa3_combine, grid, *places, BLOCK_M=work.block_m, HEAD_DIM=head_dim, ROWS=ROWS, num_warps=1)
