"""Solids, plates with openings, ribbons and letters: closed, outward, of the volume geometry demands."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.geometry.instancing import Copies
from app.geometry.openings import Opening, plate, triangles
from app.geometry.packing import Tables, steps
from app.geometry.parts import CAPTION
from app.geometry.repeats import Field
from app.geometry.solids import Ring, Solid, barrel, chamfer, fillet, join, plain, slab
from app.geometry.strokes import ALPHABET, WAIST, Bar, bar, bars, ribbon, text_width, write


def volume(solid: Solid) -> float:
    a, b, c = (solid.vertices[solid.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def assert_closed(solid: Solid) -> None:
    """Each edge is walked once in each direction, corners at one place counting as one."""
    _, index = np.unique(np.round(solid.vertices, 6), axis=0, return_inverse=True)
    faces = index.reshape(-1)[solid.faces]
    edges: dict[tuple[int, int], int] = {}
    for a, b, c in faces.tolist():
        for edge in ((a, b), (b, c), (c, a)):
            edges[edge] = edges.get(edge, 0) + 1
    assert all(edges.get((b, a)) == count for (a, b), count in edges.items())


def assert_normals(solid: Solid, least: float) -> None:
    """Unit length, and on the outer side of every face they shade."""
    assert np.allclose(np.linalg.norm(solid.normals, axis=1), 1.0)
    a, b, c = (solid.vertices[solid.faces[:, k]] for k in range(3))
    out = np.cross(b - a, c - a)
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    assert np.einsum("ij,ikj->ik", out, solid.normals[solid.faces]).min() > least


def test_a_plain_slab_is_a_box() -> None:
    box = slab(3.0, 2.0, plain(0.5))
    assert_closed(box)
    assert volume(box) == pytest.approx(3.0)
    assert box.bounds.tolist() == [[-1.5, 0.0, -1.0], [1.5, 0.5, 1.0]]


def test_square_chamfers_take_off_their_prisms() -> None:
    """A frustum: volume by the prismatoid formula."""
    shape = slab(4.0, 3.0, [Ring(0.0, 0.0, 0.0), Ring(0.5, 1.0, 90.0)])
    assert_closed(shape)
    assert volume(shape) == pytest.approx((4 * 3 + 4 * (3.5 * 2.5) + 3 * 2) / 6)


sizes = st.floats(2.0, 60.0)


@given(sizes, sizes, st.floats(0.5, 8.0), st.floats(0.01, 0.2), st.integers(1, 3), st.integers(1, 5))
def test_bevelled_slabs_are_closed_and_a_little_smaller_than_their_box(
    width: float, depth: float, height: float, bevel: float, segments: int, corner_segments: int
) -> None:
    corner = bevel * 1.5
    shape = slab(width, depth, fillet(bevel, height, segments, bottom=bevel), corner, corner_segments)
    assert_closed(shape)
    assert_normals(shape, 0.3)
    box = width * depth * height
    assert box - 8 * bevel * (width * depth + height * (width + depth)) < volume(shape) < box
    assert np.ptp(shape.vertices, axis=0) == pytest.approx([width, height, depth])


def test_a_chamfered_plate_keeps_its_size_and_turns_its_normals_gradually() -> None:
    shape = slab(20.0, 10.0, chamfer(1.0, 4.0, bottom=0.4), 2.0, 3)
    assert_closed(shape)
    assert_normals(shape, 0.8)
    assert np.ptp(shape.vertices, axis=0) == pytest.approx([20.0, 4.0, 10.0])


@pytest.mark.parametrize(("corner", "complaint"), [(0.1, "larger than the deepest"), (1.2, "does not fit")])
def test_corners_that_cannot_be_are_refused(corner: float, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        slab(2.0, 2.0, fillet(0.2, 1.0, 1), corner)


@given(st.floats(0.1, 3.0), st.floats(0.1, 3.0), st.integers(3, 16))
def test_a_straight_barrel_is_a_prism(radius: float, height: float, sides: int) -> None:
    shape = barrel([radius, radius], height, sides)
    assert_closed(shape)
    assert volume(shape) == pytest.approx(sides / 2 * math.sin(2 * math.pi / sides) * radius**2 * height)


def test_a_bulging_barrel_is_two_cut_pyramids() -> None:
    low, wide, sides = 0.6, 1.0, 8
    shape = barrel([low, wide, low], 2.0, sides)
    assert_closed(shape)
    assert_normals(shape, 0.7)
    face = sides / 2 * math.sin(2 * math.pi / sides)
    assert volume(shape) == pytest.approx(2 * face * (low**2 + low * wide + wide**2) / 3)


def test_joined_solids_keep_their_volume() -> None:
    box = slab(1.0, 1.0, plain(1.0))
    both = join([box, box.moved(x=3.0, y=1.0, z=-2.0)])
    assert_closed(both)
    assert volume(both) == pytest.approx(2.0)
    assert both.bounds.tolist() == [[-0.5, 0.0, -2.5], [3.5, 2.0, 0.5]]


def test_a_plate_loses_its_openings() -> None:
    holes = [Opening(-8.0, -3.0, -4.0, 3.0), Opening(1.0, -2.0, 7.0, 4.0)]
    shape = plate(20.0, 10.0, 2.0, holes, bevel=0.1, corner=0.3)
    assert_closed(shape)
    assert_normals(shape, 0.3)
    solid = (20 * 10 - 4 * 6 - 6 * 6) * 2.0
    edges = 2 * (20 + 10) + 2 * (4 + 6) + 2 * (6 + 6)
    # the bevel takes off a little along every edge, the corners a little more
    assert solid - 0.1**2 * edges - 4 * 0.3**2 * 2.0 < volume(shape) < solid
    for hole in holes:
        x, _, z = shape.vertices.T
        inside = (x > hole.x0 + 1e-9) & (x < hole.x1 - 1e-9) & (z > hole.z0 + 1e-9) & (z < hole.z1 - 1e-9)
        assert not inside.any()


@pytest.mark.parametrize("hole", [Opening(-9.95, -1, 0, 1), Opening(-11, -1, 0, 1)])
def test_an_opening_at_the_edge_is_refused(hole: Opening) -> None:
    with pytest.raises(ValueError, match="too close"):
        plate(20.0, 10.0, 2.0, [hole], bevel=0.1, corner=0.3)


def test_openings_that_touch_are_refused() -> None:
    with pytest.raises(ValueError, match="too close"):
        plate(20.0, 10.0, 2.0, [Opening(-5, -2, 0, 2), Opening(0.1, -2, 5, 2)], bevel=0.1, corner=0.3)


@given(st.integers(1, 4), st.integers(1, 3), st.floats(0.3, 2.0), st.floats(0.3, 2.0), st.floats(-0.4, 0.4))
@example(3, 1, 1.0, 1.0, 1e-15)  # corners in a row but for rounding
def test_a_face_with_holes_is_cut_without_overlap(across: int, along: int, w: float, d: float, shift: float) -> None:
    """Areas add up, every edge is shared, and no new point appears: no gap, no overlap, no crack."""
    size_x, size_z = 3.0 * across + 2, 3.0 * along + 2
    outline = [(0.0, 0.0), (size_x, 0.0), (size_x, size_z), (0.0, size_z)]
    holes = []
    for column in range(across):
        for row in range(along):
            x, z = 1 + 3.0 * column + 0.5 * (row % 2) + 0.45, 1 + 3.0 * row + 0.45 + shift * (column % 2)
            holes.append([(x, z), (x, z + d), (x + w, z + d), (x + w, z)])
    points = [*outline, *(place for hole in holes for place in hole)]
    cut = triangles(outline, holes)
    flat = np.array(points)
    a, b, c = (flat[[triple[k] for triple in cut]] for k in range(3))
    areas = ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]) / 2
    assert areas.min() > 0
    assert areas.sum() == pytest.approx(size_x * size_z - across * along * w * d)
    edges = [edge for i, j, k in cut for edge in ((i, j), (j, k), (k, i))]
    assert len(set(edges)) == len(edges)
    rim = {edge for edge in edges if edge[::-1] not in set(edges)}
    assert len(rim) == len(points)


def test_a_straight_ribbon_is_a_cut_pyramid() -> None:
    width, height, length = 1.0, 0.2, 5.0
    shape = ribbon([(0.0, 0.0), (length, 0.0)], width, height)
    assert_closed(shape)
    slant = 0.18  # nine tenths of the height, less than three tenths of the width
    top, middle = (length - 2 * slant) * (width - 2 * slant), (length - slant) * (width - slant)
    assert volume(shape) == pytest.approx(height * (length * width + 4 * middle + top) / 6)


def corners(piece: Bar) -> list[complex]:
    """Corners of a bar half-way up, x + iz, around it."""
    turn = np.exp(-1j * math.radians(piece.turn))
    half = [(1, 1), (-1, 1), (-1, -1), (1, -1)]
    return [piece.x + 1j * piece.z + turn * (a * piece.length + 1j * b * WAIST * piece.width) / 2 for a, b in half]


def test_a_bar_is_a_cut_pyramid() -> None:
    shape = bar(0.14, 0.05, 0.3)
    assert_closed(shape)
    assert shape.bounds.tolist() == [[-0.5, -0.05, -0.5], [0.5, 0.14, 0.5]]
    assert volume(shape) == pytest.approx(0.19 * (1.0 + 0.4) / 2)


def test_bars_of_a_closed_path_meet_at_its_outer_corners() -> None:
    square = [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0), (0.0, 0.0)]
    pieces = bars(square, 0.4)
    side = 0.2 * WAIST
    assert [piece.length for piece in pieces] == pytest.approx([4 + 2 * side] * 4)
    found = {(round(spot.real, 9), round(spot.imag, 9)) for piece in pieces for spot in corners(piece)}
    edges = (round(-side, 9), round(4 + side, 9))
    assert {(x, z) for x in edges for z in edges} <= found


@given(st.floats(-2.4, 2.4), st.floats(1.0, 5.0), st.floats(1.0, 5.0), st.floats(0.05, 0.4))
def test_two_bars_share_the_outer_corner_of_a_bend(bend: float, first: float, second: float, width: float) -> None:
    end = (first + second * math.cos(bend), second * math.sin(bend))
    one, two = bars([(0.0, 0.0), (first, 0.0), end], width)
    nearest = min(abs(a - b) for a in corners(one) for b in corners(two))
    if abs(bend) <= math.pi / 2:
        assert nearest < 1e-6
    # beyond a right angle no corner of either bar sticks out beside the other
    way = np.exp(1j * bend)
    for spot in corners(one):
        assert abs(((spot - first) * np.conj(way)).imag) <= WAIST * width / 2 + 1e-9 or (spot - first).real < 1e-9
    for spot in corners(two):
        assert abs(spot.imag) <= WAIST * width / 2 + 1e-9 or ((spot - first) * np.conj(way)).real > -1e-9


@pytest.mark.parametrize("letter", sorted(set(ALPHABET) - {" "}))
def test_letters_stay_on_their_line(letter: str) -> None:
    spots = np.array([spot for piece in write(letter, 3.0, 0.36) for spot in corners(piece)])
    assert -3.0 - 0.4 < spots.imag.min() < spots.imag.max() < 0.4
    assert np.ptp(spots.real) < text_width(letter, 3.0) + 0.8


def test_the_caption_can_be_written_and_an_unknown_letter_not() -> None:
    assert set(CAPTION) <= set(ALPHABET)
    with pytest.raises(KeyError):
        write("Q", 1.0, 0.1)


@given(st.lists(st.tuples(*[st.floats(-60.0, 60.0)] * 3), min_size=1, max_size=20))
def test_steps_are_within_half_a_step(places: list[tuple[float, float, float]]) -> None:
    unit = (0.005, 0.002, 0.005)
    back = steps(np.array(places), unit) * np.array(unit)
    assert (np.abs(back - np.array(places)) <= np.array(unit) / 2 + 1e-12).all()


def test_places_beyond_16_bits_are_refused() -> None:
    with pytest.raises(ValueError, match="16 bits"):
        steps(np.array([[0.0, 0.0, 200.0]]), (0.005, 0.005, 0.005))


def test_a_list_that_begins_another_is_not_stored_again() -> None:
    unit, long = (1.0, 1.0, 1.0), np.arange(30.0).reshape(-1, 3)
    tables = Tables()
    whole = tables.copies(Copies(long), unit)["TRANSLATION"]
    stored = len(tables.pieces["copies"])
    part = tables.copies(Copies(long[:4]), unit)["TRANSLATION"]
    assert len(tables.pieces["copies"]) == stored == 30 * 4
    assert [tables.accessors[index]["count"] for index in (whole, part)] == [10, 4]
    assert tables.copies(Copies(long), unit)["TRANSLATION"] == whole


def test_fields_are_cut_into_equal_tiles() -> None:
    tiles = Field(40, 28, 1.25).tiles()
    assert [len(copies) for _, _, copies in tiles] == [280] * 4
    places = {(x + dx, z + dz) for x, z, copies in tiles for dx, _, dz in copies.translation.tolist()}
    assert places == {(1.25 * (column - 19.5), 1.25 * (row - 13.5)) for column in range(40) for row in range(28)}
    assert len(Field(20, 20, 2.54).tiles()) == 1
    for columns, rows in ((39, 20), (20, 41)):
        with pytest.raises(ValueError, match="cannot be cut"):
            Field(columns, rows, 1.0).tiles()
