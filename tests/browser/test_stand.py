"""The stand in a real browser: parts, explode, frames, scrolling, tallies."""

import itertools
import time

import pytest

from app.browser import photograph
from tests.browser.conftest import Visit, box_of

ALGORITHMS = ["standard", "fa2"]


def frames(visit: Visit) -> int:
    count: int = visit.page.evaluate("() => window.exhibitStand.stats().frames")
    return count


def labels(visit: Visit) -> dict[str, tuple[float, float]]:
    """Text of each callout on the stand with the place of its box."""
    found: dict[str, tuple[float, float]] = visit.page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('#stand [data-callout]')]
            .filter((node) => node.checkVisibility())
            .map((node) => { const box = node.getBoundingClientRect(); return [node.textContent, [box.x, box.y]]; }))"""
    )
    return found


@pytest.mark.parametrize("chapter", [1, 4, 7, 13])
def test_nothing_is_drawn_while_nothing_changes(visit: Visit, chapter: int) -> None:
    visit.go(f"/?tier=low#chapter-{chapter}")
    visit.page.wait_for_load_state("networkidle")
    visit.settle()
    before = frames(visit)
    assert before > 0
    time.sleep(5)
    assert frames(visit) == before


def test_the_explode_lever_moves_parts_and_labels(visit: Visit) -> None:
    page = visit.go("/?tier=low")
    seen = []
    heights = []
    for share in ("0", "0.5", "1"):
        page.locator("#explode").fill(share)
        visit.settle()
        seen.append(labels(visit))
        heights.append(page.evaluate("() => window.exhibitStand.partCentre('gpu_die')[1]"))
    assert heights == sorted(set(heights))
    for before, after in itertools.pairwise(seen):
        assert len(after) >= 4
        shared = before.keys() & after.keys()
        assert sum(before[name] != after[name] for name in shared) >= 3


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("shape", ["", "&seqlen=1000&head_dim=64&causal=1"])
def test_the_tally_of_tiles_ends_at_the_sum_of_the_server(visit: Visit, algorithm: str, shape: str) -> None:
    page = visit.go(f"/?tier=low&algorithm={algorithm}{shape}")
    page.wait_for_selector("#stand-panel.has-flow")
    query = {"algorithm": algorithm, "seqlen": 1000 if shape else 4096, "head_dim": 64 if shape else 128}
    plan = visit.api("/api/schedule", **query, causal=bool(shape))
    scrub = page.locator("#scrub")
    scrub.focus()
    page.keyboard.press("Home")
    assert page.locator("#tally-hbm").get_attribute("data-bytes") == "0"
    page.keyboard.press("End")
    tally = {
        line: int(page.locator(f"#tally-{name}").get_attribute("data-bytes") or -1)
        for line, name in (("hbm", "hbm"), ("l2_to_sm", "l2"))
    }
    assert tally == {line: total["total_bytes"] for line, total in plan["sums"].items()}
    shown = {name: page.locator(f"#tally-{name}").text_content() for name in ("hbm", "l2")}
    assert shown == {name: page.locator(f"#sum-{name}").text_content() for name in ("hbm", "l2")}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_playing_steps_and_pauses(visit: Visit, algorithm: str) -> None:
    page = visit.go(f"/?tier=low&algorithm={algorithm}&moment=0")
    page.wait_for_selector("#stand-panel.has-flow")
    page.locator("#step-forward").click()
    assert "step 1 of" in (page.locator("#moment").text_content() or "")
    page.locator("#step-back").click()
    assert "step 0 of" in (page.locator("#moment").text_content() or "")
    page.locator("#play").click()
    page.wait_for_function("() => Number(document.getElementById('scrub').value) > 0.5")
    page.locator("#play").click()
    visit.settle()
    held = page.locator("#scrub").input_value()
    before = frames(visit)
    time.sleep(1)
    assert page.locator("#scrub").input_value() == held
    assert frames(visit) == before


def test_the_wheel_over_the_canvas_scrolls_the_page(visit: Visit) -> None:
    page = visit.go("/?tier=low")
    page.set_viewport_size({"width": 1280, "height": 720})
    box = box_of(page.locator("#stand canvas"))
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, 600)
    page.wait_for_function("() => scrollY >= 500")
    assert "pan-y" in page.locator("#stand canvas").evaluate("(node) => getComputedStyle(node).touchAction")


def test_every_part_can_be_chosen_from_the_list(visit: Visit) -> None:
    page = visit.go("/?tier=low")
    ids = page.evaluate("() => window.exhibitStand.parts().map((part) => part.id)")
    assert {"gpu_die", "interposer", "substrate", "base", "moulding", "bga_balls"} <= set(ids)
    assert sum(name.startswith("hbm_stack_") for name in ids) == 6
    for name in ids:
        page.locator("#parts-menu summary").click()
        page.locator(f'#parts button[data-part="{name}"]').click()
        card = page.locator("#part-card")
        assert len(card.text_content() or "") > 40


def test_the_canvas_has_a_name_and_takes_arrow_keys(visit: Visit) -> None:
    page = visit.go("/?tier=low")
    canvas = page.locator("#stand canvas")
    assert canvas.get_attribute("aria-label")
    canvas.focus()
    before = frames(visit)
    page.keyboard.press("ArrowLeft")
    visit.settle()
    assert frames(visit) > before
    assert page.evaluate("() => scrollY") == 0
    page.locator("#return-camera").click()
    visit.settle()
    assert page.locator("#return-camera").is_hidden()


def test_the_fixed_clock_gives_the_same_picture_twice(visit: Visit) -> None:
    pictures = []
    for _ in range(2):
        # Without names: their text is drawn by the browser, whose anti-aliasing may differ by a pixel.
        visit.go("/?tier=low&t=0.4&algorithm=fa2&labels=0#chapter-7")
        visit.page.wait_for_selector("#stand-panel.has-flow")
        visit.settle()
        pictures.append(photograph(visit.page, "#stand"))
    assert pictures[0] == pictures[1]


@pytest.mark.parametrize("tier", ["medium", "high"])
@pytest.mark.parametrize(
    "place", ["cut=z0.36&open=1#chapter-5", "die=sm_98#chapter-6", "#chapter-8", "twin=1#chapter-7"]
)
def test_no_tier_misses_a_shader(visit: Visit, tier: str, place: str) -> None:
    """Shader texts that no tier uses are left out of the bundle; the fixture fails on every complaint of the device."""
    query, _, chapter = place.partition("#")
    visit.go(f"/?tier={tier}&t=0.42&{query}#{chapter}")
    visit.page.wait_for_load_state("networkidle")
    visit.settle()
    assert visit.page.evaluate("() => window.exhibitStand.stats().programs") > 3
