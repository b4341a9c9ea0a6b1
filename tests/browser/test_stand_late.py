"""The picture the stand comes to rest with does not depend on which of its pieces came late."""

import pytest
from playwright.sync_api import Route

from tests.browser import luminance
from tests.browser.conftest import Visit

# What each place gets only after the first frame: files of the bundle and answers of the server, by the start of their
# names. The cut is looked at in a tier with shadows.
LATE = {
    "tier=medium&t=0&cut=z0.36#chapter-5": ("cut-",),
    "tier=low&open=1#chapter-5": ("cut-",),
    "tier=low&die=sm_98#chapter-6": ("diagram-view-", "touches-"),
    "tier=low&t=0.42&follow=k3#chapter-7": ("flow-camera-", "schedule?"),
    "tier=low#chapter-8": ("chart-view-", "online-softmax?"),
}
DRAWN = "() => window.exhibitStand?.stats().frames > 0"
LOOKS = 20
# Measured: two pictures of one state are the same to the bit.
MOST = 1e-4


def rested(visit: Visit, place: str, late: str | None = None) -> luminance.Floats:
    """Luminance of the stand at rest. What is `late` comes after the first frames were drawn without it."""
    page, held = visit.page, list[Route]()
    pattern = f"**/{late or 'none'}*".replace("?", "\\?")

    def hold(route: Route) -> None:
        held.append(route)

    page.route(pattern, hold)
    page.goto("about:blank")
    page.goto(f"{visit.server}/?{place}")
    page.wait_for_function(DRAWN, timeout=60_000)
    if late:
        while not held:
            page.wait_for_timeout(50)
        page.wait_for_timeout(300)
    for route in held:
        route.continue_()
    page.unroute(pattern)
    chapter = place.partition("#")[2]
    page.wait_for_selector(f"#{chapter} .touch-host[data-ready]", state="attached")
    page.locator(f'nav [aria-current][href="#{chapter}"]').wait_for()
    visit.settle()
    # The page may have grown above the chapter and entered it a second time: at rest is what two looks find the same.
    seen = luminance.picture(page)
    for _ in range(LOOKS):
        page.wait_for_timeout(500)
        visit.settle()
        last, seen = seen, luminance.picture(page)
        if (last == seen).all():
            return seen
    raise AssertionError(f"the stand does not come to rest at {place}")


@pytest.mark.parametrize("place", LATE)
def test_the_picture_at_rest_is_the_same_whatever_came_late(visit: Visit, place: str) -> None:
    usual = rested(visit, place)
    assert usual.std() > 0.05
    for late in LATE[place]:
        assert abs(rested(visit, place, late) - usual).mean() < MOST, late
