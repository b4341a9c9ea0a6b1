"""A picture of an element shows that element, also while the page grows above it."""

from playwright.sync_api import Browser

from app.browser import photograph

PAGE = """
<div id="above" style="height: 2000px"></div>
<div id="seen" style="position: sticky; top: 20px; height: 200px; background: linear-gradient(black, white)"></div>
<div style="height: 4000px">What is being read.</div>
"""
GROW = """() => {
  let height = 2000;
  const above = document.getElementById("above");
  const timer = setInterval(() => {
    height += 8;
    above.style.height = `${height}px`;
    if (height >= 2200) clearInterval(timer);
  }, 20);
}"""


def test_a_page_that_grows_above_leaves_the_picture_as_it_was(browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 400, "height": 300})
    page.set_content(PAGE)
    page.evaluate("() => scrollTo(0, 2600)")
    before = photograph(page, "#seen")
    page.evaluate(GROW)
    assert photograph(page, "#seen") == before
    # The browser kept the place of what is read.
    assert page.evaluate("() => scrollY") > 2600
    page.close()
