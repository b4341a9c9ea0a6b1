"""Reading: words that name parts, notes beside chips and terms, levels, steps, Back, and present mode."""

import pytest
from playwright.sync_api import Browser

from app.content import chapters
from tests.browser.conftest import WIDE, Visit, open_visit

SLIDES = sum(len(chapter.steps) + 2 for chapter in chapters.load())


def test_a_word_lights_its_part_and_a_part_marks_its_words(visit: Visit) -> None:
    page = visit.go("/?tier=low#chapter-13")
    word = page.locator("#chapter-13 .part[data-part=moulding]")
    word.scroll_into_view_if_needed()
    visit.settle()
    word.hover()
    assert page.evaluate("() => [...window.exhibitStand.state.lit]") == ["moulding"]
    page.mouse.move(2, 400)
    assert page.evaluate("() => [...window.exhibitStand.state.lit]") != ["moulding"]
    word.focus()
    page.keyboard.press("Enter")
    assert word.get_attribute("aria-pressed") == "true"
    page.locator("#part-card", has_text="Moulding").wait_for()
    page.locator("#parts-menu summary").click()
    page.locator('#parts button[data-part="gpu_die"]').click()
    assert word.get_attribute("aria-pressed") == "false"
    assert page.locator("#chapter-13 .part[data-part=gpu_die]").first.get_attribute("aria-pressed") == "true"


def test_a_chip_opens_its_figure_and_escape_gives_the_focus_back(visit: Visit) -> None:
    # At the chapter and at rest: a page that still moves to its place takes the focus along.
    page = visit.go("/?tier=low#chapter-3")
    page.wait_for_selector('.rail a[href="#chapter-3"][aria-current]')
    chip = page.locator('#chapter-3 .chip[href="/numbers#h100-ridge"]').first
    chip.focus()
    page.keyboard.press("Enter")
    note = page.locator(".note:popover-open")
    note.wait_for()
    text = note.text_content() or ""
    for expected in ("295", "counted here", "Formula", "Place", "In the list of all numbers"):
        assert expected in text
    page.keyboard.press("Escape")
    assert page.locator(".note:popover-open").count() == 0
    assert chip.evaluate("(node) => node === document.activeElement")


def test_terms_follow_the_reading_level(visit: Visit) -> None:
    page = visit.go("/?tier=low", stand=False)
    token = page.locator("#chapter-1 .term", has_text="token")
    token.click()
    assert "unit a text is cut into" in (page.locator(".note:popover-open").text_content() or "")
    page.keyboard.press("Escape")
    page.locator('input[name="level"][value="know"]').check()
    assert token.get_attribute("href") is None
    assert page.locator("#chapter-3 .term", has_text="memory-bound").get_attribute("href")
    assert page.locator("#chapter-7 > .look-closer").evaluate("(node) => node.open")
    assert not page.locator("#chapter-1 > .look-closer").evaluate("(node) => node.open")
    page.locator('input[name="level"][value="write"]').check()
    page.wait_for_function("() => location.search.includes('level=write')")
    assert page.locator(".term[href]").count() == 0
    page.reload()
    assert page.locator("#chapter-1 > .look-closer").evaluate("(node) => node.open")


def test_steps_change_the_stand_and_have_an_address(visit: Visit) -> None:
    page = visit.go("/?tier=low#chapter-4-output")
    state = (
        "() => ({pose: window.exhibitStand.state.pose, algorithm: window.exhibitStand.state.flow?.schedule.algorithm})"
    )
    page.wait_for_selector("#stand-panel.has-flow")
    assert page.evaluate(state) == {"pose": "flow", "algorithm": "standard"}
    page.wait_for_function("() => document.getElementById('moment').textContent === 'step 159 of 192'")
    assert page.url.endswith("#chapter-4-output")


def test_back_returns_to_the_chapter_before(visit: Visit) -> None:
    page = visit.go("/?tier=low#chapter-2", stand=False)
    page.locator('.rail a[href="#chapter-9"]').click()
    page.wait_for_selector('.rail a[href="#chapter-9"][aria-current]')
    page.wait_for_function("() => Math.abs(document.getElementById('chapter-9').getBoundingClientRect().top) < 200")
    page.go_back()
    page.wait_for_selector('.rail a[href="#chapter-2"][aria-current]')
    page.wait_for_function("() => Math.abs(document.getElementById('chapter-2').getBoundingClientRect().top) < 200")
    page.go_forward()
    page.wait_for_selector('.rail a[href="#chapter-9"][aria-current]')


