"""Schedules: their sums equal the traffic on both lines, every tile is where it must be, and the order is right."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import assume, given

from app.theory import schedule, traffic
from app.theory.shapes import AttentionShape, BlockShape
from tests.theory import walkers
from tests.theory.strategies import block_of_problem, problems, repeatable, shape_of_problem

CASES = [
    ("standard", "forward", None),
    ("fa1", "forward", None),
    ("fa1", "forward", "with_init"),
    ("fa1", "forward", "acc32"),
    ("fa2", "forward", None),
    ("fa2", "forward", "with_lse"),
    ("standard", "backward", None),
    ("fa1", "backward", None),
    ("fa2", "backward", "kernel"),
    ("fa2", "backward", "listed"),
]
ADJACENT = {("hbm", "l2"), ("l2", "sm"), ("sm", "l2"), ("l2", "hbm")}


def by_tensor(built: schedule.Schedule, line: str) -> dict[tuple[str, str], int]:
    near, far = {"hbm": ("l2", "hbm"), "l2_to_sm": ("sm", "l2")}[line]
    sums: Counter[tuple[str, str]] = Counter()
    for move in built.moves:
        if (move.source, move.target) == (far, near):
            sums[move.tensor, "read"] += move.bytes
        if (move.source, move.target) == (near, far):
            sums[move.tensor, "written"] += move.bytes
    return dict(sums)


@pytest.mark.parametrize(("algorithm", "direction", "variant"), CASES)
@repeatable
@given(problem=problems())
def test_sums_equal_the_traffic_on_both_lines(algorithm, direction, variant, problem):
    shape, block = shape_of_problem(problem), block_of_problem(problem)
    assume(max(len(walkers.cut(problem.seqlen, b)) for b in (problem.block_m, problem.block_n)) <= 32)
    built = schedule.build(algorithm, shape, block, direction, variant)
    for line in traffic.LINES:
        counted = traffic.count(algorithm, shape, block, direction, variant, line)
        expected = {
            (transfer.tensor, way): amount
            for transfer in counted.by_tensor
            for way, amount in (("read", transfer.read_bytes), ("written", transfer.written_bytes))
            if amount
        }
        assert by_tensor(built, line) == expected
        assert built.line_bytes(line) == (counted.read_bytes, counted.written_bytes)


@pytest.mark.parametrize(("algorithm", "direction", "variant"), CASES)
@pytest.mark.parametrize("causal", [False, True])
def test_a_tile_is_on_the_level_it_leaves(algorithm, direction, variant, causal):
    built = schedule.build(algorithm, AttentionShape(70, 8, causal=causal), BlockShape(16, 12), direction, variant)
    on_level: dict[str, set[tuple]] = {"hbm": set(), "l2": set(), "sm": set()}
    # Everything else is written by the pass itself before it may be read.
    found_in_memory = {"forward": {"q", "k", "v"}, "backward": {"q", "k", "v", "o", "do", "stats", "lse"}}[direction]
    if algorithm == "standard" and direction == "backward":
        found_in_memory.add("p")
    # Running values that the loop reads before it writes them; the step that sets them to zero is not counted.
    if variant != "with_init":
        found_in_memory |= {"o", "o_acc", "stats", "dq_acc", "dq"} if algorithm != "standard" else set()
    for move in built.moves:
        tile = (move.tensor, move.m_block, move.n_block)
        assert (move.source, move.target) in ADJACENT
        if move.source == "l2":
            assert tile in on_level["l2"]
        if move.source == "hbm" and move.tensor not in found_in_memory:
            assert tile in on_level["hbm"]
        on_level[move.target].add(tile)


@pytest.mark.parametrize(("algorithm", "direction", "variant"), CASES)
@repeatable
@given(problem=problems(max_heads_kv=1))
def test_steps_count_up_and_stay_in_range(algorithm, direction, variant, problem):
    assume(max(len(walkers.cut(problem.seqlen, b)) for b in (problem.block_m, problem.block_n)) <= 32)
    shape, block = shape_of_problem(problem), block_of_problem(problem)
    built = schedule.build(algorithm, shape, block, direction, variant)
    steps = [move.step for move in built.moves]
    assert all(before <= after for before, after in pairwise(steps))
    assert set(steps) == set(range(built.num_steps))
    assert all(0 <= m < built.blocks_m and 0 <= n < built.blocks_n for _, m, n in built.computes)
    assert all(before[0] < after[0] for before, after in pairwise(built.computes))


def test_unfused_mask_adds_a_phase_whose_sums_equal_the_traffic():
    shape, block = AttentionShape(70, 8, causal=True), BlockShape(16, 12)
    built = schedule.build("standard", shape, block, variant="unfused_mask")
    counted = traffic.count("standard", shape, block, variant="unfused_mask")
    assert built.num_steps == 4 * 5 * 6
    for line in traffic.LINES:
        assert built.line_bytes(line) == (counted.read_bytes, counted.written_bytes)


@pytest.mark.parametrize(
    ("algorithm", "direction", "by_key_block"),
    [("fa1", "forward", True), ("fa2", "forward", False), ("fa1", "backward", True), ("fa2", "backward", True)],
)
@repeatable
@given(problem=problems())
def test_works_on_exactly_the_blocks_the_mask_leaves(algorithm, direction, by_key_block, problem):
    q_blocks, k_blocks = (walkers.cut(problem.seqlen, b) for b in (problem.block_m, problem.block_n))
    assume(max(len(q_blocks), len(k_blocks)) <= 32)
    built = schedule.build(algorithm, shape_of_problem(problem), block_of_problem(problem), direction)
    seen = {
        (m, n)
        for m, queries in enumerate(q_blocks)
        for n, keys in enumerate(k_blocks)
        if walkers.sees(problem, queries, keys)
    }
    assert [(m, n) for _, m, n in built.computes] == sorted(seen, key=lambda pair: pair[::-1] if by_key_block else pair)


def test_fa2_forward_two_by_two():
    # N = 3, d = 2, fp16: tiles of 2 rows (8 B) and 1 row (4 B).
    built = schedule.build("fa2", AttentionShape(3, 2), BlockShape(2, 2))
    assert built.num_steps == 4
    assert [(m.step, m.tensor, m.m_block, m.n_block, m.source, m.target, m.bytes) for m in built.moves] == [
        (0, "q", 0, None, "hbm", "l2", 8),
        (0, "q", 0, None, "l2", "sm", 8),
        (0, "k", None, 0, "hbm", "l2", 8),
        (0, "k", None, 0, "l2", "sm", 8),
        (0, "v", None, 0, "hbm", "l2", 8),
        (0, "v", None, 0, "l2", "sm", 8),
        (1, "k", None, 1, "hbm", "l2", 4),
        (1, "k", None, 1, "l2", "sm", 4),
        (1, "v", None, 1, "hbm", "l2", 4),
        (1, "v", None, 1, "l2", "sm", 4),
        (1, "o", 0, None, "sm", "l2", 8),
        (1, "o", 0, None, "l2", "hbm", 8),
        (2, "q", 1, None, "hbm", "l2", 4),
        (2, "q", 1, None, "l2", "sm", 4),
        (2, "k", None, 0, "l2", "sm", 8),
        (2, "v", None, 0, "l2", "sm", 8),
        (3, "k", None, 1, "l2", "sm", 4),
        (3, "v", None, 1, "l2", "sm", 4),
        (3, "o", 1, None, "sm", "l2", 4),
        (3, "o", 1, None, "l2", "hbm", 4),
    ]


def test_standard_softmax_sends_a_row_of_probabilities_only_when_its_scores_are_complete():
    built = schedule.build("standard", AttentionShape(64, 8), BlockShape(16, 16))
    for m_block in range(4):
        loaded = [move.step for move in built.moves if (move.tensor, move.m_block, move.target) == ("s", m_block, "sm")]
        stored = [move.step for move in built.moves if (move.tensor, move.m_block, move.source) == ("p", m_block, "sm")]
        assert len(loaded) == len(stored) == 4
        assert max(loaded) <= min(stored)


def test_standard_has_one_step_per_score_block_and_phase_even_under_a_causal_mask():
    for causal in (False, True):
        built = schedule.build("standard", AttentionShape(128, 8, causal=causal), BlockShape(16, 32))
        assert (built.blocks_m, built.blocks_n, built.num_steps) == (8, 4, 3 * 8 * 4)
        assert Counter((m, n) for _, m, n in built.computes) == Counter({(m, n): 3 for m in range(8) for n in range(4)})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("least", AttentionShape(64, 8), BlockShape(16, 16)), "algorithm must be one of standard, fa1, fa2"),
        (("fa2", AttentionShape(528, 8), BlockShape(16, 32)), "at most 32 blocks on a side, got 33 x 17"),
        (("fa2", AttentionShape(64, 8), BlockShape(16, 16), "up"), "direction must be forward or backward"),
        (("standard", AttentionShape(64, 8), BlockShape(16, 16), "forward", "v_twice"), "it has no schedule"),
    ],
)
def test_bad_requests_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        schedule.build(*arguments)


def test_standard_backward_sends_a_row_of_score_gradients_only_when_the_row_is_complete():
    built = schedule.build("standard", AttentionShape(64, 8), BlockShape(16, 16), "backward")
    for m_block in range(4):
        loads = [move.step for move in built.moves if (move.tensor, move.m_block, move.target) == ("dp", m_block, "sm")]
        stores = [
            move.step for move in built.moves if (move.tensor, move.m_block, move.source) == ("ds", m_block, "sm")
        ]
        assert len(loads) == len(stores) == 4
        assert max(loads) <= min(stores)


def test_fa2_backward_has_steps_before_and_after_the_score_blocks():
    shape, block = AttentionShape(64, 8), BlockShape(16, 32)
    kernel = schedule.build("fa2", shape, block, "backward")
    assert (kernel.num_steps, len(kernel.computes)) == (4 + 8 + 4, 8)
    assert {move.tensor for move in kernel.moves if move.step < 4} == {"o", "do", "delta"}
    assert {move.tensor for move in kernel.moves if move.step >= 12} == {"dq_acc", "dq"}
    assert schedule.build("fa2", shape, block, "backward", "listed").num_steps == 4 + 8


def test_largest_schedule_is_allowed():
    built = schedule.build("fa2", AttentionShape(512, 8), BlockShape(16, 16))
    assert (built.blocks_m, built.blocks_n, built.num_steps) == (32, 32, 1024)
