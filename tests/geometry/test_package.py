"""The committed model as the stand reads it: names, extras, places, and that parts do not run into each other."""

import re
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

from app.facts import registry

GROUPS = {"package", "substrate", "interposer", "gpu_die", *(f"hbm_stack_{i}" for i in range(6))}
TREE = {
    "package": {
        "base",
        "base_caption",
        "base_caption_drawn",
        "base_caption_true",
        "substrate",
        "interposer",
        "moulding",
        "gpu_die",
    }
    | {f"hbm_stack_{i}" for i in range(6)},
    "substrate": {"substrate_board", "substrate_core", "substrate_copper", "substrate_marks"}
    | {"bga_balls", "capacitors", "capacitor_ends"}
    | {f"{field}_{i}" for field in ("bga_balls_inner", "substrate_vias") for i in range(4)},
    "interposer": {"interposer_plate"}
    | {f"{field}_{i}" for field in ("interposer_tsvs", "c4_bumps") for i in range(4)}
    | {f"{field}_{i}" for field in ("interposer_lanes", "microbumps") for i in range(3)},
    "gpu_die": {"gpu_die_body", "gpu_die_floorplan", "gpu_die_sms"},
    **{
        f"hbm_stack_{i}": {f"hbm_stack_{i}_{part}" for part in ("base_die", "dram_dies", "films", "mark")}
        for i in range(6)
    },
}
TREE["hbm_stack_5"] = TREE["hbm_stack_5"] | {"hbm_stack_5_tsvs"}
PICKS = {"package", "base", "substrate", "capacitors", "bga_balls", "interposer", "interposer_lanes", "c4_bumps"}
PICKS |= {"microbumps", "moulding", "gpu_die"} | {f"hbm_stack_{i}" for i in range(6)}
# pairs that share space on purpose: seated, standing in each other, or lying inside
SHARED = {
    frozenset(pair)
    for pair in (
        *(("base", f"base_caption{end}") for end in ("", "_drawn", "_true")),
        ("base_caption_drawn", "base_caption_true"),
        ("gpu_die_body", "gpu_die_floorplan"),
        ("gpu_die_body", "gpu_die_sms"),
        ("gpu_die_floorplan", "gpu_die_sms"),
        ("capacitors", "capacitor_ends"),
        *((f"interposer_lanes_{i}", "microbumps_2") for i in range(3)),
        *(("interposer_plate", f"interposer_tsvs_{i}") for i in range(4)),
        *((f"substrate_{layer}", f"substrate_vias_{i}") for layer in ("core", "copper") for i in range(4)),
        *((f"hbm_stack_5_{part}", "hbm_stack_5_tsvs") for part in ("base_die", "dram_dies", "films")),
    )
}


def test_the_tree_is_the_promised_one(model: Any) -> None:
    found: dict[str, set[str]] = {}
    for child, parent in model.parent.items():
        found.setdefault(parent, set()).add(child)
    assert found == TREE
    assert set(model.nodes) - set(model.meshes()) == GROUPS
    roots = model.tree["scenes"][0]["nodes"]
    assert [model.tree["nodes"][root]["name"] for root in roots] == ["package"]


def test_names_survive_three(model: Any) -> None:
    """three.js drops dots, colons, slashes and brackets from node names."""
    names = [*model.nodes, *(material["name"] for material in model.tree["materials"])]
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in names)


def test_metres_in_the_file_millimetres_below_the_root(model: Any) -> None:
    assert model.nodes["package"]["scale"] == [0.001, 0.001, 0.001]
    for name, node in model.nodes.items():
        assert "rotation" not in node, name
        assert "matrix" not in node, name
        # nothing stands below a node that draws: its scale is that of its own whole numbers and copies
        if "mesh" in node:
            x, _, z = node["scale"]
            assert x == z, name
            assert "children" not in node, name
        elif name != "package":
            assert "scale" not in node, name


def test_every_node_says_what_it_is(model: Any) -> None:
    ledger = registry.load().facts
    for name, node in model.nodes.items():
        extras = node["extras"]
        assert extras["part"] in PICKS, name
        assert extras["title"].strip(), name
        assert extras["what"].endswith("."), name
        assert extras["estimate"] is True, name
        assert set(extras["facts"]) <= set(ledger), name
    assert {node["extras"]["part"] for node in model.nodes.values()} == PICKS


