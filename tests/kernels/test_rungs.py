"""Every Triton rung on small, awkward shapes against the theory's float64 attention, by the bench's own rule."""

from collections.abc import Callable

import pytest
import torch

from app.kernels import blocksparse_triton, fa1_triton, fa2_triton, launching, standard
from app.kernels.bench import check
from app.kernels.bench.cases import CheckCase
from app.kernels.configs import Tile
from app.kernels.problem import Bound, Problem
from app.theory.block_sparse import BlockPattern

Bind = Callable[[Problem], Bound]
SMALL = Tile(32, 64, 4, 2)
TALL = Tile(64, 32, 4, 2)
TINY = Tile(16, 16, 4, 1)
RUNGS: dict[str, tuple[Bind, tuple[str, ...]]] = {
    "standard": (standard.bind, ("forward", "backward")),
    "fa1": (lambda problem: fa1_triton.bind(problem, SMALL), ("forward",)),
    "fa1 tall": (lambda problem: fa1_triton.bind(problem, TALL), ("forward",)),
    "fa2": (lambda problem: fa2_triton.bind(problem, SMALL, SMALL), ("forward", "backward")),
    "fa2 tall": (lambda problem: fa2_triton.bind(problem, TALL, TALL), ("forward", "backward")),
    "blocksparse": (lambda problem: blocksparse_triton.bind(problem, TINY), ("forward",)),
}
CASES = [(name, way) for name, (_, ways) in RUNGS.items() for way in ways]
FLEXIBLE = [(name, way) for name, way in CASES if name != "blocksparse"]


def assert_right(name: str, case: CheckCase, device: str) -> None:
    verdict = check.run(case, RUNGS[name][0], device, seed=11)
    assert verdict.ok, verdict.message


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("seqlen", [1, 17, 127, 129])
@pytest.mark.parametrize(("name", "direction"), [case for case in CASES if case[0] != "standard"])
def test_odd_lengths(name: str, direction: str, seqlen: int, causal: bool, device: str, dtype: str) -> None:
    assert_right(name, CheckCase("", direction, 1, 1, seqlen, seqlen, 64, causal, dtype), device)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("seqlen", [1, 17, 66])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_odd_lengths_of_the_standard_way(direction: str, seqlen: int, causal: bool, device: str, dtype: str) -> None:
    """Its softmax is one program a row, slow in the interpreter; its blocks are 64 wide, so all lengths are odd."""
    assert_right("standard", CheckCase("", direction, 1, 1, seqlen, seqlen, 64, causal, dtype), device)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("seqlen", [33, 64, 130])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_rows_too_long_for_registers_are_swept_twice(
    direction: str, seqlen: int, causal: bool, device: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With sweeps of 64 entries: one that a row does not fill, one that it fills, and three, the last hardly begun."""
    kernels: set[object] = set()

    def recorded(kernel: object, grid: tuple[int, ...], *arguments: object, **options: object) -> None:
        kernels.add(kernel)
        launching.launch(kernel, grid, *arguments, **options)

    monkeypatch.setattr(standard, "LONGEST_KEPT", 32)
    monkeypatch.setattr(standard, "SWEEP", {"forward": 64, "backward": 64})
    monkeypatch.setattr(standard, "launch", recorded)
    assert_right("standard", CheckCase("", direction, 1, 1, seqlen, seqlen, 64, causal, dtype), device)
    assert standard.standard_softmax_swept in kernels
    assert (standard.standard_softmax_backward_swept in kernels) == (direction == "backward")
    assert not kernels & {standard.standard_softmax, standard.standard_softmax_backward}


@pytest.mark.parametrize(("sms", "tiles"), [(4, 4), (5, 6), (1000, 9)])
def test_the_standard_way_makes_smaller_tiles_when_they_do_not_fill_the_gpu(
    sms: int, tiles: int, device: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A product of 130 by 130 is four tiles of 128 x 128, six of 128 x 64, nine of 64 x 64."""
    grids: list[int] = []

    def recorded(kernel: object, grid: tuple[int, ...], *arguments: object, **options: object) -> None:
        if kernel is standard.standard_matmul:
            grids.append(grid[0])
        launching.launch(kernel, grid, *arguments, **options)

    monkeypatch.setattr(launching, "multiprocessors", lambda _: sms)
    monkeypatch.setattr(standard, "launch", recorded)
    assert_right("standard", CheckCase("", "forward", 1, 1, 130, 130, 64, False, dtype), device)
    assert grids[0] == tiles


@pytest.mark.parametrize(("seqlen_q", "seqlen_k"), [(40, 129), (129, 40)])
@pytest.mark.parametrize(("name", "direction"), FLEXIBLE)
def test_different_lengths_under_a_causal_mask(
    name: str, direction: str, seqlen_q: int, seqlen_k: int, device: str, dtype: str
) -> None:
    assert_right(name, CheckCase("", direction, 1, 1, seqlen_q, seqlen_k, 64, True, dtype), device)


@pytest.mark.parametrize("head_dim", [128, 256])
@pytest.mark.parametrize(("name", "direction"), CASES)
def test_head_dims(name: str, direction: str, head_dim: int, device: str, dtype: str) -> None:
    assert_right(name, CheckCase("", direction, 1, 1, 33, 33, head_dim, True, dtype), device)


@pytest.mark.parametrize(("name", "direction"), CASES)
def test_several_sequences_and_heads(name: str, direction: str, device: str, dtype: str) -> None:
    assert_right(name, CheckCase("", direction, 2, 3, 24, 24, 64, True, dtype), device)


@pytest.mark.parametrize(("name", "direction"), CASES)
def test_large_values(name: str, direction: str, device: str, dtype: str) -> None:
    """Scores of several hundred: without the running maximum everything would be infinite."""
    assert_right(name, CheckCase("", direction, 1, 1, 70, 70, 64, False, dtype, spread=30.0), device)


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize(("seqlen", "causal"), [(17, False), (70, True)])
def test_dropout_is_the_theory_s_mask_in_both_passes(
    direction: str, seqlen: int, causal: bool, device: str, dtype: str
) -> None:
    """The reference takes its mask from `app.theory.dropout`; another mask would be off by far more than rounding."""
    assert_right("fa2", CheckCase("", direction, 2, 2, seqlen, seqlen, 64, causal, dtype, dropout=0.4), device)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("name", "direction"), CASES)
