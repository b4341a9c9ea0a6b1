"""The laboratory in a real browser: what it shows is what the API answers, and the address holds it."""

import random
import re
from typing import Any

import pytest

from tests.browser.conftest import NARROW, Visit, box_of, open_visit
from tests.browser.lab_page import (
    check_formulas,
    check_readouts,
    open_lab,
    set_setting,
    shown_settings,
    wait_for_answer,
)

KEYS = (
    ("ArrowRight", 1),
    ("ArrowRight", 1),
    ("ArrowLeft", -1),
    ("PageUp", 4),
    ("PageDown", -4),
    ("End", 99),
    ("Home", -99),
)
RANDOM_SETTINGS = 40


def any_setting(draw: random.Random) -> dict[str, Any]:
    heads = draw.choice([1, 1, 4, 16, 64])
    return {
        "head_dim": draw.choice([64, 128, 256]),
        "block_m": draw.choice([64, 96, 128, 192, 256]),
        "block_n": draw.choice([64, 96, 128, 192, 256]),
        "direction": draw.choice(["forward", "backward"]),
        "causal": draw.random() < 0.5,
        "dtype": draw.choice(["fp16", "bf16", "fp16", "fp8", "fp32"]),
        "num_heads": heads,
        "num_heads_kv": draw.choice([None, *([1, heads // 2] if heads > 1 else [])]),
        "batch": draw.choice([1, 2, 8]),
        "gpu": draw.choice(["a100_sxm4_40", "a100_sxm4_80", "h100_sxm5", "h200_sxm"]),
        "seqlen": draw.choice([512, 4096, 28_672, 65_536, draw.randint(1, 100_000)]),
    }


def test_forty_random_settings_show_what_the_api_answers(visit: Visit) -> None:
    open_lab(visit)
    draw = random.Random(14)
    for turn in range(RANDOM_SETTINGS):
        setting = any_setting(draw)
        set_setting(visit, setting)
        wait_for_answer(visit, setting["seqlen"])
        check_readouts(visit, setting)
        if turn % 4 == 0:
            check_formulas(visit)


def test_arrow_and_page_keys_move_the_lever_and_the_readouts(visit: Visit) -> None:
    open_lab(visit)
    stops = visit.api("/api/traffic/sweep")["seqlens"]
    lever = visit.page.locator("#seqlen")
    lever.focus()
    at = stops.index(4096)
    for key, move in KEYS:
        visit.page.keyboard.press(key)
        at = min(len(stops) - 1, max(0, at + move))
        wait_for_answer(visit, stops[at])
        check_readouts(visit, {"seqlen": stops[at]})
        assert lever.get_attribute("aria-valuetext") == f"{stops[at]:,} tokens"


def test_the_chart_is_a_lever_too(visit: Visit) -> None:
    open_lab(visit)
    panel = visit.page.locator(".log-panel")
    panel.focus()
    visit.page.keyboard.press("PageUp")
    wait_for_answer(visit, 8192)
    assert "N = 8,192" in (panel.get_attribute("aria-valuetext") or "")
    visit.page.keyboard.press("Home")
    wait_for_answer(visit, 512)
    panel.scroll_into_view_if_needed()
    box = box_of(panel)
    visit.page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 0.5 * box["height"])
    visit.page.wait_for_function("() => Number(document.getElementById('seqlen').value) > 12")


def test_dragging_from_end_to_end_asks_for_one_sweep_only(visit: Visit) -> None:
    open_lab(visit, "seqlen=512", 512)
    lever = visit.page.locator("#seqlen")
    lever.evaluate("(lever) => lever.scrollIntoView({ block: 'center', behavior: 'instant' })")
    box = box_of(lever)
    before = [url for url in visit.requests if "/api/" in url]
    y = box["y"] + box["height"] / 2
    visit.page.mouse.move(box["x"] + 9, y)
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + box["width"] - 4, y, steps=60)
    visit.page.mouse.up()
    wait_for_answer(visit, 65_536)
    check_readouts(visit, {"seqlen": 65_536})
    visit.page.wait_for_timeout(500)
    asked = [url for url in visit.requests if "/api/" in url]
    assert sum("/api/traffic/sweep" in url for url in asked) == 1
    # The tiles on the stand follow once, when the lever rests.
    new = asked[len(before) :]
    assert all("/api/schedule" in url for url in new)
    assert len(new) <= 2


SETTINGS = [
    {"seqlen": 1000, "head_dim": 64, "block_m": 64, "block_n": 256, "causal": True, "gpu": "a100_sxm4_40"},
    {"seqlen": 65_536, "head_dim": 256, "block_m": 256, "block_n": 256, "direction": "backward"},
    {"seqlen": 7, "head_dim": 128, "dtype": "fp32", "num_heads": 16, "num_heads_kv": 4, "batch": 8, "gpu": "h200_sxm"},
]


@pytest.mark.parametrize("setting", SETTINGS)
def test_an_address_opens_its_setting_and_stays_the_address(visit: Visit, setting: dict[str, Any]) -> None:
    query = "&".join(f"{key}={int(value) if isinstance(value, bool) else value}" for key, value in setting.items())
    open_lab(visit, query, setting["seqlen"])
    check_readouts(visit, setting)
    chosen = shown_settings(visit)
    for key, value in setting.items():
        if key != "seqlen":
            assert chosen[key] == (str(int(value)) if isinstance(value, bool) else str(value))
    visit.page.locator("#causal").select_option("0" if setting.get("causal") else "1")
    changed = {**setting, "causal": not setting.get("causal", False)}
    visit.page.wait_for_function(
        "(on) => (new URLSearchParams(location.search).get('causal') === '1') === on", arg=changed["causal"]
    )
    wait_for_answer(visit, setting["seqlen"])
    check_readouts(visit, changed)
    address = visit.page.url
    visit.page.goto("about:blank")
    visit.page.goto(address)
    wait_for_answer(visit, setting["seqlen"])
    check_readouts(visit, changed)


def test_a_damaged_address_is_mended_with_a_note(visit: Visit) -> None:
    damaged = (
        "seqlen=-5&head_dim=100&gpu=b900&causal=perhaps&explode=7&block_m=x&guess_n=2&compare=seqlen:no&dtype=int4"
    )
    open_lab(visit, damaged, 1)
    # The answer has come by now, and the note is still there.
    note = visit.page.locator("#lab-note").text_content() or ""
    for name in ("seqlen", "head_dim", "gpu", "causal", "explode", "block_m", "guess_n", "compare", "dtype"):
        assert name in note


def test_a_typed_length_that_cannot_be_is_refused_and_nothing_is_lost(visit: Visit) -> None:
    open_lab(visit)
    typed = visit.page.locator("#seqlen-typed")
    for text in ("0", "1048577", "1.5", ""):
        typed.fill(text)
        typed.press("Tab")
        assert "whole number" in (visit.page.locator("#lab-note").text_content() or "")
        assert typed.input_value() == "4096"
    typed.fill("5000")
    typed.press("Tab")
    wait_for_answer(visit, 5000)
    check_readouts(visit, {"seqlen": 5000})


def test_named_settings_are_addresses_that_work_by_click_and_by_link(visit: Visit) -> None:
    open_lab(visit)
    links = visit.page.locator("a.preset").evaluate_all(
        "(links) => links.map((a) => [a.textContent, a.getAttribute('href')])"
    )
    assert [name for name, _ in links] == [
        "Double N", "Double d", "Shrink the block", "Block too large", "GPT-2 medium", "Causal", "Start over",
    ]  # fmt: skip
    for name, href in links:
        visit.page.get_by_role("link", name=name, exact=True).click()
        query = href.removeprefix("/").removeprefix("?").removesuffix("#lab")
        visit.page.wait_for_function("(part) => location.search.includes(part)", arg=query.split("&")[0])
        visit.page.wait_for_timeout(300)
        clicked = shown_settings(visit)
        visit.page.wait_for_function("() => document.getElementById('lab-body').getAttribute('aria-busy') === 'false'")
        other = visit.page.context.new_page()
        other.goto(f"{visit.server}/?tier=low&{query}#lab")
        other.wait_for_function("() => document.getElementById('lab-body')?.getAttribute('aria-busy') === 'false'")
        opened = other.evaluate(
            "() => Object.fromEntries([...document.querySelectorAll('#lab-form select')].map((s) => [s.id, s.value]))"
        )
        assert opened == clicked, name
        other.close()
    assert "tier=low" in visit.page.url


def test_a_block_that_is_too_large_says_which_limit_breaks_and_by_how_much(visit: Visit) -> None:
    open_lab(visit, "block_m=256&block_n=256&head_dim=64")
    violations = visit.api("/api/traffic", block_m=256, block_n=256, head_dim=64)["block"]["violations"]
    assert [item["resource"] for item in violations] == ["rmem"]
    text = visit.page.locator("#lab-verdict").text_content() or ""
    assert f"registers {violations[0]['over_bytes'] / 1024:.0f}\N{NO-BREAK SPACE}KiB over the limit" in text
    assert visit.page.locator(".readout[data-readout=fits]").get_attribute("data-fits") == "false"


@pytest.mark.parametrize(("block_m", "stands"), [(128, "is a block"), (64, "stands for 2 × 2 blocks")])
def test_the_grid_says_what_a_square_stands_for(visit: Visit, block_m: int, stands: str) -> None:
    visit.go(f"/?tier=low&block_m={block_m}&block_n={block_m}#chapter-14")
    visit.page.locator("#lab-grid-caption").filter(has_text=re.compile(f"Each square {stands}")).wait_for()
    assert visit.page.evaluate("() => window.exhibitStand.state.flow.schedule.blocks_m") == 32
    assert visit.page.locator("#lab-grid rect").count() == 32 * 32


def test_without_a_script_the_table_stays(browser: Any, server: str) -> None:
    visit = open_visit(browser, server, java_script_enabled=False)
    visit.page.goto(f"{server}/#lab")
    assert visit.page.locator("#lab-form").is_hidden()
    assert visit.page.locator("#lab-body").is_hidden()
    assert visit.page.locator("#counts tbody tr").count() >= 8
    visit.page.context.close()


def test_a_thumb_reaches_the_lever_and_everything_is_large_enough(browser: Any, server: str) -> None:
    visit = open_visit(browser, server, viewport=NARROW, has_touch=True, is_mobile=True)
    open_lab(visit, "ask=n")
    page = visit.page
    height = box_of(page.locator("#lab"))["height"]
    for part in (0.05, 0.2, 0.4, 0.6, 0.8):
        page.evaluate(
            "(y) => scrollTo({ top: document.getElementById('lab').offsetTop + y, behavior: 'instant' })", part * height
        )
        box = box_of(page.locator("#seqlen"))
        assert 844 - 200 < box["y"] < box["y"] + box["height"] <= 844, part
        assert box["width"] > 300
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    small = page.evaluate(
        """() => [...document.querySelectorAll('#lab :is(button, select, input, summary, a, .switch label)')]
            .filter((element) => element.offsetParent !== null && !element.closest('#counts p'))
            .map((element) => [element, (element.closest('label') ?? element).getBoundingClientRect()])
            .filter(([, box]) => box.height < 43.5 || box.width < 43.5)
            .map(([element, box]) => `${element.tagName} ${element.textContent} ${box.width}×${box.height}`)"""
    )
    assert small == []
    page.context.close()
    assert visit.complaints == []


def test_passes_over_k_and_v_are_drawn_as_often_as_they_are_counted(visit: Visit) -> None:
    open_lab(visit)
    strips = """() => [...document.querySelectorAll('#lab-pass-strips rect[data-passes]')]
        .map((strip) => [Number(strip.dataset.passes), strip.getBoundingClientRect().width])"""
    for setting in (
        {"seqlen": 4096},
        {"seqlen": 4096, "causal": True},
        {"seqlen": 65_536, "block_m": 64},
        {"seqlen": 512, "block_m": 256},
    ):
        set_setting(visit, {"causal": False, "block_m": 128, **setting})
        wait_for_answer(visit, setting["seqlen"])
        counted = visit.api("/api/traffic", **setting)["kv_passes"]
        drawn = visit.page.evaluate(strips)
        assert [passes for passes, _ in drawn] == [counted[model] for model in ("standard", "fa1", "fa2")]
        # Lengths are in proportion, and a pair of colours is one pass or as many as the caption says.
        longest = drawn[2][1] / drawn[2][0]
        assert all(width == pytest.approx(passes * longest, abs=0.2) for passes, width in drawn)
        caption = visit.page.locator("#lab-pass-strips text").last.text_content() or ""
        stands_for = int((re.search(r"stands for (\d+)", caption) or re.search("(1)|is one", "1"))[1])
        pair = visit.page.locator("#kv-pass").get_attribute("width")
        assert float(pair or 0) / stands_for == pytest.approx(longest, rel=0.02)
    set_setting(visit, {"direction": "backward", "seqlen": 512})
    visit.page.locator("#lab-pass-strips").wait_for(state="hidden")
    assert "Backward" in (visit.page.locator("#lab-passes").text_content() or "")


def test_every_matrix_is_listed_with_what_is_read_and_written(visit: Visit) -> None:
    open_lab(visit)
    for setting in ({"seqlen": 4096}, {"seqlen": 1000, "direction": "backward", "causal": True, "num_heads": 4}):
        set_setting(visit, setting)
        wait_for_answer(visit, int(setting["seqlen"]))  # type: ignore[call-overload]
        visit.page.evaluate("() => { document.getElementById('lab-tensors').open = true; }")
        visit.page.wait_for_function("() => document.querySelectorAll('#lab-tensors td[data-key]').length > 0")
        shown = visit.page.evaluate(
            """() => Object.fromEntries([...document.querySelectorAll('#lab-tensors td[data-key]')]
                .map((cell) => [cell.dataset.key, Number(cell.dataset.value)]).filter(([, value]) => value !== 0))"""
        )
        models = visit.api("/api/traffic", **setting)["models"]
        wanted = {
            f"{model}.{tensor['tensor']}.{side}": tensor[side]
            for model in ("standard", "fa1", "fa2")
            for tensor in models[model]["by_tensor"]
            for side in ("read_bytes", "written_bytes")
            if tensor[side]
        }
        assert {key: value for key, value in shown.items() if "_hbm" not in key} == wanted
        for model in ("fa1", "fa2"):
            hbm = sum(value for key, value in shown.items() if key.startswith(f"{model}_hbm."))
            assert hbm == models[model]["lines"]["hbm"]["total_bytes"]
