"""The assembly: which node carries which part, where it stands, what is said about it.

A flat list of nodes, parents first. Names are part of the contract with the stand: a–z, 0–9 and _ only.
"""

from __future__ import annotations

import itertools
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from app.geometry import floorplan, parts
from app.geometry.dimensions import count, mm, table
from app.geometry.instancing import Copies, at, pile
from app.geometry.layout import dram_pitch, fitting, grid, levels, site_pitch, sites, substrate_height
from app.geometry.solids import Solid

ROOT = "package"
SCALE = 0.001  # millimetres below the root, metres in the file
UNIT = (0.005, 0.005, 0.005)  # mm: most sizes of the table are whole numbers of it
_CELL = 256  # steps from joint to joint: fields of all pitches share one table of places


@dataclass(frozen=True, slots=True)
class Node:
    """One node of the model.

    Attributes:
        name: as in the file.
        parent: name of the parent; empty for the root.
        shape: key into the shapes of `Package`, or empty for a group.
        material: key into the materials, or empty for a group.
        origin: place in the parent's coordinates, mm.
        extras: what the file says about the node.
        copies: places of copies, or None for a single one.
    """

    name: str
    parent: str
    shape: str = ""
    material: str = ""
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    extras: dict[str, Any] = field(default_factory=dict)
    copies: Copies | None = None


@dataclass(frozen=True, slots=True)
class Package:
    """All nodes, parents first, and the shapes they name; a shape used by several nodes is stored once.

    Attributes:
        units: steps of the shapes that are not stored in steps of `UNIT`.
    """

    nodes: tuple[Node, ...]
    shapes: dict[str, Solid]
    units: dict[str, tuple[float, float, float]]

    def unit(self, shape: str) -> tuple[float, float, float]:
        """Step of a shape's whole numbers along x, y and z, mm."""
        return self.units.get(shape, UNIT)


@cache
def catalogue() -> dict[str, dict[str, Any]]:
    """What is said about each part, by part id."""
    return tomllib.loads(Path(__file__).with_name("parts.toml").read_text(encoding="utf-8"))


def about(part: str, **more: Any) -> dict[str, Any]:
    """Extras of a node that belongs to a part: part, title, what, facts, estimate, and anything more."""
    entry = catalogue()
    if part.startswith("hbm_stack_"):
        index = int(part.rsplit("_", 1)[1])
        said = entry["hbm_stack"] if sites()[index].named else entry["hbm_site_six"]
        title = said["title"].format(number=index + 1)
    else:
        said, title = entry[part], entry[part]["title"]
    return {
        "part": part,
        "title": title,
        "what": said["what"],
        "facts": list(said["facts"]),
        "estimate": True,
        **more,
    }


def build() -> Package:
    """The package as drawn, from the dimension table."""
    height = levels()
    shapes: dict[str, Solid] = {
        "base": parts.base(),
        "base_caption": parts.caption(),
        "substrate_board": parts.substrate_board(),
        "substrate_core": parts.substrate_core(),
        "substrate_copper": parts.substrate_copper(),
        "substrate_via": parts.substrate_via(),
        "bga_ball": parts.bga_ball(),
        "bga_ball_inner": parts.bga_ball_inner(),
        "capacitor": parts.capacitor_body(),
        "capacitor_end": parts.capacitor_ends(),
        "interposer_plate": parts.interposer_plate(),
        "interposer_lanes": parts.interposer_lanes(),
        "interposer_tsv": parts.interposer_via(),
        "c4_bump": parts.c4_bump(),
        "microbump": parts.microbump(),
        "moulding": parts.moulding(),
        "gpu_die_body": parts.gpu_die_body(),
        "gpu_die_floorplan": floorplan.relief(),
        "hbm_base_die": parts.base_die(),
        "hbm_dram_die": parts.dram_die(),
        "hbm_film": parts.film(),
        "hbm_tsvs": parts.stack_vias(),
        "hbm_mark": parts.stack_mark(named=True),
        "hbm_mark_site_six": parts.stack_mark(named=False),
    }
    nodes = [
        Node(ROOT, "", extras=about(ROOT, **_facts_of_the_whole())),
        Node("base", ROOT, "base", "base_plate", extras=about("base")),
        Node("base_caption", ROOT, "base_caption", "caption", extras=about("base")),
        *_substrate(height.substrate),
        *_interposer(height.interposer),
        Node("moulding", ROOT, "moulding", "moulding", (0.0, height.microbumps, 0.0), about("moulding")),
        *_gpu_die(height.dies, height.tops),
    ]
    for site in sites():
        nodes += _stack(site.number, (site.x, height.dies, site.z), site.named)
    return Package(tuple(nodes), shapes)


