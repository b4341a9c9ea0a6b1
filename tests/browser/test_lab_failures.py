"""The server stopped, slow, or answering 500: the last answer stays, says whose it is, and nothing is lost."""

import time

import pytest
from playwright.sync_api import Route

from tests.browser.conftest import Visit
from tests.browser.lab_page import cards, check_readouts, open_lab, wait_for_answer

SWEEP = "**/api/traffic/sweep**"


def stale(visit: Visit) -> str:
    visit.page.locator("#lab-note button").wait_for()
    assert visit.page.locator("#lab-body").get_attribute("data-stale") == "true"
    return visit.page.locator("#lab-note").text_content() or ""


def retry(visit: Visit) -> None:
    visit.page.unroute(SWEEP)
    visit.page.get_by_role("button", name="Try again").click()
    visit.page.wait_for_function("() => document.getElementById('lab-note').textContent === ''")


def test_a_stopped_server_leaves_the_last_answer(visit: Visit) -> None:
    open_lab(visit)
    before = cards(visit)
    visit.page.route(SWEEP, lambda route: route.abort())
    visit.page.locator("#head_dim").select_option("64")
    note = stale(visit)
    assert "does not answer" in note
    assert "still those of N = 4,096, d = 128" in note
    assert cards(visit) == before
    # The lever still moves; the readouts keep saying whose they are.
    visit.page.locator("#seqlen").press("ArrowRight")
    assert visit.page.locator("#seqlen-shown").text_content() == "5,120"
    stale(visit)
    assert (visit.page.locator("#lab-shown").text_content() or "").startswith("N = 4,096, d = 128")
    retry(visit)
    wait_for_answer(visit, 5120)
    check_readouts(visit, {"seqlen": 5120, "head_dim": 64})
    # The browser reports the requests that were cut off; that complaint is the point of this test.
    visit.complaints.clear()


@pytest.mark.parametrize("body", ["not json", '{"detail": "Something broke."}'])
def test_an_answer_of_500_is_said_and_can_be_retried(visit: Visit, body: str) -> None:
    open_lab(visit)
    visit.page.route(SWEEP, lambda route: route.fulfill(status=500, body=body))
    visit.page.locator("#gpu").select_option("h200_sxm")
    note = stale(visit)
    assert ("Something broke." if "detail" in body else "answered 500") in note
    retry(visit)
    wait_for_answer(visit, 4096)
    check_readouts(visit, {"seqlen": 4096, "gpu": "h200_sxm"})
    visit.complaints.clear()


def slowly(route: Route) -> None:
    time.sleep(2)
    route.continue_()


def test_a_slow_server_is_waited_for_and_overtaken_questions_are_given_up(visit: Visit) -> None:
    open_lab(visit)
    given_up: list[str] = []
    visit.page.on("requestfailed", lambda request: given_up.append(request.url))
    visit.page.route(SWEEP, slowly)
    visit.page.locator("#block_m").select_option("64")
    note = visit.page.locator("#lab-wait")
    note.filter(has_text="Waiting for the server").wait_for()
    assert "still those of N = 4,096" in (note.text_content() or "")
    visit.page.locator("#block_m").select_option("192")
    visit.page.locator("#seqlen").press("ArrowRight")
    assert visit.page.locator("#seqlen-shown").text_content() == "5,120"
    wait_for_answer(visit, 5120)
    check_readouts(visit, {"seqlen": 5120, "block_m": 192})
    assert (note.text_content() or "") == ""
    assert [url for url in given_up if "block_m=64" in url]


def test_counts_too_large_to_arrive_exactly_are_refused_in_words(visit: Visit) -> None:
    open_lab(visit)
    for name, value in (("head_dim", "256"), ("num_heads", "64"), ("batch", "64"), ("direction", "backward")):
        visit.page.locator(f"#{name}").select_option(value)
    assert "would not arrive as exact integers" in stale(visit)
    visit.page.locator("#batch").select_option("1")
    wait_for_answer(visit, 4096)
    check_readouts(visit, {"head_dim": 256, "num_heads": 64, "direction": "backward", "seqlen": 4096})
    visit.complaints.clear()
