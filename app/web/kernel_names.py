"""How the pages call the kernels of the records, and how a plot tells them apart: by shape of mark and by dash."""

from __future__ import annotations

from dataclasses import dataclass

CIRCLE = "M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0z"
SQUARE = "M-3-3h6v6h-6z"
TRIANGLE = "M0-4l3.8 6.8h-7.6z"
TURNED = "M0 4l3.8-6.8h-7.6z"
DIAMOND = "M0-4.4l3.8 4.4l-3.8 4.4l-3.8-4.4z"
CROSS = "M-3-3l6 6M-3 3l6-6"
PLUS = "M-4 0h8M0-4v8"
BAR = "M-4-1.2h8v2.4h-8z"


@dataclass(frozen=True, slots=True)
class KernelName:
    """A kernel on the page: its id, its name, whose it is, the mark of its points and the class of its colour.

    Only `exact` kernels are compared in a headline: the others do less work than is counted for them, or do it in
    fewer bits. Where it is not the `whole` work there is no rate either: the operations counted were not done.
    """

    id: str
    name: str
    ours: bool
    mark: str
    colour: str
    idea: str = ""
    exact: bool = True
    whole: bool = True


NAMES: dict[str, KernelName] = {
    item.id: item
    for item in (
        KernelName("standard", "Standard", True, SQUARE, "s", "S and P go to memory"),
        KernelName("fa1_triton", "First version’s order", True, TRIANGLE, "k", "K and V outside, a running tally"),
        KernelName("fa2_triton", "Second version’s order", True, CIRCLE, "o", "Q outside, O written once"),
        KernelName("fa3_gluon", "Third version’s means", True, DIAMOND, "v", "TMA, producer and consumers"),
        KernelName("fa3_cuda", "The same in CUDA C++", True, PLUS, "v", "blocks of any size, a third consumer"),
        KernelName("fa3_fp8_gluon", "Third version’s means, 8 bits", True, CROSS, "v", "e4m3 numbers", exact=False),
        KernelName("fa3_fp8_cuda", "8 bits in CUDA C++", True, TURNED, "v", "e4m3 numbers, larger blocks", exact=False),
        KernelName("blocksparse_triton", "Blocks left out (approximate)", True, BAR, "q", exact=False, whole=False),
        KernelName("torch_three_calls", "Three PyTorch calls", False, SQUARE, "peer"),
        KernelName("sdpa_math", "PyTorch, plain operators", False, BAR, "peer"),
        KernelName("sdpa_efficient", "Memory-efficient (PyTorch)", False, PLUS, "peer"),
        KernelName("sdpa_flash", "FlashAttention-2 (PyTorch)", False, CIRCLE, "peer"),
        KernelName("sdpa_cudnn", "cuDNN (PyTorch)", False, CROSS, "peer"),
        KernelName("fa3_wheel", "FlashAttention-3 (wheel)", False, DIAMOND, "peer"),
    )
}


def named(kernel: str) -> KernelName:
    """The kernel's name; one that nobody has named goes by its id."""
    return NAMES.get(kernel) or KernelName(kernel, kernel, False, TURNED, "peer")


def place(kernel: str) -> int:
    """Where it stands in a list: rungs first, then peers, then what has no name."""
    return list(NAMES).index(kernel) if kernel in NAMES else len(NAMES)
