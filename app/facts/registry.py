"""Loads the ledger from `published/*.toml` and `disagreements.toml`, checks it, and answers by id.

One file per source: its title, authors and year at the top, then its facts. Why TOML and not Python:
a figure is corrected by someone who reads papers, not code. Everything is checked when it is loaded;
a ledger with a missing unit or a doubled id does not start the server.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from app.facts.expressions import ExpressionError, evaluate
from app.facts.formatting import FORMS, Nested, written
from app.facts.units import UNITS

PUBLISHED = Path(__file__).parent / "published"
DISAGREEMENTS = Path(__file__).parent / "disagreements.toml"

# kind → the mark on the page
KINDS = {
    "vendor": "vendor",
    "published": "published",
    "estimate": "estimate",
    "counted": "counted here",
    "measured": "measured here",
}

# how far a figure was checked → what that means
VERIFIED = {
    "primary": "read in the document itself",
    "secondary": "read in a copy or a repeat of the document",
    "recomputed": "follows from given numbers, or was measured here",
    "unverified": "found in one place only and not confirmed",
}

CHAPTERS = range(1, 15)


class LedgerError(ValueError):
    """The ledger is incomplete or contradicts itself; the message names the file and the entry."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where figures come from. `taken` says in one sentence what was taken from it."""

    id: str
    title: str
    authors: str
    year: int
    taken: str
    arxiv: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure or claim.

    `value` is in `unit`; several numbers are a tuple and `form` says how they belong together.
    `expression` (one per number, in base units) recomputes the value from `variables` and other entries,
    whose ids are written with underscores there. `formula` is the same for human eyes.
    """

    id: str
    claim: str
    value: Nested
    unit: str
    kind: str
    source: Source
    locator: str
    verified: str
    conditions: str = ""
    formula: str | None = None
    expression: Nested | None = None
    variables: Mapping[str, float] = field(default_factory=dict)
    form: str = "range"
    note: str = ""
    chapter: int | None = None

    def shown(self, digits: int | None = None) -> str:
        """The value with its unit as plain text, for example `3.35 TB/s`; `digits` are significant digits."""
        return written(self.value, self.unit, self.form, digits)

    @property
    def text(self) -> str:
        """The value with its unit, as the page writes it when it does not round."""
        return self.shown()

    @property
    def label(self) -> str:
        """The mark beside the figure: vendor, published, estimate, counted here, measured here."""
        return KINDS[self.kind]

    @property
    def verified_means(self) -> str:
        """How far the figure was checked, in words."""
        return VERIFIED[self.verified]

    @property
    def name(self) -> str:
        """The id as expressions write it."""
        return self.id.replace("-", "_")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A figure in print that is wrong, incomplete or contradicted, and what this exhibit states instead."""

    where: str
    wrong: str
    instead: str
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Registry:
    """The whole ledger: facts by id in file order, every source once, and the list of disagreements."""

    facts: Mapping[str, Fact]
    sources: tuple[Source, ...]
    disagreements: tuple[Disagreement, ...]

    def fact(self, fact_id: str) -> Fact:
        """The fact with this id. Raises KeyError with a sentence if there is none."""
        try:
            return self.facts[fact_id]
        except KeyError:
            raise KeyError(f"the ledger has no fact {fact_id!r}") from None

    def of_source(self, source_id: str) -> tuple[Fact, ...]:
        """All facts taken from one source, in file order."""
        return tuple(fact for fact in self.facts.values() if fact.source.id == source_id)

    def recompute(self, fact_id: str) -> Nested | None:
        """The value its expression gives, in the fact's own unit; None where it has no expression.

        Names are looked up first among the entry's variables, then among the other entries (as recorded,
        in base units). Raises LedgerError for a name that is unknown or has no single number.
        """
        fact = self.fact(fact_id)
        if fact.expression is None:
            return None
        by_name = {other.name: other for other in self.facts.values()}

        def lookup(name: str) -> float:
            if name in fact.variables:
                return fact.variables[name]
            other = by_name[name]
            if not isinstance(other.value, int | float):
                raise ExpressionError(f"{other.id!r} is not a single number")
            return other.value * UNITS[other.unit].factor

        def compute(expression: Nested) -> Nested:
            if isinstance(expression, tuple):
                return tuple(compute(part) for part in expression)
            try:
                return evaluate(str(expression), lookup) / UNITS[fact.unit].factor
            except ExpressionError as error:
                raise LedgerError(f"{fact.id}: {error}") from error

        return compute(fact.expression)


