"""Random problems: lengths that are rarely a multiple of a block, several heads, grouped or not."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from app.theory.block_sparse import BlockPattern
from app.theory.dropout import Dropout
from app.theory.shapes import AttentionShape, BlockShape
from tests.theory.walkers import ELEMENT, Problem

# The same examples in every run, and no deadline: nothing here tests time.
repeatable = settings(deadline=None, derandomize=True, max_examples=60)


@st.composite
def problems(draw: st.DrawFn, max_seqlen: int = 60, max_block: int = 24, max_heads_kv: int = 2) -> Problem:
    heads_kv = draw(st.integers(1, max_heads_kv))
    return Problem(
        seqlen=draw(st.integers(1, max_seqlen)),
        head_dim=draw(st.integers(1, 12)),
        block_m=draw(st.integers(1, max_block)),
        block_n=draw(st.integers(1, max_block)),
        causal=draw(st.booleans()),
        batch=draw(st.integers(1, 2)),
        num_heads=heads_kv * draw(st.integers(1, 3)),
        num_heads_kv=heads_kv,
        dtype=draw(st.sampled_from(sorted(ELEMENT))),
    )


def shape_of_problem(problem: Problem) -> AttentionShape:
    return AttentionShape(
        problem.seqlen,
        problem.head_dim,
        batch=problem.batch,
        num_heads=problem.num_heads,
        num_heads_kv=problem.num_heads_kv,
        causal=problem.causal,
        dtype=problem.dtype,
    )


def block_of_problem(problem: Problem) -> BlockShape:
    return BlockShape(problem.block_m, problem.block_n)


def random_tensors(problem: Problem, seed: int, *names: str) -> list[np.ndarray]:
    """Float64 tensors (batch, heads, seqlen, head_dim) from N(0, 1); k and v with the key/value heads."""
    generator = np.random.default_rng(seed)
    heads = {"k": problem.num_heads_kv, "v": problem.num_heads_kv}
    return [
        generator.standard_normal((problem.batch, heads.get(name, problem.num_heads), problem.seqlen, problem.head_dim))
        for name in names
    ]


@st.composite
def patterns(draw: st.DrawFn, problem: Problem) -> BlockPattern:
    """Any block-sparse pattern that fits the problem, empty rows and columns included."""
    blocks_m, blocks_n = (len(range(0, problem.seqlen, block)) for block in (problem.block_m, problem.block_n))
    row = st.lists(st.booleans(), min_size=blocks_n, max_size=blocks_n).map(tuple)
    return BlockPattern(tuple(draw(st.lists(row, min_size=blocks_m, max_size=blocks_m))))


def dropouts() -> st.SearchStrategy[Dropout | None]:
    return st.none() | st.builds(Dropout, st.integers(0, 2**64 - 1), st.floats(0, 0.8))
