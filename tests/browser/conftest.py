"""A real server and a real Chromium, once per session; each test gets a page of its own that records what it does."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser, ConsoleMessage, FloatRect, Locator, Page, Playwright, sync_playwright

from app import browser as chromium
from tests.serving import served

# The smallest window that still has the wide layout: software rendering takes its time by the pixel.
SMALL = {"width": 920, "height": 420}
WIDE = {"width": 1280, "height": 720}
NARROW = {"width": 390, "height": 844}
READY = "() => window.exhibitStand !== undefined"
MOST_LOOKS = 100
# A page that grows above what is read scrolls by as much; neither may happen for this long before a test acts.
REST_MS = 300
TIMEOUT_MS = 30_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A busy machine now and then starves a browser: a test may try once more (not with -p no:rerunfailures)."""
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker(pytest.mark.browser)
            if item.config.pluginmanager.has_plugin("rerunfailures"):
                item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Why the first try failed: a second one that passes must not hide it."""
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"first try of {report.nodeid}")
        terminalreporter.line(report.longreprtext)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with served() as address:
        yield address


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as instance:
        yield instance


def launch(playwright: Playwright, *more: str) -> Browser:
    path = chromium.find()
    if path is None:
        pytest.skip("no Chromium or Chrome on the PATH")
    return playwright.chromium.launch(executable_path=path, args=[*chromium.FLAGS, *more])


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    with launch(playwright) as instance:
        yield instance


@dataclass
class Visit:
    """A page with everything it asked for and everything it complained about."""

    page: Page
    server: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def go(self, path: str = "/?tier=low", *, stand: bool = True) -> Page:
        self.page.goto(self.server + path)
        if stand:
            self.page.wait_for_function(READY, timeout=60_000)
            self.settle()
            self.rest()
        return self.page

    def settle(self) -> None:
        self.page.evaluate("() => window.exhibitStand.settled()")

    def rest(self) -> None:
        """Waits until everything asked for has come and the page neither grows nor scrolls nor changes its chapter."""
        self.page.wait_for_load_state("networkidle")
        self.page.evaluate(
            """([rest, most]) => new Promise((done, fail) => {
                let last = '', since = 0;
                setTimeout(() => fail(new Error(`the page does not come to rest: ${last}`)), most);
                const look = (now) => {
                    const chapter = document.querySelector('.rail [aria-current]')?.hash;
                    const seen = [document.body.offsetHeight, scrollY, chapter].join();
                    if (seen !== last) [last, since] = [seen, now];
                    if (now - since < rest) requestAnimationFrame(look);
                    else done();
                };
                requestAnimationFrame(look);
            })""",
            [REST_MS, TIMEOUT_MS],
        )

    def api(self, path: str, **query: Any) -> Any:
        return httpx2.get(self.server + path, params=query).json()


def box_of(locator: Locator) -> FloatRect:
    """Where something stands in the window, once two looks find it at the same place.

    A figure that is laid out anew is a new element: for a moment the old one has no box.
    """
    last = None
    for _ in range(MOST_LOOKS):
        box = locator.bounding_box()
        if box is not None and box == last:
            return box
        last = box
        locator.page.wait_for_timeout(50)
    raise AssertionError(f"{locator} does not come to rest")


def complaint(message: ConsoleMessage) -> str:
    """What the console says, and about which address."""
    return f"{message.text} {message.location.get('url', '')}".strip()


def open_visit(browser: Browser, server: str, **options: Any) -> Visit:
    context = browser.new_context(viewport=options.pop("viewport", SMALL), **options)
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    visit = Visit(page, server)
    page.on("request", lambda request: visit.requests.append(request.url))
    page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    page.on("console", lambda message: message.type == "error" and visit.complaints.append(complaint(message)))
    return visit


@pytest.fixture
def visit(browser: Browser, server: str) -> Iterator[Visit]:
    opened = open_visit(browser, server)
    yield opened
    opened.page.context.close()
    assert opened.complaints == []
    assert [url for url in opened.requests if not url.startswith((server, "blob:", "data:"))] == []
