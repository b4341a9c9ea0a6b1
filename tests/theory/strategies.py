"""Random problems: lengths that are rarely a multiple of a block, several heads, grouped or not."""

from hypothesis import settings
from hypothesis import strategies as st

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
