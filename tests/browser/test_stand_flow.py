"""The flow on the stand in a real browser: every method, both passes, side by side, at once, followed; the die near."""

import itertools
from typing import Any

import pytest
from playwright.sync_api import Browser

from app.browser import photograph
from tests.browser.conftest import WIDE, Visit, box_of, open_visit

HAS_FLOW = "#stand-panel.has-flow"
LINES = {"hbm": "hbm", "l2_to_sm": "l2"}
CASES = list(itertools.product(("standard", "fa1", "fa2"), ("forward", "backward")))


def tally(visit: Visit, side: str = "") -> dict[str, int]:
    """Bytes the tally says have crossed each line."""
    found = {}
    for line, name in LINES.items():
        found[line] = int(visit.page.locator(f"#tally-{side}{name}").get_attribute("data-bytes") or -1)
    return found


def plan(visit: Visit, algorithm: str, direction: str = "forward", **more: Any) -> Any:
    return visit.api("/api/schedule", algorithm=algorithm, direction=direction, **more)


def totals(answer: Any) -> dict[str, int]:
    return {line: answer["sums"][line]["total_bytes"] for line in LINES}


def crossed(answer: Any, step: int) -> dict[str, int]:
    """Sums of the moves before a step."""
    near = {"hbm": "hbm", "l2_to_sm": "sm"}
    return {
        line: sum(
            move["bytes"]
            for move in answer["moves"]
            if move["step"] < step and near[line] in (move["source"], move["target"])
        )
        for line in LINES
    }


def scrub_to(visit: Visit, step: float) -> None:
    visit.page.evaluate(
        """(at) => { const scrub = document.getElementById('scrub');
            scrub.value = String(at); scrub.dispatchEvent(new Event('input', { bubbles: true })); }""",
        step,
    )


def shown(visit: Visit, *flows: str) -> None:
    """Wait until the panel holds these schedules, left to right."""
    visit.page.wait_for_function(
        "(flows) => document.getElementById('stand-panel').dataset.flow === flows", arg=", ".join(flows)
    )


def state(visit: Visit) -> Any:
    return visit.page.evaluate(
        "() => { const { plaque, die, follow } = window.exhibitStand.state; return { plaque, die, follow }; }"
    )


def callouts(visit: Visit) -> list[str]:
    found: list[str] = visit.page.evaluate(
        """() => [...document.querySelectorAll('#stand [data-callout]')]
            .filter((node) => node.checkVisibility()).map((node) => node.textContent)"""
    )
    return found


