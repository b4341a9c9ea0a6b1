"""Generated files are what their generator writes now."""

from pathlib import Path

from app import checkout


def test_the_browser_types_are_those_of_the_api(tmp_path: Path) -> None:
    fresh = checkout.write_api_types(checkout.root(), tmp_path / "schema.gen.ts")
    committed = checkout.root() / "static" / "src" / "api" / "schema.gen.ts"
    assert committed.read_text() == fresh.read_text(), "run: exhibit build"
