"""The things to touch as tests handle them: one of each chapter, brought to life, and what it says."""

from playwright.sync_api import Locator

from tests.browser.conftest import Visit

NAMES = {
    1: "parts",
    2: "ladder",
    3: "roofline",
    4: "round-trip",
    5: "cut",
    6: "sm",
    7: "blocks",
    8: "softmax",
    9: "recompute",
    10: "series",
    11: "versions",
    12: "exactness",
    13: "pieces",
}


def touch(visit: Visit, chapter: int, query: str = "", *, stand: bool = False) -> Locator:
    """The touch of a chapter, alive and in view."""
    page = visit.go(f"/?tier=low{query}#chapter-{chapter}", stand=stand)
    host = page.locator(f"#chapter-{chapter} .touch-host[data-touch={NAMES[chapter]}]")
    page.keyboard.press("Shift")  # a hand on the keys: from here on the page does not hold on to the linked place
    host.scroll_into_view_if_needed()
    page.wait_for_selector(f"#chapter-{chapter} .touch-host[data-ready]")
    visit.rest()
    return host


def said(host: Locator) -> str:
    return (host.locator(".touch-said").first.text_content() or "").replace("\u00a0", " ")
