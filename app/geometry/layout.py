"""Where everything stands: heights of the layers and places on the plan, from the dimension table alone.

Package coordinates in mm: x along the short side of the die (stacks at ±x), y up from the top of the base, z towards
the reader.
"""

from __future__ import annotations

from typing import NamedTuple

from app.geometry.dimensions import count, mm


class Site(NamedTuple):
    """One of the six places beside the die, from 0. `named`: whether NVIDIA counts it among the stacks in use."""

    number: int
    x: float
    z: float
    named: bool

    @property
    def side(self) -> int:
        """−1 left of the die, +1 right of it."""
        return -1 if self.x < 0 else 1


class Levels(NamedTuple):
    """Heights at which layers begin, mm; each ends where the next begins."""

    bga_balls: float
    substrate: float
    c4_bumps: float
    interposer: float
    microbumps: float
    dies: float
    tops: float


def levels() -> Levels:
    """Heights of the layers from the base up."""
    balls = 0.0
    substrate = balls + mm("ball_thickness")
    c4 = substrate + substrate_height()
    interposer = c4 + mm("c4_thickness")
    microbumps = interposer + mm("interposer_thickness")
    dies = microbumps + mm("microbump_thickness")
    return Levels(balls, substrate, c4, interposer, microbumps, dies, dies + mm("tops_thickness"))


def substrate_layers() -> list[tuple[str, float, float]]:
    """The board from its underside up: ("mask" | "copper" | "resin", y0, y1), y from the underside, mm."""
    half = count("copper_layers") // 2
    build_up = ["copper", "resin"] * (half - 1) + ["copper"]
    kinds = ["mask", *build_up, "core", *build_up, "mask"]
    layers, y = [], 0.0
    for kind in kinds:
        height = mm(f"{kind}_thickness")
        layers.append(("resin" if kind == "core" else kind, y, y + height))
        y += height
    return layers


def substrate_height() -> float:
    """Height of the board, mm."""
    return substrate_layers()[-1][2]


def site_pitch() -> float:
    """Distance between the centres of neighbouring stacks, mm."""
    return mm("stack_depth") + mm("stack_gap")


def sites() -> list[Site]:
    """The six sites: 0–2 left of the die, 3–5 right of it, each by rising z. The last one is not among those in use."""
    x = mm("die_width") / 2 + mm("stack_gap") + mm("stack_width") / 2
    per_side = count("sites") // 2
    places = [(side * x, (row - (per_side - 1) / 2) * site_pitch()) for side in (-1, 1) for row in range(per_side)]
    return [Site(i, x, z, i < count("stacks_in_use")) for i, (x, z) in enumerate(places)]


def dram_pitch() -> float:
    """Height of one DRAM die with the joint under it, mm."""
    return mm("dram_die_thickness") + mm("film_thickness")


def grid(columns: int, rows: int, pitch: float, x: float = 0.0, z: float = 0.0) -> list[tuple[float, float]]:
    """Centres of a regular grid around (x, z)."""
    return [
        (x + (column - (columns - 1) / 2) * pitch, z + (row - (rows - 1) / 2) * pitch)
        for column in range(columns)
        for row in range(rows)
    ]


def fitting(length: float, pitch: float) -> int:
    """How many points of a given pitch fit into a length."""
    return int(length / pitch + 1e-9) + 1
