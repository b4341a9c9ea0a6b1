"""Figures of the ledger that can be found another way agree with it: exact decimals and the reference grid."""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Any

import pytest

from app.facts import registry
from app.facts.units import UNITS
from app.theory.gpus import GPUS

LEDGER = registry.load()


def row(reference: dict[str, Any], d: int) -> dict[str, Any]:
    wanted = {"n": 4096, "d": d, "br": 128, "bc": 128, "rule": "hand-picked"}
    (found,) = [entry for entry in reference["grid"] if all(entry[key] == value for key, value in wanted.items())]
    return found


@pytest.fixture
def head(reference: dict[str, Any]) -> dict[str, Any]:
    return row(reference, 128)


@pytest.mark.parametrize(
    ("fact_id", "key"),
    [("std-traffic-total", "std_fwd"), ("lab-fa2-4096", "fa2_fwd"), ("lab-compulsory", "compulsory_fwd")],
)
def test_bytes_of_one_head_equal_the_reference_grid(fact_id: str, key: str, head: dict[str, Any]):
    assert round(LEDGER.fact(fact_id).value * 1e6) == head["bytes"][key]


def test_score_matrix_and_q_equal_the_reference_grid(head: dict[str, Any]):
    assert round(LEDGER.fact("s-size").value * 1e6) == head["s_bytes_16bit"]
    assert round(LEDGER.fact("q-size").value * 1e6) == head["q_bytes_16bit"]


def test_intensities_equal_the_reference_grid(head: dict[str, Any]):
    assert abs(LEDGER.fact("std-intensity-62").value - head["intensity"]["std_fwd"]) < 0.005
    assert abs(LEDGER.fact("lab-fa2-intensity").value - head["intensity"]["fa2_fwd"]) < 0.005


def test_saving_by_head_dimension_equals_the_reference_grid(reference: dict[str, Any]):
    narrow, head, wide = (row(reference, d) for d in (64, 128, 256))
    at_64, at_128 = LEDGER.fact("lab-headdim-saving").value
    assert abs(at_64 - narrow["saving"]["std_over_fa2"]) < 0.0005
    assert abs(at_128 - head["saving"]["std_over_fa2"]) < 0.0005
    assert abs(LEDGER.fact("lab-saving-d256").value - wide["saving"]["std_over_fa2"]) < 0.005


@pytest.mark.parametrize(
    ("fact_id", "shape", "key"),
    [
        ("lab-fit-none", (256, 128, 128), "smem"),
        ("lab-fit-double-buffer", (256, 128, 128), "smem_double_buffered_kv"),
        ("lab-fit-registers-258", (64, 256, 192), "regs"),
    ],
)
def test_what_a_block_takes_equals_the_reference(
    fact_id: str, shape: tuple[int, int, int], key: str, reference: dict[str, Any]
):
    (found,) = [entry for entry in reference["block_footprints"] if (entry["d"], entry["br"], entry["bc"]) == shape]
    assert LEDGER.fact(fact_id).value * 1024 == found[key]


def test_our_softmax_row_in_fifty_digits():
    with localcontext(prec=50):
        scores = [Decimal(repr(score)) for score in LEDGER.fact("own-softmax-row").value]
        values = [Decimal(value) for value in ("1", "-2", "3", "0.5", "-1", "2", "4", "-0.5")]
        steps = LEDGER.fact("own-softmax-steps").value
        row_max, row_sum, acc = Decimal("-Infinity"), Decimal(0), Decimal(0)
        for step, start in zip(steps, range(0, 8, 2), strict=True):
            larger = max(row_max, *scores[start : start + 2])
            rescale = (row_max - larger).exp() if start else Decimal(0)
            row_max = larger
            weights = [(score - row_max).exp() for score in scores[start : start + 2]]
            row_sum = row_sum * rescale + sum(weights)
            acc = acc * rescale + sum(w * v for w, v in zip(weights, values[start : start + 2], strict=True))
            assert abs(Decimal(repr(step[0])) - row_max) < Decimal("1e-15")
            assert abs(Decimal(repr(step[1])) - row_sum) < Decimal("1e-14")
        assert abs(Decimal(repr(LEDGER.fact("own-softmax-sum").value)) - row_sum) < Decimal("1e-15")
        assert abs(Decimal(repr(LEDGER.fact("own-softmax-output").value)) - acc / row_sum) < Decimal("1e-15")
        assert abs(Decimal(repr(LEDGER.fact("own-softmax-lse").value)) - (row_max + row_sum.ln())) < Decimal("1e-14")
        direct = sum(w.exp() * v for w, v in zip(scores, values, strict=True)) / sum(w.exp() for w in scores)
        assert abs(direct - acc / row_sum) < Decimal("1e-45")


@pytest.mark.parametrize(
    ("gpu", "field", "fact_id"),
    [
        ("h100_sxm5", "hbm_bytes_per_s", "h100-hbm-bandwidth"),
        ("h100_sxm5", "flops_per_s", "h100-peak-fp16"),
        ("h100_sxm5", "sms", "h100-sms"),
        ("h100_sxm5", "smem_per_sm_bytes", "h100-smem-sm"),
        ("h100_sxm5", "smem_per_block_bytes", "h100-smem-block"),
        ("h100_sxm5", "rmem_per_sm_bytes", "h100-registers-sm"),
        ("h200_sxm", "hbm_bytes_per_s", "h200-bandwidth"),
        ("h200_sxm", "l2_bytes", "h200-l2"),
        ("a100_sxm4_40", "hbm_bytes_per_s", "a100-40-bandwidth"),
        ("a100_sxm4_40", "flops_per_s", "a100-peak-fp16"),
        ("a100_sxm4_40", "sms", "a100-sms"),
        ("a100_sxm4_40", "smem_per_sm_bytes", "a100-smem-164"),
        ("a100_sxm4_80", "hbm_bytes_per_s", "a100-80-bandwidth"),
    ],
)
def test_the_formulas_hardware_table_states_what_the_ledger_states(gpu: str, field: str, fact_id: str):
    fact = LEDGER.fact(fact_id)
    assert getattr(GPUS[gpu], field) == round(fact.value * UNITS[fact.unit].factor)
