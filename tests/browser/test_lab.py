"""The laboratory in a real browser: what it shows is what the API answers, and the address holds it."""

import pytest

from tests.browser.conftest import Visit

KEYS = (
    ("ArrowRight", 1),
    ("ArrowRight", 1),
    ("ArrowLeft", -1),
    ("PageUp", 4),
    ("PageDown", -4),
    ("End", 99),
    ("Home", -99),
)
MODELS = ("standard", "fa1", "fa2", "least")
FIELDS = {"read_bytes", "written_bytes", "total_bytes", "needed_bytes", "saved_bytes"}


def shown(visit: Visit, field: str) -> list[int]:
    cells = visit.page.locator(f'#readouts td[data-field="{field}"]')
    return [int(value) for value in cells.evaluate_all("(cells) => cells.map((cell) => cell.dataset.value)")]


def wait_for_answer(visit: Visit, seqlen: int) -> None:
    visit.page.wait_for_function(
        """(text) => document.getElementById('seqlen-shown').textContent === text
            && document.getElementById('readouts').getAttribute('aria-busy') === 'false'""",
        arg=f"{seqlen:,}",
    )


def check_readouts(visit: Visit, **query: object) -> None:
    answer = visit.api("/api/traffic", **query)
    for field in FIELDS:
        assert shown(visit, field) == [answer["models"][model][field] for model in MODELS], field
    assert shown(visit, "flops") == [answer["flops"][model] for model in MODELS]
    assert visit.page.locator("#readouts .fits").get_attribute("data-fits") == str(answer["block"]["fits"]).lower()


def test_arrow_and_page_keys_move_the_lever_and_the_readouts(visit: Visit) -> None:
    page = visit.go("/?tier=low#chapter-14", stand=False)
    stops = visit.api("/api/traffic/sweep")["seqlens"]
    wait_for_answer(visit, 4096)
    lever = page.locator("#seqlen")
    lever.focus()
    at = stops.index(4096)
    for key, move in KEYS:
        page.keyboard.press(key)
        at = min(len(stops) - 1, max(0, at + move))
        wait_for_answer(visit, stops[at])
        check_readouts(visit, seqlen=stops[at])
        assert lever.get_attribute("aria-valuetext") == f"{stops[at]:,} tokens"


def test_dragging_asks_for_one_sweep_only(visit: Visit) -> None:
    page = visit.go("/?tier=low#chapter-14", stand=False)
    wait_for_answer(visit, 4096)
    page.locator("#seqlen").focus()
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    wait_for_answer(visit, 32_768)
    assert sum("/api/traffic" in url for url in visit.requests) == 1


SETTINGS = [
    {"seqlen": 1000, "head_dim": 64, "block_m": 64, "block_n": 256, "causal": True, "gpu": "a100_sxm4_40"},
    {"seqlen": 65_536, "head_dim": 256, "block_m": 256, "block_n": 256, "causal": False, "gpu": "h100_sxm5"},
    {"seqlen": 7, "head_dim": 128, "block_m": 96, "block_n": 192, "causal": False, "gpu": "h200_sxm"},
]


@pytest.mark.parametrize("setting", SETTINGS)
def test_an_address_opens_its_setting_and_stays_the_address(visit: Visit, setting: dict[str, object]) -> None:
    query = "&".join(f"{key}={int(value) if isinstance(value, bool) else value}" for key, value in setting.items())
    page = visit.go(f"/?tier=low&{query}#chapter-14", stand=False)
    wait_for_answer(visit, int(str(setting["seqlen"])))
    check_readouts(visit, **setting)
    page.locator("#causal").click()
    wait_for_answer(visit, int(str(setting["seqlen"])))
    check_readouts(visit, **{**setting, "causal": not setting["causal"]})
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    wait_for_answer(visit, int(str(setting["seqlen"])))
    check_readouts(visit, **{**setting, "causal": not setting["causal"]})


def test_a_damaged_address_is_mended_with_a_note(visit: Visit) -> None:
    page = visit.go(
        "/?tier=low&seqlen=-5&head_dim=100&gpu=b900&causal=perhaps&explode=7&block_m=x#chapter-14", stand=False
    )
    wait_for_answer(visit, 1)
    note = page.locator("#lab-note").text_content() or ""
    for name in ("seqlen", "head_dim", "gpu", "causal", "explode", "block_m"):
        assert name in note


def test_a_typed_length_that_cannot_be_is_refused_and_nothing_is_lost(visit: Visit) -> None:
    page = visit.go("/?tier=low#chapter-14", stand=False)
    wait_for_answer(visit, 4096)
    typed = page.locator("#seqlen-typed")
    for text in ("0", "1048577", "1.5", ""):
        typed.fill(text)
        typed.press("Tab")
        assert "whole number" in (page.locator("#lab-note").text_content() or "")
        assert typed.input_value() == "4096"
    typed.fill("5000")
    typed.press("Tab")
    wait_for_answer(visit, 5000)
    check_readouts(visit, seqlen=5000)


def test_without_the_server_the_last_answer_stays(visit: Visit) -> None:
    page = visit.go("/?tier=low#chapter-14", stand=False)
    wait_for_answer(visit, 4096)
    before = shown(visit, "total_bytes")
    page.route("**/api/traffic**", lambda route: route.abort())
    page.locator("#head_dim").select_option("64")
    note = page.locator("#lab-note")
    note.get_by_role("button").wait_for()
    assert "still those of N = 4,096, d = 128" in (note.text_content() or "")
    assert shown(visit, "total_bytes") == before
    page.unroute("**/api/traffic**")
    note.get_by_role("button").click()
    page.wait_for_function("() => document.getElementById('lab-note').textContent === ''")
    check_readouts(visit, seqlen=4096, head_dim=64)
    # The browser reports the request that was cut off; that complaint is the point of this test.
    visit.complaints.clear()
