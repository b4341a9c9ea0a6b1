"""The CUDA kernel's source, run without a GPU: right by the bench's own rule, in whatever order its threads go on.

Threads, copies and tensor cores of a cluster are emulated (`emulated.py`), late and early by chance, so a wait that is
missing is found here and not only on a GPU, where it may hold for years. That the emulator can tell is shown by kernels
with one passage made wrong.
"""

import math
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch

from tests.kernels.emulated import COMPILER, SEEDS, Emulator, case, is_found

if COMPILER is None:
    pytest.skip("there is no C++ compiler here", allow_module_level=True)

from app.kernels import fa3_cuda, fa3_schedule
from app.kernels.bench import check
from app.kernels.bench.cases import CheckCase
from app.kernels.problem import Problem
from app.theory import cluster_roles
from app.theory.cluster_roles import ClusterRoles

SMS = 4
FAR_APART = 30.0  # standard deviation of q: a row's largest score grows more than 256-fold from block to block
forward = partial(case, "forward")
CODE = sorted(
    {
        (head_dim, causal, roles)
        for (head_dim, causal), defaults in cluster_roles.DEFAULTS.items()
        for roles in defaults
    },
    key=str,
)
IN_PAIRS = ClusterRoles(2, 128, 2, 2, 2, lazy=True)
IN_ORDER = replace(IN_PAIRS, lazy=False, late=25, ordered=True, relying=True)
ALONE = ClusterRoles(2, 80, 2, 1, 1)
HALF_HELD = ClusterRoles(
    2, 176, 2, 1, 2, 240, 24, late=20, lazy=True, ordered=True, relying=True, held=4, agreeing=True, cut_last=True
)
FITTED = ClusterRoles(2, 128, 2, 1, 1, late=25, patient=True, ordered=True, held=8, fitted=True)
THREE = ClusterRoles(3, 80, 2, 1, 1, 160, 32, lazy=True, ordered=True, relying=True, agreeing=True, cut_last=True)
THREE_IN_PAIRS = replace(THREE, cluster=2, ordered=False)


def verdict(emulator: Emulator, case: CheckCase, roles: ClusterRoles, problem: Problem | None = None) -> check.Verdict:
    """What the bench's rule says about one run; RuntimeError if the kernel does not come to its end."""
    fa3_cuda._loaded.cache_clear()
    drawn, _ = check.draw(case, "cpu", seed=7)
    with emulator.in_place(SMS):
        bound = fa3_cuda.bind(problem or drawn, roles)
        found = check.results(bound, "forward")
    return check.judge(found, check.truth(problem or drawn, bound), case.dtype)


@pytest.mark.parametrize(("head_dim", "causal", "roles"), CODE, ids=str)
def test_every_choice_is_right(folder: Path, head_dim: int, causal: bool, roles: ClusterRoles) -> None:
    """Lengths around a block and a tile, and one of several tiles a list, so that every place is used again.

    There the scores are so far apart that no choice can do without rescaling.
    """
    for seqlen, spread in ((1, 1.0), (129, 1.0), (777, FAR_APART)):
        problem = forward(seqlen, head_dim, causal, dtype="fp16", spread=spread)
        found = verdict(Emulator(folder, seed=seqlen), problem, roles)
        assert found.ok, (seqlen, found.message)


CUT = sorted({(head_dim, roles) for head_dim, _, roles in CODE if roles.cut_last}, key=str)


def of_cut_tiles(emulator: Emulator, head_dim: int, roles: ClusterRoles) -> check.Verdict:
    """On one head of the shortest sequence whose last tiles are cut, by `fa3_schedule`'s own count."""

    def parts(seqlen: int) -> int:
        rows, lists = roles.block_m * roles.cluster, SMS // roles.cluster
        work = {"bytes_per_head": 1, "thread_blocks": lists, "causal": False, "cut_last": True}
        return fa3_schedule.parts(
            fa3_schedule.schedule(seqlen=seqlen, heads=1, block_m=rows, block_n=roles.block_n, **work)
        )

    seqlen = next(seqlen for seqlen in range(301, 4096, 100) if parts(seqlen))
    return verdict(emulator, forward(seqlen, head_dim, False, num_heads=1), roles)


@pytest.mark.parametrize(("head_dim", "roles"), CUT, ids=str)
def test_tiles_that_are_cut_along_the_keys_are_put_together(folder: Path, head_dim: int, roles: ClusterRoles) -> None:
    found = of_cut_tiles(Emulator(folder), head_dim, roles)
    assert found.ok, found.message


