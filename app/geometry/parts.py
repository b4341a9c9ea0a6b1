"""One function per part: its shape in its own coordinates (centred in x and z, y = 0 at its underside), in mm."""

from __future__ import annotations

from app.geometry.dimensions import count, mm, table
from app.geometry.layout import Site, dram_pitch, fitting, grid, site_pitch, sites, substrate_height, substrate_layers
from app.geometry.openings import Opening, plate
from app.geometry.solids import Solid, barrel, chamfer, fillet, join, plain, slab
from app.geometry.strokes import WAIST, Bar, arc, bar, bars, ribbon, text_width, write

CAPTION, CAPTION_SCALE = "NVIDIA H100 SXM5", " · thickness ×{factor:g}"
LANE_PATTERN = 3  # lanes after which the ends stand where they stood


def base() -> Solid:
    """The plate with its foot; y = 0 at its top."""
    width, depth, height, foot = mm("base_width"), mm("base_depth"), mm("base_height"), mm("foot_height")
    rings = chamfer(mm("base_chamfer"), height, bottom=0.5)
    body = slab(width, depth, rings, mm("base_corner"), corner_segments=5).moved(y=-height)
    inset = 2 * mm("foot_inset")
    stand = slab(width - inset, depth - inset, plain(foot), mm("base_corner"), corner_segments=2)
    return join([body, stand.moved(y=-height - foot)])


def caption_bar() -> Solid:
    """What the writing on the plate is made of, seated in its top."""
    return bar(mm("caption_height"), mm("caption_sink"), 1.0 - WAIST)


def caption_scale(factor: float) -> list[Bar]:
    """The end of the inlaid line, which says how many times too tall thicknesses are drawn."""
    return [stroke.moved(x=_caption_shift(factor), z=mm("caption_z")) for stroke in _caption_line(factor)[_named() :]]


def _caption_line(factor: float) -> list[Bar]:
    return write(CAPTION + CAPTION_SCALE.format(factor=factor), mm("caption_cap_height"), mm("caption_stroke"))


def _named() -> int:
    """How many bars the name takes, which comes first in the line."""
    return len(write(CAPTION, mm("caption_cap_height"), mm("caption_stroke")))


def _caption_shift(factor: float) -> float:
    """Lines with other factors begin where the line with the drawn factor begins."""
    drawn_as, this = (
        text_width(CAPTION + CAPTION_SCALE.format(factor=number), mm("caption_cap_height"))
        for number in (table().thickness_factor, factor)
    )
    return (this - drawn_as) / 2


def caption() -> list[Bar]:
    """The name in the inlaid line of writing, and the thin frame around the plate."""
    line = _caption_line(table().thickness_factor)[: _named()]
    half_x, half_z = mm("base_width") / 2 - mm("frame_inset"), mm("base_depth") / 2 - mm("frame_inset")
    corner = mm("base_corner") - mm("frame_inset") / 2
    path = [
        point
        for quarter, (side_x, side_z) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1)))
        for point in arc(
            (side_x * (half_x - corner), side_z * (half_z - corner)),
            (corner, corner),
            quarter * 90,
            quarter * 90 + 90,
            6,
        )
    ]
    frame = bars([*path, path[0]], mm("frame_width"))
    return [stroke.moved(z=mm("caption_z")) for stroke in line] + frame


def substrate_board() -> Solid:
    """The green mask: a skin on either face of the board."""
    side, corner, bevel = mm("substrate_side"), mm("substrate_corner"), mm("substrate_bevel")
    skins = [(y0, y1) for kind, y0, y1 in substrate_layers() if kind == "mask"]
    top, bottom = max(skins), min(skins)
    upper = slab(side, side, fillet(bevel, top[1] - top[0], 2), corner, 4).moved(y=top[0])
    small = 0.4 * bevel
    lower = slab(side, side, fillet(small, bottom[1] - bottom[0], 1, bottom=bevel), corner, 4).moved(y=bottom[0])
    return join([upper, lower])


def substrate_resin() -> Solid:
    """One film of resin, standing back a little from the board's side; the core is a taller copy."""
    return _board_layer(mm("resin_thickness"), mm("resin_inset"))


def substrate_copper() -> Solid:
    """One copper layer, seen as a line on the board's side."""
    return _board_layer(mm("copper_thickness"), mm("copper_inset"))


def substrate_marks() -> Solid:
    """The pin-one mark and three fiducials on the board's top."""
    top, height, place = substrate_height(), mm("copper_mark_height"), mm("substrate_side") / 2 - 2.2
    dot = barrel([0.5, 0.5], height, 12)
    marks = [dot.moved(x, top, z) for x, z in ((place, -place), (-place, -place), (place, place))]
    pin_one = barrel([1.1, 1.1], height, 3).moved(-place, top, place)
    return join([*marks, pin_one])


