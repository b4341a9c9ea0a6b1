"""The Jinja environment of the pages, and `fact()`: the only way a figure gets into prose."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from app.facts.registry import KINDS, Registry


def environment(templates: Path, registry: Registry) -> Environment:
    """A strict environment: an unknown name or an unknown figure fails when the page is rendered, at start."""
    jinja = Environment(
        loader=FileSystemLoader(templates),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def fact(key: str, digits: int | None = None) -> Markup:
        entry = registry.facts[key]
        return Markup(
            '<a class="chip chip-{kind}" href="/numbers#{id}" data-fact="{id}">{shown}'
            '<span class="mark" title="{label}"><span class="visually-hidden"> ({label})</span></span></a>'
        ).format(kind=entry.kind, id=entry.id, shown=entry.shown(digits), label=entry.label)

    jinja.globals["fact"] = fact
    jinja.globals["kind_labels"] = KINDS
    jinja.filters["thousands"] = lambda number: f"{number:,}"
    jinja.filters["decimal_bytes"] = decimal_bytes
    return jinja


def decimal_bytes(count: int) -> str:
    """A byte count for reading, four significant digits: 138.4 MB, 8.8 GB."""
    size = float(count)
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            break
        size /= 1000
    return f"{count:,} bytes" if unit == "bytes" else f"{size:,.{max(0, 4 - len(str(int(size))))}f} {unit}"
