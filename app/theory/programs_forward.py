"""Forward passes as loops over tiles: what is loaded, worked on and stored in which step. Sources: see `accesses`."""

from app.theory import tiling
from app.theory.shapes import AttentionShape, BlockShape
from app.theory.tiles import Tape


def standard(tape: Tape, shape: AttentionShape, block: BlockShape, variant: str) -> None:
    """Three kernels, S = QKᵀ, P = softmax(S), O = PV (and one for an unfused mask), each step one score block.

    Each input matrix is read once by its kernel, as the model counts. A row of S must be complete before its softmax
    is known, so the row's tiles come in one a step and its P tiles leave together in the last one. Under a causal mask
    S and P stay full.
    """
    blocks_m, blocks_n = tiling.grid(shape, block)
    all_blocks = [(m, n) for m in range(blocks_m) for n in range(blocks_n)]
    for m, n in all_blocks:
        if n == 0:
            tape.load("q", m_block=m)
        if m == 0:
            tape.load("k", n_block=n)
        tape.compute(m, n)
        tape.store("s", m, n)
        tape.next_step()
    if variant == "unfused_mask":
        for m, n in all_blocks:
            tape.load("s", m, n)
            tape.compute(m, n)
            tape.store("s", m, n)
            tape.next_step()
    for m, n in all_blocks:
        tape.load("s", m, n)
        tape.compute(m, n)
        if n == blocks_n - 1:
            for column in range(blocks_n):
                tape.store("p", m, column)
        tape.next_step()
    for m, n in all_blocks:
        tape.load("p", m, n)
        if m == 0:
            tape.load("v", n_block=n)
        tape.compute(m, n)
        if n == blocks_n - 1:
            tape.store("o", m_block=m)
        tape.next_step()


def fa1(tape: Tape, shape: AttentionShape, block: BlockShape, variant: str) -> None:
    """K/V blocks outside: each stays on the SM while the q blocks pass with their O and statistics, which go back.

    In variant acc32 the running output is fp32 (tensor o_acc) and is the result.
    """
    blocks_m, _ = tiling.grid(shape, block)
    o = "o_acc" if variant == "acc32" else "o"
    if variant == "with_init":
        for m in range(blocks_m):
            tape.store(o, m_block=m)
            tape.store("stats", m_block=m)
            tape.next_step()
    for m, n in tiling.kv_outer_order(shape, block):
        if m == tiling.first_m_block(n, shape, block):
            tape.load("k", n_block=n)
            tape.load("v", n_block=n)
        tape.load("q", m_block=m)
        tape.load(o, m_block=m)
        tape.load("stats", m_block=m)
        tape.compute(m, n)
        tape.store(o, m_block=m)
        tape.store("stats", m_block=m)
        tape.next_step()


def fa2(tape: Tape, shape: AttentionShape, block: BlockShape, variant: str) -> None:
    """q blocks outside: each stays on the SM while the K/V blocks it needs pass; O leaves at the end of the row."""
    for m, n in tiling.q_outer_order(shape, block):
        if n == 0:
            tape.load("q", m_block=m)
        tape.load("k", n_block=n)
        tape.load("v", n_block=n)
        tape.compute(m, n)
        if n == tiling.last_n_block(m, shape, block):
            tape.store("o", m_block=m)
            if variant == "with_lse":
                tape.store("lse", m_block=m)
        tape.next_step()
