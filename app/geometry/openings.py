"""A bevelled plate with rectangular openings: the moulding that fills the space between die and stacks.

The plan is a grid on all edges of the outline and of the openings; cells inside an opening are left out. Every grid
line moves with the bevel, so top, bevel and underside share one pattern and close without gaps.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from app.geometry.solids import Ring, Solid, fillet


class Opening(NamedTuple):
    """A rectangular hole: its edges in mm."""

    x0: float
    z0: float
    x1: float
    z1: float


class _Line(NamedTuple):
    """A grid line: its place where the sides are upright, and which way it moves as the inset grows."""

    at: float
    way: int


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
    return _Plate(width, depth, height, openings, bevel, corner).solid()


class _Plate:
    """Collects vertices and faces of one plate."""

    def __init__(
        self, width: float, depth: float, height: float, openings: Sequence[Opening], bevel: float, corner: float
    ) -> None:
        self.half = (width / 2, depth / 2)
        self.corner = corner
        self.bevel = bevel
        self.openings = openings
        self.rings = [ring for ring in fillet(bevel, height, 2) if ring.tilt >= 0]
        self.xs = self._lines(self.half[0], [(hole.x0, hole.x1) for hole in openings])
        self.zs = self._lines(self.half[1], [(hole.z0, hole.z1) for hole in openings])
        self.vertices: list[tuple[float, float, float]] = []
        self.normals: list[tuple[float, float, float]] = []
        self.faces: list[tuple[int, int, int]] = []

    def _lines(self, half: float, spans: Sequence[tuple[float, float]]) -> list[_Line]:
        found = {_Line(-half, 1), _Line(-half + self.corner, 0), _Line(half - self.corner, 0), _Line(half, -1)}
        for low, high in spans:
            found |= {_Line(round(low, 6), -1), _Line(round(high, 6), 1)}
        lines = sorted(found)
        places = [line.at + line.way * self.bevel for line in lines]
        if any(b <= a for a, b in itertools.pairwise(places)) or lines[0].at < -half:
            raise ValueError("openings stand too close to each other or to the outline")
        return lines

    @staticmethod
    def _within(lines: Sequence[_Line], low: float, high: float) -> list[_Line]:
        return [line for line in lines if round(low, 6) <= line.at <= round(high, 6)]

    def solid(self) -> Solid:
        """The finished plate."""
        self._face(self.rings[-1], up=True)
        self._face(Ring(0.0, 0.0, -90.0), up=False)
        self._outer_sides()
        for hole in self.openings:
            self._opening_sides(hole)
        return Solid(np.array(self.vertices), np.array(self.normals), np.array(self.faces, dtype=np.int64))

    def _vertex(self, position: tuple[float, float, float], normal: tuple[float, float, float]) -> int:
        self.vertices.append(position)
        self.normals.append(normal)
        return len(self.vertices) - 1

    def _quad(self, a: int, b: int, c: int, d: int) -> None:
        self.faces += [(a, b, c), (a, c, d)]

    def _open(self, column: int, row: int) -> bool:
        x, z = (self.xs[column].at + self.xs[column + 1].at) / 2, (self.zs[row].at + self.zs[row + 1].at) / 2
        return any(hole.x0 < x < hole.x1 and hole.z0 < z < hole.z1 for hole in self.openings)

    def _arc(self, ring: Ring, side_x: int, side_z: int) -> list[tuple[float, float, float, float]]:
        """Points of one outer corner at a ring: x, z and outward direction, from the x side to the z side."""
        points = []
        for step in range(4):
            angle = math.pi / 2 * step / 3
            out_x, out_z = side_x * math.cos(angle), side_z * math.sin(angle)
            radius = self.corner - ring.inset
            centre_x, centre_z = side_x * (self.half[0] - self.corner), side_z * (self.half[1] - self.corner)
            points.append((centre_x + out_x * radius, centre_z + out_z * radius, out_x, out_z))
        return points

    def _face(self, ring: Ring, *, up: bool) -> None:
        """The top or the underside."""
        normal = (0.0, 1.0 if up else -1.0, 0.0)
        index: dict[tuple[float, float], int] = {}

        def at(x: float, z: float) -> int:
            key = (round(x, 9), round(z, 9))
            if key not in index:
                index[key] = self._vertex((x, ring.y, z), normal)
            return index[key]

        def fan(outline: list[tuple[float, float]]) -> None:
            corners = [at(x, z) for x, z in outline]
            for step in range(1, len(corners) - 1):
                a, b, c = corners[0], corners[step], corners[step + 1]
                (ax, _, az), (bx, _, bz), (cx, _, cz) = (self.vertices[i] for i in (a, b, c))
                turn = (bx - ax) * (cz - az) - (bz - az) * (cx - ax)
                self.faces.append((a, b, c) if (turn < 0) == up else (a, c, b))

        xs, zs = ([line.at + line.way * ring.inset for line in lines] for lines in (self.xs, self.zs))
        for column in range(len(xs) - 1):
            for row in range(len(zs) - 1):
                if self._open(column, row):
                    continue
                side_x = {0: -1, len(xs) - 2: 1}.get(column, 0)
                side_z = {0: -1, len(zs) - 2: 1}.get(row, 0)
                if side_x and side_z:
                    inner = (xs[1 if side_x < 0 else -2], zs[1 if side_z < 0 else -2])
                    fan([inner, *((x, z) for x, z, _, _ in self._arc(ring, side_x, side_z))])
                else:
                    x0, x1, z0, z1 = xs[column], xs[column + 1], zs[row], zs[row + 1]
                    fan([(x0, z0), (x1, z0), (x1, z1), (x0, z1)])

    def _outer_sides(self) -> None:
        loops = []
        for ring in self.rings:
            tilt = math.radians(ring.tilt)
            x_edge, z_edge = self.half[0] - ring.inset, self.half[1] - ring.inset
            # only the inner lines: the first two and last two belong to the corners
            xs = [line.at + line.way * ring.inset for line in self.xs[2:-2]]
            zs = [line.at + line.way * ring.inset for line in self.zs[2:-2]]
            loop = self._arc(ring, 1, 1)
            loop += [(x, z_edge, 0.0, 1.0) for x in reversed(xs)]
            loop += self._arc(ring, -1, 1)[::-1]
            loop += [(-x_edge, z, -1.0, 0.0) for z in reversed(zs)]
            loop += self._arc(ring, -1, -1)
            loop += [(x, -z_edge, 0.0, -1.0) for x in xs]
            loop += self._arc(ring, 1, -1)[::-1]
            loop += [(x_edge, z, 1.0, 0.0) for z in zs]
            cos, sin = math.cos(tilt), math.sin(tilt)
            loops.append([self._vertex((x, ring.y, z), (ox * cos, sin, oz * cos)) for x, z, ox, oz in loop])
        for low, high in itertools.pairwise(loops):
            for here in range(len(low)):
                there = (here + 1) % len(low)
                self._quad(low[here], high[here], high[there], low[there])

    def _opening_sides(self, hole: Opening) -> None:
        xs = self._within(self.xs, hole.x0, hole.x1)
        zs = self._within(self.zs, hole.z0, hole.z1)
        edges = [
            ([(x, zs[0]) for x in xs], (0.0, 1.0)),
            ([(xs[-1], z) for z in zs], (-1.0, 0.0)),
            ([(x, zs[-1]) for x in reversed(xs)], (0.0, -1.0)),
            ([(xs[0], z) for z in reversed(zs)], (1.0, 0.0)),
        ]
        for line, (out_x, out_z) in edges:
            strips = []
            for ring in self.rings:
                tilt = math.radians(ring.tilt)
                normal = (out_x * math.cos(tilt), math.sin(tilt), out_z * math.cos(tilt))
                strips.append(
                    [
                        self._vertex((x.at + x.way * ring.inset, ring.y, z.at + z.way * ring.inset), normal)
                        for x, z in line
                    ]
                )
            for low, high in itertools.pairwise(strips):
                for here in range(len(line) - 1):
                    self._quad(low[here], low[here + 1], high[here + 1], high[here])