def test_the_chip_and_its_memory_cite_facts(model: Any) -> None:
    for name in ("package", "gpu_die", *model.family("interposer_lanes"), *(f"hbm_stack_{i}" for i in range(6))):
        assert model.nodes[name]["extras"]["facts"], name


def test_the_sixth_site_is_told_apart(model: Any) -> None:
    sites = model.nodes["package"]["extras"]["sites"]
    assert [site["named"] for site in sites] == [True] * 5 + [False]
    assert "never sends data" in model.nodes["hbm_stack_5"]["extras"]["what"]
    marks = [model.nodes[f"hbm_stack_{i}_mark"]["extensions"]["EXT_mesh_gpu_instancing"] for i in range(6)]
    assert all(mark == marks[0] for mark in marks[:5])
    assert marks[5] != marks[0]


def test_repeated_shapes_are_stored_once(model: Any) -> None:
    for part in ("base_die", "dram_dies", "films"):
        assert len({model.nodes[f"hbm_stack_{i}_{part}"]["mesh"] for i in range(6)}) == 1
    assert len(model.tree["meshes"]) == len({node["mesh"] for node in model.nodes.values() if "mesh" in node})


def test_stacks_stand_symmetrically_beside_the_die(model: Any) -> None:
    places = [model.bounds(f"hbm_stack_{i}_base_die") for i in range(6)]
    die = model.bounds("gpu_die_body")
    assert np.allclose(die[0, [0, 2]], -die[1, [0, 2]], atol=1e-3)
    for left, right in zip(places[:3], places[3:], strict=True):
        assert np.allclose(left[:, 0], -right[::-1, 0], atol=1e-3)
        assert np.allclose(left[:, 1:], right[:, 1:], atol=1e-3)
    for low, middle, high in (places[:3], places[3:]):
        assert np.allclose(low[:, 2], -high[::-1, 2], atol=1e-3)
        assert middle[:, 2].sum() == pytest.approx(0, abs=1e-3)
    assert die[0, 0] - places[0][1, 0] == pytest.approx(0.8, abs=1e-3)
    assert places[1][0, 2] - places[0][1, 2] == pytest.approx(0.8, abs=1e-3)


def test_the_die_has_the_published_area(model: Any) -> None:
    size = np.ptp(model.bounds("gpu_die_body"), axis=0)
    assert size[0] * size[2] == pytest.approx(registry.load().facts["gh100-die-area"].value, rel=0.01)


def test_a_stack_is_a_base_die_and_eight_layers_without_gaps(model: Any) -> None:
    for stack in range(6):
        boxes = [model.boxes(f"hbm_stack_{stack}_{part}")[:, :, 1] for part in ("base_die", "dram_dies", "films")]
        base, dies, films = boxes
        assert (len(base), len(dies), len(films)) == (1, 8, 8)
        spans = sorted(map(tuple, np.concatenate(boxes)))
        for (_, below), (above, _) in pairwise(spans):
            assert above == pytest.approx(below, abs=2e-3)
        # the order of copies is from the bottom up, so that layers can be drawn apart by index
        assert (np.diff(dies[:, 0]) > 0).all()
        assert (films[:, 1] <= dies[:, 0] + 1e-3).all()


def test_tops_are_flush(model: Any) -> None:
    top = model.nodes["package"]["extras"]["levels_mm"]["tops"]
    assert model.nodes["gpu_die"]["extras"]["top_mm"] == top
    for name in ("moulding", "gpu_die_body", *(f"hbm_stack_{i}_dram_dies" for i in range(6))):
        assert model.bounds(name)[1, 1] == pytest.approx(top, abs=2e-3), name