def _board_layer(height: float, inset: float) -> Solid:
    side, corner = mm("substrate_side") - 2 * inset, mm("substrate_corner") - inset
    return slab(side, side, plain(height), corner, 4)


def substrate_via() -> Solid:
    """One plated via from the lowest to the highest copper layer."""
    copper = [(y0, y1) for kind, y0, y1 in substrate_layers() if kind == "copper"]
    radius = mm("substrate_via_radius")
    return barrel([radius, radius], copper[-1][1] - copper[0][0], 6).moved(y=copper[0][0])


def bga_ball() -> Solid:
    """One solder ball of the outer rows, which are seen from the side; it hangs below y = 0."""
    radius = mm("ball_radius")
    profile = [radius * share for share in (0.6, 0.92, 1.0, 0.92, 0.6)]
    return barrel(profile, mm("ball_thickness"), 10).moved(y=-mm("ball_thickness"))


def bga_ball_inner() -> Solid:
    """One solder ball further in, coarser: it is seen only from below or on a cut."""
    return _joint(mm("ball_radius"), mm("ball_thickness"), 6).moved(y=-mm("ball_thickness"))


def c4_bump() -> Solid:
    """One joint between interposer and substrate, hanging below y = 0."""
    return _joint(mm("c4_radius"), mm("c4_thickness"), 6).moved(y=-mm("c4_thickness"))


def microbump() -> Solid:
    """One joint on the interposer."""
    radius = mm("microbump_radius")
    return barrel([radius, radius * 0.86], mm("microbump_thickness"), 6)


def _joint(radius: float, height: float, sides: int) -> Solid:
    return barrel([radius * 0.72, radius, radius * 0.72], height, sides)


def interposer_via() -> Solid:
    """One via through the interposer."""
    radius, cover = mm("interposer_via_radius"), mm("via_cover")
    return barrel([radius, radius], mm("interposer_thickness") - 2 * cover, 5).moved(y=cover)


def capacitor_body() -> Solid:
    """The ceramic of the smallest capacitor, lying along x; it reaches into both ends."""
    length, end, step = mm("capacitor_length"), mm("capacitor_end"), mm("capacitor_step")
    width, height = mm("capacitor_width") - 2 * step, mm("capacitor_thickness") - step
    return slab(length - end, width, fillet(mm("capacitor_bevel"), height, 1))


def capacitor_ends() -> Solid:
    """Both tin ends of the smallest capacitor."""
    length, width, end = mm("capacitor_length"), mm("capacitor_width"), mm("capacitor_end")
    bevel = mm("capacitor_bevel")
    cap = slab(end, width, fillet(bevel, mm("capacitor_thickness"), 1), bevel * 1.3)
    place = (length - end) / 2
    return join([cap.moved(x=-place), cap.moved(x=place)])


def interposer_plate() -> Solid:
    """The silicon plate."""
    bevel = mm("interposer_bevel")
    rings = fillet(bevel, mm("interposer_thickness"), 2, bottom=bevel)
    return slab(mm("interposer_width"), mm("interposer_depth"), rings, mm("interposer_corner"), 3)


def lane_ends(site: Site) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Ends of the lanes of one site, (under the stack, under the die), package x and z.

    Sites at +x are those at −x turned by half a turn. All lanes of a site shift by the same amount, from its stack to
    its share of the die's edge; neighbours end apart in a pattern of `LANE_PATTERN`.
    """
    number, per_side = count("lanes_per_site"), count("sites") // 2
    die_edge, stack_edge = mm("die_width") / 2, mm("die_width") / 2 + mm("stack_gap")
    row = site.number % per_side if site.side < 0 else per_side - 1 - site.number % per_side
    pitch = (mm("stack_depth") - 2 * mm("lane_margin")) / (number - 1)
    share = (mm("die_depth") - 2 * mm("plan_margin")) / per_side
    shift = (row - (per_side - 1) / 2) * (share - site_pitch())
    ends = []
    for lane in range(number):
        z = -site.side * site.z + (lane - (number - 1) / 2) * pitch
        back = (lane % LANE_PATTERN) * mm("lane_stagger")
        outer = stack_edge + mm("lane_under_stack") - back, -z
        inner = die_edge - mm("lane_under_die") + back, -z - shift
        ends.append(((site.side * outer[0], site.side * outer[1]), (site.side * inner[0], site.side * inner[1])))
    return ends


def interposer_lanes(site: Site) -> Solid:
    """The first lanes of a site, as many as repeat: straight under stack and die, shifting sideways in the gap between
    them. y = 0 at the interposer's top, z = 0 at the outer end of the first."""
    bends = site.side * mm("die_width") / 2, site.side * (mm("die_width") / 2 + mm("stack_gap"))
    lanes = []
    for (outer_x, outer_z), (inner_x, inner_z) in lane_ends(site)[:LANE_PATTERN]:
        path = [(outer_x, outer_z), (bends[1], outer_z), (bends[0], inner_z), (inner_x, inner_z)]
        lanes.append(ribbon(path, mm("lane_width"), mm("lane_height")))
    return join(lanes).moved(z=-lane_ends(site)[0][0][1])


