"""Photographs every golden picture anew: `python -m tests.browser.golden [NAME …]`. Look at them before committing."""

from __future__ import annotations

import sys

from playwright.sync_api import sync_playwright

from app import browser
from app.posters import _server
from tests.browser.golden.pictures import photograph, states, to_webp

wanted = set(sys.argv[1:])
with _server() as server, sync_playwright() as playwright:
    chromium = playwright.chromium.launch(executable_path=browser.find(), args=list(browser.FLAGS))
    page = chromium.new_page(viewport={"width": 920, "height": 420}, reduced_motion="reduce")
    for state in states():
        if wanted and state.name not in wanted:
            continue
        state.file.write_bytes(to_webp(page, photograph(page, server.rstrip("/"), state)))
        print(f"{state.file.name}: {state.file.stat().st_size:,} bytes")
    chromium.close()
