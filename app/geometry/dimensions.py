"""The dimension table: every size of the model in millimetres, with where it comes from and how it is drawn.

Read from `dimensions.toml` beside this file. Code asks for drawn sizes only: a size marked `thickness` comes back
multiplied by the thickness factor, everything else as it stands in the table.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

Kind = Literal["published", "estimate"]
Drawing = Literal["to_scale", "thickness", "symbolic"]

FILE = Path(__file__).with_name("dimensions.toml")


class DimensionError(ValueError):
    """The table is malformed; the message names the entry."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the table. `fact` is the ledger id of a published value, `reason` says where an estimate is from."""

    name: str
    value: float
    kind: Kind
    drawing: Drawing
    fact: str | None
    reason: str | None

    @property
    def exaggerated(self) -> bool:
        """Whether the drawing departs from the value or the value from the real thing."""
        return self.drawing != "to_scale"


@dataclass(frozen=True, slots=True)
class Table:
    """The whole table: sizes in mm, counts, and the factor by which thicknesses are drawn."""

    sizes: dict[str, Entry]
    counts: dict[str, Entry]
    thickness_factor: float

    def mm(self, name: str) -> float:
        """Drawn size in mm (mm² for the die's area)."""
        entry = self.sizes[name]
        return entry.value * self.thickness_factor if entry.drawing == "thickness" else entry.value

    def count(self, name: str) -> int:
        """A number of things."""
        return int(self.counts[name].value)


def load(text: str) -> Table:
    """Read a table from TOML text.

    Raises:
        DimensionError: an entry lacks its source, names an unknown kind, or holds a value that is no positive number.
    """
    data = tomllib.loads(text)
    factor = _entry("factors.thickness", data["factors"]["thickness"], "symbolic")
    counts = {name: _entry(name, raw, "to_scale") for name, raw in data["counts"].items()}
    sizes = {name: _entry(name, raw, None) for name, raw in data["mm"].items()}
    for name, entry in counts.items():
        if entry.value != int(entry.value):
            raise DimensionError(f"{name}: a count is a whole number, not {entry.value}")
    return Table(sizes=sizes, counts=counts, thickness_factor=factor.value)


def _entry(name: str, raw: dict[str, Any], drawing: Drawing | None) -> Entry:
    value, kind, drawn = raw.get("value"), raw.get("kind"), raw.get("drawing", drawing)
    if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
        raise DimensionError(f"{name}: the value must be a positive number, not {value!r}")
    if kind not in ("published", "estimate"):
        raise DimensionError(f"{name}: unknown kind {kind!r}")
    if drawn not in ("to_scale", "thickness", "symbolic"):
        raise DimensionError(f"{name}: unknown drawing {drawn!r}")
    if kind == "published" and not raw.get("fact"):
        raise DimensionError(f"{name}: a published value names the fact it is taken from")
    if kind == "estimate" and not raw.get("reason"):
        raise DimensionError(f"{name}: an estimate says where it comes from")
    if unknown := set(raw) - {"value", "kind", "drawing", "fact", "reason"}:
        raise DimensionError(f"{name}: unknown keys {sorted(unknown)}")
    return Entry(name, float(value), cast(Kind, kind), cast(Drawing, drawn), raw.get("fact"), raw.get("reason"))


@cache
def table() -> Table:
    """The project's table, read once."""
    return load(FILE.read_text(encoding="utf-8"))


def mm(name: str) -> float:
    """Drawn size in mm of an entry of the project's table."""
    return table().mm(name)


def count(name: str) -> int:
    """A count of the project's table."""
    return table().count(name)
