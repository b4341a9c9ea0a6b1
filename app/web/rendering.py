"""The Jinja environment of the pages: `fact()`, the only way a figure gets into prose, `term()` for the glossary."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from app.content.glossary import LEVELS, Term
from app.facts.formatting import MINUS, Nested, number, written
from app.facts.registry import KINDS, Registry
from app.facts.units import UNITS


def environment(templates: Path, registry: Registry, glossary: Mapping[str, Term]) -> Environment:
    """A strict environment: an unknown name, figure or term fails when the page is rendered, at start."""
    jinja = Environment(
        loader=FileSystemLoader(templates),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def fact(key: str, digits: int | None = None) -> Markup:
        entry = registry.facts[key]
        chip = '<a class="chip chip-{kind}" href="/numbers#{id}">{shown}<i> ({label})</i></a>'
        return Markup(chip).format(kind=entry.kind, id=entry.id, shown=entry.shown(digits), label=entry.label)

    def term(key: str, text: str | None = None) -> Markup:
        entry = glossary[key]
        return Markup('<a class="term term-{level}" href="/glossary#{id}">{text}</a>').format(
            id=entry.id, level=entry.level, text=text or entry.name
        )

    def cue(text: str) -> Markup:
        """A step's cue: markup of a chapter's data file, with its figures filled in."""
        return Markup(jinja.from_string(text).render())

    def value_at(key: str, index: int | None) -> Nested:
        value = registry.fact(key).value
        return value[index] if index is not None and isinstance(value, tuple) else value

    def base_value(key: str, index: int | None = None) -> float:
        """A figure in base units (bytes, seconds, operations, shares of one), for the charts to read from the page."""
        value = value_at(key, index)
        if not isinstance(value, int | float):
            raise TypeError(f"{key} is not a single number")
        return float(value) * UNITS[registry.fact(key).unit].factor

    def series_shown(key: str, index: int) -> str:
        """One number of a series with its unit."""
        return written(value_at(key, index), registry.fact(key).unit)

    jinja.globals["fact"] = fact
    jinja.globals["term"] = term
    jinja.globals["cue"] = cue
    jinja.globals["base_value"] = base_value
    jinja.globals["series_value"] = lambda key: registry.fact(key).value
    jinja.globals["series_shown"] = series_shown
    jinja.globals["kind_labels"] = KINDS
    jinja.globals["levels"] = LEVELS
    jinja.filters["thousands"] = lambda number: f"{number:,}"
    jinja.filters["decimal_bytes"] = decimal_bytes
    jinja.filters["operations"] = operations
    jinja.filters["signed"] = lambda value: f"{value:g}".replace("-", MINUS)
    jinja.filters["tiny"] = lambda value: number(value, 2)
    return jinja


def without_indentation(page: str) -> str:
    """The page with lines that begin at their first letter and none empty: the same to a reader, less to send.

    Lines within a `pre` would change, so those of the templates have one line.
    """
    return re.sub(r"\n\s+", "\n", page)


def decimal_bytes(count: int) -> str:
    """A byte count for reading, four significant digits: 138.4 MB, 8.8 GB."""
    size, unit = _scaled(count, ("bytes", "kB", "MB", "GB", "TB"))
    return f"{count:,} bytes" if unit == "bytes" else f"{_four_digits(size)} {unit}"


def operations(count: int) -> str:
    """A count of operations for reading: 17.18 GFLOP."""
    size, unit = _scaled(count, ("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"))
    return f"{_four_digits(size)} {unit}"


def _scaled(count: int, units: tuple[str, ...]) -> tuple[float, str]:
    size = float(count)
    for unit in units:
        if size < 1000 or unit == units[-1]:
            break
        size /= 1000
    return size, unit


def _four_digits(size: float) -> str:
    return f"{size:,.{max(0, 4 - len(str(int(size))))}f}"
