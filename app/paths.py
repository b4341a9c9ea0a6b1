"""Where the exhibit's files lie: beside the package in a checkout, inside it in an installed wheel."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
BUNDLED = PACKAGE / "bundled"
CHECKOUT = PACKAGE.parent


def _find(bundled: str, checkout: str) -> Path:
    inside = BUNDLED / bundled
    return inside if inside.is_dir() else CHECKOUT / checkout


def templates() -> Path:
    """Folder of the Jinja templates."""
    return _find("templates", "templates")


def dist() -> Path:
    """Folder of the built browser bundle; it may not exist yet in a checkout."""
    return _find("dist", "static/dist")


def checkout() -> Path | None:
    """Root of the checkout this package runs from, or None when it runs from an installed wheel."""
    return CHECKOUT if (CHECKOUT / "pyproject.toml").is_file() and (CHECKOUT / "static").is_dir() else None
