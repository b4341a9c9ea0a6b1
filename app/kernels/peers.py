"""The libraries our kernels are measured against, called as a PyTorch user would call them. None is a dependency.

Each is tied to a problem like our own kernels. Results are allocated by the library, so they cannot be filled with NaN
beforehand; `poison` leaves NaN in the memory the allocator will hand out next. No peer is ever put in another's place:
one that cannot run says why.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from app.kernels.problem import Bound, Forward, Gradients, Problem, check
from app.theory.shapes import BlockShape

if TYPE_CHECKING:
    import torch

# Library and pass → where its kernels' names tell (block_m, block_n).
BLOCK_NAMES = {
    ("sdpa_flash", "forward"): r"flash_fwd_kernel<Flash_fwd_kernel_traits<\d+, (\d+), (\d+)",
    ("sdpa_flash", "backward"): r"seqk_parallel_kernel<Flash_bwd_kernel_traits<\d+, (\d+), (\d+)",
    ("sdpa_cudnn", "forward"): r"flash_fprop_wgmma_\w*?_(\d+)x(\d+)x\d+_4x1x1",
    ("fa3_wheel", "forward"): r"CollectiveMainloopFwdSm90<.*?cute::tuple<cute::C<(\d{2,})>, cute::C<(\d{2,})>",
}
# cuDNN names the rows of one warpgroup. Two share each block of K and V: the bytes its kernels took from the L2 cache
# at every size counted so far are those of twice the rows.
WARPGROUPS = {"sdpa_cudnn": 2}


def block_of(kernel: str, names: Sequence[str], direction: str) -> BlockShape | None:
    """The block a library's kernels really used, read from their names; None where they do not tell.

    Also None when the keys of one block of queries are shared out among thread blocks, which no count here describes.
    """
    pattern = BLOCK_NAMES.get((kernel, direction))
    if pattern is None or any("splitkv" in name for name in names):
        return None
    found = next((match for match in (re.search(pattern, name) for name in names) if match), None)
    if found is None:
        return None
    return BlockShape(int(found[1]) * WARPGROUPS.get(kernel, 1), int(found[2]))


def poison(tensors: list[torch.Tensor]) -> None:
    """Fill as much memory as the tensors take with NaN and give it back to the allocator."""
    import torch

    filled = [torch.full_like(tensor, float("nan")) for tensor in tensors]
    del filled


def sdpa_math(problem: Problem) -> Bound:
    """PyTorch's scaled_dot_product_attention, the plain composition of operators."""
    return _sdpa(problem, "MATH")


def sdpa_flash(problem: Problem) -> Bound:
    """scaled_dot_product_attention by FlashAttention-2."""
    return _sdpa(problem, "FLASH_ATTENTION")


def sdpa_efficient(problem: Problem) -> Bound:
    """scaled_dot_product_attention by the memory-efficient kernel of xFormers."""
    return _sdpa(problem, "EFFICIENT_ATTENTION")


def sdpa_cudnn(problem: Problem) -> Bound:
    """scaled_dot_product_attention by cuDNN."""
    return _sdpa(problem, "CUDNN_ATTENTION")


def torch_three_calls(problem: Problem) -> Bound:
    """S = QKᵀ·scale, P = softmax(S), O = PV as three calls; under a causal mask a fourth one fills S with -inf."""
    import torch

    check(problem, same_lengths=True)
    q, k, v = _leaves(problem)
    flat = (-1, *q.shape[2:])
    hidden = None
    if problem.causal:
        hidden = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device).triu(1)
    nothing = q.new_zeros(1, 1, 1)

    def attention() -> torch.Tensor:
        # the scale rides along in the product, as the fastest way of writing it does
        scores = torch.baddbmm(nothing, q.view(flat), k.view(flat).mT, beta=0, alpha=problem.softmax_scale)
        if hidden is not None:
            scores = scores.masked_fill_(hidden, float("-inf"))
        return torch.bmm(torch.softmax(scores, -1), v.view(flat)).view(q.shape)

    return _with_autograd(problem, (q, k, v), attention)


def fa3_wheel(problem: Problem) -> Bound:
    """FlashAttention-3 from its wheel, forward only; it wants (batch, seqlen, num_heads, head_dim)."""
    import flash_attn_interface

    check(problem, same_lengths=True)
    q, k, v = (tensor.transpose(1, 2).contiguous() for tensor in (problem.q, problem.k, problem.v))

    def run() -> Forward:
        given: Any = flash_attn_interface.flash_attn_func(q, k, v, causal=problem.causal)
        return Forward((given[0] if isinstance(given, tuple) else given).transpose(1, 2), None)

    return Bound(run)


def _sdpa(problem: Problem, backend: str) -> Bound:
    import torch
    from torch.nn import attention as choice

    check(problem, same_lengths=True)
    q, k, v = _leaves(problem)

    def attention() -> torch.Tensor:
        with choice.sdpa_kernel([getattr(choice.SDPBackend, backend)]):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=problem.causal)

    return _with_autograd(problem, (q, k, v), attention)


def _leaves(problem: Problem) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    wanted = problem.do is not None
    q, k, v = (tensor.detach().requires_grad_(wanted) for tensor in (problem.q, problem.k, problem.v))
    return q, k, v


def _with_autograd(
    problem: Problem,
    leaves: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    attention: Any,
) -> Bound:
    """Forward without recording; backward through a forward pass recorded once."""
    import torch

    def run() -> Forward:
        with torch.no_grad():
            return Forward(attention(), None)

    if problem.do is None:
        return Bound(run)
    o = attention()

    def run_backward() -> Gradients:
        return Gradients(*torch.autograd.grad(o, leaves, problem.do, retain_graph=True))

    return Bound(run, run_backward)