def moulding() -> Solid:
    """The fill around die and stacks; y = 0 at the interposer's top."""
    clear, seat = mm("moulding_clearance"), mm("moulding_seat")
    half = [mm("die_width") / 2 + clear, mm("die_depth") / 2 + clear]
    holes = [Opening(-half[0], -half[1], half[0], half[1])]
    half = [mm("stack_width") / 2 + clear, mm("stack_depth") / 2 + clear]
    holes += [Opening(s.x - half[0], s.z - half[1], s.x + half[0], s.z + half[1]) for s in sites()]
    inset = 2 * mm("moulding_inset")
    height = mm("microbump_thickness") + mm("tops_thickness") - seat
    width, depth = mm("interposer_width") - inset, mm("interposer_depth") - inset
    return plate(width, depth, height, holes, mm("moulding_bevel"), mm("moulding_corner")).moved(y=seat)


def gpu_die_body() -> Solid:
    """The die without its relief."""
    rings = fillet(mm("die_bevel"), mm("tops_thickness"), 2)
    return slab(mm("die_width"), mm("die_depth"), rings, mm("die_corner"), 3)


def base_die() -> Solid:
    """The logic die under a stack."""
    bevel = mm("stack_bevel")
    rings = fillet(bevel, mm("base_die_thickness"), 1, bottom=bevel)
    return slab(mm("stack_width"), mm("stack_depth"), rings, mm("stack_corner"), 2)


def dram_die() -> Solid:
    """One memory die, bevelled on both faces so that a pile of them reads as lines."""
    inset, bevel = 2 * mm("dram_inset"), mm("stack_bevel")
    rings = fillet(bevel, mm("dram_die_thickness"), 1, bottom=bevel)
    return slab(mm("stack_width") - inset, mm("stack_depth") - inset, rings, mm("stack_corner"), 2)


def film() -> Solid:
    """The joint under one memory die."""
    inset = 2 * mm("film_inset")
    return slab(mm("stack_width") - inset, mm("stack_depth") - inset, plain(mm("film_thickness")), mm("stack_corner"))


def stack_vias() -> Solid:
    """A row of vias of one die and the joints on its top, which end at the die above. y = 0 where the joints end, the
    vias lie below."""
    radius, pitch, depth = mm("stack_via_radius"), mm("stack_via_pitch"), dram_pitch() - mm("via_cover")
    via = barrel([radius, radius], depth, 4)
    return join([via.moved(x, -depth, z) for x, z in grid(1, 5, pitch)])


def mark_bar() -> Solid:
    """What the marks on the stacks are made of."""
    return bar(mm("mark_height"), 0.0, 0.1)


def stack_mark(named: bool) -> list[Bar]:
    """The mark on a stack's top: a dot in one corner, and the kind of memory on the stacks NVIDIA names."""
    cap, stroke = mm("mark_cap_height"), mm("mark_stroke")
    corner_x, corner_z = -mm("stack_width") / 2 + 1.1, mm("stack_depth") / 2 - 1.1
    strokes = bars(arc((corner_x, corner_z), (0.3, 0.3), 0, 360, 14), stroke)
    if named:
        strokes += [piece.moved(z=cap / 2) for piece in write("HBM3", cap, stroke)]
    return strokes


def joint_places() -> list[tuple[float, float, float]]:
    """Microbumps outside the field under the die: x, z and width relative to the common one. Fields under the stacks,
    and one joint at each end of each lane."""
    pitch, edge = mm("microbump_pitch"), mm("microbump_edge")
    # the field of a stack keeps clear of the strip its lanes take
    width = mm("stack_width") - mm("lane_under_stack") - 2 * edge
    columns, rows = fitting(width, pitch), fitting(mm("stack_depth") - 2 * edge, pitch)
    narrow = mm("lane_bump_radius") / mm("microbump_radius")
    places = []
    for site in sites():
        middle = site.x + site.side * mm("lane_under_stack") / 2
        places += [(x, z, 1.0) for x, z in grid(columns, rows, pitch, middle, site.z)]
    for site in sites():
        outer, inner = zip(*lane_ends(site), strict=True)
        places += [(x, z, narrow) for x, z in (*sorted(outer), *sorted(inner))]
    return places
