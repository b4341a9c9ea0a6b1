"""What only a GPU can show: compiled kernels in bf16 at real sizes, repeatability, graphs, and the libraries."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.kernels import capability, registry
from app.kernels.bench import cases, check, checking, counters, harness
from app.theory import cluster_roles
from tests.kernels import signs

pytestmark = pytest.mark.gpu
ROOT = Path(__file__).parents[2]
LONG = cases.CheckCase("", "forward", 1, 4, 2049, 2049, 128, True, "bf16")
# Tensors that are added up in memory in any order, so that their last bits may differ between runs.
IN_ANY_ORDER = {("fa2_triton", "backward"): ("dq",), ("fa3_cuda", "backward"): ("dq",)}
# Every pass of every rung that can run here, at each head_dim and under both masks; 2,049 is no multiple of a block.
REPEATABLE = [
    (kernel.id, direction, replace(LONG, direction=direction, head_dim=head_dim, causal=causal))
    for kernel in registry.of_kind("rung")
    if capability.missing(kernel.needs) is None
    for direction in kernel.directions
    for head_dim in kernel.head_dims
    if kernel.has(direction, head_dim)
    for causal in (False, True)
]
# Every ninth of the bench's own cases; the bench itself runs all of them.
SOME = [
    (kernel, case)
    for kernel in registry.of_kind("rung")
    if capability.missing(kernel.needs) is None
    for case in checking.cases_for(kernel)[::9]
]


@pytest.mark.parametrize(("kernel", "case"), SOME, ids=lambda value: getattr(value, "id", str(value)))
def test_rungs_are_right_when_compiled(kernel: registry.Kernel, case: cases.CheckCase) -> None:
    verdict = check.run(case, kernel.bind(), "cuda", seed=3)
    assert verdict.ok, verdict.message


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sign", signs.SIGNS)
@pytest.mark.parametrize(("name", "kind"), [*(("fa3_cuda", kind) for kind in range(4)), ("fa3_fp8_cuda", None)])
def test_scores_of_any_sign_have_the_right_maximum(name: str, kind: int | None, sign: str, causal: bool) -> None:
    given = signs.problem(sign, causal, "cuda")
    bound = registry.get(name).bind()(given, roles=None if kind is None else cluster_roles.DEFAULTS[128, causal][kind])
    verdict = check.judge(check.results(bound, "forward"), check.truth(given, bound), "bf16")
    assert verdict.ok, verdict.message


@pytest.mark.parametrize("kernel", registry.of_kind("wrong"), ids=lambda kernel: kernel.id)
def test_wrong_kernels_are_rejected_when_compiled(kernel: registry.Kernel) -> None:
    verdicts = [check.run(case, kernel.bind(), "cuda", seed=3) for case in checking.cases_for(kernel)[:8]]
    assert not all(verdict.ok for verdict in verdicts)


@pytest.mark.parametrize("kernel", registry.of_kind("peer"), ids=lambda kernel: kernel.id)
def test_libraries_pass_the_same_check(kernel: registry.Kernel) -> None:
    why_not = kernel.cannot_run(direction="forward", dtype="bf16", head_dim=128)
    if why_not:
        pytest.skip(why_not)
    verdict = check.run(LONG, kernel.bind(), "cuda", seed=3)
    assert verdict.ok, verdict.message


@pytest.mark.parametrize(("name", "direction", "case"), REPEATABLE, ids=str)
def test_the_same_bits_come_out_a_hundred_times(name: str, direction: str, case: cases.CheckCase) -> None:
    import torch

    problem, _ = check.draw(case, "cuda", seed=4)
    bound = registry.get(name).bind()(problem)
    first = {tensor: found.clone() for tensor, found in check.results(bound, direction).items()}
    held = first.keys() - set(IN_ANY_ORDER.get((name, direction), ()))
    for repeat in range(100):
        found = check.results(bound, direction)
        assert [tensor for tensor in held if not torch.equal(found[tensor], first[tensor])] == [], f"repeat {repeat}"


def test_a_replayed_graph_computes_what_the_call_does() -> None:
    import torch

    problem, _ = check.draw(LONG, "cuda", seed=5)
    bound = registry.get("fa2_triton").bind()(problem)
    o = bound.forward().o
    expected = o.clone()
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        ready = harness.captured(bound.forward)
        o.fill_(float("nan"))
        ready.run()
        torch.cuda.synchronize()
    assert ready.launch == "graph"
    assert torch.equal(o, expected)


def test_counters_see_k_and_v_pass_once_for_every_block_of_queries() -> None:
    if counters.available():
        pytest.skip("Nsight Compute (ncu) is not on the PATH")
    case = cases.TimingCase("forward", "bf16", 1, 16, 4096, 128, False)
    moved = counters.collect("fa2_triton", [case], 120)[case]
    tensor = 16 * 4096 * 128 * 2
    passes = (moved["l2_to_sm_bytes"] - tensor) / (2 * tensor)
    assert passes == pytest.approx(round(passes), rel=0.01)
    assert moved["hbm_read_bytes"] < 4 * tensor


def test_one_kernel_runs_alone_for_tools_that_watch_it() -> None:
    command = [sys.executable, "-m", "app.kernels.bench.one", "fa2_triton", "--seqlen", "129", "--causal", "--judge"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "right, error" in done.stdout
