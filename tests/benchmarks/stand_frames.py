"""How long the page's script works for one frame of the stand, apart from rasterising.

Run: python -m tests.benchmarks.stand_frames [tier]
A real Chromium whose WebGL takes every call but draws nothing, so that software rendering does not count: what is left
is the work of the page's own script in each animation frame. Draw calls and triangles are the stand's own figures.
Not a test: timings depend on the machine.
"""

import statistics
import sys

from playwright.sync_api import Page, sync_playwright

from app import browser as chromium
from tests.serving import served

NO_RASTER = """
for (const name of ['drawArrays', 'drawElements', 'drawArraysInstanced', 'drawElementsInstanced', 'clear',
                    'blitFramebuffer', 'generateMipmap'])
  WebGL2RenderingContext.prototype[name] = () => {};
window.frameTimes = [];
const ask = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (callback) => ask((now) => {
  const start = performance.now();
  callback(now);
  window.frameTimes.push(performance.now() - start);
});
"""
PLAY = "() => { window.frameTimes.length = 0; document.getElementById('play').click(); }"
DRAG = """async () => {
  window.frameTimes.length = 0;
  const lever = document.getElementById('cut-at');
  for (let i = 0; i < 60; i++) {
    lever.value = String(0.9 * Math.cos(i / 10));
    lever.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise(requestAnimationFrame);
  }
}"""
ORBIT = """async () => {
  window.frameTimes.length = 0;
  const canvas = document.querySelector('#stand canvas');
  canvas.focus();
  for (let i = 0; i < 60; i++) {
    canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true }));
    await new Promise(requestAnimationFrame);
  }
}"""
CASES = {
    "whole package, turned": ("/?#chapter-1", ORBIT),
    "flash, 8 x 8 blocks": ("/?algorithm=fa2&moment=0#chapter-7", PLAY),
    "standard, 8 x 8 blocks": ("/?algorithm=standard&moment=0#chapter-4", PLAY),
    "side by side, 8 x 8 blocks": ("/?twin=1&moment=0#chapter-7", PLAY),
    "side by side, 32 x 32 blocks": ("/?twin=1&moment=0.1#chapter-14", PLAY),
    "cut, dragged": ("/?cut=z0.36#chapter-5", DRAG),
}


def measure(page: Page, address: str, script: str) -> str:
    """One line of the table."""
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_function("() => window.exhibitStand !== undefined", timeout=60_000)
    page.wait_for_load_state("networkidle")
    page.evaluate("() => window.exhibitStand.settled()")
    page.wait_for_timeout(1000)
    page.evaluate(script)
    page.wait_for_timeout(4000)
    times: list[float] = page.evaluate("() => window.frameTimes.filter((ms) => ms > 0.15)")
    stats = page.evaluate("() => window.exhibitStand.stats()")
    tenths = statistics.quantiles(times, n=10)
    return (
        f"{statistics.median(times):5.2f} ({tenths[8]:.2f}) over {len(times)} frames; "
        f"{stats['drawCalls']} draw calls, {stats['triangles']:,} triangles"
    )


def main() -> None:
    """Measure every case and print the table."""
    tier = sys.argv[1] if len(sys.argv) > 1 else "high"
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=chromium.FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.add_init_script(NO_RASTER)
        print(f"tier {tier}, script in ms a frame: median (90th percentile)")
        for name, (path, script) in CASES.items():
            before, _, anchor = path.partition("#")
            query = f"{before}{'' if before.endswith('?') else '&'}tier={tier}#{anchor}"
            print(f"{name:30} {measure(page, address + query, script)}", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
