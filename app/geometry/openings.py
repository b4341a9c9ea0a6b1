"""A bevelled plate with rectangular openings: the moulding that fills the space between die and stacks.

Outline and openings are loops of points; every ring of the bevel moves all loops at once, so that top, bevel and
underside close without gaps. The flat faces are cut into triangles between the loops' own points.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from app.geometry.solids import Ring, Solid, fillet

Point = tuple[float, float]
_CORNER_STEPS = 3


class Opening(NamedTuple):
    """A rectangular hole: its edges in mm."""

    x0: float
    z0: float
    x1: float
    z1: float


def plate(width: float, depth: float, height: float, openings: Sequence[Opening], bevel: float, corner: float) -> Solid:
    """A plate centred in x and z, from y = 0 to `height`, with rounded top edges outside and around every opening.

    Args:
        width: size along x, mm.
        depth: size along z, mm.
        height: thickness, mm.
        openings: holes, not touching each other or the outline.
        bevel: radius of the top edges, mm.
        corner: radius of the four upright outer edges, mm; larger than `bevel`.

    Raises:
        ValueError: an opening lies outside the plate or too close to another one.
    """
    _refuse_crowding(width / 2, depth / 2, openings, bevel, corner)
    rings = [ring for ring in fillet(bevel, height, 2) if ring.tilt >= 0]
    build = _Plate(width / 2, depth / 2, corner, openings)
    build.face(rings[-1], up=True)
    build.face(Ring(0.0, 0.0, -90.0), up=False)
    build.sides(rings)
    return Solid(np.array(build.vertices), np.array(build.normals), np.array(build.faces, dtype=np.int64))


def _refuse_crowding(half_x: float, half_z: float, openings: Sequence[Opening], bevel: float, corner: float) -> None:
    for hole in openings:
        room = min(hole.x0 + half_x, half_x - hole.x1, hole.z0 + half_z, half_z - hole.z1)
        if room <= max(corner, 2 * bevel):
            raise ValueError(f"{hole} stands too close to the outline")
    for one, other in itertools.combinations(openings, 2):
        apart_x = max(one.x0 - other.x1, other.x0 - one.x1)
        apart_z = max(one.z0 - other.z1, other.z0 - one.z1)
        if max(apart_x, apart_z) <= 2 * bevel:
            raise ValueError(f"{one} stands too close to {other}")


class _Plate:
    """Collects vertices and faces of one plate."""

    def __init__(self, half_x: float, half_z: float, corner: float, openings: Sequence[Opening]) -> None:
        self.half = (half_x, half_z)
        self.corner = corner
        self.openings = openings
        self.vertices: list[tuple[float, float, float]] = []
        self.normals: list[tuple[float, float, float]] = []
        self.faces: list[tuple[int, int, int]] = []

    def _outline(self, inset: float) -> list[tuple[Point, Point]]:
        """Points of the outer loop with their outward directions, turning from +x towards +z."""
        found = []
        for quarter, (side_x, side_z) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1))):
            for step in range(_CORNER_STEPS + 1):
                angle = (quarter + step / _CORNER_STEPS) * math.pi / 2
                out = math.cos(angle), math.sin(angle)
                x = side_x * (self.half[0] - self.corner) + out[0] * (self.corner - inset)
                found.append(((x, side_z * (self.half[1] - self.corner) + out[1] * (self.corner - inset)), out))
        return found

    @staticmethod
    def _hole(hole: Opening, inset: float) -> list[Point]:
        """Corners of an opening, turning the other way."""
        x0, z0, x1, z1 = hole.x0 - inset, hole.z0 - inset, hole.x1 + inset, hole.z1 + inset
        return [(x0, z0), (x0, z1), (x1, z1), (x1, z0)]

    def _vertex(self, place: Point, ring: Ring, out: Point) -> int:
        tilt = math.radians(ring.tilt)
        self.vertices.append((place[0], ring.y, place[1]))
        self.normals.append((out[0] * math.cos(tilt), math.sin(tilt), out[1] * math.cos(tilt)))
        return len(self.vertices) - 1

    def face(self, ring: Ring, *, up: bool) -> None:
        """The top or the underside."""
        outline = [place for place, _ in self._outline(ring.inset)]
        holes = [self._hole(hole, ring.inset) for hole in self.openings]
        index = [self._vertex(place, ring, (0.0, 0.0)) for loop in (outline, *holes) for place in loop]
        for a, b, c in triangles(outline, holes):
            self.faces.append((index[a], index[c], index[b]) if up else (index[a], index[b], index[c]))

    def sides(self, rings: Sequence[Ring]) -> None:
        """The upright sides and their bevels, outside and in every opening."""
        self._wall([[self._vertex(place, ring, out) for place, out in self._outline(ring.inset)] for ring in rings])
        for hole in self.openings:
            for side, out in enumerate(((1.0, 0.0), (0.0, -1.0), (-1.0, 0.0), (0.0, 1.0))):
                strips = []
                for ring in rings:
                    corners = self._hole(hole, ring.inset)
                    ends = corners[side], corners[(side + 1) % 4]
                    strips.append([self._vertex(place, ring, out) for place in ends])
                self._wall(strips, closed=False)

    def _wall(self, strips: Sequence[Sequence[int]], *, closed: bool = True) -> None:
        for low, high in itertools.pairwise(strips):
            for here in range(len(low) if closed else len(low) - 1):
                there = (here + 1) % len(low)
                self.faces += [(low[here], high[here], high[there]), (low[here], high[there], low[there])]


def triangles(outline: Sequence[Point], holes: Sequence[Sequence[Point]]) -> list[tuple[int, int, int]]:
    """Cut the area between loops into triangles that use no points but the loops' own.

    Args:
        outline: outer loop, turning from the first axis towards the second.
        holes: inner loops, turning the other way.

    Returns:
        Triples of indices into all points, outline first, turning as the outline does.
    """
    points = [*outline, *itertools.chain.from_iterable(holes)]
    starts = np.cumsum([len(outline), *map(len, holes)]).tolist()
    waiting = [list(range(start, end)) for start, end in itertools.pairwise(starts)]
    loop = list(range(len(outline)))
    # each hole is tied to the outer loop by a bridge, walked once each way
    while waiting:
        rims = [loop, *waiting]
        bridges = sorted(
            (math.dist(points[here], points[there]), at, number, entry)
            for at, here in enumerate(loop)
            for number, hole in enumerate(waiting)
            for entry, there in enumerate(hole)
        )
        _, at, number, entry = next(
            bridge
            for bridge in bridges
            if _within(points, loop, bridge[1], waiting[bridge[2]][bridge[3]])
            and _clear(points, rims, loop[bridge[1]], waiting[bridge[2]][bridge[3]])
        )
        hole = waiting.pop(number)
        loop = loop[: at + 1] + hole[entry:] + hole[: entry + 1] + loop[at:]
    return _clip(points, loop)


def _turn(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _within(points: Sequence[Point], loop: Sequence[int], at: int, there: int) -> bool:
    """Whether a point is seen from inside the corner of the loop; a point tied twice has a corner on either side."""
    before, here, after, goal = (points[i] for i in (loop[at - 1], loop[at], loop[(at + 1) % len(loop)], there))
    left, right = _turn(here, after, goal) > 0, _turn(before, here, goal) > 0
    return left and right if _turn(before, here, after) > 0 else left or right


def _clear(points: Sequence[Point], rims: Sequence[Sequence[int]], here: int, there: int) -> bool:
    """Whether nothing lies on the straight line between two points."""
    a, b = points[here], points[there]
    for rim in rims:
        for first, second in itertools.pairwise([*rim, rim[0]]):
            if {first, second} & {here, there}:
                continue
            c, d = points[first], points[second]
            if _turn(a, b, c) * _turn(a, b, d) <= 0 and _turn(c, d, a) * _turn(c, d, b) <= 0:
                return False
    return True


def _clip(points: Sequence[Point], loop: list[int]) -> list[tuple[int, int, int]]:
    """Cut off the fullest corner until a triangle is left."""
    found = []
    while len(loop) > 2:
        best, corner = 0.0, -1
        for at in range(len(loop)):
            a, b, c = (points[loop[(at + step) % len(loop)]] for step in (-1, 0, 1))
            longest = max(math.dist(a, b), math.dist(b, c), math.dist(c, a))
            full = _turn(a, b, c) / longest**2
            # A point that rounding has moved off an edge still lies on it: cutting past it would leave a sliver behind.
            least = -1e-9 * longest**2
            if full > max(best, 1e-9) and not any(
                _turn(a, b, p) >= least and _turn(b, c, p) >= least and _turn(c, a, p) >= least
                for p in (points[index] for index in loop)
                if p not in (a, b, c)
            ):
                best, corner = full, at
        if corner < 0:
            raise ValueError("the loops cross each other")
        found.append((loop[corner - 1], loop[corner], loop[(corner + 1) % len(loop)]))
        del loop[corner]
    return found
