"""How bright a picture of the stand is: PNG to luminance, and the contrast along the borders of neighbouring parts.

Luminance is that of sRGB (0 … 1), contrast the ratio WCAG uses, (a + 0.05) / (b + 0.05): the 0.05 stands for light in
the room, so dark neighbours are not flattered. Two parts are told apart at a border if they differ by the ratio asked
for, or if a line between them differs from both by it.
"""

from __future__ import annotations

import struct
import zlib
from collections import defaultdict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Page

from app import browser

Floats = NDArray[np.float64]

STEP = 2  # px between places where the stand is asked which part is seen
SIDE = (3, 7)  # px from a border where a part's own luminance is read
LINE = 3  # px around a border where a line between parts is looked for


class Border(NamedTuple):
    """Contrast between two parts that meet on the screen: median over all places where they do, and how many."""

    contrast: float
    places: int


def read_png(data: bytes) -> NDArray[np.uint8]:
    """Pixels (height, width, 3) of an 8-bit RGB or RGBA PNG without interlacing, as browsers write them."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("not a PNG file")
    at, body, head = 8, b"", b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        chunk = data[at + 8 : at + 8 + length]
        head = chunk if kind == b"IHDR" else head
        body += chunk if kind == b"IDAT" else b""
        at += 12 + length
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", head)
    if depth != 8 or colour not in (2, 6) or interlace:
        raise ValueError(f"cannot read a PNG of depth {depth}, colour type {colour}, interlace {interlace}")
    channels = 3 if colour == 2 else 4
    rows = np.frombuffer(zlib.decompress(body), np.uint8).reshape(height, 1 + width * channels)
    before = np.zeros((width, channels), np.uint8)
    out = np.empty((height, width, channels), np.uint8)
    for y, row in enumerate(rows):
        before = _unfilter(int(row[0]), row[1:].reshape(width, channels), before)
        out[y] = before
    return out[:, :, :3]


def _unfilter(kind: int, row: NDArray[np.uint8], above: NDArray[np.uint8]) -> NDArray[np.uint8]:
    if kind == 0:
        return row
    if kind == 1:
        return np.cumsum(row, axis=0, dtype=np.uint64).astype(np.uint8)
    if kind == 2:
        return row + above
    out = [[0] * row.shape[1]]
    corner = [0] * row.shape[1]
    for here, up in zip(row.tolist(), above.tolist(), strict=True):
        left = out[-1]
        guess = [_average(a, b) if kind == 3 else _paeth(a, b, c) for a, b, c in zip(left, up, corner, strict=True)]
        out.append([(value + base) & 255 for value, base in zip(here, guess, strict=True)])
        corner = up
    return np.array(out[1:], np.uint8)


def _average(left: int, up: int) -> int:
    return (left + up) // 2


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    away = (abs(guess - left), abs(guess - up), abs(guess - corner))
    return (left, up, corner)[away.index(min(away))]


def luminance(pixels: NDArray[np.uint8]) -> Floats:
    """Relative luminance (height, width), 0 … 1, of sRGB pixels."""
    share = pixels / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    light: Floats = linear @ np.array([0.2126, 0.7152, 0.0722])
    return light


def picture(page: Page) -> Floats:
    """Luminance of the canvas as it is on the screen, without what lies over it."""
    page.evaluate(
        """() => {
            for (const node of document.querySelectorAll('.stand-callouts, .stand-cut-grip, #part-card'))
                node.style.visibility = 'hidden';
        }"""
    )
    return luminance(read_png(browser.photograph(page, "#stand canvas")))


def parts_seen(page: Page) -> NDArray[np.str_]:
    """Which part is seen at every `STEP`th pixel of the canvas: part ids, stacks all called "hbm", "" for none."""
    rows = page.evaluate(
        """(step) => {
            const { clientWidth, clientHeight } = document.querySelector('#stand canvas');
            const rows = [];
            for (let y = 0; y < clientHeight; y += step) {
                const row = [];
                for (let x = 0; x < clientWidth; x += step) {
                    const id = window.exhibitStand.partAt(x + 0.5, y + 0.5) ?? '';
                    row.push(id.startsWith('hbm_stack') ? 'hbm' : id);
                }
                rows.push(row);
            }
            return rows;
        }""",
        STEP,
    )
    return np.array(rows)


def ratio(a: float, b: float) -> float:
    """Contrast of two luminances, 1 … 21."""
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)


def borders(light: Floats, seen: NDArray[np.str_]) -> dict[frozenset[str], Border]:
    """Contrast of every two parts that meet on the screen, along rows and along columns."""
    found: dict[frozenset[str], list[float]] = defaultdict(list)
    for picture_rows, part_rows in ((light, seen), (light.T, seen.T)):
        for number, row in enumerate(part_rows):
            line = picture_rows[number * STEP]
            for at in np.flatnonzero(row[1:] != row[:-1]).tolist():
                one, other = str(row[at]), str(row[at + 1])
                low, high = at - SIDE[1] // STEP, at + 1 + SIDE[1] // STEP
                if not one or not other or low < 0 or high >= len(row):
                    continue
                if (row[low:at] != one).any() or (row[at + 1 : high + 1] != other).any():
                    continue
                found[frozenset((one, other))].append(_parted(line, at * STEP + STEP // 2))
    return {pair: Border(float(np.median(values)), len(values)) for pair, values in found.items()}


def _parted(line: Floats, border: int) -> float:
    near, far = SIDE
    one = float(np.median(line[max(0, border - far) : border - near + 1]))
    other = float(np.median(line[border + near : border + far + 1]))
    between = line[border - LINE : border + LINE + 1]
    lines = [min(ratio(float(edge), one), ratio(float(edge), other)) for edge in (between.max(), between.min())]
    return max(ratio(one, other), *lines)


def dark_share(light: Floats) -> float:
    """Share of the picture under one percent luminance."""
    return float((light < 0.01).mean())
