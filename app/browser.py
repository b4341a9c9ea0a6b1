"""Finds the Chromium that the browser tests and the posters drive."""

from __future__ import annotations

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# Software rendering gives the same picture on every machine; the rest keeps the browser from calling home.
FLAGS = (
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find() -> str | None:
    """Path of a Chromium or Chrome on the PATH, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)