def test_layers_rest_on_each_other(model: Any) -> None:
    """From the base up: each span begins where the one below ends, and the parts fill their spans."""
    levels = dict(model.nodes["package"]["extras"]["levels_mm"])
    top = levels.pop("tops")
    spans = list(levels.values())
    assert spans[0][0] == 0
    assert [below[1] for below in spans[:-1]] == [above[0] for above in spans[1:]]
    assert spans[-1][1] == top
    parts = {"bga_balls": "bga_balls", "substrate": "substrate_board", "c4_bumps": "c4_bumps"}
    parts |= {"interposer": "interposer_plate", "microbumps": "microbumps", "dies": "gpu_die_body"}
    for level, part in parts.items():
        assert model.bounds(part)[:, 1] == pytest.approx(levels[level], abs=2e-3), part


def test_nothing_runs_into_anything_else(model: Any) -> None:
    # the moulding and the frame of the caption lie around others: they have tests of their own
    boxes = {name: model.boxes(name) for name in model.meshes() if name != "moulding"}
    boxes["base_caption"] = np.array([box for box in boxes["base_caption"] if np.ptp(box[:, 0]) < 10])
    for first, second in combinations(boxes, 2):
        if frozenset((first, second)) in SHARED:
            continue
        few, many = sorted((boxes[first], boxes[second]), key=len)
        for low, high in few:
            depth = np.minimum(many[:, 1], high) - np.maximum(many[:, 0], low)
            assert not (depth > 2e-3).all(axis=1).any(), f"{first} runs into {second}"


def test_the_moulding_leaves_room_for_die_and_stacks(model: Any) -> None:
    mesh = model.mesh("moulding")
    corners = mesh.vertices + model.origin("moulding")
    middles = corners[mesh.faces].mean(axis=1)
    for name in ("gpu_die_body", *(f"hbm_stack_{i}_base_die" for i in range(6))):
        low, high = model.bounds(name)
        for points in (corners, middles):
            inside = (points[:, [0, 2]] > low[[0, 2]]) & (points[:, [0, 2]] < high[[0, 2]])
            assert not inside.all(axis=1).any(), name
    assert model.bounds("moulding")[0, 1] > model.bounds("interposer_lanes")[1, 1]


def test_copies_keep_apart(model: Any) -> None:
    for name in ("bga_balls", "bga_balls_inner", "c4_bumps", "microbumps", "capacitor_ends", "interposer_tsvs"):
        boxes = model.boxes(name)[:, :, [0, 2]]
        order = np.argsort(boxes[:, 0, 0])
        boxes = boxes[order]
        for index, (low, high) in enumerate(boxes):
            rest = boxes[index + 1 :]
            rest = rest[: np.searchsorted(rest[:, 0, 0], high[0])]
            assert not ((rest[:, 0, 1] < high[1]) & (rest[:, 1, 1] > low[1])).any(), name


def test_balls_are_as_many_as_the_brief_allows(model: Any) -> None:
    balls = [*model.copies("bga_balls"), *model.copies("bga_balls_inner")]
    places = np.array([ball[:3, 3] for ball in balls])
    assert 1_000 <= len(places) <= 2_000
    for axis in (0, 2):
        assert np.diff(np.unique(np.round(places[:, axis], 4))) == pytest.approx(1.27, abs=1e-3)


def test_each_lane_joins_its_stack_to_the_die(model: Any) -> None:
    lanes = model.boxes("interposer_lanes")
    die = model.bounds("gpu_die_body")[:, [0, 2]]
    stacks = [model.bounds(f"hbm_stack_{i}_base_die")[:, [0, 2]] for i in range(6)]
    plan = model.nodes["package"]["extras"]["lanes"]
    served = [0] * 6
    for low, high in lanes[:, :, [0, 2]]:
        under = [i for i, (a, b) in enumerate(stacks) if (low < b).all() and (high > a).all()]
        assert len(under) == 1
        assert (low < die[1]).all()
        assert (high > die[0]).all()
        served[under[0]] += 1
    assert served == [plan["per_site"]] * 6
    assert np.abs(lanes[:, :, 0]).max() == pytest.approx(plan["stack_x_mm"], abs=2e-3)
    assert np.abs(lanes[:, :, 0]).min() == pytest.approx(plan["die_x_mm"], abs=2e-3)
    assert lanes[:, 1, 1].max() == pytest.approx(plan["y_mm"], abs=2e-3)


