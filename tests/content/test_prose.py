"""One slug is one data file and one template; figures come from the ledger; the main line has the length it should."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from app.content import chapters
from app.facts import registry
from tests.content import prose

BY_NAME = {chapter.name: chapter for chapter in chapters.load()}
TEMPLATES = [pytest.param(path, id=path.stem) for path in prose.CHAPTERS]
EVERY = [pytest.param(path, id=path.stem) for path in [*prose.CHAPTERS, *prose.TOUCHES, *prose.CLOSING]]
LEDGER = registry.load()


def test_one_slug_is_one_data_file_and_one_template():
    assert [path.stem for path in prose.CHAPTERS] == list(BY_NAME)
    for chapter in BY_NAME.values():
        assert (prose.TEMPLATES / chapter.template).is_file()


@pytest.mark.parametrize("path", TEMPLATES)
def test_figures_cited_are_the_figures_listed(path: Path):
    chapter = BY_NAME[path.stem]
    cues = [fact_id for step in chapter.steps for fact_id in prose.cited(step.cue)]
    assert list(dict.fromkeys([*prose.cited(prose.with_touch(path)), *cues])) == list(chapter.facts)


@pytest.mark.parametrize("path", EVERY)
def test_every_figure_cited_is_in_the_ledger_and_shows(path: Path):
    for fact_id in prose.cited(path.read_text(encoding="utf-8")):
        assert LEDGER.fact(fact_id).shown(), fact_id
    assert prose.render(path).strip()


@pytest.mark.parametrize("path", EVERY)
def test_no_figure_with_a_unit_stands_outside_the_ledger(path: Path):
    assert prose.bare_figures(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("chapter", BY_NAME.values(), ids=list(BY_NAME))
def test_data_files_type_no_figure_with_a_unit(chapter: chapters.Chapter):
    cues = " ".join(step.cue for step in chapter.steps)
    assert prose.bare_figures(f"{chapter.title} {chapter.question} {chapter.touch} {chapter.teacher} {cues}") == []


@pytest.mark.parametrize(
    "sentence",
    [
        "It moves 40.3 GB.",
        "At 3.35&nbsp;TB/s it waits.",
        "13 % more",
        "<b>7.3</b> ms",
        "9× faster",
        "2,048 FLOP/byte",
        "228 KiB",
        "814 mm²",
        "1.5 times as fast",
        "{{ fact('x') }} or 12 µs",
    ],
)
def test_the_scanner_finds_bare_figures(sentence: str):
    assert len(prose.bare_figures(sentence)) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "N = 4,096, d = 128",
        "16-bit numbers",
        "{{ fact('x', digits=3) }} of HBM",
        "four times",
        "8 N² + 8 N d",
        "chapter 14",
    ],
)
def test_the_scanner_leaves_plain_numbers_alone(sentence: str):
    assert prose.bare_figures(sentence) == []


@pytest.mark.parametrize("path", TEMPLATES)
def test_the_main_line_is_between_110_and_200_words(path: Path):
    main = prose.main_line(prose.render(path))
    without_key_line = re.sub(r'<p class="key-line">.*?</p>', "", main, flags=re.DOTALL)
    assert 110 <= len(prose.text(without_key_line).split()) <= 200


@pytest.mark.parametrize("path", TEMPLATES)
def test_a_chapter_opens_with_its_key_line_and_ends_with_the_fold(path: Path):
    source = path.read_text(encoding="utf-8").strip()
    assert source.startswith('<p class="key-line">')
    key_line = source[: source.index("</p>")]
    assert "fact(" in key_line
    assert source.count('<details class="look-closer">\n<summary>Look closer</summary>') == 1
    assert source.endswith("</details>")
    assert "<h2" not in source


@pytest.mark.parametrize("path", EVERY)
def test_marked_words_name_parts_and_tensors_that_exist(path: Path):
    source = path.read_text(encoding="utf-8")
    named = {name for names in re.findall(r'data-part="([^"]*)"', source) for name in names.split()}
    assert named <= {*chapters.PARTS, *chapters.REGIONS, "hbm"}
    assert set(re.findall(r'class="tensor tensor-([^"]*)"', source)) <= set("qkvspo")
    assert source.count('class="part"') == len(re.findall(r'class="part" data-part="', source))


PAGES = ("/numbers", "/measurements", "/glossary", "/api/", "/openapi.json")


@pytest.mark.parametrize("path", EVERY)
def test_links_lead_to_chapters_or_to_the_server(path: Path):
    for address in re.findall(r'href="([^"]*)"', path.read_text(encoding="utf-8")):
        chapter = re.fullmatch(r"#chapter-(\d+)", address)
        assert chapter or address.startswith(PAGES), address
        assert chapter is None or 1 <= int(chapter[1]) <= 14


class Balance(HTMLParser):
    """Notes tags that are not closed in order."""

    EMPTY = frozenset({"br", "hr", "img"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)


@pytest.mark.parametrize("path", EVERY)
def test_tags_are_balanced(path: Path):
    parser = Balance()
    parser.feed(prose.render(path))
    parser.close()
    assert (parser.faults, parser.open) == ([], [])


def test_there_are_five_common_questions_of_two_sentences_each():
    page = prose.render(prose.TEMPLATES / "closing" / "common-questions.html")
    answers = re.findall(r"<dd>(.*?)</dd>", page, flags=re.DOTALL)
    assert len(answers) == 5
    for answer in answers:
        sentences, _, link = answer.partition('<a href="#chapter-')
        assert len(re.findall(r"[.!?](?=\s|$)", prose.text(sentences).strip())) == 2, answer
        assert link


def test_where_figures_disagree_and_sources_list_everything():
    page = prose.render(prose.TEMPLATES / "closing" / "disagreements.html")
    assert page.count("<dt>") == len(LEDGER.disagreements)
    page = prose.render(prose.TEMPLATES / "closing" / "sources.html")
    assert page.count("<li") == len(LEDGER.sources)


def test_both_printed_versions_stand_side_by_side():
    key_line, _, _ = prose.render(prose.CHAPTERS[0]).partition("</p>")
    shown = prose.text(key_line)
    for fact_id in (
        "fa1-hbm-standard",
        "fa1-time-standard",
        "fa1-time-flash",
        "fa1-hbm-standard-neurips",
        "fa1-time-standard-neurips",
        "fa1-time-flash-neurips",
    ):
        assert LEDGER.fact(fact_id).shown() in shown
    assert "arXiv" in shown
    assert "NeurIPS" in shown


def test_the_prose_does_not_call_the_count_of_re_reads_hbm_traffic():
    laboratory = " ".join(prose.text(prose.render(prose.CHAPTERS[13])).split())
    assert "FlashAttention’s count is not HBM traffic. It is what crosses from the L2 cache into the SMs." in laboratory
    for path in prose.CHAPTERS:
        assert not re.search(r"no[- ]L2", prose.text(prose.render(path))), path.stem
