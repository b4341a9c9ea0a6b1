"""Problems whose scores have signs that a kernel comparing bits must not mistake.

Softmax does not change with what is subtracted, so a wrong maximum shows only where exponentials leave the numbers'
range: scores here lie hundreds of octaves apart.
"""

from app.kernels.bench import check
from app.kernels.bench.cases import CheckCase
from app.kernels.problem import Problem

SEQLEN, HEAD_DIM, SPREAD = 500, 128, 12.0
SIGNS = ("none", "none, far below 0", "none, and zeros", "of some rows", "of the first keys", "of the last keys")


def problem(signs: str, causal: bool, device: str = "cpu") -> Problem:
    """Two heads whose scores are positive as the name says, else negative."""
    import torch

    case = CheckCase("", "forward", 1, 2, SEQLEN, SEQLEN, HEAD_DIM, causal, "bf16")
    drawn, _ = check.draw(case, device, seed=3)
    rows = torch.arange(SEQLEN, device=device)[:, None]
    growing = 0.2 + 1.3 * rows / SEQLEN
    q, k = drawn.q.abs() * SPREAD * growing, -drawn.k.abs() * growing
    if signs == "of some rows":
        q = torch.where(rows // 8 % 2 == 0, -q, q)  # one of the two rows that a thread has
    elif signs == "of the first keys":  # the last blocks are visited first
        k = torch.where(rows < SEQLEN // 2, -k, k)
    elif signs == "of the last keys":
        k = torch.where(rows >= SEQLEN - 40, -k, k)
    elif signs == "none, far below 0":  # and so the exponentials of all of them, if nothing were subtracted
        k = 6 * k
    elif signs == "none, and zeros":
        k = torch.where((rows % 7 == 0) & (rows < SEQLEN - 200), 0 * k, k)  # not in the block that is visited first
    return Problem(q.to(drawn.q.dtype), k.to(drawn.k.dtype), drawn.v, causal=causal)
