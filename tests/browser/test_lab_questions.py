"""Guess first, break it, side by side, take away: what the laboratory lets a reader do, with the server's figures."""

import subprocess
import sys
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Visit
from tests.browser.lab_page import open_lab, wait_for_answer


def factors(page: Page) -> list[float]:
    cells = page.locator(".lab-question td[data-factor]")
    return [float(text) for text in cells.evaluate_all("(cells) => cells.map((cell) => cell.dataset.factor)")]


def guess(page: Page, value: str) -> None:
    page.locator("#guess").fill(value)
    page.get_by_role("button", name="Commit my guess").press("Enter")
    page.locator(".gap").wait_for()


def test_doubling_n_is_answered_after_the_guess(visit: Visit) -> None:
    open_lab(visit)
    page = visit.page
    page.get_by_role("link", name="Double N").click()
    page.locator("#guess").wait_for()
    assert page.locator(".gap").count() == 0
    guess(page, "2")
    wait_for_answer(visit, 8192)
    # Standard 2(2N+d)/(N+d), FlashAttention into the SMs 2(2N/B_r+1)/(N/B_r+1), the rest linear; operations square.
    n, d, rows = 4096, 128, 128
    standard, flash = 2 * (2 * n + d) / (n + d), 2 * (2 * n / rows + 1) / (n / rows + 1)
    assert factors(page) == pytest.approx([standard, flash, 2, 2, 4])
    assert [round(factor, 2) for factor in factors(page)] == [3.94, 3.94, 2, 2, 4]
    gap = page.locator(".gap")
    assert gap.get_attribute("data-guess") == "2"
    assert float(gap.get_attribute("data-answer") or 0) == pytest.approx(flash)
    assert "too low by a factor of 1.97" in (gap.text_content() or "")
    assert page.locator(".log-panel .mark-ghost").count() == 1
    # The gap stays while the lever moves on, and it is in the address.
    page.locator("#seqlen").press("ArrowRight")
    wait_for_answer(visit, 10_240)
    assert gap.is_visible()
    page.wait_for_function("() => location.search.includes('guess_n=2@4096')")
    page.reload()
    gap.wait_for()
    assert gap.get_attribute("data-guess") == "2"


def test_doubling_from_the_first_stop_at_d_64(visit: Visit) -> None:
    open_lab(visit, "ask=n&head_dim=64&seqlen=512", 512)
    guess(visit.page, "4")
    assert [round(factor, 2) for factor in factors(visit.page)][:2] == [3.78, 3.6]


def test_doubling_the_last_stop_asks_for_the_one_length_beyond(visit: Visit) -> None:
    open_lab(visit, "ask=n&seqlen=65536", 65_536)
    guess(visit.page, "4")
    wait_for_answer(visit, 131_072)
    assert sum("also=131072" in url for url in visit.requests) >= 1


def test_widening_the_head_is_answered_after_the_guess(visit: Visit) -> None:
    open_lab(visit)
    page = visit.page
    page.get_by_role("link", name="Double d").click()
    page.locator("#guess").wait_for()
    assert "3.94 times" in (page.locator(".lab-question").text_content() or "")
    guess(page, "4")
    wait_for_answer(visit, 4096)
    at = {d: visit.api("/api/traffic", seqlen=4096, head_dim=d) for d in (64, 128, 256)}
    answer = float(page.locator(".gap").get_attribute("data-answer") or 0)
    assert answer == at[128]["standard_over"]["fa2"]
    text = " ".join((page.locator(".lab-question").text_content() or "").split())
    for figure in ("× 3.94", "× 2.00", "101.7", "69.21", "× 65.0", "× 33.0", "× 1.03"):
        assert figure in text, figure
    assert page.locator("#head_dim").input_value() == "128"
    page.get_by_role("button", name="Ask me again").click()
    page.locator("#guess").wait_for()


def test_a_guess_that_is_no_number_is_not_taken(visit: Visit) -> None:
    open_lab(visit, "ask=n")
    page = visit.page
    for text in ("", "-3", "0"):
        page.locator("#guess").fill(text)
        page.get_by_role("button", name="Commit my guess").click()
        assert page.locator(".gap").count() == 0


