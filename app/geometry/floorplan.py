"""The die's floor plan after the block diagram of the full die: where GPCs, TPCs, SMs, L2 and controllers are drawn.

It is a diagram on the die, not a photograph of it: real outlines are not published. x runs along the short side,
memory controllers lie along the two long sides that face the stacks, the L2 across the middle in two halves, four GPCs
on either side of it. One source for the relief on the model and for the rectangles a page may light up.
"""

from __future__ import annotations

from typing import NamedTuple

from app.geometry.dimensions import count, mm
from app.geometry.solids import Ring, Solid, join, slab


class Region(NamedTuple):
    """A rectangle on the die, in mm from its centre: x and z of its own centre, w along x, d along z."""

    x: float
    z: float
    w: float
    d: float


def _span(low: float, high: float, parts: int, gap: float) -> list[tuple[float, float]]:
    """Cut a length into equal parts: (centre, size) of each."""
    size = (high - low - gap * (parts - 1)) / parts
    return [(low + size / 2 + index * (size + gap), size) for index in range(parts)]


def regions() -> dict[str, list[Region]]:
    """All regions by kind, in the order the stand may count on.

    `l2`: −x half, +x half. `gpc`: four at −z, four at +z, each left to right. `tpc` i belongs to GPC i // 9, `sm` i to
    TPC i // 2. `memory_controller`: six at −x by rising z, six at +x; 2k and 2k + 1 serve site k. `interface`: host
    interface at −z, links at +z.
    """
    half_x, half_z = mm("die_width") / 2 - mm("plan_margin"), mm("die_depth") / 2 - mm("plan_margin")
    gap, side = mm("plan_gap"), mm("plan_controller_width")
    controllers = [
        Region(sign * (half_x - side / 2), z, side, d)
        for sign in (-1, 1)
        for z, d in _span(-half_z, half_z, count("memory_controllers") // 2, gap)
    ]
    inner_x = half_x - side - gap
    deep = mm("plan_interface_depth")
    interfaces = [Region(0.0, sign * (half_z - deep / 2), 2 * inner_x, deep) for sign in (-1, 1)]
    l2_depth = mm("plan_l2_depth")
    halves = [Region(x, 0.0, w, l2_depth) for x, w in _span(-inner_x, inner_x, count("l2_halves"), gap)]
    near, far = l2_depth / 2 + gap, half_z - deep - gap
    gpcs = [
        Region(x, sign * (near + far) / 2, w, far - near)
        for sign in (-1, 1)
        for x, w in _span(-inner_x, inner_x, count("gpcs") // 2, gap)
    ]
    rim = mm("plan_gpc_rim")
    tpcs = [
        Region(gpc.x, z, gpc.w - 2 * rim, d)
        for gpc in gpcs
        for z, d in _span(gpc.z - gpc.d / 2 + rim, gpc.z + gpc.d / 2 - rim, count("tpcs_per_gpc"), mm("plan_tpc_gap"))
    ]
    sms = [
        Region(x, tpc.z, w, tpc.d)
        for tpc in tpcs
        for x, w in _span(tpc.x - tpc.w / 2, tpc.x + tpc.w / 2, count("sms_per_tpc"), mm("plan_sm_gap"))
    ]
    return {
        "l2": halves,
        "gpc": gpcs,
        "tpc": tpcs,
        "sm": sms,
        "memory_controller": controllers,
        "interface": interfaces,
    }


def relief() -> Solid:
    """The plan without its SMs as a very low relief, die-centred, y = 0 at the die's top."""
    plan = regions()
    low, high = mm("relief_block"), mm("relief_unit")
    units = [region for kind in ("l2", "memory_controller", "interface") for region in plan[kind]]
    plates = [(region, low) for region in plan["gpc"]] + [(region, high) for region in units]
    return join([_plate(region, height).moved(region.x, 0.0, region.z) for region, height in plates])


def sm_relief() -> Solid:
    """One SM of the relief; all are of one size."""
    return _plate(regions()["sm"][0], mm("relief_unit"))


def _plate(region: Region, height: float) -> Solid:
    foot = Ring(0.0, -mm("relief_sink"), 0.0)
    return slab(region.w, region.d, [foot, Ring(mm("relief_bevel"), height, 90.0)])
