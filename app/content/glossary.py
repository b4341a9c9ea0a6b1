"""The glossary: terms of the prose, what each means, and down to which reading level it is explained.

Three levels: `new` to GPUs, `know` GPUs, `write` kernels. A term whose `level` is `new` is explained to newcomers only;
one at `know` to both; those who write kernels read the prose without marks. The level changes how much is explained,
never what is said.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

FILE = Path(__file__).parent / "glossary.toml"
# id → what the switch on the page says
LEVELS: Mapping[str, str] = MappingProxyType({"new": "new to GPUs", "know": "know GPUs", "write": "write kernels"})
EXPLAINED = ("new", "know")


class GlossaryError(ValueError):
    """The glossary is incomplete; the message names the entry."""


@dataclass(frozen=True, slots=True)
class Term:
    """One entry: `name` as the glossary lists it, `meaning` in one to three sentences without figures."""

    id: str
    name: str
    meaning: str
    level: str


@cache
def load() -> Mapping[str, Term]:
    """All terms by id, in alphabetical order of their names, read once."""
    return read(FILE)


def read(path: Path) -> Mapping[str, Term]:
    """Reads and checks a glossary file. Raises GlossaryError."""
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        terms = [Term(id=key, **entry) for key, entry in table.items()]
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise GlossaryError(f"{path.name}: {error}") from error
    for term in terms:
        if not term.name.strip() or not term.meaning.strip().endswith("."):
            raise GlossaryError(f"{path.name}: {term.id!r} needs a name and a meaning that ends with a full stop")
        if term.level not in EXPLAINED:
            raise GlossaryError(f"{path.name}: {term.id!r} has level {term.level!r}, which is none of new and know")
    return MappingProxyType({term.id: term for term in sorted(terms, key=lambda term: term.name.casefold())})
