"""The files of a chapter agree: data, prose, touch, browser module, steps, glossary. What one names, the other has."""

import re
import tomllib
from pathlib import Path

import pytest

from app.content import chapters, glossary
from tests.content import prose

ROOT = Path(__file__).parent.parent.parent
TOUCHES = ROOT / "static" / "src" / "touches"
CHAPTERS = [pytest.param(chapter, id=chapter.name) for chapter in chapters.load()]
EVERY = [*prose.CHAPTERS, *prose.TOUCHES, *prose.CLOSING, *sorted((prose.TEMPLATES / "partials").glob("*.html"))]
TERM = re.compile(r"""term\(\s*["']([^"']+)["']""")


def source_of(chapter: chapters.Chapter) -> str:
    return (prose.TEMPLATES / chapter.template).read_text(encoding="utf-8")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_has_key_line_touch_sources_and_a_note(chapter: chapters.Chapter) -> None:
    source = source_of(chapter)
    assert source.count('class="key-line"') == 1
    assert chapter.sources
    assert chapter.teacher
    if chapter.touch_template is None:
        assert chapter.number == 14
        assert (prose.TEMPLATES / "partials" / "_lab.html").is_file()
    else:
        assert source.count('{% include "partials/_touch.html" %}') == 1
        assert (prose.TEMPLATES / chapter.touch_template).is_file()


def test_every_touch_has_a_template_a_module_and_a_chapter() -> None:
    named = sorted(chapter.touch_name for chapter in chapters.load() if chapter.touch_template)
    assert len(set(named)) == 13
    assert sorted(path.stem for path in prose.TOUCHES) == named
    registered = re.findall(r'"?([\w-]+)"?: \(\) => import\("\./([\w-]+)"\)', (TOUCHES / "index.ts").read_text())
    assert sorted(name for name, _ in registered) == named
    for name, module in registered:
        assert name == module
        assert "export default" in (TOUCHES / f"{module}.ts").read_text()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_steps_stand_in_the_prose_in_their_order(chapter: chapters.Chapter) -> None:
    placed = re.findall(r'id="chapter-(\d+)-([\w-]+)" data-step="([\w-]+)"', source_of(chapter))
    assert [number for number, _, _ in placed] == [str(chapter.number)] * len(placed)
    assert all(place == step for _, place, step in placed)
    assert [step for _, _, step in placed] == [step.id for step in chapter.steps]
    assert source_of(chapter).count("data-step") == len(placed)
    assert len(chapter.steps) >= 2


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_cue_can_be_read_from_the_back_row(chapter: chapters.Chapter) -> None:
    for step in chapter.steps:
        words = prose.text(prose.environment().from_string(step.cue).render()).split()
        assert 4 <= len(words) <= 32, step.id
        assert step.cue.rstrip().endswith((".", "}}")), step.id


def test_parts_the_chapters_name_are_parts_of_the_model() -> None:
    listed = set(tomllib.loads((ROOT / "app" / "geometry" / "parts.toml").read_text()))
    assert {re.sub(r"^hbm_stack_\d$", "hbm_stack", part) for part in chapters.PARTS} <= listed


def test_terms_used_are_in_the_glossary_and_terms_listed_are_used() -> None:
    used = {key for path in EVERY for key in TERM.findall(path.read_text(encoding="utf-8"))}
    assert used <= set(glossary.load())
    assert used == set(glossary.load()), "a term nobody meets explains nothing"


def test_the_glossary_holds_no_figure_with_a_unit() -> None:
    for term in glossary.load().values():
        assert prose.bare_figures(term.meaning) == [], term.id


def test_the_browser_knows_the_same_parts_of_a_scene() -> None:
    fields = re.search(
        r"export interface Scene \{(.*?)\n\}", (ROOT / "static/src/chapters/places.ts").read_text(), re.S
    )
    assert fields is not None
    assert re.findall(r"^  (\w+):", fields[1], re.M) == list(chapters.StandScene.__slots__)