def _substrate(y: float) -> list[Node]:
    name, side = "substrate", mm("substrate_side")
    balls = grid(count("balls_per_side"), count("balls_per_side"), mm("ball_pitch"))
    # the corner ball at the pin-one mark is left out, as on real packages
    balls.remove(max(balls, key=lambda place: place[1] - place[0]))
    rim = (count("balls_per_side") / 2 - 2) * mm("ball_pitch")
    outer = [place for place in balls if max(map(abs, place)) > rim]
    inner = [place for place in balls if max(map(abs, place)) < rim]
    pitch = mm("substrate_via_pitch")
    vias = grid(fitting(side - 6.0, pitch), fitting(side - 6.0, pitch), pitch)
    rows, inside, hidden = _capacitor_rows(), {"inside": True}, about("bga_balls", covered=True)
    return [
        Node(name, ROOT, origin=(0.0, y, 0.0), extras=about(name)),
        Node("substrate_board", name, "substrate_board", "substrate_mask", extras=about(name)),
        Node("substrate_core", name, "substrate_core", "substrate_core", extras=about(name)),
        Node("substrate_copper", name, "substrate_copper", "copper", extras=about(name)),
        Node("substrate_vias", name, "substrate_via", "copper", extras=about(name, **inside), copies=at(vias)),
        Node("bga_balls", name, "bga_ball", "solder", extras=about("bga_balls"), copies=at(outer)),
        Node("bga_balls_inner", name, "bga_ball_inner", "solder", extras=hidden, copies=at(inner)),
        Node("capacitors", name, "capacitor", "ceramic", extras=about("capacitors"), copies=rows),
        Node("capacitor_ends", name, "capacitor_end", "tin", extras=about("capacitors"), copies=rows),
    ]


def _capacitor_rows() -> Copies:
    """Rows of three sizes around the interposer, gathered in groups that follow die and stacks."""
    rows: list[tuple[float, float, tuple[float, float, float], bool]] = []  # x, z, size, turned
    beside = mm("die_width") / 2 + mm("stack_gap") + mm("stack_width") / 2
    small, medium, large = (1.0, 1.0, 1.0), (1.4, 1.2, 1.4), (1.8, 1.4, 1.8)
    # distance from the centre, size, pitch, how many beside the die, how many beside each row of stacks
    lines = [(20.2, small, 1.15, 22, 9), (22.4, medium, 1.75, 14, 6), (25.3, large, 2.4, 10, 4)]
    for side in (-1, 1):
        for z, size, pitch, die, stack in lines:
            for middle, number in ((-beside, stack), (0.0, die), (beside, stack)):
                rows += [(x, side * z, size, True) for x, _ in grid(number, 1, pitch, middle)]
        for site in sites()[:3]:
            rows += [(side * 27.4, z, small, False) for _, z in grid(1, 8, 1.15, 0.0, site.z)]
    places = np.array([(x, substrate_height(), z) for x, z, _, _ in rows])
    sizes = np.array([size for _, _, size, _ in rows])
    return Copies(places, sizes, np.array([turned for *_, turned in rows]))


def _interposer(y: float) -> list[Node]:
    name, top = "interposer", mm("interposer_thickness")
    free, pitch = 2 * mm("c4_edge"), mm("c4_pitch")
    columns, rows = fitting(mm("interposer_width") - free, pitch), fitting(mm("interposer_depth") - free, pitch)
    joints = grid(columns, rows, pitch)
    bumps = parts.joint_places()
    places = np.array([(x, top, z) for x, z, _ in bumps])
    sizes = np.array([(size, 1.0, size) for _, _, size in bumps])
    lanes, joined = about("interposer_lanes", covered=True), about("microbumps", covered=True)
    return [
        Node(name, ROOT, origin=(0.0, y, 0.0), extras=about(name)),
        Node("interposer_plate", name, "interposer_plate", "interposer_silicon", extras=about(name)),
        Node("interposer_lanes", name, "interposer_lanes", "copper", (0.0, top, 0.0), lanes),
        Node("interposer_tsvs", name, "interposer_tsv", "copper", extras=about(name, inside=True), copies=at(joints)),
        Node("c4_bumps", name, "c4_bump", "solder", extras=about("c4_bumps"), copies=at(joints)),
        Node("microbumps", name, "microbump", "solder", extras=joined, copies=Copies(places, sizes)),
    ]


