"""Closed solids with bevels: the shapes every part is made of. Pure numpy, millimetres, y up.

Bevels carry the normals of the faces they join, so that a bevel of one or two segments shades as a rounding and the
faces beside it stay flat: that is what lets an edge catch a highlight with few triangles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Solid:
    """Triangles with one normal per vertex: vertices (n, 3) in mm, normals (n, 3), faces (m, 3) counter-clockwise."""

    vertices: Floats
    normals: Floats
    faces: Ints

    def moved(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Solid:
        """The same solid, shifted."""
        return Solid(self.vertices + np.array([x, y, z]), self.normals, self.faces)

    @property
    def bounds(self) -> Floats:
        """Lowest and highest corner, shape (2, 3)."""
        return np.array([self.vertices.min(axis=0), self.vertices.max(axis=0)])


class Ring(NamedTuple):
    """One level of a loft: how far it stands in from the outline, its height, and the tilt of its normals in degrees
    (0 = outwards, 90 = up, −90 = down)."""

    inset: float
    y: float
    tilt: float


def join(solids: Iterable[Solid]) -> Solid:
    """Several solids as one mesh."""
    parts = list(solids)
    starts = np.cumsum([0] + [len(part.vertices) for part in parts[:-1]])
    return Solid(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=True)]),
    )


def fillet(bevel: float, height: float, segments: int, *, bottom: float = 0.0) -> list[Ring]:
    """Rings of an upright side of `height` with a rounded top edge (and a bottom edge, if `bottom` is not 0)."""
    rings: list[Ring] = []
    if bottom:
        rings += [_arc(bottom, bottom, step / segments - 1.0) for step in range(segments + 1)]
    else:
        rings += [Ring(0.0, 0.0, -90.0), Ring(0.0, 0.0, 0.0)]
    rings += [_arc(bevel, height - bevel, step / segments) for step in range(segments + 1)]
    return rings


def chamfer(size: float, height: float, *, bottom: float) -> list[Ring]:
    """Rings of an upright side with flat 45° chamfers whose own edges are slightly broken, as on a machined plate."""

    def edge(width: float, y: float, up: float) -> list[Ring]:
        soft = width * 0.12
        return [
            Ring(0.0, y - up * (width + soft), 0.0),
            Ring(soft, y - up * (width - soft), 45.0 * up),
            Ring(width - soft, y - up * soft, 45.0 * up),
            Ring(width + soft, y, 90.0 * up),
        ]

    return edge(bottom, 0.0, -1.0)[::-1] + edge(size, height, 1.0)


def plain(height: float) -> list[Ring]:
    """Rings of an upright side with hard edges."""
    return [Ring(0.0, 0.0, -90.0), Ring(0.0, 0.0, 0.0), Ring(0.0, height, 0.0), Ring(0.0, height, 90.0)]


def _arc(radius: float, centre: float, turn: float) -> Ring:
    """Point of a rounded edge; `turn` −1 = facing down, 0 = outwards, 1 = up."""
    angle = turn * math.pi / 2
    return Ring(radius * (1 - math.cos(angle)), centre + radius * math.sin(angle), turn * 90.0)


def slab(width: float, depth: float, rings: Sequence[Ring], corner: float = 0.0, corner_segments: int = 1) -> Solid:
    """A rectangular solid centred in x and z, its sides following `rings` from bottom to top.

    Args:
        width: size along x, mm.
        depth: size along z, mm.
        rings: profile of the sides, bottom first.
        corner: radius of the upright edges; larger than every inset, or 0 for square ones.
        corner_segments: segments of each upright edge.

    Raises:
        ValueError: the corner is too small for the bevel or too large for the outline.
    """
    deepest = max(ring.inset for ring in rings)
    if corner and corner <= deepest:
        raise ValueError(f"corner {corner} must be larger than the deepest inset {deepest}")
    if max(corner, deepest) * 2 >= min(width, depth):
        raise ValueError(f"corner {corner} or inset {deepest} does not fit into {width} × {depth}")
    angles = [math.pi / 2 * step / corner_segments for step in range(corner_segments + 1)] if corner else [math.pi / 4]
    centres, directions = [], []
    for quarter, (side_x, side_z) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1))):
        for angle in angles:
            turn = angle + quarter * math.pi / 2
            centres.append((side_x * (width / 2 - corner), side_z * (depth / 2 - corner)))
            directions.append((math.cos(turn), math.sin(turn)))
    centre, direction = np.array(centres), np.array(directions)
    # a square corner moves along both sides at once, a round one along its own radius
    reach = direction if corner else np.sign(direction)
    return _loft([(centre + reach * (corner - ring.inset), direction, ring) for ring in rings])


def barrel(radii: Sequence[float], height: float, sides: int) -> Solid:
    """A round solid of the given radii at equal steps of height, with smooth sides and flat ends."""
    turn = [2 * math.pi * (step + 0.5) / sides for step in range(sides)]
    direction = np.array([(math.cos(angle), math.sin(angle)) for angle in turn])
    step = height / (len(radii) - 1)
    slopes = np.gradient(np.array(radii), step)
    rings = [Ring(0.0, index * step, -math.degrees(math.atan(slope))) for index, slope in enumerate(slopes)]
    levels = [(direction * radius, direction, ring) for radius, ring in zip(radii, rings, strict=True)]
    bottom = (direction * radii[0], direction, Ring(0.0, 0.0, -90.0))
    top = (direction * radii[-1], direction, Ring(0.0, height, 90.0))
    return _loft([bottom, *levels, top])


def _loft(levels: Sequence[tuple[Floats, Floats, Ring]]) -> Solid:
    """Join levels of equal point count (outline points, outward directions, ring) into one closed solid.

    Levels at the same place but of different tilt give a hard edge: no band is drawn between them.
    """
    size = len(levels[0][0])
    vertices, normals = [], []
    for outline, direction, ring in levels:
        tilt = math.radians(ring.tilt)
        vertices.append(np.column_stack([outline[:, 0], np.full(size, ring.y), outline[:, 1]]))
        flat = direction * math.cos(tilt)
        normals.append(np.column_stack([flat[:, 0], np.full(size, math.sin(tilt)), flat[:, 1]]))
    faces: list[tuple[int, int, int]] = []
    for level in range(len(levels) - 1):
        if np.allclose(vertices[level], vertices[level + 1]):
            continue
        low, high = level * size, (level + 1) * size
        for here in range(size):
            there = (here + 1) % size
            faces += [(low + here, high + here, high + there), (low + here, high + there, low + there)]
    last = (len(levels) - 1) * size
    for step in range(1, size - 1):
        faces += [(0, step, step + 1), (last, last + step + 1, last + step)]
    return Solid(np.concatenate(vertices), np.concatenate(normals), np.array(faces, dtype=np.int64))