WRONG_PARTS = {
    "parts of a pair lie upon each other": ("tile.slot * CLUSTER * BLOCK_M", "tile.slot * BLOCK_M"),
    "each part begins at the first key": (
        "count, rank, block, head_kv",
        "count, rank, block - tile.first_block, head_kv",
    ),
    "a part's weight is the largest score's": ("a.part_lse[place] = lse;", "a.part_lse[place] = rows.max[half];"),
    "a part is written as if it were the whole": ("if (tile.slot >= 0) {", "if (tile.slot >= 1) {"),
}


@pytest.mark.parametrize("edit", WRONG_PARTS.values(), ids=WRONG_PARTS)
def test_parts_that_are_wrong_are_found(folder: Path, edit: tuple[str, str]) -> None:
    assert is_found(lambda seed: of_cut_tiles(Emulator(folder, edit, seed), 128, THREE_IN_PAIRS))


def of_one_key(emulator: Emulator, head_dim: int, causal: bool, roles: ClusterRoles, heads: int = 16) -> bool:
    """Whether rows that see one key, whatever their score's sign, get just that key's V."""
    fa3_cuda._loaded.cache_clear()
    drawn, _ = check.draw(forward(1, head_dim, causal, dtype="fp16", num_heads=heads), "cpu", seed=7)
    with emulator.in_place(SMS):
        found = fa3_cuda.bind(drawn, roles).forward()
    return bool((found.o == drawn.v).all())


@pytest.mark.parametrize(("head_dim", "causal", "roles"), CODE, ids=str)
def test_a_row_that_sees_one_key_gets_its_value(folder: Path, head_dim: int, causal: bool, roles: ClusterRoles) -> None:
    assert of_one_key(Emulator(folder), head_dim, causal, roles)


def test_a_maximum_that_is_moved_by_parts_of_an_octave_is_found(folder: Path) -> None:
    """Few heads show it: the probability has to be rounded far, and V must lie where little is half a step."""
    edit = ("above > 0 ? above : 0;", "0;")
    for wrong in (None, edit):
        assert of_one_key(Emulator(folder, wrong), 128, False, HALF_HELD, heads=200) == (wrong is None)


def of_small_probabilities(emulator: Emulator, dtype: torch.dtype, keys: int = 500) -> float:
    """The error of o, of its right value, where one key outweighs every other 2^17.5-fold and only the others have a V.

    Its score is negative, and its block is visited first: what stands for the maximum is then as far above as may be.
    """
    fa3_cuda._loaded.cache_clear()
    q, k = torch.zeros(1, 1, keys, 64), torch.zeros(1, 1, keys, 64)
    octave = 64**0.5 * math.log(2)
    q[..., 0], k[..., 0], k[..., -1, 0] = 1, -25.4 * octave, -7.9 * octave
    v = torch.ones(1, 1, keys, 64)
    v[..., -1, :] = 0
    drawn = Problem(*(tensor.to(dtype) for tensor in (q, k, v)))
    with emulator.in_place(SMS):
        found = fa3_cuda.bind(drawn, replace(HALF_HELD, cluster=1)).forward()
    weights = torch.softmax(drawn.q.double() @ drawn.k.double().mT * drawn.softmax_scale, -1)
    wanted = weights @ drawn.v.double()
    return float(((found.o.double() - wanted).abs() / wanted).max())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_small_probabilities_are_not_lost(folder: Path, dtype: torch.dtype) -> None:
    assert of_small_probabilities(Emulator(folder), dtype) < 0.01


def test_small_probabilities_that_fp16_has_no_room_for_are_found_missing(folder: Path) -> None:
    edit = ("SHIFT = BF16 ? 0 : 7;", "SHIFT = 0;")
    assert of_small_probabilities(Emulator(folder, edit), torch.float16) > 0.1


@pytest.mark.parametrize(("roles", "causal"), [(IN_PAIRS, True), (IN_PAIRS, False), (ALONE, True)], ids=str)
@pytest.mark.parametrize(
    "more",
    [{"num_heads": 4, "num_heads_kv": 2, "batch": 2}, {"spread": FAR_APART}, {"dtype": "fp16"}],
    ids=["shared heads", "large values", "fp16"],
)
def test_awkward_problems(folder: Path, roles: ClusterRoles, causal: bool, more: dict[str, object]) -> None:
    found = verdict(Emulator(folder), forward(300, 128, causal, **more), roles)
    assert found.ok, found.message


