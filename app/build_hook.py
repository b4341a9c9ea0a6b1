"""Packaging hook: builds the browser bundle, and puts bundle and templates inside the wheel.

hatchling runs this for wheels and for editable installs. An editable install reads `static/dist` and
`templates` from the checkout; a wheel carries both under `app/bundled` (see `app/paths.py`).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BundleHook(BuildHookInterface[Any]):
    """Runs before hatchling collects the files."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the bundle; for a wheel (`version` is "standard"), include it and the templates."""
        root = Path(self.root)
        if self.target_name != "wheel":
            return
        sys.path.insert(0, str(root))
        try:
            from app import frontend

            frontend.build(root)
        finally:
            sys.path.remove(str(root))
        if version == "standard":
            build_data["force_include"] |= {
                str(root / "static" / "dist"): "app/bundled/dist",
                str(root / "templates"): "app/bundled/templates",
            }
