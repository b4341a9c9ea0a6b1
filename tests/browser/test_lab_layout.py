"""Nothing in the laboratory lies over anything else or leaves its frame, at any width and in any size of type."""

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import NARROW, SMALL, WIDE, box_of, open_visit
from tests.browser.lab_page import wait_for_answer

SMALLEST = {"width": 320, "height": 640}
# Each has something long somewhere: figures of many digits, the lever at an end, a guess far off, all rooms filled.
STATES = {
    "first stop": (512, "num_heads=64&batch=2&block_m=256&block_n=256&ask=d&guess_d=20@512&broken=no_rescale"),
    "last stop": (65_536, "num_heads=16&ask=n&guess_n=2@32768&compare=head_dim:64"),
    "backward": (4096, "direction=backward&causal=1&num_heads=64&gpu=a100_sxm4_40"),
}
FAULTS = """() => {
  const found = [];
  const box = (element) => element.getBoundingClientRect();
  const over = (a, b) => [Math.min(a.right, b.right) - Math.max(a.left, b.left),
                          Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
  for (const svg of document.querySelectorAll('#lab-body svg')) {
    if (!svg.getClientRects().length) continue;
    const frame = box(svg);
    const texts = [...svg.querySelectorAll('text')]
      .filter((text) => text.textContent && text.getAttribute('visibility') !== 'hidden');
    texts.forEach((text, at) => {
      const a = box(text);
      const left = a.left < frame.left - 1 || a.top < frame.top - 1;
      if (left || a.right > frame.right + 1 || a.bottom > frame.bottom + 1)
        found.push(`"${text.textContent}" leaves ${svg.getAttribute('class')}`);
      for (const other of texts.slice(at + 1)) {
        const [wide, high] = over(a, box(other));
        if (wide > 1 && high > 4) found.push(`"${text.textContent}" lies over "${other.textContent}"`);
      }
    });
  }
  for (const part of document.querySelectorAll('.readout .figure-row > *, .lab-lever > *')) {
    const a = box(part), card = box(part.closest('.readout, .lab-lever'));
    if (a.width && (a.left < card.left || a.right > card.right - 1)) found.push(`"${part.textContent}" leaves`);
  }
  const [name, figure] = ['.lab-lever > label', '#seqlen-shown'].map((part) => box(document.querySelector(part)));
  const [wide, high] = over(name, figure);
  if (wide > 0 && high > 4) found.push('the name of the lever lies over its figure');
  if (box(document.getElementById('seqlen')).width < 200) found.push('the lever is too short');
  if (document.documentElement.scrollWidth > innerWidth) found.push('the page is wider than its window');
  return found;
}"""
OPEN_ALL = """() => new Promise((done) => {
  for (const fold of document.querySelectorAll('#lab details')) fold.open = true;
  requestAnimationFrame(() => requestAnimationFrame(done));
})"""


@pytest.mark.parametrize("theme", ["gallery", "projector"])
@pytest.mark.parametrize("viewport", [WIDE, SMALL, NARROW, SMALLEST], ids=["wide", "small", "narrow", "smallest"])
def test_every_name_and_figure_has_room(browser: Browser, server: str, viewport: dict[str, int], theme: str) -> None:
    for name, (seqlen, query) in STATES.items():
        visit = open_visit(browser, server, viewport=viewport)
        visit.go(f"/?tier=low&theme={theme}&seqlen={seqlen}&{query}#lab", stand=False)
        wait_for_answer(visit, seqlen)
        if "ask" in query:
            visit.page.locator(".factor-scale").wait_for()
        assert visit.page.evaluate(FAULTS) == [], name
        visit.page.evaluate(OPEN_ALL)
        visit.page.wait_for_function("() => document.querySelectorAll('#lab-records tbody tr').length > 0")
        assert visit.page.evaluate(FAULTS) == [], (name, "all unfolded")
        visit.page.context.close()


def test_two_settings_can_be_read_side_by_side_on_a_phone(browser: Browser, server: str) -> None:
    visit = open_visit(browser, server, viewport=NARROW)
    visit.go("/?tier=low&compare=head_dim:64#lab", stand=False)
    wait_for_answer(visit, 4096)
    table = visit.page.locator("#lab-compare")
    table.locator("td[data-value]").first.wait_for()
    both = box_of(table.locator("tbody tr").first.locator("td").nth(1))
    assert both["x"] + both["width"] <= NARROW["width"]
    visit.page.context.close()
