"""The assembly: which node carries which part, where it stands, what is said about it.

A flat list of nodes, parents first. Names are part of the contract with the stand: a–z, 0–9 and _ only.
"""

from __future__ import annotations

import itertools
import tomllib
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from app.geometry import diagram, floorplan, parts, repeats
from app.geometry.dimensions import count, mm, table
from app.geometry.instancing import Copies, at, pile
from app.geometry.layout import dram_pitch, fitting, grid, levels, site_pitch, sites
from app.geometry.repeats import CELL, Field
from app.geometry.solids import Solid
from app.geometry.strokes import Bar, drawn

ROOT = "package"
SCALE = 0.001  # millimetres below the root, metres in the file
UNIT = (0.005, 0.005, 0.005)  # mm: most sizes of the table are whole numbers of it


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
        "caption_bar": parts.caption_bar(),
        "substrate_board": parts.substrate_board(),
        "substrate_resin": parts.substrate_resin(),
        "substrate_copper": parts.substrate_copper(),
        "substrate_marks": parts.substrate_marks(),
        "substrate_via": parts.substrate_via(),
        "bga_ball": parts.bga_ball(),
        "bga_ball_inner": parts.bga_ball_inner(),
        "capacitor": parts.capacitor_body(),
        "capacitor_end": parts.capacitor_ends(),
        "interposer_plate": parts.interposer_plate(),
        **{f"interposer_lanes_{row}": parts.interposer_lanes(site) for row, site in enumerate(repeats.left_sites())},
        "interposer_tsv": parts.interposer_via(),
        "c4_bump": parts.c4_bump(),
        "microbump": parts.microbump(),
        "moulding": parts.moulding(),
        "gpu_die_body": parts.gpu_die_body(),
        "gpu_die_floorplan": floorplan.relief(),
        "gpu_die_sm": floorplan.sm_relief(),
        "hbm_base_die": parts.base_die(),
        "hbm_dram_die": parts.dram_die(),
        "hbm_film": parts.film(),
        "hbm_tsvs": parts.stack_vias(),
        "mark_bar": parts.mark_bar(),
    }
    nodes = [
        Node(ROOT, "", extras=about(ROOT, **_facts_of_the_whole())),
        Node("base", ROOT, "base", "base_plate", extras=about("base")),
        Node("base_caption", ROOT, "caption_bar", "caption", extras=about("base"), copies=drawn(parts.caption())),
        *(
            Node(name, ROOT, "caption_bar", "caption", extras=about("base", factor=factor), copies=drawn(bars))
            for name, factor, bars in _captions()
        ),
        *_substrate(height.substrate),
        *_interposer(height.interposer),
        Node("moulding", ROOT, "moulding", "moulding", (0.0, height.microbumps, 0.0), about("moulding")),
        *_gpu_die(height.dies, height.tops),
    ]
    for site in sites():
        nodes += _stack(site.number, (site.x, height.dies, site.z), site.named)
    return Package(tuple(nodes), shapes, _units())


def _captions() -> list[tuple[str, float, list[Bar]]]:
    """The end of the caption for thicknesses as drawn and for true ones; only one of the two is ever true."""
    factors = {"base_caption_drawn": table().thickness_factor, "base_caption_true": 1.0}
    return [(name, factor, parts.caption_scale(factor)) for name, factor in factors.items()]


def _units() -> dict[str, tuple[float, float, float]]:
    """Steps of shapes that stand in fields: their pitch is a round number of steps, the same for all."""
    pitches = {"substrate_via": "substrate_via_pitch", "bga_ball": "ball_pitch", "bga_ball_inner": "ball_pitch"}
    pitches |= {"interposer_tsv": "c4_pitch", "c4_bump": "c4_pitch", "microbump": "microbump_pitch"}
    units = {shape: (mm(pitch) / CELL, UNIT[1], mm(pitch) / CELL) for shape, pitch in pitches.items()}
    return units | dict.fromkeys(("gpu_die_floorplan", "gpu_die_sm"), (0.002, 0.005, 0.002))


def _field(node: Node, field: Field) -> list[Node]:
    """The node once per tile of a field, numbered if there are several."""
    tiles = field.tiles()
    return [
        replace(
            node,
            name=node.name if len(tiles) == 1 else f"{node.name}_{number}",
            origin=(x, node.origin[1], z),
            copies=copies,
        )
        for number, (x, z, copies) in enumerate(tiles)
    ]


