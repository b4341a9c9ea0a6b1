"""The CUDA backward kernel's source, run without a GPU, as `test_fa3_emulated.py` runs the forward one."""

from functools import partial
from pathlib import Path

import pytest

from tests.kernels.emulated import COMPILER, SEEDS, Emulator, case, is_found

if COMPILER is None:
    pytest.skip("there is no C++ compiler here", allow_module_level=True)

from app.kernels import fa3_cuda_backward, reference
from app.kernels.bench import check
from app.kernels.bench.cases import CheckCase
from app.kernels.problem import Bound, Forward, Problem
from app.theory import backward_roles
from app.theory.backward_roles import BackwardRoles

SMS = 4
backward = partial(
    case, "backward", dtype="fp16"
)  # the interpreter, which makes delta, multiplies bf16 as if it were integers
CODE = [
    (head_dim, causal, roles)
    for head_dim in backward_roles.HEAD_DIMS
    for causal in (False, True)
    for roles in backward_roles.choices(head_dim)
]
USUAL = BackwardRoles(80)


def verdict(emulator: Emulator, case: CheckCase, roles: BackwardRoles) -> check.Verdict:
    """What the bench's rule says about one run, of an exact forward pass."""
    problem, _ = check.draw(case, "cpu", seed=7)
    saved = exact_forward(problem)
    fa3_cuda_backward._loaded.cache_clear()
    with emulator.in_place(SMS):
        bound = Bound(lambda: saved, fa3_cuda_backward.bind(problem, saved, roles))
        found = check.results(bound, "backward")
    return check.judge(found, check.truth(problem, bound), case.dtype)


def exact_forward(problem: Problem) -> Forward:
    heads = list(range(problem.q.shape[0] * problem.q.shape[1]))
    exact = reference.exact(Problem(problem.q, problem.k, problem.v, causal=problem.causal), heads).tensors
    lse = exact["lse"].reshape(problem.q.shape[:3]).float()
    return Forward(exact["o"].reshape(problem.q.shape).to(problem.q.dtype), lse)


@pytest.mark.parametrize(("head_dim", "causal", "roles"), CODE, ids=str)
def test_every_choice_is_right(folder: Path, head_dim: int, causal: bool, roles: BackwardRoles) -> None:
    for seqlen in (1, 129, 500):
        found = verdict(Emulator(folder, seed=seqlen), backward(seqlen, head_dim, causal), roles)
        assert found.ok, (seqlen, found.message)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "more",
    [{"num_heads": 4, "num_heads_kv": 2, "batch": 2}, {"spread": 30.0}, {"num_heads": 3, "batch": 2}],
    ids=["shared heads", "large values", "several"],
)
def test_awkward_problems(folder: Path, causal: bool, more: dict[str, object]) -> None:
    found = verdict(Emulator(folder), backward(300, 128, causal, **more), USUAL)
    assert found.ok, found.message


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_order_of_events_matters(folder: Path, seed: int) -> None:
    found = verdict(Emulator(folder, seed=seed), backward(500, 128, True), USUAL)
    assert found.ok, found.message


WRONG = {
    "scores read too early": ("        wgmma_wait<1>();\n        pin(s);\n", "        pin(s);\n"),
    "dp read too early": ("        wgmma_wait<1>();\n        pin(dp);\n", "        pin(dp);\n"),
    "dq read too early": ("        wgmma_wait<1>();\n        pin(dv);\n", "        pin(dv);\n"),
    "half of ds is not there yet": ("        named_wait(MEETING, BOTH);\n", ""),
    "one ds for two visits": ("(count & 1) * DS_BYTES", "0 * DS_BYTES"),
    "q given back before dk": (
        "        wgmma_wait<0>();\n        pin(dk);\n        release(bars.q_empty(stage));\n",
        "        release(bars.q_empty(stage));\n        wgmma_wait<0>();\n        pin(dk);\n",
    ),
    "do given back before dv": (
        "        to_operand(dp, ds);\n#pragma unroll\n",
        "        to_operand(dp, ds);\n        release(bars.do_empty(stage));\n#pragma unroll\n",
    ),
    "do is never free": ("        release(bars.do_empty(stage));\n", ""),
    "q not waited for": ("        wait_q(count);\n", ""),
    "do not waited for": ("        wait_do(count);\n", ""),
    "K and V not waited for": ("    barrier_wait(bars.kv_full(), 0);\n", ""),
    "keys that do not exist": ("mine >= seqlen ? BLOCK_M", "false ? BLOCK_M"),
    "mask off by one": ("CAUSAL ? mine - row : 0", "CAUSAL ? mine - row + 1 : 0"),
    "no delta": ("(dp[4 * j + 2 * half] - delta.x)", "(dp[4 * j + 2 * half])"),
    "ds not turned": ("((2 * warp + lane / 8 % 2) ^ lane % 8) * 16", "(2 * warp + lane / 8 % 2) * 16"),
    "the operand changes under the product": (
        "        to_operand(dp, ds);\n",
        "        to_operand(dp, ds);\n        p[0] = 0;\n",
    ),
}


@pytest.mark.filterwarnings("ignore:overflow encountered")  # numbers of a wrong kernel
@pytest.mark.parametrize("edit", WRONG.values(), ids=WRONG)
def test_a_wrong_kernel_is_found(folder: Path, edit: tuple[str, str]) -> None:
    causal = "mask" in edit[0] or "CAUSAL" in edit[0]
    problem = backward(500, 128, causal)
    if "seqlen" in edit[0]:  # a key that does not exist has score 0, infinitely probable where all others are far below
        problem = backward(1, 128, causal, num_heads=8, spread=100.0)
    assert is_found(lambda seed: verdict(Emulator(folder, edit, seed), problem, USUAL))
