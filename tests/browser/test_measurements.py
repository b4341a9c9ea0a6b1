"""The page of measurements in a browser: readable in every theme and width, complete without a script."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import NARROW, WIDE, open_visit

AXE = Path(__file__).parent.parent.parent / "static" / "node_modules" / "axe-core" / "axe.min.js"
ONE_CASE = "direction=forward&head_dim=128&causal=false&num_heads=16&batch=1&seqlen=4096"


def fits(page: Page) -> bool:
    return bool(page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"))


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["1280", "390"])
@pytest.mark.parametrize("theme", ["gallery", "dark", "projector"])
def test_axe_finds_nothing(browser: Browser, server: str, theme: str, viewport: dict[str, int]) -> None:
    visit = open_visit(browser, server, viewport=viewport)
    page = visit.go(f"/measurements?theme={theme}&head_dim=128", stand=False)
    page.wait_for_selector(f'html[data-theme="{theme}"]')
    for opened in ("details.behind", "details.case", ".more details"):
        page.locator(f"{opened} > summary").first.click()
    page.evaluate(AXE.read_text())
    found = page.evaluate("() => axe.run({resultTypes: ['violations']})")
    assert [(item["id"], item["nodes"][0]["html"]) for item in found["violations"]] == []
    assert fits(page)
    assert visit.complaints == []
    page.context.close()


def test_without_a_script_it_narrows_unfolds_and_gives_its_samples(browser: Browser, server: str) -> None:
    visit = open_visit(browser, server, viewport=WIDE, java_script_enabled=False)
    page = visit.go("/measurements", stand=False)
    all_rows = page.locator("tr[id^=row-]").count()
    page.get_by_label("Kernel").select_option("fa2_triton")
    page.get_by_role("button", name="Show", exact=True).click()
    assert "kernel=fa2_triton" in page.url
    assert 0 < page.locator("tr[id^=row-]").count() < all_rows
    visit.go(f"/measurements?{ONE_CASE}", stand=False)
    record = page.locator("tr.more").first
    assert record.get_by_text("Commit", exact=True).is_hidden()
    record.locator("summary").click()
    assert record.get_by_text("Commit", exact=True).is_visible()
    address = record.get_by_role("link", name="CSV").get_attribute("href")
    assert page.request.get(f"{server}{address}").text().startswith("record,gpu,date,kernel")
    page.context.close()


def test_a_link_to_a_run_opens_it(browser: Browser, server: str) -> None:
    visit = open_visit(browser, server, viewport=WIDE)
    page = visit.go(f"/measurements?{ONE_CASE}", stand=False)
    record = page.locator("tr.more").first
    record.locator("summary").click()
    record.get_by_role("link", name="clocks and device").click()
    page.locator("dl[id^=run-]", has_text="shared memory an SM").first.wait_for(state="visible")
    page.context.close()
