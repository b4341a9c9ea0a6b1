"""Backward passes as loops over tiles: what is loaded, worked on and stored in which step. Sources: see `accesses`."""

from app.theory import tiling
from app.theory.shapes import AttentionShape, BlockShape
from app.theory.tiles import Tape


def standard(tape: Tape, shape: AttentionShape, block: BlockShape, variant: str) -> None:
    """Algorithm 3, five kernels: dV = PᵀdO; dP = dO·Vᵀ; dS from P and dP; dQ = dS·K; dK = dSᵀQ.

    Each matrix is read once by its kernel. dS needs the row's sum of P∘dP, so a row's dS tiles leave together.
    """
    blocks_m, blocks_n = tiling.grid(shape, block)
    by_row = [(m, n) for m in range(blocks_m) for n in range(blocks_n)]
    by_column = [(m, n) for n in range(blocks_n) for m in range(blocks_m)]
    _matmul_by_column(tape, by_column, blocks_m, scores="p", rows="do", result="dv")
    for m, n in by_row:
        if n == 0:
            tape.load("do", m_block=m)
        if m == 0:
            tape.load("v", n_block=n)
        tape.compute(m, n)
        tape.store("dp", m, n)
        tape.next_step()
    for m, n in by_row:
        tape.load("p", m, n)
        tape.load("dp", m, n)
        tape.compute(m, n)
        if n == blocks_n - 1:
            for column in range(blocks_n):
                tape.store("ds", m, column)
        tape.next_step()
    for m, n in by_row:
        tape.load("ds", m, n)
        if m == 0:
            tape.load("k", n_block=n)
        tape.compute(m, n)
        if n == blocks_n - 1:
            tape.store("dq", m_block=m)
        tape.next_step()
    _matmul_by_column(tape, by_column, blocks_m, scores="ds", rows="q", result="dk")


def _matmul_by_column(
    tape: Tape, order: list[tuple[int, int]], blocks_m: int, *, scores: str, rows: str, result: str
) -> None:
    """result = scoresᵀ · rows, one column of score blocks after the other."""
    for m, n in order:
        tape.load(scores, m, n)
        if n == 0:
            tape.load(rows, m_block=m)
        tape.compute(m, n)
        if m == blocks_m - 1:
            tape.store(result, n_block=n)
        tape.next_step()


def fa1(tape: Tape, shape: AttentionShape, block: BlockShape, variant: str) -> None:
    """Algorithm 4: K/V blocks outside; q blocks pass with O, dO, statistics and dQ, which goes back every time."""
    _kv_outer_loop(tape, shape, block, row_tensors=("q", "o", "do", "stats"), dq="dq")


def fa2(tape: Tape, shape: AttentionShape, block: BlockShape, variant: str) -> None:
    """delta first, one step a q block; then K/V blocks outside; the kernels convert dQ from fp32 at the end."""
    blocks_m, _ = tiling.grid(shape, block)
    for m in range(blocks_m):
        tape.load("o", m_block=m)
        tape.load("do", m_block=m)
        tape.store("delta", m_block=m)
        tape.next_step()
    if variant == "listed":
        _kv_outer_loop(tape, shape, block, row_tensors=("q", "o", "do", "lse", "delta"), dq="dq")
        return
    _kv_outer_loop(tape, shape, block, row_tensors=("q", "do", "lse", "delta"), dq="dq_acc")
    for m in range(blocks_m):
        tape.load("dq_acc", m_block=m)
        tape.store("dq", m_block=m)
        tape.next_step()


def _kv_outer_loop(
    tape: Tape, shape: AttentionShape, block: BlockShape, *, row_tensors: tuple[str, ...], dq: str
) -> None:
    blocks_m, _ = tiling.grid(shape, block)
    for m, n in tiling.kv_outer_order(shape, block):
        if m == tiling.first_m_block(n, shape, block):
            tape.load("k", n_block=n)
            tape.load("v", n_block=n)
        for tensor in (*row_tensors, dq):
            tape.load(tensor, m_block=m)
        tape.compute(m, n)
        tape.store(dq, m_block=m)
        if m == blocks_m - 1:
            tape.store("dk", n_block=n)
            tape.store("dv", n_block=n)
        tape.next_step()
