"""Ribbons along a path, and letters made of them: lanes, the caption, laser marks.

A ribbon is a low bar with slanted sides. Letters come from a single-stroke alphabet drawn for this project (only the
characters it needs), so that writing on the model is geometry and needs no font file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from app.geometry.solids import Solid, join

Point = tuple[float, float]
Path = list[Point]


def ribbon(path: Sequence[Point], width: float, height: float, sink: float = 0.0) -> Solid:
    """A bar along a path in the xz plane, from y = −sink to `height`, its top narrower than its foot.

    Args:
        path: at least two points (x, z) in mm; a path that ends where it starts is closed.
        width: width at the foot, mm.
        height: height above y = 0, mm.
        sink: depth below y = 0, mm.
    """
    closed = len(path) > 3 and math.dist(path[0], path[-1]) < 1e-9
    points = np.array(path[:-1] if closed else path, dtype=np.float64)
    count = len(points)
    ahead = np.roll(points, -1, axis=0) - points
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True) + 1e-300
    behind = np.roll(ahead, 1, axis=0)
    if not closed:
        ahead[-1], behind[0] = ahead[-2], ahead[0]
    along = ahead + behind
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    side = np.column_stack([-along[:, 1], along[:, 0]])
    # a mitre keeps the width through a bend; it is limited so that sharp bends do not grow spikes
    stretch = 1.0 / np.clip(np.sum(side * np.column_stack([-ahead[:, 1], ahead[:, 0]]), axis=1), 0.4, 1.0)
    slant = min(width * 0.3, height * 0.9)
    top = points.copy()
    if not closed:
        top[0] += ahead[0] * slant
        top[-1] -= ahead[-1] * slant
    reach = (side * stretch[:, None]) * (width / 2)
    narrow = (side * stretch[:, None]) * (width / 2 - slant)
    foot_out = np.zeros((count, 2)) if closed else np.vstack([-ahead[:1], np.zeros((count - 2, 2)), ahead[-1:]])

    def level(flat: np.ndarray, y: float) -> np.ndarray:
        return np.column_stack([flat[:, 0], np.full(count, y), flat[:, 1]])

    def unit(flat: np.ndarray) -> np.ndarray:
        return level(flat / np.linalg.norm(flat, axis=1, keepdims=True), 0.0)

    up = np.tile([0.0, 1.0, 0.0], (count, 1))
    # four rows of vertices: foot on one side, top on that side, top on the other, foot on the other
    vertices = [level(points + reach, -sink), level(top + narrow, height), level(top - narrow, height)]
    vertices.append(level(points - reach, -sink))
    normals = [unit(side + foot_out), up, up, unit(-side + foot_out)]
    faces: list[tuple[int, int, int]] = []
    for here in range(count if closed else count - 1):
        there = (here + 1) % count
        for row in range(4):
            low, high = row * count, (row + 1) % 4 * count
            faces += [(low + here, low + there, high + there), (low + here, high + there, high + here)]
    if not closed:
        first, last = [row * count for row in range(4)], [row * count + count - 1 for row in range(4)]
        faces += [(first[0], first[1], first[2]), (first[0], first[2], first[3])]
        faces += [(last[0], last[2], last[1]), (last[0], last[3], last[2])]
    return Solid(np.concatenate(vertices), np.concatenate(normals), np.array(faces, dtype=np.int64))


def arc(centre: Point, radius: Point, start: float, stop: float, steps: int) -> Path:
    """Points of an elliptic arc; angles in degrees, 0 = right, 90 = up."""
    turns = [math.radians(start + (stop - start) * step / steps) for step in range(steps + 1)]
    return [(centre[0] + radius[0] * math.cos(turn), centre[1] + radius[1] * math.sin(turn)) for turn in turns]


def _s(width: float, height: float, steps: int) -> Path:
    """An S: upper bowl, lower bowl."""
    middle, radius = width / 2, height / 4
    upper = arc((middle, height - radius), (middle, radius), 40, 270, steps)
    lower = arc((middle, radius), (middle, radius), 90, -140, steps)
    return upper + lower[1:]


def _b() -> Path:
    """A B: lower bowl, stem, upper bowl."""
    lower = [(0.0, 0.54), *arc((0.34, 0.27), (0.26, 0.27), 90, -90, 8), (0.0, 0.0), (0.0, 1.0)]
    return lower + arc((0.32, 0.77), (0.23, 0.23), 90, -90, 8)


# character → (width, strokes) on a grid whose capitals are 1 high and whose baseline is 0
_X = 0.68  # height of small letters
ALPHABET: dict[str, tuple[float, list[Path]]] = {
    " ": (0.34, []),
    "·": (0.12, [[(0.0, 0.5), (0.12, 0.5)]]),
    "×": (0.46, [[(0.02, 0.18), (0.44, 0.6)], [(0.02, 0.6), (0.44, 0.18)]]),
    "0": (0.6, [arc((0.3, 0.5), (0.3, 0.5), 90, 450, 16)]),
    "1": (0.3, [[(0.02, 0.76), (0.24, 0.94), (0.24, 0.0)]]),
    "3": (0.54, [arc((0.26, 0.755), (0.24, 0.245), 150, -90, 9), arc((0.26, 0.26), (0.28, 0.26), 90, -150, 10)]),
    "4": (0.62, [[(0.46, 0.0), (0.46, 0.98), (0.02, 0.28), (0.62, 0.28)]]),
    "5": (0.56, [[(0.5, 1.0), (0.09, 1.0), (0.05, 0.56), *arc((0.26, 0.32), (0.3, 0.32), 112, -145, 10)]]),
    "A": (0.72, [[(0.0, 0.0), (0.36, 0.94), (0.72, 0.0)], [(0.14, 0.32), (0.58, 0.32)]]),
    "B": (0.6, [_b()]),
    "D": (0.7, [[(0.0, 0.0), (0.0, 1.0), *arc((0.24, 0.5), (0.46, 0.5), 90, -90, 12), (0.0, 0.0)]]),
    "H": (0.66, [[(0.0, 0.0), (0.0, 1.0)], [(0.66, 0.0), (0.66, 1.0)], [(0.03, 0.52), (0.63, 0.52)]]),
    "I": (0.0, [[(0.0, 0.0), (0.0, 1.0)]]),
    "M": (0.84, [[(0.0, 0.0), (0.0, 1.0)], [(0.84, 0.0), (0.84, 1.0)], [(0.03, 0.95), (0.42, 0.16), (0.81, 0.95)]]),
    "N": (0.68, [[(0.0, 0.0), (0.0, 1.0)], [(0.68, 0.0), (0.68, 1.0)], [(0.03, 0.95), (0.65, 0.05)]]),
    "S": (0.58, [_s(0.58, 1.0, 9)]),
    "V": (0.7, [[(0.0, 1.0), (0.35, 0.06), (0.7, 1.0)]]),
    "X": (0.66, [[(0.0, 0.0), (0.66, 1.0)], [(0.0, 1.0), (0.66, 0.0)]]),
    "c": (0.46, [arc((0.28, _X / 2), (0.28, _X / 2), 48, 312, 11)]),
    "e": (0.54, [[(0.04, 0.36), (0.5, 0.36)], arc((0.27, _X / 2), (0.27, _X / 2), 4, 312, 13)]),
    "h": (0.5, [[(0.0, 0.0), (0.0, 1.0)], [(0.0, 0.4), *arc((0.25, 0.42), (0.25, 0.26), 160, 0, 7), (0.5, 0.0)]]),
    "i": (0.0, [[(0.0, 0.0), (0.0, _X)], [(0.0, 0.86), (0.0, 0.99)]]),
    "k": (0.46, [[(0.0, 0.0), (0.0, 1.0)], [(0.44, _X), (0.03, 0.27)], [(0.16, 0.4), (0.46, 0.0)]]),
    "n": (0.5, [[(0.0, 0.0), (0.0, _X)], [(0.0, 0.4), *arc((0.25, 0.42), (0.25, 0.26), 160, 0, 7), (0.5, 0.0)]]),
    "s": (0.44, [_s(0.44, _X, 7)]),
    "t": (0.34, [[(0.14, 0.95), (0.14, 0.18), *arc((0.3, 0.18), (0.16, 0.18), 200, 280, 4)], [(0.0, _X), (0.34, _X)]]),
}
_SPACING = 0.24


def text_width(text: str, cap_height: float) -> float:
    """Width of a line of text in mm."""
    return cap_height * (sum(ALPHABET[letter][0] for letter in text) + _SPACING * (len(text) - 1))


def write(text: str, cap_height: float, stroke: float, height: float, sink: float = 0.0) -> Solid:
    """A line of text lying in the xz plane, centred in x, its baseline at z = 0, read from +z.

    Args:
        text: characters of `ALPHABET`.
        cap_height: height of capitals, mm.
        stroke: width of a stroke, mm.
        height: how far the letters stand up, mm.
        sink: how deep they are seated, mm.

    Raises:
        KeyError: the alphabet has no such character.
    """
    return join(ribbon(path, stroke, height, sink) for path in _paths(text, cap_height))


def _paths(text: str, cap_height: float) -> Iterable[Path]:
    left = -text_width(text, cap_height) / 2
    for letter in text:
        width, strokes = ALPHABET[letter]
        for stroke in strokes:
            yield [(left + x * cap_height, -y * cap_height) for x, y in stroke]
        left += (width + _SPACING) * cap_height
