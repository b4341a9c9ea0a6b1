"""The die's plan: as many regions as the block diagram has, inside the die, apart, and in the relief."""

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
import pytest

COUNTS = {"l2": 2, "gpc": 8, "tpc": 72, "sm": 144, "memory_controller": 12, "interface": 2}
Rectangle = tuple[float, float, float, float]


@pytest.fixture
def regions(model: Any) -> dict[str, list[list[float]]]:
    found: dict[str, list[list[float]]] = model.nodes["gpu_die"]["extras"]["regions"]
    return found


def edges(region: Iterable[float]) -> Rectangle:
    """x0, z0, x1, z1 of a centre-and-size rectangle."""
    x, z, w, d = region
    return x - w / 2, z - d / 2, x + w / 2, z + d / 2


def contains(outer: Rectangle, inner: Rectangle) -> bool:
    return outer[0] <= inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


def overlap(a: Rectangle, b: Rectangle) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def test_counts(regions: dict[str, list[list[float]]]) -> None:
    assert {kind: len(found) for kind, found in regions.items()} == COUNTS


def test_all_regions_lie_inside_the_die(model: Any, regions: dict[str, list[list[float]]]) -> None:
    (x0, _, z0), (x1, _, z1) = model.bounds("gpu_die_body")
    for kind, found in regions.items():
        for region in found:
            assert contains((x0, z0, x1, z1), edges(region)), kind


def test_regions_of_one_rank_do_not_overlap(regions: dict[str, list[list[float]]]) -> None:
    for inner in ("gpc", "tpc", "sm"):
        kinds = ("l2", inner, "memory_controller", "interface")
        rank = [edges(region) for kind in kinds for region in regions[kind]]
        assert not any(overlap(a, b) for a, b in combinations(rank, 2)), inner


def test_sms_stand_in_their_tpcs_and_tpcs_in_their_gpcs(regions: dict[str, list[list[float]]]) -> None:
    for index, sm in enumerate(regions["sm"]):
        assert contains(edges(regions["tpc"][index // 2]), tuple(np.add(edges(sm), (1e-4, 1e-4, -1e-4, -1e-4))))
    for index, tpc in enumerate(regions["tpc"]):
        assert contains(edges(regions["gpc"][index // 9]), edges(tpc))


def test_the_order_is_the_promised_one(regions: dict[str, list[list[float]]]) -> None:
    assert regions["l2"][0][0] < 0 < regions["l2"][1][0]
    upper, lower = regions["gpc"][:4], regions["gpc"][4:]
    assert all(region[1] < 0 for region in upper)
    assert all(region[1] > 0 for region in lower)
    for row in (upper, lower):
        assert [region[0] for region in row] == sorted(region[0] for region in row)
    for side, column in ((-1, regions["memory_controller"][:6]), (1, regions["memory_controller"][6:])):
        assert all(region[0] * side > 0 for region in column)
        assert [region[1] for region in column] == sorted(region[1] for region in column)


def test_controllers_lie_nearest_to_the_site_they_serve(model: Any, regions: dict[str, list[list[float]]]) -> None:
    sites = [site["centre_mm"] for site in model.nodes["package"]["extras"]["sites"]]
    for index, (x, z, _, _) in enumerate(regions["memory_controller"]):
        nearest = min(range(6), key=lambda site: abs(sites[site][1] - z) + 100 * (sites[site][0] * x < 0))
        assert nearest == index // 2


def test_the_plan_is_symmetrical(regions: dict[str, list[list[float]]]) -> None:
    for kind, found in regions.items():
        places = {tuple(np.round(region, 3) + 0.0) for region in found}
        for mirror in ((-1, 1, 1, 1), (1, -1, 1, 1)):
            assert {tuple(np.round(np.multiply(region, mirror), 3) + 0.0) for region in found} == places, kind


def test_the_relief_shows_the_regions(model: Any, regions: dict[str, list[list[float]]]) -> None:
    """Feet of the solids in the mesh = rectangles in the extras, one for one, and low enough to be called relief."""
    drawn = [kind for kind in regions if kind != "tpc"]
    wanted = np.array([edges(region) for kind in drawn for region in regions[kind]])
    pieces = [box - model.origin("gpu_die_floorplan") for box in model.boxes("gpu_die_floorplan")]
    pieces += [box - model.origin("gpu_die_sms") for box in model.boxes("gpu_die_sms")]
    found = np.array([(low[0], low[2], high[0], high[2]) for low, high in pieces])
    apart = np.abs(wanted[:, None] - found[None]).max(axis=2)
    # half a step for the place of a copy, half a step for its size
    assert apart.min(axis=1).max() < model.scale("gpu_die_sms")[0] + 1e-6
    assert sorted(apart.argmin(axis=1)) == list(range(len(pieces)))
    tops = {round(float(high[1]), 3) for _, high in pieces}
    assert all(0.01 <= top <= 0.05 for top in tops)
    assert len(tops) == 2  # plates of the GPCs, and everything that stands higher
