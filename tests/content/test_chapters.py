"""The chapters load in order, know their neighbours, and refuse what does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.content import chapters
from app.content.chapters import ChapterError
from app.facts import registry

ALL = chapters.load()

GOOD = """
number = 1
slug = "one"
title = "One"
question = "What?"
touch = "This."
touch_name = "parts"
fold_open_for = "write"
minutes = 3
teacher = "Say it."
facts = ["h100-sms"]

[stand]
pose = "hero"
explode = 0.0
lit = ["gpu_die"]
flow = ""
grid = false
labels = false

[[steps]]
id = "first"
cue = "Look."
stand = { moment = 0.5, lit = ["hbm"] }
"""


def test_there_are_fourteen_in_order():
    assert [chapter.number for chapter in ALL] == list(range(1, 15))
    assert len({chapter.slug for chapter in ALL}) == 14
    assert len({chapter.title for chapter in ALL}) == 14


def test_neighbours():
    first, second, last = ALL[0], ALL[1], ALL[-1]
    assert chapters.previous(first) is None
    assert chapters.following(first) is second
    assert chapters.previous(second) is first
    assert chapters.following(last) is None


def test_looked_up_by_number_and_slug():
    assert chapters.by_number(7).slug == "blocks"
    assert chapters.by_slug("blocks").anchor == "chapter-7"
    with pytest.raises(KeyError, match="no chapter 15"):
        chapters.by_number(15)
    with pytest.raises(KeyError, match="no chapter 'seven'"):
        chapters.by_slug("seven")


@pytest.mark.parametrize("chapter", ALL, ids=lambda chapter: chapter.name)
def test_a_chapter_is_complete(chapter: chapters.Chapter):
    assert chapter.question.endswith("?")
    assert chapter.touch.endswith(".")
    assert len(chapter.teacher) > 80
    assert chapter.sources
    assert chapter.facts


def test_the_scenes_the_story_needs():
    scenes = {chapter.number: chapter.stand for chapter in ALL}
    assert scenes[1].pose == "hero"
    assert (scenes[4].pose, scenes[4].flow) == ("flow", "standard")
    assert (scenes[7].pose, scenes[7].flow) == ("flow", "fa2")
    assert (scenes[13].pose, scenes[13].explode, scenes[13].labels) == ("exploded", 1.0, True)
    assert (scenes[14].pose, scenes[14].flow, scenes[14].grid) == ("grid", "fa2", True)
    assert all(scene.explode == 0.0 for number, scene in scenes.items() if number != 13)


def test_the_sixth_site_is_never_lit_as_a_source_of_data():
    for chapter in ALL:
        if chapter.stand.flow or chapter.stand.pose == "levels":
            assert "hbm_stack_5" not in chapter.stand.lit


def load_one(tmp_path: Path, text: str, name: str = "01-one.toml"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return chapters.read(tmp_path, registry.load().facts)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"hero"', '"upside-down"', "pose 'upside-down'"),
        ('flow = ""', 'flow = "fa9"', "flow 'fa9'"),
        ("explode = 0.0", "explode = 1.5", "explode must lie"),
        ('"gpu_die"', '"gpu"', "no part 'gpu'"),
        ('"h100-sms"', '"h100-wings"', "no fact 'h100-wings'"),
        ('["h100-sms"]', '["h100-sms", "h100-sms"]', "listed twice"),
        ('slug = "one"', 'slug = "two"', "say 01-two"),
        ('title = "One"', 'title = " "', "title is empty"),
        ("minutes = 3", "minutes = 0", "at least 1"),
        ("minutes = 3", "", "minutes"),
        ("[stand]", "[scene]", "'stand' is missing"),
        ("number = 1", "number = 1\ncolour = 2", "colour"),
        ("number = 1", "number =", "Invalid value"),
        ('"write"', '"experts"', "fold_open_for 'experts'"),
        ('cue = "Look."', 'cue = " "', "step 'first' has no cue"),
        ("moment = 0.5", "moment = 2", "step 'first': moment must lie"),
        ('lit = ["hbm"]', 'lit = ["hbn"]', "step 'first': the model has no part 'hbn'"),
        ("[[steps]]", '[[steps]]\nid = "first"\ncue = "Again."\n\n[[steps]]', "two steps have the same id"),
    ],
)
def test_a_wrong_chapter_is_refused_with_its_reason(tmp_path: Path, old: str, new: str, message: str):
    with pytest.raises(ChapterError, match=message):
        load_one(tmp_path, GOOD.replace(old, new, 1))


def test_a_step_changes_what_it_names_and_leaves_the_rest(tmp_path: Path):
    for number in range(1, 15):
        text = GOOD.replace("number = 1", f"number = {number}").replace('"one"', f'"c{number}"')
        (tmp_path / f"{number:02d}-c{number}.toml").write_text(text, encoding="utf-8")
    chapter = chapters.read(tmp_path, registry.load().facts)[0]
    (step,) = chapter.steps
    assert (step.stand.pose, step.stand.moment) == ("hero", 0.5)
    assert step.stand.lit == ("hbm_stack_0", "hbm_stack_1", "hbm_stack_2", "hbm_stack_3", "hbm_stack_4")
    assert (chapter.stand.lit, chapter.stand.moment) == (("gpu_die",), None)


def test_a_missing_chapter_is_noticed(tmp_path: Path):
    with pytest.raises(ChapterError, match="must be numbered"):
        load_one(tmp_path, GOOD)
