"""The HTML pages: rendered once when the server starts, sent from memory with an ETag."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import Receive, Scope, Send

from app import __version__
from app.content import glossary
from app.content.chapters import Chapter, StandScene
from app.facts.registry import Fact, Registry, Source
from app.facts.timings import load as load_timings
from app.theory import traffic
from app.theory.gpus import GPUS
from app.theory.shapes import AttentionShape, BlockShape
from app.web import measurements, touch_tables
from app.web.assets import Assets
from app.web.contexts import (
    CountRow,
    CuesContext,
    ErrorContext,
    ExhibitContext,
    GlossaryContext,
    LabChoices,
    MeasurementsContext,
    NumbersContext,
    PageContext,
    Preset,
)
from app.web.queries import MeasurementsQuery
from app.web.rendering import environment, without_indentation
from app.web.stops import PER_OCTAVE, seqlen_stops
from app.web.stored import Stored, from_body, send_stored

ENTRY = "src/main.ts"
MEASUREMENTS_STYLE = "styles/measurements.css"
# Choices of the page of measurements kept in memory; the widest takes a megabyte.
MOST_CHOICES = 16
TITLE = "FlashAttention: the matrix that never goes to memory"
DESCRIPTION = (
    "An interactive exhibit: an H100 package in three dimensions, tiles that carry real byte counts, "
    "fourteen chapters and a laboratory."
)
HTML = "text/html; charset=utf-8"
GPT2 = "seqlen:1024,head_dim:64,num_heads:16,batch:64,gpu:a100_sxm4_40"
PRESETS = (
    Preset("Double N", "ask=n", "Guess first, then see what doubles and what grows fourfold."),
    Preset("Double d", "ask=d", "Guess first: d from 64 to 128, and how much of the saving is left."),
    Preset("Shrink the block", "block_m=64&block_n=64&compare=default", "64 rows instead of 128."),
    Preset("Block too large", "block_m=256&block_n=256", "256 rows of each: which limit breaks, and by how much."),
    Preset(
        "GPT-2 medium",
        f"{GPT2.replace(':', '=').replace(',', '&')}&direction=backward&compare={GPT2}",
        "The paper’s: 16 heads of 64, batch 64, N = 1,024 on an A100: forward kept beside backward.",
    ),
    Preset("Causal", "causal=1&compare=default", "The mask on, beside the mask off."),
)
# The reader's setting decides everything else; these are only where the controls stand at first.
CHOICES = LabChoices(
    seqlens=seqlen_stops(),
    seqlen_default=4096,
    head_dims=(64, 128, 256),
    block_rows=(64, 96, 128, 192, 256),
    heads=(1, 2, 4, 8, 16, 32, 64),
    batches=(1, 2, 4, 8, 16, 32, 64),
    presets=PRESETS,
    gpus=tuple(GPUS.values()),
)


class StoredPage(Response):
    """A response that sends a page kept in memory."""

    def __init__(self, stored: Stored) -> None:
        super().__init__()
        self.stored = stored

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it: with 304, HEAD and gzip as the request asks."""
        await send_stored(self.stored, scope, send, b"no-cache")


