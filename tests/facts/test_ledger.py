"""The ledger is complete, and every figure that follows from others does follow from them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from app.facts import registry
from app.facts.formatting import Nested
from app.facts.units import UNITS

LEDGER = registry.load()
DERIVED = [fact.id for fact in LEDGER.facts.values() if fact.expression is not None]


def flat(value: Nested) -> list[Nested]:
    if isinstance(value, tuple):
        return [number for part in value for number in flat(part)]
    return [value]


def half_a_digit(printed: float) -> Decimal:
    """Half a unit in the last place the ledger gives, or one step of double precision where it gives them all."""
    exponent = Decimal(repr(printed)).as_tuple().exponent
    assert isinstance(exponent, int)
    return max(Decimal(5).scaleb(exponent - 1), abs(Decimal(repr(printed))) * Decimal("4e-16"))


@pytest.mark.parametrize("fact_id", DERIVED)
def test_a_derived_figure_is_what_its_expression_gives(fact_id: str):
    fact = LEDGER.fact(fact_id)
    given, computed = flat(fact.value), flat(LEDGER.recompute(fact_id))
    assert len(given) == len(computed)
    for printed, exact in zip(given, computed, strict=True):
        assert abs(Decimal(repr(printed)) - Decimal(repr(exact))) <= half_a_digit(printed), (printed, exact)


def test_every_counted_figure_can_be_recomputed():
    without = [
        fact.id
        for fact in LEDGER.facts.values()
        if fact.kind == "counted" and not isinstance(fact.value, str) and fact.expression is None
    ]
    assert without == []
    assert len(DERIVED) >= 100


def test_every_entry_has_kind_unit_source_and_place():
    for fact in LEDGER.facts.values():
        assert fact.kind in registry.KINDS, fact.id
        assert fact.unit in UNITS, fact.id
        assert all((fact.claim, fact.locator, fact.source.title, fact.source.authors)), fact.id
        assert 2015 <= fact.source.year <= 2026, fact.id
        assert isinstance(fact.value, str) == (fact.unit == "statement"), fact.id


def test_every_source_is_used_and_says_what_was_taken():
    for source in LEDGER.sources:
        assert LEDGER.of_source(source.id), source.id
        assert source.taken.endswith("."), source.id


def test_names_in_expressions_are_unambiguous():
    names = [fact.name for fact in LEDGER.facts.values()]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() for name in names)
    for fact in LEDGER.facts.values():
        assert not set(fact.variables) & set(names), fact.id


# Figures that are easy to get wrong, each written down again from its document.
@pytest.mark.parametrize(
    ("fact_id", "shown"),
    [
        ("h100-hbm-bandwidth", "3.35\u00a0TB/s"),
        ("h100-peak-fp16", "989\u00a0TFLOP/s"),
        ("h100-smem-sm", "228\u00a0KiB"),
        ("h100-smem-block", "227\u00a0KiB"),
        ("fa1-hbm-standard", "40.3\u00a0GB"),
        ("fa1-hbm-standard-neurips", "35.3\u00a0GB"),
        ("fa1-time-flash", "7.3\u00a0ms"),
        ("fa1-time-flash-neurips", "11.7\u00a0ms"),
        ("h100-pin-rate", "5.238\u00a0Gb/s"),
        ("t21-standard-4096", "17,024\u00a0MiB"),
        ("fa3-fp16-arxiv", "740\u00a0TFLOP/s"),
        ("fa3-bf16-neurips", "840\u00a0TFLOP/s"),
        ("lab-l2-to-sm-exact", "1,090,539,648\u00a0bytes"),
        ("fa1-utilization", "25–40\u00a0%"),
        ("hbm3-heights", "4, 8 or 12\u00a0layers"),
        ("gh100-process", "TSMC 4N"),
    ],
)
def test_figures_read_as_their_documents_print_them(fact_id: str, shown: str):
    assert LEDGER.fact(fact_id).shown() == shown


def test_what_the_hardware_gave_is_marked_as_measured():
    measured = {fact.id for fact in LEDGER.facts.values() if fact.kind == "measured"}
    assert measured >= {"h100-smem-block", "measured-std-16-heads", "lab-l2-to-sm-exact", "lab-hbm-measured-fa"}
    assert all(LEDGER.fact(fact_id).source.id in ("h200-device", "h200-counters") for fact_id in measured)


def test_figures_that_cannot_be_checked_are_named_as_disagreements_only():
    assert not {"reference-softmax-m", "reference-softmax-l", "handbook-latency"} & set(LEDGER.facts)
    text = " ".join(f"{entry.where} {entry.wrong}" for entry in LEDGER.disagreements)
    assert "2.170462" in text
    assert "200, 50 and 5 ns" in text


def test_the_disagreements_say_what_is_wrong_and_what_stands_here():
    assert len(LEDGER.disagreements) >= 29
    for entry in LEDGER.disagreements:
        assert all((entry.where, entry.wrong, entry.instead))
        assert all(fact_id in LEDGER.facts for fact_id in entry.facts)
    assert len({entry.where for entry in LEDGER.disagreements}) == len(LEDGER.disagreements)