IN_TURN = [
    *((roles, True) for roles in (IN_PAIRS, IN_ORDER, FITTED, replace(IN_ORDER, agreeing=True), HALF_HELD, THREE)),
    (THREE, False),
    (THREE_IN_PAIRS, False),
]


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize(("roles", "causal"), IN_TURN, ids=str)
def test_no_order_of_events_matters(folder: Path, roles: ClusterRoles, causal: bool, seed: int) -> None:
    found = verdict(Emulator(folder, seed=seed), forward(777, 128, causal), roles)
    assert found.ok, found.message


PASSING = """                    of_v ? wait_v(at) : wait_k(at);
                    __syncwarp();
"""
WRONG = {
    "scores read too early": ("            wgmma_wait<1>();\n", ""),
    "PV before V has come": ("            expect_v();\n            issue_output", "            issue_output"),
    "K given back before it was read": (
        "            scores_and_output(s, keys_before);\n            release(bars.k_empty(k.stage));\n",
        "            release(bars.k_empty(k.stage));\n            scores_and_output(s, keys_before);\n",
    ),
    "V given back before it was read": (
        "            wgmma_wait<0>();\n            pin(o);\n            release(bars.v_empty(v.stage));\n"
        "            take_exp",
        "            release(bars.v_empty(v.stage));\n            wgmma_wait<0>();\n            pin(o);\n"
        "            take_exp",
    ),
    "the other thread block is not told": ("if constexpr (CLUSTER == 2) barrier_arrive_at(barrier, rank ^ 1);", ""),
    "q's place is never free": ("[&] { barrier_arrive(bars.q_empty(turn % Q_STAGES)); };", "[&] {};"),
    "nobody begins": ("if (consumer == CONSUMERS - 1) your_turn();", ""),
    "the producer does not wait": ("barrier_wait(empty, (count / STAGES & 1) ^ 1);", ""),
    "a phase is mistaken": (
        "barrier_wait(bars.k_full(at.stage), at.phase);",
        "barrier_wait(bars.k_full(at.stage), 0);",
    ),
    "the thread block leaves too early": ("    if constexpr (CLUSTER == 2) cluster_meet();  // the", "    // the"),
    "the last block is not masked": ("(CAUSAL ? min(row + 8 * half, seqlen - 1) : seqlen - 1)", "(row + 8 * half)"),
    "mask off by one": ("min(row + 8 * half, seqlen - 1)", "min(row + 8 * half + 1, seqlen - 1)"),
    "everybody waits for a block that passes by": (
        "                if (telling_warp) {\n" + PASSING,
        "                {\n" + PASSING.splitlines()[0],
    ),
    "V that passes by is never given back": (
        "            pass_by(passing, unseen, true);\n            finish",
        "finish",
    ),
    "one block too many passes by": (
        "(first_row(place) + BLOCK_M - 1) / BLOCK_N, 0)",
        "first_row(place) / BLOCK_N - 1, 0)",
    ),
    "q of the other place": ("tile.first_row(place_in_cluster(rank, turn)), 0,", "tile.first_row(rank), 0,"),
    "a block is skipped": ("            v = k;\n            k.advance();\n", "            v = k;\n"),
    "the operand changes under the product": (
        "            wgmma_wait<0>();\n            pin(o);\n            release(bars.v_empty(v.stage));\n"
        "            take_exp<EARLY, ALL>(s, rows, scale);\n            to_operand(s, p);\n",
        "            take_exp<EARLY, ALL>(s, rows, scale);\n            to_operand(s, p);\n"
        "            wgmma_wait<0>();\n            pin(o);\n            release(bars.v_empty(v.stage));\n",
    ),
}


WRONG_IN_ORDER = {
    "nobody waits for K and V": ("!RELYING || consumer == 0", "false"),
    "the first relies on the last": ("!RELYING || consumer == 0", "consumer > 0"),
    "the last exponentials are left out": (
        "half * all, 0), all)",
        "half * all, 0), all - 1)",
    ),
}


