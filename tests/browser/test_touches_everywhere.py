"""All things to touch alike: a finger reaches each, none is cut off, assistive technology finds nothing amiss."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import NARROW, WIDE, open_visit
from tests.browser.touch_page import NAMES, touch

AXE = Path(__file__).parent.parent.parent / "static" / "node_modules" / "axe-core" / "axe.min.js"
# The width at which pages must still flow without scrolling sideways (WCAG 1.4.10).
REFLOW = {"width": 320, "height": 640}
# The least height of what a finger is to hit, in px (WCAG 2.5.8).
LEAST_TARGET = 24


@pytest.mark.parametrize("chapter", NAMES)
def test_a_finger_reaches_every_touch(browser: Browser, server: str, chapter: int) -> None:
    visit = open_visit(browser, server, viewport=NARROW, has_touch=True, is_mobile=True)
    host = touch(visit, chapter)
    page = visit.page
    control = host.locator(".touch-live input:not([type=range]), .touch-live button:enabled, .part-list button").last
    control.scroll_into_view_if_needed()
    control.tap()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    small = host.evaluate(
        """(host, least) => [...host.querySelectorAll('button, .touch-live label:has(input), select')]
            .filter((control) => control.checkVisibility() && control.getBoundingClientRect().height < least)
            .map((control) => control.textContent)""",
        LEAST_TARGET,
    )
    assert small == []
    assert visit.complaints == []
    page.context.close()


@pytest.mark.parametrize(
    ("viewport", "size"), [(WIDE, "200%"), (REFLOW, "100%")], ids=["text at 200 %", "320 pixels wide"]
)
def test_no_touch_is_cut_off(browser: Browser, server: str, viewport: dict[str, int], size: str) -> None:
    """Nothing runs out of the page sideways and no figure out of its frame."""
    visit = open_visit(browser, server, viewport=viewport)
    page = visit.go("/?tier=low", stand=False)
    page.evaluate("(size) => { document.documentElement.style.fontSize = size; }", size)
    for chapter in NAMES:
        host = page.locator(f"#chapter-{chapter} .touch-host")
        host.scroll_into_view_if_needed()
        page.wait_for_selector(f"#chapter-{chapter} .touch-host[data-ready]")
        visit.rest()
        # Looked at in one go: a figure that is laid out anew is a new element.
        beyond = host.evaluate(
            """(host) => [...host.querySelectorAll('.figure')].map((figure) =>
                figure.getBoundingClientRect().right - host.getBoundingClientRect().right)"""
        )
        assert all(px <= 1 for px in beyond), (chapter, beyond)
    wide = page.evaluate(
        """() => [...document.querySelectorAll('.touch-host')]
            .filter((host) => host.scrollWidth > host.clientWidth + 1
                || host.getBoundingClientRect().right > innerWidth)
            .map((host) => host.dataset.touch)"""
    )
    assert wide == []
    page.context.close()


@pytest.mark.parametrize(("theme", "viewport"), [("gallery", WIDE), ("dark", NARROW), ("projector", WIDE)])
def test_axe_finds_nothing_in_touches(browser: Browser, server: str, theme: str, viewport: dict[str, int]) -> None:
    visit = open_visit(browser, server, viewport=viewport)
    page = visit.go(f"/?tier=low&theme={theme}", stand=False)
    for chapter in NAMES:
        host = page.locator(f"#chapter-{chapter} .touch-host")
        host.scroll_into_view_if_needed()
        page.wait_for_selector(f"#chapter-{chapter} .touch-host[data-ready]")
    page.locator("#chapter-6 .gpc").first.click()
    page.locator("#chapter-6 .sm").first.click()
    page.locator("#chapter-12").get_by_role("button", name="Draw and compare").click()
    page.locator("#chapter-12 .figure").wait_for()
    page.locator("#chapter-3 .key-line .chip").first.click()
    page.locator(".note:popover-open").wait_for()
    page.evaluate(AXE.read_text())
    found = page.evaluate(
        "() => axe.run({include: [['.touch-host'], ['.note'], ['.levels']]}, {resultTypes: ['violations']})"
    )
    assert [(item["id"], [node["html"][:150] for node in item["nodes"][:3]]) for item in found["violations"]] == []
    page.context.close()
