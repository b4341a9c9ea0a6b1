"""Rules about the repository itself: size of files, pinned versions, and the fixed top level."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
TOP_LEVEL = {"app", "static", "models", "templates", "tests", "pyproject.toml", "README.md"}
LONGEST = 450


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_the_top_level_is_the_one_agreed_on() -> None:
    names = {path.relative_to(ROOT).parts[0] for path in tracked()}
    assert {name for name in names if not name.startswith(".")} == TOP_LEVEL


def test_every_python_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = [project["build-system"]["requires"], project["project"]["dependencies"]]
    groups += project["project"]["optional-dependencies"].values()
    for requirement in [item for group in groups for item in group]:
        assert re.match(r"^[\w.-]+==[\w.]+", requirement), requirement


def test_every_node_dependency_is_pinned_and_the_lock_names_no_host() -> None:
    package = (ROOT / "static" / "package.json").read_text()
    assert not re.search(r'"[\^~><*]', package)
    assert "resolved" not in (ROOT / "static" / "package-lock.json").read_text()


def test_source_files_can_be_read_in_one_sitting() -> None:
    for path in tracked():
        if path.suffix in {".py", ".ts", ".css", ".html"} and not path.name.endswith(".gen.ts"):
            assert len(path.read_text().splitlines()) <= LONGEST, path.name


def test_every_source_file_says_what_it_is() -> None:
    for path in tracked():
        if path.suffix == ".py" and path.stat().st_size:
            assert path.read_text().lstrip().startswith(('"""', "#!")), path
        if path.suffix in {".ts", ".css", ".mjs"} and not path.name.endswith(".gen.ts"):
            assert path.read_text().lstrip().startswith(("/*", "//")), path