@cache
def load() -> Registry:
    """The ledger of this package, read once."""
    return read(PUBLISHED, DISAGREEMENTS)


def read(published: Path, disagreements: Path) -> Registry:
    """Reads a ledger from a folder of source files and a file of disagreements. Raises LedgerError."""
    sources: dict[str, Source] = {}
    facts: dict[str, Fact] = {}
    for path in sorted(published.glob("*.toml")):
        table = _table(path)
        source = _source(table.pop("source", None), path)
        if source.id in sources:
            raise LedgerError(f"{path.name}: source {source.id!r} is already defined in another file")
        sources[source.id] = source
        for entry in table.pop("fact", []):
            fact = _fact(entry, source, path)
            if fact.id in facts:
                raise LedgerError(f"{path.name}: fact {fact.id!r} is defined twice")
            facts[fact.id] = fact
        if table:
            raise LedgerError(f"{path.name}: unknown key {sorted(table)[0]!r}")
    return Registry(facts, tuple(sources.values()), _disagreements(disagreements, facts))


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise LedgerError(f"{path.name}: {error}") from error


def _source(entry: dict[str, Any] | None, path: Path) -> Source:
    if entry is None:
        raise LedgerError(f"{path.name}: no [source]")
    try:
        source = Source(**entry)
    except TypeError as error:
        raise LedgerError(f"{path.name}: [source] is incomplete: {error}") from error
    if source.id != path.stem:
        raise LedgerError(f"{path.name}: the source's id must be the file's name, not {source.id!r}")
    return source


def _fact(entry: dict[str, Any], source: Source, path: Path) -> Fact:
    where = f"{path.name}: fact {entry.get('id', '(without id)')!r}"
    for key in ("id", "claim", "value", "unit", "kind", "locator", "verified"):
        if entry.get(key) in (None, ""):
            raise LedgerError(f"{where} has no {key}")
    entry = dict(entry, value=_frozen(entry["value"]), expression=_frozen(entry.get("expression")))
    try:
        fact = Fact(source=source, **entry)
    except TypeError as error:
        raise LedgerError(f"{where}: {error}") from error
    if fact.kind not in KINDS:
        raise LedgerError(f"{where}: kind {fact.kind!r} is none of {', '.join(KINDS)}")
    if fact.unit not in UNITS:
        raise LedgerError(f"{where}: unit {fact.unit!r} is not in the table of units")
    if fact.verified not in VERIFIED:
        raise LedgerError(f"{where}: verified {fact.verified!r} is none of {', '.join(VERIFIED)}")
    if fact.form not in FORMS:
        raise LedgerError(f"{where}: form {fact.form!r} is none of {', '.join(FORMS)}")
    if fact.chapter is not None and fact.chapter not in CHAPTERS:
        raise LedgerError(f"{where}: there is no chapter {fact.chapter}")
    if fact.kind == "counted" and fact.expression is None and not isinstance(fact.value, str):
        raise LedgerError(f"{where} is counted here but gives no expression")
    return fact


def _frozen(value: Any) -> Any:
    return tuple(_frozen(part) for part in value) if isinstance(value, list) else value


def _disagreements(path: Path, facts: Mapping[str, Fact]) -> tuple[Disagreement, ...]:
    found = []
    for entry in _table(path).get("disagreement", []):
        try:
            disagreement = Disagreement(**dict(entry, facts=tuple(entry.get("facts", ()))))
        except TypeError as error:
            raise LedgerError(f"{path.name}: {entry.get('where', 'an entry')!r}: {error}") from error
        for fact_id in disagreement.facts:
            if fact_id not in facts:
                raise LedgerError(f"{path.name}: {disagreement.where!r} names the unknown fact {fact_id!r}")
        found.append(disagreement)
    return tuple(found)