class Site:
    """All pages, rendered from the templates, the ledger and the chapters."""

    def __init__(self, templates: Path, assets: Assets, registry: Registry, chapters: tuple[Chapter, ...]) -> None:
        self.jinja = environment(templates, registry, glossary.load())
        self.assets = assets
        sources = _with_facts(registry)
        self.exhibit = self._store(
            "exhibit.html",
            ExhibitContext(
                page=self._page(TITLE, _boot(chapters)),
                chapters=chapters,
                choices=CHOICES,
                sources=sources,
                disagreements=registry.disagreements,
                counts=_counts(),
                touches=touch_tables.build(registry, load_timings()),
            ),
        )
        self.numbers = self._store(
            "numbers.html",
            NumbersContext(page=self._page("Every number", {}), sources=sources, total=len(registry.facts)),
        )

        self.glossary = self._store(
            "glossary.html", GlossaryContext(self._page("Glossary", {}), tuple(glossary.load().values()))
        )
        self.cues = self._store("cues.html", CuesContext(self._page("Every step in one sentence", {}), chapters))
        self.measurements = lru_cache(MOST_CHOICES)(self._measurements)
        self.measurements(MeasurementsQuery())

    def router(self) -> APIRouter:
        """The HTML routes."""
        router = APIRouter(include_in_schema=False)

        @router.api_route("/", methods=["GET", "HEAD"])
        async def exhibit() -> Response:
            return StoredPage(self.exhibit)

        @router.api_route("/numbers", methods=["GET", "HEAD"])
        async def numbers() -> Response:
            return StoredPage(self.numbers)

        @router.api_route("/glossary", methods=["GET", "HEAD"])
        async def terms() -> Response:
            return StoredPage(self.glossary)

        @router.api_route("/cues", methods=["GET", "HEAD"])
        async def cues() -> Response:
            return StoredPage(self.cues)

        @router.api_route("/measurements", methods=["GET", "HEAD"])
        async def measured(request: Request) -> Response:
            # a form sends its untouched lists as empty values
            given = {name: value for name, value in request.query_params.items() if value}
            try:
                query = MeasurementsQuery.model_validate(given)
            except ValidationError as error:
                item = error.errors()[0]
                where = ".".join(map(str, item["loc"]))
                return self.error_page(422, f"{where}: {item['msg']}. /measurements without it shows everything.")
            return StoredPage(self.measurements(query))

        return router

    def _measurements(self, query: MeasurementsQuery) -> Stored:
        page = self._page("Measurements", {}, MEASUREMENTS_STYLE)
        return self._store("measurements.html", MeasurementsContext(page, measurements.build(load_timings(), query)))

    def error_page(self, status: int, detail: str) -> Response:
        """A page that says what went wrong and leads back."""
        phrase = HTTPStatus(status).phrase
        context = ErrorContext(self._page(f"{status} {phrase}", {}), status, phrase if detail == phrase else detail)
        return HTMLResponse(self._render("error.html", context), status)

    def _page(self, title: str, boot: dict[str, Any], *more_styles: str) -> PageContext:
        return PageContext(
            title=title,
            description=DESCRIPTION,
            version=__version__,
            script=self.assets.url(ENTRY),
            styles=(*self.assets.styles(ENTRY), *map(self.assets.url, more_styles)),
            boot=boot,
        )

    def _render(self, template: str, context: Any) -> str:
        values = {item.name: getattr(context, item.name) for item in fields(context)}
        return without_indentation(self.jinja.get_template(template).render(values))

    def _store(self, template: str, context: Any) -> Stored:
        return from_body(HTML, self._render(template, context).encode())


def _with_facts(registry: Registry) -> tuple[tuple[Source, tuple[Fact, ...]], ...]:
    """Each source with what was taken from it, in the ledger's order."""
    return tuple((source, registry.of_source(source.id)) for source in registry.sources)


def _counts() -> tuple[CountRow, ...]:
    """The laboratory's default setting, an octave a row, for readers without a script."""
    rows = []
    for seqlen in CHOICES.seqlens[::PER_OCTAVE]:
        shape, block = AttentionShape(seqlen=seqlen, head_dim=128), BlockShape(128, 128)
        total = {model: traffic.count(model, shape, block).total_bytes for model in traffic.MODELS}
        rows.append(
            CountRow(
                seqlen=seqlen,
                head_dim=shape.head_dim,
                block_m=block.block_m,
                block_n=block.block_n,
                scores_bytes=shape.scores_bytes,
                standard_bytes=total["standard"],
                fa2_bytes=total["fa2"],
                least_bytes=total["least"],
            )
        )
    return tuple(rows)


def _boot(chapters: tuple[Chapter, ...]) -> dict[str, Any]:
    """What the script needs to know before it asks the API anything: the scenes and the lever's stops."""
    return {
        "chapters": [
            {
                "number": chapter.number,
                "slug": chapter.slug,
                "title": chapter.title,
                "fold_open_for": chapter.fold_open_for,
                "stand": _scene(chapter.stand),
                "steps": [{"id": step.id, "stand": _changes(chapter.stand, step.stand)} for step in chapter.steps],
            }
            for chapter in chapters
        ],
        "seqlens": list(CHOICES.seqlens),
        "head_dims": list(CHOICES.head_dims),
        "block_rows": list(CHOICES.block_rows),
        "heads": list(CHOICES.heads),
        "batches": list(CHOICES.batches),
        "gpus": [gpu.id for gpu in CHOICES.gpus],
    }


def _scene(scene: StandScene) -> dict[str, Any]:
    return {item.name: getattr(scene, item.name) for item in fields(scene)}


def _changes(base: StandScene, scene: StandScene) -> dict[str, Any]:
    """What a step's scene has otherwise than the chapter's."""
    return {name: value for name, value in _scene(scene).items() if value != getattr(base, name)}