@pytest.mark.parametrize("shape", [{}, {"seqlen": 1000, "head_dim": 64, "causal": True}], ids=["full", "causal"])
def test_tallies_equal_the_sums_at_any_step_however_it_is_reached(visit: Visit, shape: dict[str, Any]) -> None:
    query = "".join(f"&{name}={int(value)}" for name, value in shape.items())
    page = visit.go(f"/?tier=low{query}#chapter-7")
    for algorithm, direction in CASES:
        answer = plan(visit, algorithm, direction, **shape)
        steps = answer["num_steps"]
        page.locator(f'input[name="algorithm"][value="{algorithm}"]').check()
        page.locator(f'input[name="direction"][value="{direction}"]').check()
        shown(visit, f"{algorithm} {direction}")
        for step in (steps, steps // 3, 0, steps // 2, steps):
            scrub_to(visit, step)
            assert tally(visit) == crossed(answer, step), (algorithm, direction, step)
        assert tally(visit) == totals(answer)


def test_chapter_nine_runs_backward_until_the_reader_chooses(visit: Visit) -> None:
    page = visit.go("/?tier=low#chapter-9")
    shown(visit, "fa2 backward")
    assert page.locator('input[name="direction"][value="backward"]').is_checked()
    page.locator('input[name="direction"][value="forward"]').check()
    shown(visit, "fa2 forward")
    page.locator('input[name="algorithm"][value="standard"]').check()
    shown(visit, "standard forward")


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_two_methods_run_side_by_side_on_one_clock(visit: Visit, direction: str) -> None:
    page = visit.page
    page.set_viewport_size(WIDE)
    visit.go(f"/?tier=low&twin=1&algorithm=fa2&direction={direction}#chapter-7")
    shown(visit, f"standard {direction}", f"fa2 {direction}")
    plans = {"left-": plan(visit, "standard", direction), "right-": plan(visit, "fa2", direction)}
    longest = max(answer["num_steps"] for answer in plans.values())
    for step in (longest // 4, longest, longest // 2):
        scrub_to(visit, step)
        for side, answer in plans.items():
            assert tally(visit, side) == crossed(answer, min(step, answer["num_steps"]))
    scrub_to(visit, longest)
    for side, answer in plans.items():
        assert tally(visit, side) == totals(answer)
    scrub_to(visit, longest // 4 + 0.3)
    visit.settle()
    # Both methods, both memories and the clock on one screen.
    for name in ("twin-left", "twin-right", "tally-left-hbm", "tally-right-l2", "play", "scrub"):
        box = box_of(page.locator(f"#{name}"))
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= WIDE["height"], name
    assert page.locator("#twin-left").text_content() == "Standard"
    assert page.evaluate("() => window.exhibitStand.stats().drawCalls") <= 60


def test_all_sms_at_once_move_the_same_bytes_in_fewer_steps(visit: Visit) -> None:
    page = visit.go("/?tier=low#chapter-7")
    for algorithm, direction in (("fa2", "forward"), ("fa2", "backward"), ("standard", "forward")):
        page.locator("#parallel").uncheck()
        page.locator(f'input[name="algorithm"][value="{algorithm}"]').check()
        page.locator(f'input[name="direction"][value="{direction}"]').check()
        shown(visit, f"{algorithm} {direction}")
        answer = plan(visit, algorithm, direction)
        page.wait_for_function("(n) => document.getElementById('scrub').max === String(n)", arg=answer["num_steps"])
        page.locator("#parallel").check()
        page.wait_for_function("(n) => Number(document.getElementById('scrub').max) < n / 2", arg=answer["num_steps"])
        scrub_to(visit, float(page.locator("#scrub").get_attribute("max") or 0))
        assert tally(visit) == totals(answer)
        assert "as if all SMs started together" in (page.locator("#flow-note").text_content() or "")


def test_a_tile_is_followed_with_words_until_the_reader_takes_over(visit: Visit) -> None:
    page = visit.page
    page.set_viewport_size(WIDE)
    visit.go("/?tier=low&moment=0.03#chapter-7")
    shown(visit, "fa2 forward")
    page.wait_for_selector("#follow option[value=k3]", state="attached")
    scrub_to(visit, 20.65)
    page.locator("#follow").select_option("k3")
    visit.settle()
    assert state(visit)["follow"] == {"tensor": "k", "m": -1, "n": 3}
    assert page.locator("#follow-where").text_content() == "K₄ waits in the L2."
    assert "K₄ waits in the L2" in callouts(visit)
    page.wait_for_url("**follow=k3**")
    scrub_to(visit, 19.65)
    visit.settle()
    assert page.locator("#follow-where").text_content() == "K₄ on an SM."
    page.locator("#stand canvas").focus()
    page.keyboard.press("ArrowLeft")
    visit.settle()
    assert state(visit)["follow"] is None
    assert page.locator("#follow").input_value() == ""


def test_a_tile_can_be_picked_on_the_stand(visit: Visit) -> None:
    page = visit.page
    page.set_viewport_size(WIDE)
    visit.go("/?tier=low&t=0.52&labels=0#chapter-7")
    shown(visit, "fa2 forward")
    visit.settle()
    box = box_of(page.locator("#stand canvas"))
    # Tiles wait in the L2 band across the middle of the die: somewhere along it one of them is met.
    for share in (0.44, 0.46, 0.48, 0.5, 0.52, 0.54, 0.56):
        page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * share)
        if state(visit)["follow"]:
            break
    assert state(visit)["follow"]["tensor"] in ("k", "v")


def test_the_diagram_names_what_it_counts_and_opens_an_sm(visit: Visit) -> None:
    page = visit.page
    page.set_viewport_size(WIDE)
    visit.go("/?tier=low#chapter-6")
    visit.settle()
    assert state(visit) == {"plaque": True, "die": None, "follow": None}
    named = callouts(visit)
    assert any("132" in text and "144" in text for text in named)
    assert any("not published" in text for text in named)
    box = box_of(page.locator("#stand canvas"))
    at = (box["x"] + box["width"] * 0.42, box["y"] + box["height"] * 0.6)
    found = []
    for _ in range(3):
        page.mouse.click(*at)
        visit.settle()
        die = state(visit)["die"]
        found.append(die["kind"])
        assert page.locator("#part-card").get_attribute("data-part") == f"{die['kind']}_{die['index']}"
        page.wait_for_url(f"**die={die['kind']}_{die['index']}**")
        if die["kind"] == "sm":
            break
    assert found[0] == "gpc"
    assert found[-1] in ("tpc", "sm")


def test_the_die_can_be_picked_without_pointing_and_from_the_address(visit: Visit) -> None:
    page = visit.go("/?tier=low&die=sm_17#chapter-6")
    visit.settle()
    assert state(visit)["die"] == {"kind": "sm", "index": 17}
    assert any("SM 18" in text for text in callouts(visit))
    page.locator("#looks-menu summary").click()
    assert page.locator("#die-index").input_value() == "18"
    page.locator("#die-index").fill("500")
    page.locator("#die-index").press("Enter")
    assert state(visit)["die"] == {"kind": "sm", "index": 143}
    page.locator("#die-kind").select_option("")
    assert state(visit)["die"] is None
    page.locator("#plaque").uncheck()
    assert state(visit)["plaque"] is False


@pytest.mark.parametrize("level", ["hbm", "l2", "sm", "smem", "rmem"])
def test_every_level_of_memory_lights_up_on_request(visit: Visit, level: str) -> None:
    page = visit.go("/?tier=low&t=0#chapter-2")
    page.evaluate("() => window.exhibitStand.set({ lit: [] })")
    visit.settle()
    before = photograph(page, "#stand")
    page.evaluate("(level) => window.exhibitStand.set({ lit: [level] })", level)
    visit.settle()
    assert photograph(page, "#stand") != before


def test_what_is_only_seen_on_request_is_only_fetched_on_request(visit: Visit) -> None:
    page = visit.go("/?tier=low#chapter-7")
    page.wait_for_load_state("networkidle")
    later = ("diagram-view", "flow-parallel", "flow-camera")
    assert not [url for url in visit.requests if any(name in url for name in later)]
    page.locator("#parallel").check()
    page.wait_for_function("() => Number(document.getElementById('scrub').max) < 20")
    assert any("flow-parallel" in url for url in visit.requests)


def test_looking_closer_again_and_again_keeps_nothing(visit: Visit) -> None:
    page = visit.go("/?tier=low#chapter-7")
    shown(visit, "fa2 forward")
    held = []
    for _ in range(6):
        for query in ({"plaque": True, "die": "sm_3"}, {"plaque": False, "die": None}):
            page.evaluate(
                """({ plaque, die }) => window.exhibitStand.set(
                    { plaque, die: die && { kind: 'sm', index: Number(die.slice(3)) } })""",
                query,
            )
            visit.settle()
        for box in ("twin", "parallel"):
            page.locator(f"#{box}").click()
            page.wait_for_load_state("networkidle")
            visit.settle()
        stats = page.evaluate("() => window.exhibitStand.stats()")
        held.append([stats[name] for name in ("geometries", "textures", "programs")])
    # The first rounds fetch and make what is shown; from then on nothing is added.
    assert held[-1] == held[-3] == held[3]


def test_with_less_motion_a_followed_tile_and_a_rising_diagram_are_there_at_once(browser: Browser, server: str) -> None:
    visit = open_visit(browser, server, reduced_motion="reduce")
    visit.go("/?tier=low#chapter-6")
    visit.settle()
    assert any("clusters" in text for text in callouts(visit))
    frames = "() => window.exhibitStand.stats().frames"
    before = visit.page.evaluate(frames)
    visit.page.evaluate("() => window.exhibitStand.set({ die: { kind: 'sm', index: 20 } })")
    visit.settle()
    assert visit.page.evaluate(frames) - before <= 3
    visit.page.context.close()
