"""Golden pictures of the stand: which states, how one is photographed, and how two are compared.

The states are data (`states.json`). A picture is the stand alone, 640 × 360 px at the low tier with a fixed clock and
no names, kept as WebP. Two pictures are compared inside the browser, at half the size, where what WebP loses evens out:
the mean distance of the colours, and the share of pixels that are clearly another colour.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Page

FOLDER = Path(__file__).parent
SIZE = (640, 360)
MOMENT = 0.42
MOST_BYTES = 30_000
# Measured: a fresh picture differs from its golden by up to 3.2 of 255 and 0.06 % (losses of WebP), two states in at
# least 3.4 % of their pixels.
MOST_MEAN = 4.2
MOST_OFF = 0.006
CLEARLY = 48
MOST_TRIES = 20

# Below the page's own bar.
TOP = 60
ALONE = """() => Object.assign(document.getElementById("stand").style, {
  position: "fixed", top: "60px", left: "0", width: "640px", height: "360px", zIndex: "99",
})"""
TO_WEBP = """async ([png, most]) => {
  const raw = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
  const image = await createImageBitmap(new Blob([raw], { type: "image/png" }));
  const canvas = new OffscreenCanvas(image.width, image.height);
  canvas.getContext("2d").drawImage(image, 0, 0);
  for (const quality of [0.9, 0.8, 0.7, 0.6, 0.5]) {
    const blob = await canvas.convertToBlob({ type: "image/webp", quality });
    if (blob.size > most) continue;
    const bytes = new Uint8Array(await blob.arrayBuffer());
    return btoa(String.fromCharCode(...bytes));
  }
  throw new Error("the picture cannot be made small enough");
}"""
COMPARE = """async ([a, b, clearly]) => {
  const read = async ([type, data]) => {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type }));
    const canvas = new OffscreenCanvas(320, 180);
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, 320, 180);
    return context.getImageData(0, 0, 320, 180).data;
  };
  const [p, q] = [await read(a), await read(b)];
  let sum = 0, off = 0;
  for (let i = 0; i < p.length; i += 4) {
    let most = 0;
    for (let c = 0; c < 3; c++) {
      const apart = Math.abs(p[i + c] - q[i + c]);
      sum += apart;
      most = Math.max(most, apart);
    }
    if (most > clearly) off++;
  }
  return { mean: sum / (p.length * 0.75), off: off / (p.length / 4) };
}"""


@dataclass(frozen=True, slots=True)
class State:
    """One picture: its name, the page's address and the moment the clock is fixed at."""

    name: str
    path: str
    t: float = MOMENT

    @property
    def file(self) -> Path:
        """Where its golden picture is kept."""
        return FOLDER / f"{self.name}.webp"

    @property
    def address(self) -> str:
        """The page's address with tier, clock and names settled."""
        parts = urlsplit(self.path)
        query = "&".join(filter(None, [parts.query, f"tier=low&labels=0&t={self.t}"]))
        return f"{parts.path}?{query}#{parts.fragment}"


def states() -> list[State]:
    """All states, in the order of the file."""
    raw: list[dict[str, Any]] = json.loads((FOLDER / "states.json").read_text(encoding="utf-8"))
    return [State(**entry) for entry in raw]


def photograph(page: Page, server: str, state: State) -> bytes:
    """PNG of the stand alone in a state."""
    page.goto("about:blank")
    page.goto(server + state.address)
    page.evaluate(ALONE)
    page.wait_for_function("() => window.exhibitStand !== undefined", timeout=60_000)
    page.evaluate("() => { document.querySelector('.stand-callouts').hidden = true; }")
    page.wait_for_load_state("networkidle")
    page.wait_for_function("() => document.querySelector('#stand canvas').clientWidth === 640")
    for _ in range(2):
        page.evaluate("() => new Promise(requestAnimationFrame).then(() => window.exhibitStand.settled())")
    return still(page)


def still(page: Page) -> bytes:
    """PNG of the stand once two pictures in a row are the same: on a busy machine one may show a frame too early."""
    clip: Any = {"x": 0, "y": TOP, "width": SIZE[0], "height": SIZE[1]}
    before = page.screenshot(clip=clip)
    for _ in range(MOST_TRIES):
        page.wait_for_timeout(100)
        now = page.screenshot(clip=clip)
        if now == before:
            return now
        before = now
    raise AssertionError("the stand does not come to rest")


def to_webp(page: Page, png: bytes) -> bytes:
    """The picture as WebP of at most 30 kB. Raises an error of the page when it cannot be made so small."""
    return base64.b64decode(page.evaluate(TO_WEBP, [base64.b64encode(png).decode(), MOST_BYTES]))


def difference(page: Page, one: tuple[str, bytes], other: tuple[str, bytes]) -> tuple[float, float]:
    """(mean distance of colours, 0 … 255; share of pixels clearly off) of two pictures given as (media type, bytes)."""
    sides = [[kind, base64.b64encode(data).decode()] for kind, data in (one, other)]
    found = page.evaluate(COMPARE, [*sides, CLEARLY])
    return found["mean"], found["off"]