def _gpu_die(y: float, top: float) -> list[Node]:
    name, up = "gpu_die", mm("tops_thickness")
    plan = {
        kind: [[round(value, 4) for value in region] for region in regions]
        for kind, regions in floorplan.regions().items()
    }
    extras = about(name, regions=plan, top_mm=_round(top), relief_mm=mm("relief_unit"))
    return [
        Node(name, ROOT, origin=(0.0, y, 0.0), extras=extras),
        Node("gpu_die_body", name, "gpu_die_body", "die_silicon", extras=about(name)),
        Node("gpu_die_floorplan", name, "gpu_die_floorplan", "die_relief", (0.0, up, 0.0), about(name)),
    ]


def _stack(index: int, origin: tuple[float, float, float], named: bool) -> list[Node]:
    name = f"hbm_stack_{index}"
    extras, layers, pitch, film = about(name), count("dram_layers"), dram_pitch(), mm("film_thickness")
    floor = mm("base_die_thickness")
    dies, films = pile(layers, floor + film, pitch), pile(layers, floor, pitch)
    mark = "hbm_mark" if named else "hbm_mark_site_six"
    covered = about(name, covered=True)
    nodes = [
        Node(name, ROOT, origin=origin, extras=extras),
        Node(f"{name}_base_die", name, "hbm_base_die", "hbm_base_die", extras=covered),
        Node(f"{name}_dram_dies", name, "hbm_dram_die", "hbm_graphite", extras=extras, copies=dies),
        Node(f"{name}_films", name, "hbm_film", "hbm_film", extras=covered, copies=films),
        Node(f"{name}_mark", name, mark, "laser_mark", (0.0, mm("tops_thickness"), 0.0), extras),
    ]
    if not named:
        inside = about(name, inside=True)
        nodes.append(Node(f"{name}_tsvs", name, "hbm_tsvs", "copper", extras=inside, copies=dies))
    return nodes


def _round(value: float) -> float:
    return round(value, 4)


def _facts_of_the_whole() -> dict[str, Any]:
    """What the stand needs to place cameras, tiles and labels without measuring meshes."""
    height = levels()
    starts = {name: _round(value) for name, value in height._asdict().items()}
    names = list(starts)
    spans = {name: [starts[name], starts[after]] for name, after in itertools.pairwise(names)}
    die_edge = mm("die_width") / 2
    ground = -mm("base_height") - mm("foot_height")
    half_x, half_z = mm("base_width") / 2, mm("base_depth") / 2
    return {
        "unit": "mm",
        "thickness_factor": table().thickness_factor,
        "bounds_mm": [[-half_x, ground, -half_z], [half_x, _round(height.tops + mm("relief_unit")), half_z]],
        "ground_mm": ground,
        "levels_mm": {**spans, "tops": starts["tops"]},
        "sites": [
            {
                "node": f"hbm_stack_{site.number}",
                "centre_mm": [_round(site.x), _round(site.z)],
                "size_mm": [mm("stack_width"), mm("stack_depth")],
                "named": site.named,
            }
            for site in sites()
        ],
        "site_pitch_mm": _round(site_pitch()),
        "dram_layers": count("dram_layers"),
        "dram_pitch_mm": _round(dram_pitch()),
        "lanes": {
            "per_site": count("lanes_per_site"),
            "y_mm": _round(height.microbumps + mm("lane_height")),
            "stack_x_mm": _round(die_edge + mm("stack_gap") + mm("lane_under_stack")),
            "stack_edge_x_mm": _round(die_edge + mm("stack_gap")),
            "die_edge_x_mm": _round(die_edge),
            "die_x_mm": _round(die_edge - mm("lane_under_die")),
        },
    }
