"""What each template receives: one documented dataclass a template; a test compares them with what is passed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.content.chapters import Chapter
from app.content.glossary import Term
from app.facts.registry import Disagreement, Fact, Source
from app.theory.gpus import Gpu
from app.web.measurements import Measurements
from app.web.touch_tables import TouchTables


@dataclass(frozen=True, slots=True)
class PageContext:
    """What every page needs: version, addresses of the built files, and the boot data for the script."""

    title: str
    description: str
    version: str
    script: str
    styles: tuple[str, ...]
    boot: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Preset:
    """A named setting of the laboratory: its name, its address, and what it shows."""

    name: str
    query: str
    what: str


@dataclass(frozen=True, slots=True)
class LabChoices:
    """What the laboratory's controls offer; the API accepts more than they show."""

    seqlens: tuple[int, ...]
    seqlen_default: int
    head_dims: tuple[int, ...]
    block_rows: tuple[int, ...]
    heads: tuple[int, ...]
    batches: tuple[int, ...]
    presets: tuple[Preset, ...]
    gpus: tuple[Gpu, ...]


@dataclass(frozen=True, slots=True)
class CountRow:
    """One row of the counts shown without a script: bytes for one head, 16-bit, forward."""

    seqlen: int
    head_dim: int
    block_m: int
    block_n: int
    scores_bytes: int
    standard_bytes: int
    fa2_bytes: int
    least_bytes: int


@dataclass(frozen=True, slots=True)
class ExhibitContext:
    """The page with the fourteen chapters, the stand and the laboratory."""

    page: PageContext
    chapters: tuple[Chapter, ...]
    choices: LabChoices
    sources: tuple[tuple[Source, tuple[Fact, ...]], ...]
    disagreements: tuple[Disagreement, ...]
    counts: tuple[CountRow, ...]
    touches: TouchTables


@dataclass(frozen=True, slots=True)
class NumbersContext:
    """The page that lists every figure of the ledger."""

    page: PageContext
    sources: tuple[tuple[Source, tuple[Fact, ...]], ...]
    total: int


@dataclass(frozen=True, slots=True)
class MeasurementsContext:
    """The page of what was measured, narrowed as asked."""

    page: PageContext
    data: Measurements


@dataclass(frozen=True, slots=True)
class GlossaryContext:
    """The page that explains every marked word."""

    page: PageContext
    glossary: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class CuesContext:
    """The page with every step in one sentence; present mode reads it too."""

    page: PageContext
    chapters: tuple[Chapter, ...]


@dataclass(frozen=True, slots=True)
class ErrorContext:
    """A page for an address that cannot be answered."""

    page: PageContext
    status: int
    detail: str