def test_without_a_copy_engine(
    name: str, direction: str, causal: bool, device: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Older GPUs move tiles with ordinary masked loads and stores."""
    monkeypatch.setattr(launching, "copy_engine", lambda: False)
    assert_right(name, CheckCase("", direction, 2, 2, 37, 37, 64, causal, dtype), device)


def strided(case: CheckCase, device: str) -> Problem:
    """The same problem with heads and rows interleaved in memory, as a fused projection leaves them."""
    problem, _ = check.draw(case, device, seed=5)

    def apart(tensor: torch.Tensor) -> torch.Tensor:
        batch, heads, rows, columns = tensor.shape
        memory = torch.full((batch, rows, heads, 2 * columns), float("nan"), dtype=tensor.dtype, device=device)
        view = memory[..., :columns].transpose(1, 2)
        view.copy_(tensor)
        return view

    assert problem.do is not None
    return Problem(apart(problem.q), apart(problem.k), apart(problem.v), apart(problem.do), case.causal)


@pytest.mark.parametrize(("name", "direction"), CASES)
def test_tensors_need_not_be_contiguous(name: str, direction: str, device: str, dtype: str) -> None:
    case = CheckCase("", "backward", 2, 2, 19, 19, 64, True, dtype)
    problem = strided(case, device)
    assert not problem.q.is_contiguous()
    bound = RUNGS[name][0](problem)
    verdict = check.judge(check.results(bound, direction), check.truth(problem, bound), dtype)
    assert verdict.ok, verdict.message


def test_a_pattern_may_leave_rows_with_nothing_to_see(device: str, dtype: str) -> None:
    problem, _ = check.draw(CheckCase("", "forward", 1, 2, 40, 40, 64, False, dtype), device, seed=1)
    pattern = BlockPattern(((True, False, True), (False, False, False), (False, True, False)))
    bound = blocksparse_triton.bind(problem, TINY, pattern)
    verdict = check.judge(check.results(bound, "forward"), check.truth(problem, bound), dtype)
    assert verdict.ok, verdict.message
    out = bound.forward()
    assert out.lse is not None
    assert bool((out.o[:, :, 16:32] == 0).all())
    assert bool(torch.isneginf(out.lse[:, :, 16:32]).all())


def test_results_are_written_where_asked(device: str, dtype: str) -> None:
    problem, _ = check.draw(CheckCase("", "forward", 1, 1, 20, 20, 64, False, dtype), device, seed=1)
    o = torch.full_like(problem.q, float("nan"))
    out = fa2_triton.forward(problem, o=o, tile=SMALL)
    assert out.o is o
    assert bool(torch.isfinite(o).all())