def test_a_joint_stands_at_both_ends_of_every_lane(model: Any) -> None:
    joints = np.array([copy[[0, 2], 3] for copy in model.copies("microbumps")])
    for low, high in model.boxes("interposer_lanes")[:, :, [0, 2]]:
        ends = 0
        for x in (low[0], high[0]):
            near = np.abs(joints[:, 0] - x) < 2e-3
            ends += int((near & (joints[:, 1] > low[1]) & (joints[:, 1] < high[1])).any())
        assert ends == 2


def test_hidden_parts_are_marked_and_truly_hidden(model: Any) -> None:
    """What is said to lie inside reaches no outer face; what is said to be covered lies under tops or board."""
    inside = {name for name in model.nodes if model.nodes[name]["extras"].get("inside")}
    assert inside == {"hbm_stack_5_tsvs", *model.family("substrate_vias"), *model.family("interposer_tsvs")}
    hosts = {"interposer_tsvs": "interposer_plate", "substrate_vias": "substrate_board"}
    for name, host in hosts.items():
        low, high = model.bounds(host)
        bounds = model.bounds(name)
        assert (bounds[0] > low).all(), name
        assert (bounds[1] < high).all(), name
    low, high = model.bounds("hbm_stack_5_base_die")[0], model.bounds("hbm_stack_5_dram_dies")[1]
    bounds = model.bounds("hbm_stack_5_tsvs")
    assert (bounds[0] > low).all()
    assert (bounds[1] < high - 0.1).all()
    moulding = model.bounds("moulding")
    for name, node in model.nodes.items():
        if not node["extras"].get("covered"):
            continue
        bounds = model.bounds(name)
        cover = model.bounds("substrate_board") if name.startswith("bga_balls_inner") else moulding
        assert (bounds[0, [0, 2]] > cover[0, [0, 2]]).all(), name
        assert (bounds[1, [0, 2]] < cover[1, [0, 2]]).all(), name
        assert bounds[1, 1] < cover[1, 1], name


def test_bounds_said_are_bounds_drawn(model: Any) -> None:
    extras = model.nodes["package"]["extras"]
    drawn = np.array([model.bounds(name) for name in model.meshes()])
    whole = np.array([drawn[:, 0].min(axis=0), drawn[:, 1].max(axis=0)])
    assert np.allclose(whole, extras["bounds_mm"], atol=2e-3)
    assert extras["ground_mm"] == pytest.approx(whole[0, 1], abs=2e-3)
    for site in extras["sites"]:
        low, high = model.bounds(f"{site['node']}_base_die")
        assert np.allclose((low + high)[[0, 2]] / 2, site["centre_mm"], atol=1e-3)
        assert np.allclose((high - low)[[0, 2]], site["size_mm"], atol=1e-3)


def test_the_package_stands_on_its_base_and_beside_the_caption(model: Any) -> None:
    base, caption, board = (model.bounds(name) for name in ("base", "base_caption", "substrate_board"))
    assert base[1, 1] == pytest.approx(0, abs=1e-6)
    for part in (caption, board):
        assert (part[0, [0, 2]] > base[0, [0, 2]]).all()
        assert (part[1, [0, 2]] < base[1, [0, 2]]).all()
    strokes = np.concatenate([model.boxes("base_caption"), model.boxes("base_caption_drawn")])
    clear = (strokes[:, 0] > board[1]) | (strokes[:, 1] < board[0])
    assert clear[:, [0, 2]].any(axis=1).all()
    line = [box for box in strokes if np.ptp(box[:, 0]) < 10 and board[1, 2] < box[0, 2] < base[1, 2] - 6]
    letters = [box for box in line if np.abs(box[:, 0]).max() < 40]
    assert len(letters) >= 100  # 28 characters that leave a stroke, most of them of several bars


def test_one_cut_meets_ball_via_and_joint(model: Any) -> None:
    """Balls, the board's vias and the interposer's joints and vias stand above one another, so a cut shows all four."""
    balls = np.unique([copy[0, 3] for copy in model.copies("bga_balls_inner")])
    for name in ("substrate_vias", "c4_bumps", "interposer_tsvs"):
        for axis in (0, 2):
            places = np.unique([copy[axis, 3] for copy in model.copies(name)])
            assert np.abs(places[:, None] - balls).min(axis=1).max() < 0.01, name