def _substrate(y: float) -> list[Node]:
    name = "substrate"
    ball = Node("bga_balls_inner", name, "bga_ball_inner", "solder", extras=about("bga_balls", covered=True))
    via = Node("substrate_vias", name, "substrate_via", "copper", extras=about(name, inside=True))
    small, core, copper = repeats.capacitors(), repeats.board_layers("resin"), repeats.board_layers("copper")
    return [
        Node(name, ROOT, origin=(0.0, y, 0.0), extras=about(name)),
        Node("substrate_board", name, "substrate_board", "substrate_mask", extras=about(name)),
        Node("substrate_core", name, "substrate_resin", "substrate_core", extras=about(name), copies=core),
        Node("substrate_copper", name, "substrate_copper", "copper", extras=about(name), copies=copper),
        Node("substrate_marks", name, "substrate_marks", "copper", extras=about(name)),
        *_field(ball, repeats.inner_balls()),
        *_field(via, repeats.board_vias()),
        Node("bga_balls", name, "bga_ball", "solder", extras=about("bga_balls"), copies=repeats.outer_balls()),
        Node("capacitors", name, "capacitor", "ceramic", extras=about("capacitors"), copies=small),
        Node("capacitor_ends", name, "capacitor_end", "tin", extras=about("capacitors"), copies=small),
    ]


def _interposer(y: float) -> list[Node]:
    name, on_top = "interposer", (0.0, mm("interposer_thickness"), 0.0)
    lanes = about("interposer_lanes", covered=True)
    via = Node("interposer_tsvs", name, "interposer_tsv", "copper", extras=about(name, inside=True))
    joint = Node("c4_bumps", name, "c4_bump", "solder", extras=about("c4_bumps"))
    bump = Node("microbumps", name, "microbump", "solder", on_top, about("microbumps", covered=True))
    under_die, beside = _field(bump, repeats.die_bumps()), repeats.other_bumps()
    return [
        Node(name, ROOT, origin=(0.0, y, 0.0), extras=about(name)),
        Node("interposer_plate", name, "interposer_plate", "interposer_silicon", extras=about(name)),
        *(
            Node(f"interposer_lanes_{row}", name, f"interposer_lanes_{row}", "copper", on_top, lanes, copies)
            for row, copies in enumerate(repeats.lanes())
        ),
        *_field(via, repeats.c4_joints()),
        *_field(joint, repeats.c4_joints()),
        *under_die,
        replace(bump, name=f"microbumps_{len(under_die)}", copies=beside),
    ]


def _gpu_die(y: float, top: float) -> list[Node]:
    name, up = "gpu_die", mm("tops_thickness")
    plan = {
        kind: [[round(value, 4) for value in region] for region in regions]
        for kind, regions in floorplan.regions().items()
    }
    sms = at((region.x, region.z) for region in floorplan.regions()["sm"])
    extras = about(name, regions=plan, top_mm=_round(top), relief_mm=mm("relief_unit"), diagram=diagram.extras())
    return [
        Node(name, ROOT, origin=(0.0, y, 0.0), extras=extras),
        Node("gpu_die_body", name, "gpu_die_body", "die_silicon", extras=about(name)),
        Node("gpu_die_floorplan", name, "gpu_die_floorplan", "die_relief", (0.0, up, 0.0), about(name)),
        Node("gpu_die_sms", name, "gpu_die_sm", "die_relief", (0.0, up, 0.0), about(name), sms),
    ]


def _stack(index: int, origin: tuple[float, float, float], named: bool) -> list[Node]:
    name = f"hbm_stack_{index}"
    extras, layers, pitch, film = about(name), count("dram_layers"), dram_pitch(), mm("film_thickness")
    floor = mm("base_die_thickness")
    dies, films = pile(layers, floor + film, pitch), pile(layers, floor, pitch)
    mark = drawn(parts.stack_mark(named))
    covered = about(name, covered=True)
    nodes = [
        Node(name, ROOT, origin=origin, extras=extras),
        Node(f"{name}_base_die", name, "hbm_base_die", "hbm_base_die", extras=covered),
        Node(f"{name}_dram_dies", name, "hbm_dram_die", "hbm_graphite", extras=extras, copies=dies),
        Node(f"{name}_films", name, "hbm_film", "hbm_film", extras=covered, copies=films),
        Node(f"{name}_mark", name, "mark_bar", "laser_mark", (0.0, mm("tops_thickness"), 0.0), extras, mark),
    ]
    if not named:
        across = fitting(mm("stack_width") - 2.0, mm("stack_via_pitch"))
        inside = about(name, inside=True, copies_per_layer=across)
        columns = [x for x, _ in grid(across, 1, mm("stack_via_pitch"))]
        vias = Copies(np.array([(x, y, 0.0) for _, y, _ in dies.translation for x in columns]))
        nodes.append(Node(f"{name}_tsvs", name, "hbm_tsvs", "copper", extras=inside, copies=vias))
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