def test_the_focus_in_the_rail_does_not_move_the_page(visit: Visit) -> None:
    page = visit.go("/?tier=low#chapter-5", stand=False)
    # What is read stays where it is; the page may still grow above it, and scrolls by as much.
    place = "() => document.getElementById('chapter-5').getBoundingClientRect().top"
    page.wait_for_load_state("networkidle")
    page.wait_for_function(f"() => ({place})() < 200")
    page.wait_for_timeout(1000)
    before = page.evaluate(place)
    page.locator('.rail a[href="#chapter-12"]').focus()
    page.wait_for_timeout(300)
    assert page.evaluate(place) == pytest.approx(before, abs=1)


def test_present_mode_walks_through_every_step_and_back(browser: Browser, server: str) -> None:
    visit = open_visit(browser, server, viewport={"width": 1024, "height": 768})
    page = visit.go("/?tier=low", stand=False)
    page.keyboard.press("p")
    page.locator(".presenter").wait_for()
    assert page.locator("html").get_attribute("data-theme") == "projector"
    assert page.evaluate("() => document.documentElement.scrollHeight <= innerHeight")
    seen = []
    for _ in range(SLIDES):
        seen.append(page.locator(".slide-count").text_content())
        slide = page.locator(".slide")
        if page.locator(".presenter").get_attribute("data-slide") != "touch":
            assert slide.evaluate("(node) => node.scrollHeight <= node.clientHeight"), seen[-1]
            smallest = slide.evaluate(
                """(node) => Math.min(...[...node.querySelectorAll('h2, p, a')]
                    .map((item) => parseFloat(getComputedStyle(item).fontSize)))"""
            )
            assert smallest >= 16
        page.keyboard.press("PageDown")
    assert len(set(seen)) == SLIDES
    assert page.locator(".slide-count").text_content() == f"{SLIDES} of {SLIDES}"
    page.keyboard.press("PageUp")
    page.keyboard.press("ArrowLeft")
    assert page.locator(".slide-count").text_content() == f"{SLIDES - 2} of {SLIDES}"
    page.keyboard.press("Escape")
    assert page.locator(".presenter").is_hidden()
    assert page.locator("html").get_attribute("data-theme") == "gallery"
    assert page.locator("#lab").is_visible()
    assert page.locator(".touch-host").count() == 13
    assert visit.complaints == []
    page.context.close()


def test_present_mode_blanks_lists_its_keys_and_lets_fields_type(visit: Visit) -> None:
    page = visit.go("/?tier=low&present=1", stand=False)
    page.locator(".presenter").wait_for()
    page.keyboard.press("b")
    assert page.locator(".slide-blank").is_visible()
    page.keyboard.press(".")
    assert page.locator(".slide-blank").is_hidden()
    page.keyboard.press("?")
    assert "Page Down" in (page.locator(".slide-keys").text_content() or "")
    page.keyboard.press("Escape")
    assert page.locator(".presenter").is_visible()
    while page.locator(".presenter").get_attribute("data-slide") != "touch":
        page.keyboard.press("PageDown")
    for _ in range(60):
        if page.locator(".presenter").get_attribute("data-slide") == "touch":
            page.wait_for_selector(".slide .touch-host[data-ready]")
        if page.locator(".slide .score-input").count():
            break
        page.keyboard.press("PageDown")
    before = page.locator(".slide-count").text_content()
    field = page.locator(".slide .score-input").first
    field.fill("2")
    field.press("ArrowUp")
    assert field.input_value() == "2.5"
    assert page.locator(".slide-count").text_content() == before


@pytest.mark.parametrize("key", ["p"])
def test_a_key_typed_into_a_field_does_not_present(browser: Browser, server: str, key: str) -> None:
    visit = open_visit(browser, server, viewport=WIDE)
    page = visit.go("/?tier=low", stand=False)
    page.locator("#seqlen-typed").focus()
    page.keyboard.press(key)
    page.wait_for_timeout(200)
    assert page.locator(".presenter:visible").count() == 0
    page.context.close()
