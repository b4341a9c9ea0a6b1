"""The built browser files, served from memory: precompressed at build time, hashed names immutable."""

from __future__ import annotations

import json
import mimetypes
import re
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from app.web.stored import Stored, from_file, send_stored

TYPES = {
    ".css": "text/css",
    ".glb": "model/gltf-binary",
    ".js": "text/javascript",
    ".md": "text/markdown",
    ".webp": "image/webp",
}
HASHED = re.compile(r"-[\w-]{8}\.\w+$")
FOREVER = b"public, max-age=31536000, immutable"


class BundleMissingError(RuntimeError):
    """The browser bundle has not been built."""


class Assets:
    """An ASGI app for everything under the built folder, and the look-up of hashed names for templates."""

    def __init__(self, dist: Path) -> None:
        manifest = dist / ".vite" / "manifest.json"
        if not manifest.is_file():
            raise BundleMissingError("The browser bundle is not built. Run: exhibit build")
        self.manifest: dict[str, Any] = json.loads(manifest.read_text())
        self.files: dict[str, Stored] = {}
        for path in sorted(dist.rglob("*")):
            name = path.relative_to(dist).as_posix()
            if path.is_file() and not name.startswith(".") and path.suffix not in (".br", ".gz"):
                self.files[name] = from_file(_content_type(path), path)

    def url(self, source: str) -> str:
        """The address of the built form of a source file, `src/main.ts` say."""
        return "/static/" + str(self.manifest[source]["file"])

    def styles(self, source: str) -> list[str]:
        """The addresses of the style sheets a source file brings."""
        return ["/static/" + name for name in self.manifest[source].get("css", [])]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer GET and HEAD."""
        name = scope["path"].removeprefix(scope.get("root_path", "")).lstrip("/")
        if scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(405, headers={"Allow": "GET, HEAD"})
        if name not in self.files:
            raise HTTPException(404, f"No built file is called {name[:100]}.")
        cache_control = FOREVER if HASHED.search(name) else b"no-cache"
        await send_stored(self.files[name], scope, send, cache_control)


def _content_type(path: Path) -> str:
    kind = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return kind + "; charset=utf-8" if kind.startswith(("text/", "application/json", "image/svg")) else kind
