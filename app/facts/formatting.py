"""How a value is written: separators, ranges, no-break spaces, significant digits. Text only, no markup."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal
from typing import TypeAlias

from app.facts.units import NBSP, UNITS

# One number, a phrase, or several of them (a range, a list, a table).
Nested: TypeAlias = "float | int | str | tuple[Nested, ...]"

MINUS = "\u2212"
SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
SMALLEST_PLAIN = Decimal("0.001")

# How several numbers of one entry belong together, and what stands between them.
FORMS = {"range": "–", "list": ", ", "or": " or ", "change": f"{NBSP}→{NBSP}"}


def number(value: float | int, digits: int | None = None) -> str:
    """One number: at most `digits` significant digits, thousands separators, a real minus sign.

    Digits are only ever dropped, never added: a value recorded as 2.0 stays 2.0 at any `digits`.
    Numbers under a thousandth are written as a power of ten.
    """
    exact = Decimal(repr(value))
    if digits is not None:
        exact = _rounded(exact, digits)
    if exact and abs(exact) < SMALLEST_PLAIN:
        mantissa = exact.scaleb(-exact.adjusted())
        return f"{mantissa.normalize():f}{NBSP}×{NBSP}10{str(exact.adjusted()).translate(SUPERSCRIPT)}"
    return f"{exact:,f}".replace("-", MINUS)


def written(value: Nested, unit: str, form: str = "range", digits: int | None = None) -> str:
    """A value with its unit, as it stands on the page: `3.35 TB/s`, `2–4×`, `4, 8, 12 layers`."""
    if isinstance(value, str):
        return value
    shape = UNITS[unit]
    text = _joined(value, form, digits)
    if not shape.written:
        return text
    return f"{text}{NBSP if shape.spaced else ''}{shape.written}"


def _joined(value: Nested, form: str, digits: int | None) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, tuple):
        return number(value, digits)
    parts = [_joined(part, form, digits) for part in value]
    parts = [f"({text})" if isinstance(part, tuple) else text for part, text in zip(value, parts, strict=True)]
    if form == "or":
        return f"{', '.join(parts[:-1])} or {parts[-1]}"
    return FORMS[form].join(parts)


def _rounded(exact: Decimal, digits: int) -> Decimal:
    if digits < 1:
        raise ValueError(f"digits must be at least 1, not {digits}")
    place = exact.adjusted() - digits + 1
    exponent = exact.as_tuple().exponent
    if not exact or not isinstance(exponent, int) or place <= exponent:
        return exact
    rounded = exact.quantize(Decimal(1).scaleb(place), rounding=ROUND_HALF_EVEN)
    if rounded.adjusted() > exact.adjusted():  # 999.96 at four digits carries into 1,000
        place += 1
        rounded = rounded.quantize(Decimal(1).scaleb(place))
    return rounded if place <= 0 else rounded.quantize(Decimal(1))  # 17,024 at three digits is 17,000
