"""The pages as a reader without a script gets them."""

import re
from dataclasses import fields
from html.parser import HTMLParser

import pytest
from fastapi.testclient import TestClient
from jinja2 import meta

from app import paths
from app.content.chapters import load as load_chapters
from app.content.glossary import load as load_glossary
from app.facts.registry import load as load_registry
from app.web import contexts
from app.web.rendering import environment


class Page(HTMLParser):
    """Ids, links, headings and the text of each chapter."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[int] = []
        self.text: dict[str, str] = {}
        self.inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if values.get("id"):
            self.ids.append(str(values["id"]))
        if tag == "section" and str(values.get("id", "")).startswith("chapter-"):
            self.inside = str(values["id"])
            self.text[self.inside] = ""
        if tag == "a" and values.get("href"):
            self.links.append(str(values["href"]))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_endtag(self, tag: str) -> None:
        if tag == "section":
            self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.text[self.inside] += data


@pytest.fixture(scope="module")
def page(client: TestClient) -> Page:
    return Page(client.get("/").text)


def test_all_fourteen_chapters_are_there_as_text(page: Page) -> None:
    assert list(page.text) == [f"chapter-{number}" for number in range(1, 15)]
    for chapter in load_chapters():
        text = page.text[f"chapter-{chapter.number}"]
        assert chapter.title in text
        assert len(text.split()) > 110, chapter.slug


def test_every_chapter_has_its_key_line(client: TestClient) -> None:
    html = client.get("/").text
    assert html.count('class="key-line"') == 14


def test_ids_are_unique_and_links_within_the_page_lead_somewhere(page: Page) -> None:
    assert len(page.ids) == len(set(page.ids))
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.ids, link


def test_headings_leave_no_level_out(page: Page) -> None:
    assert page.headings[0] == 1
    for above, below in zip(page.headings, page.headings[1:], strict=False):
        assert below <= above + 1


def test_every_chip_leads_to_its_figure(client: TestClient, page: Page) -> None:
    figures = set(Page(client.get("/numbers").text).ids)
    assert set(load_registry().facts) <= figures
    chips = [link for link in page.links if link.startswith("/numbers#")]
    assert len(chips) > 50
    for link in chips:
        assert link.removeprefix("/numbers#") in figures


def test_every_marked_word_leads_to_its_meaning(client: TestClient, page: Page) -> None:
    explained = set(Page(client.get("/glossary").text).ids)
    assert set(load_glossary()) <= explained
    terms = [link for link in page.links if link.startswith("/glossary#")]
    assert len(terms) > 20
    for link in terms:
        assert link.removeprefix("/glossary#") in explained


def test_every_step_has_its_sentence(client: TestClient) -> None:
    html = client.get("/cues").text
    cues = re.findall(r'data-cue="(\d+)-([\w-]+)">(.+?)</li>', html)
    steps = [(str(chapter.number), step.id) for chapter in load_chapters() for step in chapter.steps]
    assert [(number, step) for number, step, _ in cues] == steps
    assert all(len(sentence.split()) > 3 for _, _, sentence in cues)


def test_an_unknown_page_leads_back(client: TestClient) -> None:
    answer = client.get("/no-such-page")
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert 'href="/"' in answer.text


@pytest.mark.parametrize(
    ("template", "context"),
    [
        ("exhibit.html", contexts.ExhibitContext),
        ("numbers.html", contexts.NumbersContext),
        ("measurements.html", contexts.MeasurementsContext),
        ("glossary.html", contexts.GlossaryContext),
        ("cues.html", contexts.CuesContext),
        ("error.html", contexts.ErrorContext),
    ],
)
def test_what_a_template_uses_is_what_its_context_documents(template: str, context: type) -> None:
    jinja = environment(paths.templates(), load_registry(), load_glossary())
    loader = jinja.loader
    assert loader is not None
    used: set[str] = set()
    waiting: list[str] = [template]
    if context is contexts.ExhibitContext:
        # Included by a computed name.
        waiting += [chapter.template for chapter in load_chapters()]
        waiting += [chapter.touch_template for chapter in load_chapters() if chapter.touch_template]
    while waiting:
        source, _, _ = loader.get_source(jinja, waiting.pop())
        tree = jinja.parse(source)
        used |= meta.find_undeclared_variables(tree)
        waiting += [name for name in meta.find_referenced_templates(tree) if name]
    documented = {item.name for item in fields(context)}
    assert used - set(jinja.globals) - {"chapter"} == documented


@pytest.mark.parametrize("address", ["/", "/measurements?kernel=fa3_cuda", "/numbers", "/glossary"])
def test_no_line_is_empty_or_begins_with_a_blank(client: TestClient, address: str) -> None:
    lines = client.get(address).text.split("\n")
    assert [line for line in lines[:-1] if not line or line[0].isspace()] == []


def test_text_whose_blanks_count_has_one_line() -> None:
    """Or taking the indentation away would change it."""
    for path in paths.templates().rglob("*.html"):
        for text in re.findall(r"<(?:pre|textarea)\b.*?</", path.read_text(encoding="utf-8"), re.DOTALL):
            assert "\n" not in text, path