@pytest.mark.parametrize("kind", ["no_rescale", "no_running_max", "keep_s"])
def test_breaking_it_shows_the_servers_wrong_numbers(visit: Visit, kind: str) -> None:
    open_lab(visit, f"broken={kind}")
    page = visit.page
    page.locator(".broken-case").first.wait_for()
    answer = visit.api("/api/broken", kind=kind)
    shown = page.locator(".broken-case")
    assert shown.count() == len(answer["cases"])
    for at, case in enumerate(answer["cases"]):
        figure = shown.nth(at)
        assert figure.get_attribute("data-case") == case["name"]
        right = case["nan_rows"] == 0 and case["max_error"] < 1e-9
        assert figure.get_attribute("data-good") == str(right).lower()
        assert figure.locator("rect").count() == answer["seqlen"]
        if case["nan_rows"]:
            assert f"{case['nan_rows']} of {answer['seqlen']} rows are not numbers" in (figure.text_content() or "")
    page.get_by_label("Nothing broken").check()
    page.wait_for_function("() => document.querySelectorAll('.broken-case').length === 0")
    page.wait_for_function("() => !location.search.includes('broken')")


def test_two_settings_stand_side_by_side(visit: Visit) -> None:
    open_lab(visit)
    page = visit.page
    page.get_by_role("button", name="Keep this setting").click()
    page.locator("#causal").select_option("1")
    page.wait_for_function(
        "() => document.querySelector('#lab-compare thead')?.textContent.includes('now: causal mask')"
    )
    both = [visit.api("/api/traffic", causal=causal) for causal in (False, True)]
    row = page.locator("#lab-compare tr", has_text="FlashAttention computes")
    shown = row.locator("td[data-value]").evaluate_all("(cells) => cells.map((cell) => Number(cell.dataset.value))")
    assert shown == [answer["flops"]["fa2"] for answer in both]
    page.wait_for_function("() => location.search.includes('compare=default')")
    page.get_by_role("button", name="Swap the two").click()
    page.wait_for_function(
        "() => location.search.includes('compare=causal:1') && !location.search.includes('&causal=1')"
    )
    assert page.locator("#causal").input_value() == "0"
    page.get_by_role("button", name="Forget the kept one").click()
    page.locator("#lab-compare").wait_for(state="hidden")


def test_the_call_as_python_runs_and_prints_the_counts(visit: Visit) -> None:
    open_lab(visit, "num_heads=8&num_heads_kv=2&causal=1&seqlen=5000", 5000)
    page = visit.page
    page.wait_for_function("() => document.querySelector('.python code').textContent.includes('5000')")
    code = page.locator(".python code").text_content() or ""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    answer = visit.api("/api/traffic", num_heads=8, num_heads_kv=2, causal=True, seqlen=5000)
    expected = [
        f"{name} {model['line']} {model['total_bytes']} bytes moved" for name, model in answer["models"].items()
    ]
    assert [line.split(",")[0] for line in run.stdout.splitlines()] == expected


def test_the_csv_link_is_the_setting_shown(visit: Visit) -> None:
    open_lab(visit, "head_dim=64&direction=backward")
    page = visit.page
    page.wait_for_function("() => document.getElementById('lab-csv').href.includes('direction=backward')")
    with page.expect_download() as waiting:
        page.locator("#lab-csv").click()
    assert waiting.value.suggested_filename == "attention-counts.csv"
    lines = waiting.value.path().read_bytes().split(b"\r\n")
    assert lines[0].startswith(b"seqlen (tokens),")
    sweep: dict[str, Any] = visit.api("/api/traffic/sweep", head_dim=64, direction="backward")
    assert [int(line.split(b",")[0]) for line in lines[1:-1]] == sweep["seqlens"]


def test_the_link_is_copied_or_laid_out_for_copying(visit: Visit) -> None:
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_lab(visit, "head_dim=64")
    visit.page.get_by_role("button", name="Copy link").click()
    visit.page.get_by_text("The link is copied.").wait_for()
    copied = visit.page.evaluate("() => navigator.clipboard.readText()")
    assert copied.startswith(visit.server)
    assert "head_dim=64" in copied


def test_keys_alone_do_everything(visit: Visit) -> None:
    """From the lever on, Tab reaches every control; each shows its ring; a question is answered without a pointer."""
    open_lab(visit)
    page = visit.page
    page.locator("#seqlen").focus()
    wanted = {"a": 7, "input": 2, "select": 10, "summary": 8, "svg": 1, "button": 3}
    met: dict[str, int] = {}
    for _ in range(60):
        page.keyboard.press("Tab")
        tag, inside, ring = page.evaluate(
            """() => { const e = document.activeElement;
                return [e.tagName.toLowerCase(), !!e.closest('#lab'), getComputedStyle(e).outlineStyle !== 'none']; }"""
        )
        if not inside:
            break
        assert ring, tag
        met[tag] = met.get(tag, 0) + 1
    for tag, count in wanted.items():
        assert met.get(tag, 0) >= count, (tag, met)
    page.get_by_role("link", name="Double N").focus()
    page.keyboard.press("Enter")
    page.locator("#guess").wait_for()
    page.locator("#guess").focus()
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    page.locator(".gap").wait_for()
