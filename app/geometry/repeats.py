"""Where repeated parts stand: fields of joints and vias, layers of the board, capacitors, lanes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from app.geometry import parts
from app.geometry.dimensions import count, mm
from app.geometry.instancing import Copies, at, rows
from app.geometry.layout import Site, fitting, grid, sites, substrate_height, substrate_layers

CELL = 256  # steps from joint to joint: fields of all pitches are told by one table of places
TILE = 20  # columns of a tile


class Field(NamedTuple):
    """A centred grid of joints, its pitch in mm."""

    columns: int
    rows: int
    pitch: float

    def tiles(self) -> list[tuple[float, float, Copies]]:
        """The field cut into equal tiles: x and z of the first joint of each, and its joints from there.

        A tile is `TILE` columns wide and at most as many rows deep. Listed row by row, the places of a shallow tile
        begin the list of a deeper one, which is how all fields share one table.

        Raises:
            ValueError: the field cannot be cut that way.
        """
        across, along = self.columns // TILE, -(-self.rows // TILE)
        if self.columns % TILE or self.rows % along:
            raise ValueError(f"a field of {self.columns} × {self.rows} cannot be cut into tiles {TILE} columns wide")
        deep = self.rows // along
        left, back = (-(number - 1) / 2 * self.pitch for number in (self.columns, self.rows))
        return [
            (left + column * TILE * self.pitch, back + row * deep * self.pitch, rows(TILE, deep, self.pitch))
            for column in range(across)
            for row in range(along)
        ]


def outer_balls() -> Copies:
    """The two outer rows of balls; the corner ball at the pin-one mark is left out, as on real packages."""
    side, pitch = count("balls_per_side"), mm("ball_pitch")
    rim = (side / 2 - 2) * pitch
    outer = [place for place in grid(side, side, pitch) if max(map(abs, place)) > rim]
    outer.remove(max(outer, key=lambda place: place[1] - place[0]))
    return at(outer)


def inner_balls() -> Field:
    """All balls within the two outer rows."""
    within = count("balls_per_side") - 4
    return Field(within, within, mm("ball_pitch"))


def board_vias() -> Field:
    """Vias of the board."""
    pitch = mm("substrate_via_pitch")
    number = fitting(mm("substrate_side") - 2 * mm("substrate_via_edge"), pitch)
    return Field(number, number, pitch)


def c4_joints() -> Field:
    """Joints under the interposer, and the vias above them."""
    free, pitch = 2 * mm("c4_edge"), mm("c4_pitch")
    return Field(fitting(mm("interposer_width") - free, pitch), fitting(mm("interposer_depth") - free, pitch), pitch)


def die_bumps() -> Field:
    """Microbumps under the die, between the strips its lanes take."""
    pitch, edge = mm("microbump_pitch"), mm("microbump_edge")
    free = 2 * (mm("lane_under_die") + edge) + edge
    return Field(fitting(mm("die_width") - free, pitch), fitting(mm("die_depth") - 2 * edge, pitch), pitch)


def other_bumps() -> Copies:
    """Microbumps under the stacks and at the ends of the lanes."""
    found = parts.joint_places()
    places = np.array([(x, 0.0, z) for x, z, _ in found])
    return Copies(places, np.array([(size, 1.0, size) for _, _, size in found]))


def board_layers(wanted: str) -> Copies:
    """Layers of the board of one kind, from the bottom up, as copies of the thinnest."""
    spans = [(y0, y1 - y0) for kind, y0, y1 in substrate_layers() if kind == wanted]
    thinnest = min(height for _, height in spans)
    scale = np.array([(1.0, height / thinnest, 1.0) for _, height in spans])
    return Copies(np.array([(0.0, y0, 0.0) for y0, _ in spans]), scale if scale.max() > 1.001 else None)


def capacitors() -> Copies:
    """Rows of three sizes around the interposer, gathered in groups that follow die and stacks."""
    found: list[tuple[float, float, tuple[float, float, float], bool]] = []  # x, z, size, turned
    beside = mm("die_width") / 2 + mm("stack_gap") + mm("stack_width") / 2
    small, medium, large = (1.0, 1.0, 1.0), (1.4, 1.2, 1.4), (1.8, 1.4, 1.8)
    # distance from the centre, size, pitch, how many beside the die, how many beside each row of stacks
    lines = [(20.2, small, 1.15, 22, 9), (22.4, medium, 1.75, 14, 6), (25.3, large, 2.4, 10, 4)]
    for side in (-1, 1):
        for z, size, pitch, die, stack in lines:
            for middle, number in ((-beside, stack), (0.0, die), (beside, stack)):
                found += [(x, side * z, size, True) for x, _ in grid(number, 1, pitch, middle)]
        for site in sites()[:3]:
            found += [(side * 27.4, z, small, False) for _, z in grid(1, 8, 1.15, 0.0, site.z)]
    places = np.array([(x, substrate_height(), z) for x, z, _, _ in found])
    sizes = np.array([size for _, _, size, _ in found])
    return Copies(places, sizes, np.array([90.0 * turned for *_, turned in found]))


def left_sites() -> list[Site]:
    """The sites at −x; those at +x are the same half a turn about the middle."""
    return [site for site in sites() if site.side < 0]


def lanes() -> list[Copies]:
    """Copies of the lanes' pattern, per row of sites at −x: those of the site itself, then those of the site across,
    which are the same half a turn about the middle."""
    found = []
    for site in left_sites():
        starts = [outer[1] for outer, _ in parts.lane_ends(site)[:: parts.LANE_PATTERN]]
        places = np.array([(0.0, 0.0, z) for z in starts] + [(0.0, 0.0, -z) for z in starts])
        found.append(Copies(places, turn=np.repeat([0.0, 180.0], len(starts))))
    return found
