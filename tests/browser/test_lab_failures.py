"""The server stopped, slow, or answering 500: the last answer stays, says whose it is, and nothing is lost."""

import re
import subprocess
import sys

import httpx2
import pytest
from playwright.sync_api import Browser, Route

from tests.browser.conftest import Visit, box_of, open_visit
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


def test_a_slow_server_is_waited_for_and_overtaken_questions_are_given_up(visit: Visit) -> None:
    open_lab(visit)
    given_up: list[str] = []
    visit.page.on("requestfailed", lambda request: given_up.append(request.url))
    held: list[Route] = []
    visit.page.route(
        SWEEP, lambda route: held.append(route) if "block_m=64" in route.request.url else route.continue_()
    )
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
    for _ in range(50):
        if any("block_m=64" in url for url in given_up):
            break
        visit.page.wait_for_timeout(100)
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


def serve(port: int) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "app", "serve", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = re.search(r"http://\S+", process.stdout.readline())
    assert address is not None
    # It says its address a moment before it listens.
    with httpx2.Client(transport=httpx2.HTTPTransport(retries=8)) as client:
        client.get(f"{address.group()}healthz", timeout=30)
    return process, address.group().rstrip("/")


def end(process: subprocess.Popen[str]) -> None:
    """Killed: a polite end would wait for the connections the browser keeps open."""
    process.kill()
    process.communicate()


def test_a_server_that_dies_under_the_lever_loses_nothing(browser: Browser) -> None:
    """A real server, really stopped with the lever in the hand, and started again."""
    process, address = serve(0)
    try:
        visit = open_visit(browser, address)
        page = visit.page
        open_lab(visit)
        lever = page.locator("#seqlen")
        lever.evaluate("(lever) => lever.scrollIntoView({ block: 'center', behavior: 'instant' })")
        box = box_of(lever)
        y = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + 0.43 * box["width"], y)
        page.mouse.down()
        page.mouse.move(box["x"] + 0.6 * box["width"], y, steps=8)
        end(process)
        page.mouse.move(box["x"] + box["width"] - 4, y, steps=20)
        page.mouse.up()
        # The sweep was here already: the whole lever works without a server.
        wait_for_answer(visit, 65_536)
        page.locator("#causal").select_option("1")
        assert "does not answer" in stale(visit)
        assert (page.locator("#lab-shown").text_content() or "").startswith("N = 65,536, d = 128")
        lever.press("ArrowLeft")
        assert page.locator("#seqlen-shown").text_content() == "57,344"
        process, again = serve(int(address.rpartition(":")[2]))
        assert again == address
        page.get_by_role("button", name="Try again").click()
        wait_for_answer(visit, 57_344)
        check_readouts(visit, {"seqlen": 57_344, "causal": True})
        page.context.close()
    finally:
        end(process)
