"""Photographs the stand: one picture for each chapter, taken by a real browser from the real page.

They stand where the stand cannot: without WebGL, without a script, in print and in link previews. `exhibit posters`
writes them to `static/public/posters`, and the whole page to `static/public/pictures/exhibit.webp` for the README.
"""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from app import browser
from app.content import chapters

if TYPE_CHECKING:
    from playwright.sync_api import Page

MOST_BYTES = 80_000
# The README's picture holds a page of text as well.
MOST_PICTURE_BYTES = 120_000
POSTER = (1360, 980)
PICTURE = (1280, 720)
QUALITIES = (0.9, 0.82, 0.74, 0.66, 0.58, 0.5)
# A moment in the schedule at which tiles are under way in every order.
MOMENT = 0.42
TO_WEBP = """async ([png, quality]) => {
  const image = new Image();
  image.src = "data:image/png;base64," + png;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas.toDataURL("image/webp", quality).split(",")[1];
}"""


class PostersError(RuntimeError):
    """No browser to take pictures with, or a picture that cannot be made small enough."""


def write(root: Path) -> list[Path]:
    """Write all pictures of the checkout `root`; return their paths.

    Raises:
        PostersError: there is no Chromium, or a picture stays above its limit.
    """
    from playwright.sync_api import sync_playwright

    executable = browser.find()
    if executable is None:
        raise PostersError("no Chromium or Chrome on the PATH")
    folder = root / "static" / "public"
    written: list[Path] = []
    with _server() as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=list(browser.FLAGS))
        page = chromium.new_page(viewport={"width": POSTER[0], "height": POSTER[1]}, reduced_motion="reduce")
        for chapter in chapters.load():
            _open(page, f"{address}?tier=high&t={MOMENT}&labels=0#chapter-{chapter.number}", chapter.stand.flow)
            if chapter.touch_template:
                _wait_for_touch(page, chapter.number)
            png = browser.photograph(page, "#stand canvas", timeout=180_000)
            written.append(_save(page, png, folder / "posters" / f"{chapter.name}.webp"))
        page.set_viewport_size({"width": PICTURE[0], "height": PICTURE[1]})
        _open(page, f"{address}?tier=high&t={MOMENT}#chapter-7", "fa2")
        written.append(
            _save(page, page.screenshot(timeout=180_000), folder / "pictures" / "exhibit.webp", MOST_PICTURE_BYTES)
        )
        chromium.close()
    return written


@contextmanager
def _server() -> Iterator[str]:
    command = [sys.executable, "-m", "app", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline() if process.stdout else ""
        found = re.search(r"http://\S+", line)
        if found is None:
            raise PostersError("the server did not start")
        try:
            yield found.group()
        finally:
            process.terminate()


def _open(page: Page, address: str, flow: str) -> None:
    page.goto("about:blank")
    for attempt in range(50):
        try:
            page.goto(address)
            break
        except Exception:
            if attempt == 49:
                raise
            page.wait_for_timeout(100)
    page.wait_for_function("() => window.exhibitStand !== undefined", timeout=120_000)
    if flow:
        page.wait_for_selector("#stand-panel.has-flow")
    page.evaluate("() => window.exhibitStand.settled()")


def _wait_for_touch(page: Page, chapter: int) -> None:
    """Some chapters' touches set something up on the stand."""
    page.wait_for_selector(f"#chapter-{chapter} .touch-host[data-ready]", state="attached")
    page.wait_for_load_state("networkidle")
    page.evaluate("() => new Promise(requestAnimationFrame).then(() => window.exhibitStand.settled())")


def _save(page: Page, png: bytes, path: Path, most: int = MOST_BYTES) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    for quality in QUALITIES:
        webp = base64.b64decode(page.evaluate(TO_WEBP, [base64.b64encode(png).decode(), quality]))
        if len(webp) <= most:
            path.write_bytes(webp)
            return path
    raise PostersError(f"{path.name} stays above {most:,} bytes")
