"""Helpers for the tests of the prose: rendering with the real ledger, plain text, and the scanner for bare figures."""

from __future__ import annotations

import html
import re
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from app.content import chapters, glossary
from app.facts import registry, timings
from app.web import rendering, touch_tables

TEMPLATES = Path(__file__).parents[2] / "templates"
CHAPTERS = sorted((TEMPLATES / "chapters").glob("*.html"))
TOUCHES = sorted((TEMPLATES / "touches").glob("*.html"))
CLOSING = sorted((TEMPLATES / "closing").glob("*.html"))

UNITS = (
    r"[KMGT]i?B(?:/s)?|kB|[KMGT]b(?:/s)?|bits?|bytes?|B(?:/s)?|[KMGTP]?FLOPs?(?:/s|/byte)?|[µunm]s|s|sec|seconds?|min|"
    r"minutes?|hours?|days?|%|percent|×|x|times|mm[²2]?|µm|nm|[MG]Hz|W|SMs|GPCs|registers|transistors|operations"
)
FIGURE_WITH_UNIT = re.compile(rf"(?<!\w)\d[\d,.\u202f]*[\s\u00a0]*(?:{UNITS})(?![\w²³⁰-⁹^])")


def fact(fact_id: str, digits: int | None = None) -> Markup:
    """The chip of the page without its link: the figure as the reader sees it."""
    return Markup('<span class="chip">{}</span>').format(registry.load().fact(fact_id).shown(digits))


def environment() -> Environment:
    env = rendering.environment(TEMPLATES, registry.load(), glossary.load())
    env.globals["fact"] = fact
    return env


def render(path: Path) -> str:
    ledger = registry.load()
    sources = tuple((source, ledger.of_source(source.id)) for source in ledger.sources)
    template = environment().get_template(path.relative_to(TEMPLATES).as_posix())
    named = {chapter.name: chapter for chapter in chapters.load()}
    return template.render(
        sources=sources,
        disagreements=ledger.disagreements,
        touches=touch_tables.build(ledger, timings.load()),
        glossary=tuple(glossary.load().values()),
        chapter=named.get(path.stem),
    )


def main_line(page: str) -> str:
    """What stands before the touch and the fold."""
    return re.split(r'<div class="touch-host"|<details class="look-closer">', page, maxsplit=1)[0]


def with_touch(path: Path) -> str:
    """The source of a chapter's template with its touch in place."""
    source = path.read_text(encoding="utf-8")
    touch = next(chapter.touch_template for chapter in chapters.load() if chapter.name == path.stem)
    if touch is None:
        return source
    return source.replace('{% include "partials/_touch.html" %}', (TEMPLATES / touch).read_text(encoding="utf-8"), 1)


def text(markup: str) -> str:
    """Plain text of a piece of HTML, formulas left out."""
    without_math = re.sub(r"<math.*?</math>", " ", markup, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", "", without_math))


def cited(source: str) -> list[str]:
    """Ledger ids a template's source cites, once each, in order of first use."""
    return list(dict.fromkeys(re.findall(r"(?:fact|base_value|series_\w+)\(\s*[\"']([^\"']+)[\"']", source)))


def bare_figures(source: str) -> list[str]:
    """Figures with a unit that stand in a template outside of fact()."""
    without_jinja = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", " ¤ ", source, flags=re.DOTALL)
    return [match.group(0) for match in FIGURE_WITH_UNIT.finditer(text(without_jinja))]
