"""Finds the Chromium that the browser tests and the posters drive."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# Software rendering gives the same picture on every machine; the rest keeps the browser from calling home.
FLAGS = (
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find() -> str | None:
    """Path of a Chromium or Chrome on the PATH, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


MOST_TRIES = 20
PLACE = """(selector) => {
  const { x, y, width, height } = document.querySelector(selector).getBoundingClientRect();
  return [scrollX, scrollY, x, y, width, height];
}"""


def photograph(page: Page, selector: str, timeout: float = 30_000) -> bytes:
    """PNG of one element in view, as it lies on the screen.

    Where to cut it out of the page is worked out before the picture is taken. If the page grew above in between, the
    browser has scrolled to keep the reader's place and the cut is off: the picture is then taken again. Playwright's
    own picture of an element does not look again, and scrolls the page itself.
    """
    for _ in range(MOST_TRIES):
        before = page.evaluate(PLACE, selector)
        x, y, width, height = before[2:]
        png = page.screenshot(clip={"x": x, "y": y, "width": width, "height": height}, timeout=timeout)
        if page.evaluate(PLACE, selector) == before:
            return png
    raise RuntimeError(f"{selector} does not come to rest")
