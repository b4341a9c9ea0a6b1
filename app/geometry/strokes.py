"""Strokes of writing, and the lanes' ribbons.

Writing on the model is geometry and needs no font file: a single-stroke alphabet drawn for this project (only the
characters it needs), each straight piece of a stroke a copy of one low bar. Lanes are ribbons along a path.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from app.geometry.instancing import Copies
from app.geometry.solids import Solid

WAIST = 0.7  # width of a bar half-way up, as a share of its foot: there bars meet in a bend
Point = tuple[float, float]
Path = list[Point]


class Bar(NamedTuple):
    """One straight piece of a stroke in the xz plane, mm: its middle, length, width, and turn in degrees from +x
    towards −z."""

    x: float
    z: float
    length: float
    width: float
    turn: float

    def moved(self, x: float = 0.0, z: float = 0.0) -> Bar:
        """The same bar, shifted."""
        return self._replace(x=self.x + x, z=self.z + z)


def bar(height: float, sink: float, slant: float) -> Solid:
    """The bar that strokes are copies of: 1 mm long and wide at its foot, from y = −sink to `height`.

    Args:
        height: height above y = 0, mm.
        sink: depth below y = 0, mm.
        slant: how much narrower its top is on either long side, as a share of the width; the ends stand upright.
    """
    foot, top = [(0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5), (0.5, -0.5)], 0.5 - slant
    vertices = [(x, -sink, z) for x, z in foot] + [(x, height, math.copysign(top, z)) for x, z in foot]
    normals = [(0.0, 0.0, 2 * z) for _, z in foot] + [(0.0, 1.0, 0.0)] * 4
    faces = [(0, 1, 2), (0, 2, 3), (4, 6, 5), (4, 7, 6)]
    for here in range(4):
        there = (here + 1) % 4
        faces += [(here, here + 4, there + 4), (here, there + 4, there)]
    return Solid(np.array(vertices), np.array(normals), np.array(faces, dtype=np.int64))


def bars(path: Sequence[Point], width: float) -> list[Bar]:
    """Bars along a path (x, z) in mm; at a bend of up to 90° they reach as far as a mitre would.

    A path that ends where it starts is closed.
    """
    closed = len(path) > 3 and math.dist(path[0], path[-1]) < 1e-9
    pieces = list(itertools.pairwise(path))
    turns = [math.atan2(z1 - z0, x1 - x0) for (x0, z0), (x1, z1) in pieces]

    def reach(first: int, second: int) -> float:
        if not closed and (first < 0 or second == len(pieces)):
            return 0.0
        bend = abs((turns[second % len(pieces)] - turns[first] + math.pi) % (2 * math.pi) - math.pi)
        # past a right angle they would poke out beside each other: there the corner is cut off instead
        return WAIST * width / 2 * math.tan(min(bend, math.pi - bend) / 2)

    found = []
    for index, ((x0, z0), (x1, z1)) in enumerate(pieces):
        before, after = reach(index - 1, index), reach(index, index + 1)
        along_x, along_z, length = math.cos(turns[index]), math.sin(turns[index]), math.dist((x0, z0), (x1, z1))
        ahead = (length + after - before) / 2
        found.append(
            Bar(
                x0 + along_x * ahead,
                z0 + along_z * ahead,
                length + before + after,
                width,
                -math.degrees(turns[index]) % 180.0,  # a bar looks the same from either end
            )
        )
    return found


def drawn(strokes: Iterable[Bar]) -> Copies:
    """Strokes as copies of the bar."""
    found = list(strokes)
    return Copies(
        np.array([(stroke.x, 0.0, stroke.z) for stroke in found]),
        np.array([(stroke.length, 1.0, stroke.width) for stroke in found]),
        np.array([stroke.turn for stroke in found]),
    )


def ribbon(path: Sequence[Point], width: float, height: float) -> Solid:
    """A low bar along a path in the xz plane, from y = 0 to `height`, its top narrower than its foot.

    Args:
        path: at least two points (x, z) in mm.
        width: width at the foot, mm.
        height: height above y = 0, mm.
    """
    points = np.array(path, dtype=np.float64)
    count = len(points)
    ahead = np.diff(points, axis=0)
    ahead = np.vstack([ahead, ahead[-1:]])
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    behind = np.vstack([ahead[:1], ahead[:-1]])
    along = ahead + behind
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    side = np.column_stack([-along[:, 1], along[:, 0]])
    # a mitre keeps the width through a bend; it is limited so that sharp bends do not grow spikes
    stretch = 1.0 / np.clip(np.sum(side * np.column_stack([-ahead[:, 1], ahead[:, 0]]), axis=1), 0.4, 1.0)
    slant = min(width * 0.3, height * 0.9)
    top = points.copy()
    top[0] += ahead[0] * slant
    top[-1] -= ahead[-1] * slant
    reach = (side * stretch[:, None]) * (width / 2)
    narrow = (side * stretch[:, None]) * (width / 2 - slant)
    foot_out = np.vstack([-ahead[:1], np.zeros((count - 2, 2)), ahead[-1:]])

    def level(flat: np.ndarray, y: float) -> np.ndarray:
        return np.column_stack([flat[:, 0], np.full(count, y), flat[:, 1]])

    def unit(flat: np.ndarray) -> np.ndarray:
        return level(flat / np.linalg.norm(flat, axis=1, keepdims=True), 0.0)

    up = np.tile([0.0, 1.0, 0.0], (count, 1))
    # four rows of vertices: foot on one side, top on that side, top on the other, foot on the other
    vertices = [level(points + reach, 0.0), level(top + narrow, height), level(top - narrow, height)]
    vertices.append(level(points - reach, 0.0))
    normals = [unit(side + foot_out), up, up, unit(-side + foot_out)]
    faces: list[tuple[int, int, int]] = []
    for here in range(count - 1):
        there = here + 1
        for row in range(4):
            low, high = row * count, (row + 1) % 4 * count
            faces += [(low + here, low + there, high + there), (low + here, high + there, high + here)]
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
    "s": (0.44, [_s(0.44, _X, 8)]),
    "t": (0.34, [[(0.14, 0.95), (0.14, 0.18), *arc((0.3, 0.18), (0.16, 0.18), 200, 280, 4)], [(0.0, _X), (0.34, _X)]]),
}
_SPACING = 0.24


def text_width(text: str, cap_height: float) -> float:
    """Width of a line of text in mm."""
    return cap_height * (sum(ALPHABET[letter][0] for letter in text) + _SPACING * (len(text) - 1))


def write(text: str, cap_height: float, stroke: float) -> list[Bar]:
    """A line of text lying in the xz plane, centred in x, its baseline at z = 0, read from +z.

    Args:
        text: characters of `ALPHABET`.
        cap_height: height of capitals, mm.
        stroke: width of a stroke, mm.

    Raises:
        KeyError: the alphabet has no such character.
    """
    return [piece for path in _paths(text, cap_height) for piece in bars(path, stroke)]


def _paths(text: str, cap_height: float) -> Iterable[Path]:
    left = -text_width(text, cap_height) / 2
    for letter in text:
        width, strokes = ALPHABET[letter]
        for stroke in strokes:
            yield [(left + x * cap_height, -y * cap_height) for x, y in stroke]
        left += (width + _SPACING) * cap_height
