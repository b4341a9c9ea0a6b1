"""What only a GPU can show: compiled kernels in bf16 at real sizes, repeatability, graphs, and the libraries."""

import pytest

from app.kernels import registry
from app.kernels.bench import cases, check, checking, counters, harness

pytestmark = pytest.mark.gpu
LONG = cases.CheckCase("", "forward", 1, 4, 2049, 2049, 128, True, "bf16")
# Every ninth of the bench's own cases; the bench itself runs all of them.
SOME = [(kernel, case) for kernel in registry.of_kind("rung") for case in checking.cases_for(kernel)[::9]]


@pytest.mark.parametrize(("kernel", "case"), SOME, ids=lambda value: getattr(value, "id", str(value)))
def test_rungs_are_right_when_compiled(kernel: registry.Kernel, case: cases.CheckCase) -> None:
    verdict = check.run(case, kernel.bind(), "cuda", seed=3)
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


@pytest.mark.parametrize("name", ["standard", "fa1_triton", "fa2_triton"])
def test_forward_gives_the_same_bits_a_hundred_times(name: str) -> None:
    import torch

    problem, _ = check.draw(LONG, "cuda", seed=4)
    bound = registry.get(name).bind()(problem)
    first = bound.forward().o.clone()
    assert all(torch.equal(bound.forward().o, first) for _ in range(100))


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
