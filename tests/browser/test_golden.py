"""The stand looks as it did: golden pictures listed as data, compared with a tolerance."""

import itertools
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.golden.pictures import (
    MOST_BYTES,
    MOST_MEAN,
    MOST_OFF,
    State,
    difference,
    photograph,
    states,
)

STATES = states()
WEBP, PNG = "image/webp", "image/png"


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 920, "height": 420}, reduced_motion="reduce")
    yield page
    page.close()


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name)
def test_the_stand_looks_as_it_did(page: Page, server: str, state: State) -> None:
    golden = state.file.read_bytes()
    mean, off = difference(page, (WEBP, golden), (PNG, photograph(page, server, state)))
    assert mean <= MOST_MEAN, f"{state.name}: {mean:.2f} of 255 apart on average"
    assert off <= MOST_OFF, f"{state.name}: {off:.2%} of the pixels are another colour"


def test_the_tolerance_tells_any_two_states_apart(page: Page) -> None:
    pictures = {state.name: (WEBP, state.file.read_bytes()) for state in STATES}
    page.goto("about:blank")
    for one, other in itertools.combinations(pictures, 2):
        mean, off = difference(page, pictures[one], pictures[other])
        assert mean > MOST_MEAN or off > MOST_OFF, f"{one} and {other} cannot be told apart"


def test_there_is_one_small_picture_for_each_state() -> None:
    folder = STATES[0].file.parent
    assert sorted(path.stem for path in folder.glob("*.webp")) == sorted(state.name for state in STATES)
    assert len({state.name for state in STATES}) == len(STATES) >= 12
    assert all(state.file.stat().st_size <= MOST_BYTES for state in STATES)
