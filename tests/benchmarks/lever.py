"""How long the page's script works for one stop of the laboratory's lever.

Run: python -m tests.benchmarks.lever
A real Chromium, software rendering, the stand at its lowest tier; the lever goes through all its stops and back,
each stop left alone for three frames. What is counted is the browser's own sum of script, style and layout time
(DevTools protocol, Performance.getMetrics). Not a test: timings depend on the machine.
"""

import statistics
from typing import Any

from playwright.sync_api import CDPSession, Page, sync_playwright

from app import browser as chromium
from tests.serving import served

CASES = {
    "default": "",
    "formulas and table open": "",
    "causal, backward, 16 heads": "causal=1&direction=backward&num_heads=16",
    "a setting kept beside": "compare=head_dim:64",
    "every fold open, all records": "",
}
OPEN = "(folds) => { for (const fold of document.querySelectorAll(folds)) fold.open = true; }"
FOLDS = {"formulas": "#lab-body .readout, #lab-table", "every": "#lab-body details"}
ONE_STOP = """(at) => new Promise((done) => {
    const lever = document.getElementById('seqlen');
    lever.value = at;
    lever.dispatchEvent(new Event('input', { bubbles: true }));
    let frames = 3;
    const next = () => (frames-- ? requestAnimationFrame(next) : done());
    next();
})"""
MEASURES = {"ScriptDuration": "script", "RecalcStyleDuration": "style", "LayoutDuration": "layout"}


def metrics(session: CDPSession) -> dict[str, float]:
    """Milliseconds spent since the page began, by kind of work."""
    answer: dict[str, Any] = session.send("Performance.getMetrics")
    return {item["name"]: 1000 * item["value"] for item in answer["metrics"] if item["name"] in MEASURES}


def drive(page: Page, session: CDPSession, stops: int) -> dict[str, list[float]]:
    """One list of milliseconds per kind of work, one entry a stop."""
    spent: dict[str, list[float]] = {name: [] for name in MEASURES}
    for at in [*range(stops), *reversed(range(stops))]:
        before = metrics(session)
        page.evaluate(ONE_STOP, at)
        after = metrics(session)
        for name in MEASURES:
            spent[name].append(after[name] - before[name])
    return spent


def main() -> None:
    """Measure every case and print the table."""
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=chromium.FLAGS)
        print("milliseconds a stop: median (90th percentile)")
        for name, query in CASES.items():
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            session = page.context.new_cdp_session(page)
            session.send("Performance.enable")
            page.goto(f"{address}/?tier=low&{query}#lab")
            page.wait_for_function("() => document.getElementById('lab-body')?.getAttribute('aria-busy') === 'false'")
            page.wait_for_function("() => window.exhibitStand !== undefined", timeout=60_000)
            page.wait_for_timeout(1500)
            for word, folds in FOLDS.items():
                if name.startswith(word):
                    page.evaluate(OPEN, folds)
                    page.wait_for_timeout(1000)
            stops = int(page.locator("#seqlen").get_attribute("max") or 0) + 1
            spent = drive(page, session, stops)
            cells = [
                f"{short} {statistics.median(spent[long]):5.2f} ({statistics.quantiles(spent[long], n=10)[-1]:5.2f})"
                for long, short in MEASURES.items()
            ]
            print(f"{name:28} {'   '.join(cells)}", flush=True)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
