"""Cut, opened stack, true thickness, a group shown alone: what is seen, named and picked, and that nothing piles up."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser import luminance
from tests.browser.conftest import NARROW, WIDE, Visit, box_of, open_visit

CUTS = {"z": '{"axis": "z", "at": 0.36}', "x": '{"axis": "x", "at": 0.66}'}
# what a reader must find by name on a cut face, and the part picked there
ON_THE_FACE = {
    "GPU die (GH100)": "gpu_die",
    "HBM stack": "hbm_stack",
    "Interposer": "interposer",
    "Substrate": "substrate",
    "Solder balls": "bga_balls",
    "C4 bumps": "c4_bumps",
    "Copper layers": "substrate",
    "Plated vias": "substrate",
    "Through-silicon vias": "hbm_stack",
}
# where which neighbours are looked at: tops from the first view, the thin interposer from near by
TOPS = (("hbm", "moulding"), ("gpu_die", "moulding"))
SIDES = (("interposer", "moulding"), ("interposer", "substrate"))
NEIGHBOURS = {"hero": TOPS, "stack": TOPS + SIDES}


def put(visit: Visit, state: str) -> None:
    """Sets a state on the stand itself and waits until it is drawn."""
    visit.page.evaluate(
        """async (state) => {
            window.exhibitStand.set(JSON.parse(state));
            for (let i = 0; i < 3; i++) await window.exhibitStand.settled();
        }""",
        state,
    )


def callouts(visit: Visit) -> dict[str, dict[str, Any]]:
    """Each callout shown: box of its label, and the end of its leader line, in px of the stand."""
    found: dict[str, dict[str, Any]] = visit.page.evaluate(
        """() => {
            const host = document.querySelector('#stand').getBoundingClientRect();
            const labels = [...document.querySelectorAll('#stand [data-callout]')];
            const dots = [...document.querySelectorAll('#stand .stand-callouts circle')];
            return Object.fromEntries(labels.map((label, i) => [label, dots[i]])
                .filter(([label]) => label.checkVisibility())
                .map(([label, dot]) => {
                    const box = label.getBoundingClientRect();
                    return [label.textContent, {
                        box: [box.left - host.left, box.top - host.top, box.right - host.left, box.bottom - host.top],
                        end: [Number(dot.getAttribute('cx')), Number(dot.getAttribute('cy'))],
                    }];
                }));
        }"""
    )
    return found


def part_at(visit: Visit, place: list[float]) -> str:
    found: str | None = visit.page.evaluate("([x, y]) => window.exhibitStand.partAt(x, y)", place)
    return found or ""


def stats(visit: Visit) -> dict[str, Any]:
    found: dict[str, Any] = visit.page.evaluate("() => window.exhibitStand.stats()")
    return found


@pytest.fixture
def wide(browser: Browser, server: str) -> Any:
    visit = open_visit(browser, server, viewport=WIDE)
    yield visit
    visit.page.context.close()
    # Stills beside the text may not have been taken yet; that is not what these tests are about.
    assert [text for text in visit.complaints if "404" not in text] == []


@pytest.mark.parametrize("axis", CUTS)
def test_what_the_plane_meets_is_named_and_picked_on_the_face(wide: Visit, axis: str) -> None:
    wide.go("/?tier=low&t=0")
    put(wide, f'{{"pose": "section", "lit": [], "cut": {CUTS[axis]}}}')
    shown = callouts(wide)
    # Far from the middle a plane of x passes the die by.
    wanted = {name: part for name, part in ON_THE_FACE.items() if not (axis == "x" and part == "gpu_die")}
    assert wanted.keys() <= shown.keys()
    for name, part in wanted.items():
        assert part_at(wide, shown[name]["end"]).startswith(part), name
    boxes = [entry["box"] for entry in shown.values()]
    for i, (left, top, right, bottom) in enumerate(boxes):
        for other_left, other_top, other_right, other_bottom in boxes[i + 1 :]:
            assert right <= other_left or other_right <= left or bottom <= other_top or other_bottom <= top


def test_the_cut_takes_away_what_lies_beyond_it(visit: Visit) -> None:
    visit.go("/?tier=low&t=0")
    centre = "() => window.exhibitStand.partCentre"
    put(visit, '{"cut": {"axis": "z", "at": 0.1}}')
    assert visit.page.evaluate(f"{centre}('hbm_stack_5')") is None
    assert visit.page.evaluate(f"{centre}('hbm_stack_3')") is not None
    put(visit, '{"cut": {"axis": "x", "at": -0.9}}')
    assert visit.page.evaluate(f"{centre}('gpu_die')") is None
    assert visit.page.evaluate(f"{centre}('substrate')")[0] < -27
    put(visit, '{"cut": null}')
    assert visit.page.evaluate(f"{centre}('gpu_die')")[0] == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(("tier", "most"), [("low", 60), ("medium", 137)])
def test_a_cut_and_opened_package_takes_few_draw_calls(visit: Visit, tier: str, most: int) -> None:
    visit.go(f"/?tier={tier}&t=0")
    for axis in CUTS:
        put(visit, f'{{"pose": "section", "cut": {CUTS[axis]}, "open": 1, "explode": 0}}')
        seen = stats(visit)
        assert 0 < seen["drawCalls"] <= most
        assert seen["triangles"] <= 500_000


# Where the text stands in the window; how far the page is scrolled also changes when something above it grows.
TEXT_AT = "() => document.querySelector('#chapter-5 .key-line').getBoundingClientRect().top"


def test_the_grip_moves_the_plane_by_pointer_and_by_key(visit: Visit) -> None:
    page = visit.go("/?tier=low&t=0&cut=z0.36#chapter-5")
    page.wait_for_load_state("networkidle")
    visit.settle()
    page.keyboard.press("Shift")  # a hand on the keys: from here on the page does not hold on to the linked place
    grip = page.locator(".stand-cut-grip")
    box = box_of(grip)
    start = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    scroll = page.evaluate(TEXT_AT)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + 30, start[1] - 4, steps=3)
    page.mouse.up()
    visit.settle()
    moved = page.evaluate("() => window.exhibitStand.state.cut")
    assert moved["axis"] == "z"
    assert abs(moved["at"] - 0.36) > 0.02
    assert abs(box_of(grip)["x"] - box["x"]) > 8
    assert re.search(r"cut=z-?[\d.]+", page.url)
    assert float(page.locator("#cut-at").input_value()) == pytest.approx(moved["at"], abs=0.006)
    assert page.locator("#return-camera").is_hidden()
    grip.focus()
    page.keyboard.press("ArrowRight")
    visit.settle()
    assert page.evaluate("() => window.exhibitStand.state.cut.at") == pytest.approx(moved["at"] + 0.02, abs=0.011)
    assert page.evaluate(TEXT_AT) == pytest.approx(scroll, abs=1)
    assert int(grip.get_attribute("aria-valuenow") or 0) == pytest.approx(100 * moved["at"] + 2, abs=1.2)


def test_the_panel_cuts_opens_thins_and_shows_alone(visit: Visit) -> None:
    page = visit.go("/?tier=low&t=0")
    assert page.locator(".stand-cut-grip").count() == 0
    page.locator("#looks-menu summary").click()
    page.locator("#cut-axis").select_option("x")
    page.wait_for_selector(".stand-cut-grip")
    visit.settle()
    page.locator("#open-stack").fill("1")
    page.locator("#thickness").fill("0")
    page.locator("#isolate").select_option("hbm")
    visit.settle()
    state = page.evaluate("() => window.exhibitStand.state")
    assert (state["cut"]["axis"], state["open"], state["thickness"], state["isolate"]) == ("x", 1, 0, "hbm")
    assert page.locator("#thickness-factor").text_content() == "×1"
    # The address follows when the reader's hand rests.
    page.wait_for_url("**isolate=hbm**")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_function("() => window.exhibitStand !== undefined")
    visit.settle()
    again = page.evaluate("() => window.exhibitStand.state")
    for key in ("cut", "open", "thickness", "isolate"):
        assert again[key] == state[key]


def test_in_a_narrow_window_no_name_covers_a_cut_face(browser: Browser, server: str) -> None:
    visit = open_visit(browser, server, viewport=NARROW)
    visit.go("/?tier=low&t=0#chapter-5")
    assert callouts(visit) == {}
    put(visit, '{"cut": null, "pose": "hero"}')
    assert len(callouts(visit)) >= 2
    visit.page.context.close()


def test_the_opened_stack_names_every_layer_from_the_bottom_up(wide: Visit) -> None:
    wide.go("/?tier=low&t=0")
    put(wide, '{"pose": "stack", "open": 1}')
    shown = callouts(wide)
    layers = ["Base die", *(f"DRAM die {number}" for number in range(1, 9))]
    assert set(layers) <= shown.keys()
    heights = [shown[name]["end"][1] for name in layers]
    assert heights == sorted(heights, reverse=True)
    for name in layers:
        x, y = shown[name]["end"]
        assert part_at(wide, [x - 1, y]) == "hbm_stack_5", name
    put(wide, '{"open": 0}')
    assert not set(layers) & callouts(wide).keys()


def test_true_thickness_is_a_quarter_and_everything_follows(visit: Visit) -> None:
    visit.go("/?tier=low&t=0")
    die = "() => window.exhibitStand.partCentre('gpu_die')"
    drawn, before = visit.page.evaluate(die), callouts(visit)
    put(visit, '{"thickness": 0}')
    true, after = visit.page.evaluate(die), callouts(visit)
    factor = visit.page.evaluate("() => window.exhibitStand.thicknessFactor")
    assert true == pytest.approx([drawn[0], drawn[1] / factor, drawn[2]], abs=1e-6)
    name = "GPU die (GH100)"
    assert after[name]["end"][1] > before[name]["end"][1] + 2
    assert part_at(visit, after[name]["end"]) == "gpu_die"


@pytest.mark.parametrize("group", ["substrate", "interposer", "moulding", "gpu_die", "hbm"])
def test_a_group_alone_is_all_there_is_besides_the_base(visit: Visit, group: str) -> None:
    visit.go("/?tier=low&t=0")
    put(visit, f'{{"isolate": "{group}"}}')
    seen = set(luminance.parts_seen(visit.page).ravel().tolist()) - {"", "base"}
    own = {
        "substrate": {"substrate", "capacitors", "bga_balls"},
        "interposer": {"interposer", "interposer_lanes", "c4_bumps", "microbumps"},
    }.get(group, {group})
    assert seen
    assert seen <= own


VIEWS = (
    '{"pose": "section", "cut": {"axis": "z", "at": 0.36}}',
    '{"cut": {"axis": "x", "at": 0.66}, "open": 1}',
    '{"cut": null, "open": 0, "pose": "exploded", "explode": 1}',
    '{"pose": "hero", "explode": 0, "isolate": "interposer", "thickness": 0}',
    '{"isolate": null, "thickness": 1, "pose": "die", "plaque": true}',
    '{"plaque": false, "pose": "grid", "grid": true}',
    '{"grid": false, "pose": "hero", "theme": "dark"}',
    '{"theme": "gallery"}',
)


def test_nothing_piles_up_when_views_are_opened_and_closed(browser: Browser, server: str) -> None:
    visit = open_visit(browser, server, viewport={"width": 900, "height": 320})
    visit.go("/?tier=low&t=0")

    def rounds(number: int) -> dict[str, int]:
        held: dict[str, int] = visit.page.evaluate(
            """async ([views, number]) => {
                for (let i = 0; i < number; i++)
                    for (const view of views) {
                        window.exhibitStand.set(JSON.parse(view));
                        await window.exhibitStand.settled();
                    }
                const { geometries, textures, programs } = window.exhibitStand.stats();
                return { geometries, textures, programs };
            }""",
            [list(VIEWS), number],
        )
        return held

    first = rounds(2)
    assert rounds(48) == first
    assert visit.complaints == []
    visit.page.context.close()


@pytest.mark.parametrize("tier", ["low", "medium"])
def test_a_lost_context_comes_back_with_the_same_picture(visit: Visit, tier: str) -> None:
    page = visit.go(f"/?tier={tier}&t=0&cut=z0.36#chapter-5")
    before = luminance.picture(page)
    lose = "document.querySelector('#stand canvas').getContext('webgl2').getExtension('WEBGL_lose_context')"
    page.evaluate(f"() => {{ window.loser = {lose}; window.loser.loseContext(); }}")
    page.wait_for_selector("#stand-note:not([hidden])")
    page.evaluate("() => window.loser.restoreContext()")
    page.wait_for_selector("#stand-note[hidden]", state="attached")
    visit.settle()
    after = luminance.picture(page)
    assert before.std() > 0.05
    assert abs(after - before).max() < 0.02
    # The browser itself reports the loss that is the point of this test.
    visit.complaints = [text for text in visit.complaints if "CONTEXT_LOST" not in text]


@pytest.mark.parametrize("theme", ["gallery", "dark", "projector"])
def test_neighbouring_parts_are_told_apart_and_little_is_black(wide: Visit, theme: str) -> None:
    wide.go(f"/?tier=medium&t=0&theme={theme}")
    for pose, pairs in NEIGHBOURS.items():
        put(wide, json.dumps({"pose": pose, "lit": []}))
        light = luminance.picture(wide.page)
        assert luminance.dark_share(light) <= (0.02 if theme == "projector" else 0.25)
        found = luminance.borders(light, luminance.parts_seen(wide.page))
        for pair in pairs:
            assert found[frozenset(pair)].places >= 50, (pose, pair)
            assert found[frozenset(pair)].contrast >= 3.0, (pose, pair, found[frozenset(pair)])


def test_the_page_carries_no_cut_until_one_is_asked_for(visit: Visit) -> None:
    visit.go("/?tier=low")
    visit.page.wait_for_load_state("networkidle")
    assert not [url for url in visit.requests if "/cut-" in url]
    put(visit, f'{{"cut": {CUTS["z"]}}}')
    assert [url for url in visit.requests if "/cut-" in url]