WRONG_FITTED = {
    "halves of q's rows change places": ("half = threadIdx.x % 32 / 16;", "half = 1 - threadIdx.x % 32 / 16;"),
    "rows of q of the other consumer": ("Q_BYTES + consumer * ROWS * 128;", "Q_BYTES + (1 - consumer) * ROWS * 128;"),
    "q is taken once": ("        take_q(turn);\n", "        if (turn == 0) take_q(turn);\n"),
    "its place is never free again": ("if (ALL_HELD) barrier_arrive(bars.q_empty(turn % Q_STAGES));", ""),
    "more keys are seen than products take": ("BLOCK_N <= FEW), 0)", "BLOCK_N <= FEW + ROWS), 0)"),
    "every tile begins with few": ("if (FEW && few && block >= 0)", "if (FEW && block >= 0)"),
    "keys that are not there weigh something": (
        "pack(s[2 * i], s[2 * i + 1]) : 0;",
        "pack(s[2 * i], s[2 * i + 1]) : p[i];",
    ),
}


WRONG_HALF_HELD = {
    "the half in registers is that of the step before": (
        "const u32* mine = q.held + 4 * step;",
        "const u32* mine = q.held + 4 * max(step - 1, 0);",
    ),
    "the rest is given back with it": ("if (ALL_HELD) barrier_arrive", "if (HELD) barrier_arrive"),
    "it is taken once": ("        take_q(turn);\n", "        if (turn == 0) take_q(turn);\n"),
}


WRONG_FAR_APART = {
    "no rescale": ("o[i] *= rescale[i / 2 % 2]", "o[i] *= 1"),
    "no rescale of sums": ("rows.sum[half] *= rescale[half];", ""),
    "no running maximum": ("rows.max[half] = max;", "rows.max[half] = 0;"),
    "a maximum is never too far below": ("<= SLACK", "<= 1e30f"),
    "scores of the other row say how far": ("fmaf(found, scale,", "fmaf(mine[1 - half], scale,"),
    "every first maximum is near 0": ("if (max <= 0 && max * scale > -SLACK)", ""),
}


WRONG_THREE = {
    name: (WRONG | WRONG_IN_ORDER)[name]
    for name in (
        "scores read too early",
        "PV before V has come",
        "K given back before it was read",
        "V given back before it was read",
        "the other thread block is not told",
        "nobody begins",
        "the producer does not wait",
        "a phase is mistaken",
        "a block is skipped",
        "nobody waits for K and V",
        "the first relies on the last",
    )
}


OTHERS = (
    (WRONG_IN_ORDER, IN_ORDER, forward(777, 128, True)),
    (WRONG_FITTED, FITTED, forward(777, 128, True)),
    (WRONG_HALF_HELD, HALF_HELD, forward(1500, 128, False)),
    (WRONG_THREE, THREE_IN_PAIRS, forward(777, 128, False)),
    (WRONG_FAR_APART, IN_PAIRS, forward(777, 128, True, spread=FAR_APART)),
)


@pytest.mark.parametrize(
    ("roles", "problem", "edit"),
    [pytest.param(roles, problem, edit, id=name) for edits, roles, problem in OTHERS for name, edit in edits.items()],
)
def test_a_wrong_kernel_of_another_kind_is_found(
    folder: Path, roles: ClusterRoles, problem: CheckCase, edit: tuple[str, str]
) -> None:
    assert is_found(lambda seed: verdict(Emulator(folder, edit, seed), problem, roles))


@pytest.mark.parametrize("seqlen", [16, 17, 47, 48, 49, 96, 145, 160, 176, 177, 192, 225])
@pytest.mark.parametrize("cluster", [1, 2])
def test_without_a_mask_a_last_block_of_any_length_is_right(folder: Path, seqlen: int, cluster: int) -> None:
    """Around every size of product that a block of 176 keys may take, with and without a whole block before it."""
    roles = ClusterRoles(2, 176, 2, 1, cluster, late=25, lazy=True, fitted=True, cut_last=True)
    found = verdict(Emulator(folder, seed=seqlen), forward(seqlen, 128, False), roles)
    assert found.ok, found.message


@pytest.mark.parametrize("edit", WRONG.values(), ids=WRONG)
def test_a_wrong_kernel_is_found(folder: Path, edit: tuple[str, str]) -> None:
    problem = forward(777, 128, "seqlen - 1) : seqlen - 1)" not in edit[0])
    assert is_found(lambda seed: verdict(Emulator(folder, edit, seed), problem, IN_PAIRS))
