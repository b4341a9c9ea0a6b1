"""The bound for 8-bit kernels: it holds for their arithmetic and is broken by any one thing done wrong."""

import pytest
import torch

from app.kernels.bench import check, rounded
from app.kernels.bench.cases import CheckCase
from app.kernels.problem import Bound, Problem
from tests.kernels import fp8_emulation

CASES = [
    CheckCase("", "forward", 1, 2, n, n, d, causal, "bf16", spread=spread, uneven=uneven)
    for n, d, causal, spread, uneven in (
        (1, 64, False, 1.0, 0.0),
        (17, 64, True, 1.0, 0.0),
        (129, 128, False, 1.0, 0.0),
        (1000, 64, True, 1.0, 0.0),
        (1000, 128, False, 30.0, 0.0),
        (1000, 256, True, 30.0, 0.0),
        (1000, 64, False, 1.0, 1.0),
        (1000, 128, True, 1.0, 1.0),
    )
]
UNEVEN = CASES[-2]


@pytest.mark.parametrize("block_n", [128, 256])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_kernel_s_arithmetic_keeps_within_the_bound(case: CheckCase, block_n: int) -> None:
    for seed in (1, 2):
        verdict = check.run(case, lambda p: fp8_emulation.attention(p, block_n), "cpu", seed=seed)
        assert verdict.ok, verdict.message
        assert verdict.computing is not None
        if case.seqlen_q > 1:
            assert verdict.computing < verdict.relative
    assert set(verdict.error) == {"relative", "plain", "computing"}


@pytest.mark.parametrize("wrong", fp8_emulation.WRONG)
def test_one_thing_wrong_breaks_it(wrong: str) -> None:
    verdict = check.run(UNEVEN, lambda p: fp8_emulation.attention(p, 128, wrong), "cpu", seed=1)
    assert not verdict.ok
    assert "seed 1" in verdict.message


def test_one_row_that_is_off_is_found_and_named() -> None:
    problem, _ = check.draw(CASES[3], "cpu", seed=3)
    bound = fp8_emulation.attention(problem, 128)
    found = check.results(bound, "forward")
    found["o"][0, 1, 700] *= 1.5
    verdict = check.judge(found, check.truth(problem, bound), "bf16")
    assert not verdict.ok
    assert "head 1, row 700" in verdict.message


def test_inputs_that_were_mixed_up_are_not_taken_for_quantised_ones() -> None:
    problem, _ = check.draw(CASES[3], "cpu", seed=3)
    bound = fp8_emulation.attention(problem, 128)
    assert bound.meant is not None
    meant = bound.meant()
    mixed = Problem(meant.q, meant.k, meant.v.flip(2), causal=True)
    assert rounded.unlike(problem, meant) == ""
    assert rounded.unlike(problem, mixed).startswith("v[0, 0, 0, ")
    with pytest.raises(ValueError, match="was quantised wrongly"):
        check.truth(problem, Bound(bound.forward, meant=lambda: mixed))


def test_the_expected_error_is_that_of_rounding_probabilities() -> None:
    """Measured on exact probabilities rounded once: below the bound's expectation, and above half of it."""
    generator = torch.Generator().manual_seed(0)
    scores, v = (torch.randn(size, generator=generator, dtype=torch.float64) for size in ((64, 4096), (4096, 64)))
    probs = torch.exp(scores - scores.amax(-1, keepdim=True))
    off = (probs * 2**8).to(torch.float8_e4m3fn).double() / 2**8 - probs
    error = float(torch.linalg.vector_norm(off @ v))
    spread = float(torch.linalg.vector_norm((probs.square() @ v.square().sum(-1)).sqrt()))
    assert 0.5 < error / (rounded.PROBABILITY * spread) < 1


def codes(probs: torch.Tensor) -> torch.Tensor:
    """What the e4m3 numbers stand for whose codes are eight times log2 of probabilities up to 448, rounded."""
    code = (8 * torch.log2(probs) + rounded.TOP_CODE).round().clamp(min=0)
    return code.to(torch.uint8).view(torch.float8_e4m3fn).double() / rounded.LARGEST


def test_the_expected_error_of_codes_is_that_of_the_line_and_of_its_steps() -> None:
    y = torch.linspace(-6, 0, 600_001, dtype=torch.float64)
    off = codes(y.exp2()) / y.exp2() - 1
    within = [float(off[(y > low) & (y <= low + 1 / 8)].square().mean().sqrt()) for low in torch.arange(-6, 0, 1 / 8)]
    assert 0.9 < max(within) / rounded.CODED_PROBABILITY < 1.02
    assert abs(float(off.mean())) < 1e-3, "what rounds up and down cancels where scores are spread"
    line = 1 - 1 / rounded.HEIGHT
    assert float(off.abs().max()) <= line + 2 ** (1 / 16) - 1
    assert float(codes(torch.ones(1))) == 1


def test_an_lse_of_codes_may_be_off_by_their_errors_and_by_no_more() -> None:
    problem, _ = check.draw(CASES[4], "cpu", seed=5)
    bound = fp8_emulation.attention(problem, 128)
    found = check.results(bound, "forward")
    lse = found["lse"]
    exact, weight = (check.truth(problem, bound).meant[name] for name in ("lse", "weight"))
    off = (rounded.LSE_ERROR * (1 + exact.abs()) + 2 * rounded.CODED_PROBABILITY * weight).float()
    for coded, times, ok in ((False, 1.0, False), (True, 1.0, True), (True, 2.2, False)):
        of = Bound(bound.forward, meant=bound.meant, coded=coded)
        given = found | {"lse": exact.view_as(lse).float() + times * off.view_as(lse)}
        verdict = check.judge(given, check.truth(problem, of), "bf16")
        assert verdict.ok is ok, verdict.message
        assert ok or "lse of row" in verdict.message


@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_summing_probabilities_before_or_after_rounding_makes_little_difference(mean: float) -> None:
    generator = torch.Generator().manual_seed(0)
    scores, v = (torch.randn(size, generator=generator, dtype=torch.float64) for size in ((64, 1024), (1024, 64)))
    v += mean
    probs = torch.exp(scores - scores.amax(-1, keepdim=True))
    coarse = (probs * 2**8).to(torch.float8_e4m3fn).double() / 2**8
    truth = probs / probs.sum(-1, keepdim=True) @ v
    before, after = (
        float(torch.linalg.vector_norm(coarse / total.sum(-1, keepdim=True) @ v - truth)) for total in (probs, coarse)
    )

    assert before == pytest.approx(after, rel=0.5)
