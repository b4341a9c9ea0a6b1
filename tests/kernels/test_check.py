"""The checker: it passes what is right and rejects every kernel that is kept for being wrong."""

import math

import pytest
import torch

from app.kernels.bench import check
from app.kernels.bench.cases import CheckCase
from app.kernels.configs import Tile
from app.kernels.problem import Bound, Forward, Problem
from app.kernels.wrong import forward as wrong

TILE = Tile(32, 32, 4, 1)
PLACES = [(n, causal) for n in (32, 65, 129) for causal in (False, True)]


def case(seqlen: int, causal: bool, dtype: str) -> CheckCase:
    return CheckCase("", "forward", 1, 2, seqlen, seqlen, 64, causal, dtype)


@pytest.mark.parametrize(("seqlen", "causal"), PLACES)
def test_the_loop_with_nothing_left_out_passes(seqlen: int, causal: bool, device: str, dtype: str) -> None:
    verdict = check.run(case(seqlen, causal, dtype), lambda p: wrong.none_left_out(p, TILE), device, seed=2)
    assert verdict.ok, verdict.message


@pytest.mark.parametrize("name", wrong.WRONG)
def test_every_wrong_kernel_is_rejected(name: str, device: str, dtype: str) -> None:
    verdicts = [
        check.run(case(seqlen, causal, dtype), lambda p: wrong.WRONG[name](p, TILE), device, seed=2)
        for seqlen, causal in PLACES
    ]
    rejected = [place for place, verdict in zip(PLACES, verdicts, strict=True) if not verdict.ok]
    expected = {
        "no_rescale": [(65, False), (65, True), (129, False), (129, True)],
        "mask_off_by_one": [(32, True), (65, True), (129, True)],
        "last_block_unmasked": [(65, False), (129, False)],
    }
    assert rejected == expected[name]
    assert all("seed 2" in verdict.message for verdict in verdicts if not verdict.ok)


def exact_results(problem: Problem) -> dict[str, torch.Tensor]:
    """Float64 results rounded to the problem's dtype: as right as a kernel can be."""
    known = check.truth(problem)
    shape = problem.q.shape
    o = known.exact["o"].to(problem.q.dtype).view(shape)
    return {"o": o, "lse": known.exact["lse"].float().view(shape[:3])}


def judged(problem: Problem, found: dict[str, torch.Tensor]) -> check.Verdict:
    return check.judge(found, check.truth(problem), "fp16")


@pytest.fixture
def problem() -> Problem:
    drawn, _ = check.draw(CheckCase("", "forward", 1, 2, 300, 300, 64, False, "fp16"), "cpu", seed=8)
    return drawn


def test_a_rounded_truth_passes(problem: Problem) -> None:
    verdict = judged(problem, exact_results(problem))
    assert verdict.ok
    assert 0 < verdict.relative < verdict.plain


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_one_entry_that_is_no_number_fails(problem: Problem, value: float) -> None:
    found = exact_results(problem)
    found["o"][0, 1, 299, 63] = value
    verdict = judged(problem, found)
    assert not verdict.ok
    assert "o[0, 1, 299, 63]" in verdict.message


def test_one_row_among_hundreds_fails_and_is_named(problem: Problem) -> None:
    found = exact_results(problem)
    found["o"][0, 1, 123] *= 1.02
    verdict = judged(problem, found)
    assert not verdict.ok
    assert "head 1, row 123" in verdict.message


def test_a_small_error_everywhere_fails(problem: Problem) -> None:
    found = exact_results(problem)
    found["o"] *= 1.002
    assert not judged(problem, found).ok


def test_a_wrong_log_sum_exp_fails(problem: Problem) -> None:
    found = exact_results(problem)
    found["lse"] += 0.01
    verdict = judged(problem, found)
    assert not verdict.ok
    assert "lse" in verdict.message


def test_heads_that_are_not_compared_are_still_searched_for_nan(problem: Problem) -> None:
    found = exact_results(problem)
    found["o"][0, 0, 5, 5] = math.nan
    known = check.truth(problem, most_heads=1)
    assert known.heads == [0]
    assert not check.judge(found, known, "fp16").ok


def test_the_heads_compared_reach_from_first_to_last() -> None:
    drawn, _ = check.draw(CheckCase("", "forward", 2, 5, 3, 3, 64, False, "fp16"), "cpu", seed=8)
    assert check.truth(drawn, most_heads=2).heads == [0, 9]
    assert check.truth(drawn).heads == list(range(10))


def test_a_truth_of_zeros_has_the_scale_of_the_inputs() -> None:
    zeros = torch.zeros(1, 4, 4, dtype=torch.float64)
    assert check.difference(zeros, zeros).relative == 0
    assert check.difference(zeros + 0.5, zeros).relative == pytest.approx(0.5)


def test_inputs_are_fresh_each_time_and_repeat_with_their_seed() -> None:
    same = case(17, False, "fp16")
    first, seed = check.draw(same, "cpu")
    second, other = check.draw(same, "cpu")
    again, _ = check.draw(same, "cpu", seed)
    assert seed != other
    assert not torch.equal(first.q, second.q)
    assert torch.equal(first.q, again.q)


def test_a_kernel_without_a_backward_pass_is_told_apart(problem: Problem) -> None:
    bound = Bound(lambda: Forward(problem.q, None))
    with pytest.raises(ValueError, match="without a backward pass"):
        check.results(bound, "backward")
