"""Which folder may import which: the arrows of the README, Python and TypeScript."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
APP = ROOT / "app"
SRC = ROOT / "static" / "src"

PYTHON: dict[str, set[str]] = {
    "theory": set(),
    "facts": set(),
    "content": {"facts"},
    "geometry": {"facts"},
    "kernels": {"theory", "facts"},
    "web": {"theory", "facts", "content"},
}
ONLY_IN = {
    "trimesh": {"geometry"},
    "fastapi": {"web", "main", "checkout"},
    "jinja2": {"web"},
    "torch": {"kernels"},
    "triton": {"kernels"},
}

TYPESCRIPT: dict[str, set[str]] = {
    "math": set(),
    "state": set(),
    "ui": set(),
    "stand": {"math"},
    "figures": {"math", "ui"},
    "api": {"state"},
    "flow": {"stand", "figures", "api", "state", "ui"},
    "stage": {"stand", "api", "state", "ui"},
    "chapters": {"stand", "figures", "state", "math", "api", "ui"},
    "touches": {"stand", "figures", "api", "state", "ui", "flow"},
    "presenter": {"chapters", "state", "ui"},
    "lab": {"stand", "figures", "ui", "api", "state"},
}
OUTSIDE = {
    "stand": {"three"},
    "figures": {"d3-scale", "d3-shape"},
    "touches": {"d3-scale", "d3-shape"},
}


def python_files() -> list[Path]:
    return sorted(APP.rglob("*.py"))


def typescript_files() -> list[Path]:
    return sorted(path for path in SRC.rglob("*.ts") if path.parent != SRC)


@pytest.mark.parametrize("path", python_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_python(path: Path) -> None:
    parts = path.relative_to(APP).parts
    folder = parts[0] if len(parts) > 1 else path.stem
    for node in ast.walk(ast.parse(path.read_text())):
        names = [item.name for item in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{item.name}" for item in node.names]
        for name in names:
            first, *rest = name.split(".")
            if first == "app" and folder in PYTHON and rest and (APP / rest[0]).is_dir():
                assert rest[0] in PYTHON[folder] | {folder}, f"{folder} must not import {rest[0]}"
            if first in ONLY_IN:
                assert folder in ONLY_IN[first], f"{folder} must not import {first}"


@pytest.mark.parametrize("path", typescript_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_typescript(path: Path) -> None:
    folder = path.relative_to(SRC).parts[0]
    assert folder in TYPESCRIPT, f"{folder} is not in the table of arrows"
    for target in re.findall(r"""(?:from|import)\s*\(?\s*["']([^"']+)["']""", path.read_text()):
        if target.endswith(".css"):
            assert target.startswith("../../styles/"), f"{folder} must not import {target}"
        elif target.startswith("."):
            other = (path.parent / target).resolve().relative_to(SRC).parts[0]
            assert other in TYPESCRIPT[folder] | {folder}, f"{folder} must not import {other}"
        else:
            package = target.split("/")[0]
            assert package in OUTSIDE.get(folder, set()), f"{folder} must not import {package}"


def test_the_tables_speak_of_every_folder() -> None:
    python = {path.name for path in APP.iterdir() if path.is_dir() and list(path.glob("*.py"))}
    assert python == set(PYTHON)
    assert {path.name for path in SRC.iterdir() if path.is_dir()} == set(TYPESCRIPT)
