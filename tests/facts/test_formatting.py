"""Values are written with care: separators, ranges, no-break spaces, significant digits."""

from __future__ import annotations

import pytest

from app.facts.formatting import number, written


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (33.554432, 3, "33.6"),
        (33.554432, None, "33.554432"),
        (138.412032, 4, "138.4"),
        (2.0, 3, "2.0"),
        (17024, None, "17,024"),
        (17024, 3, "17,000"),
        (9.25, 1, "9"),
        (0.0005, 1, "5\u00a0×\u00a010⁻⁴"),
        (3.2e-4, None, "3.2\u00a0×\u00a010⁻⁴"),
        (0.002, None, "0.002"),
        (-1.5, None, "−1.5"),
        (0, 3, "0"),
        (999.96, 4, "1,000"),
    ],
)
def test_numbers(value: float, digits: int | None, text: str):
    assert number(value, digits) == text


def test_a_digit_count_below_one_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        number(1.5, 0)


@pytest.mark.parametrize(
    ("value", "unit", "form", "digits", "text"),
    [
        (3.35, "TB/s", "range", None, "3.35\u00a0TB/s"),
        (16.667, "%", "range", 3, "16.7\u00a0%"),
        (32, "×", "range", None, "32×"),
        ((2, 4), "×", "range", None, "2–4×"),
        ((3.939, 2.0), "×", "change", 3, "3.94\u00a0→\u00a02.0×"),
        ((64, 128), "rows", "or", None, "64 or 128\u00a0rows"),
        ((4, 8, 12), "layers", "or", None, "4, 8 or 12\u00a0layers"),
        ((36, 17024), "MiB", "list", None, "36, 17,024\u00a0MiB"),
        (((0.5, 1.25), (1.5, 2.0)), "number", "list", None, "(0.5, 1.25), (1.5, 2.0)"),
        (2.5, "number", "range", None, "2.5"),
        ("TSMC 4N", "statement", "range", None, "TSMC 4N"),
    ],
)
def test_values_with_units(value: object, unit: str, form: str, digits: int | None, text: str):
    assert written(value, unit, form, digits) == text
