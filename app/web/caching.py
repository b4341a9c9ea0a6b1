"""Deterministic answers from memory: the same address gives the same bytes, so each is computed once and kept.

ETag, 304, HEAD and compression come from `stored`; the cache is bounded in bytes and forgets the oldest first.
"""

from __future__ import annotations

from collections import OrderedDict

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.web.stored import Stored, from_body, send_stored

CACHE_CONTROL = b"public, max-age=300"
MOST_BYTES = 32 * 1024 * 1024


class DeterministicCache:
    """ASGI middleware over GET and HEAD of addresses that start with `prefix`; everything else passes through."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self.app = app
        self.prefix = prefix
        self.kept: OrderedDict[tuple[str, bytes], Stored] = OrderedDict()
        self.kept_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from memory when possible; otherwise run the app once and keep its answer if that is a 200."""
        mine = scope["type"] == "http" and scope["path"].startswith(self.prefix)
        if not mine or scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        key = (scope["path"], scope["query_string"])
        stored = self.kept.get(key)
        if stored is None:
            status, headers, body = await self._run({**scope, "method": "GET"}, receive)
            if status != 200:
                await send({"type": "http.response.start", "status": status, "headers": headers})
                await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
                return
            stored = from_body(dict(headers).get(b"content-type", b"application/json").decode(), body)
            self._keep(key, stored)
        else:
            self.kept.move_to_end(key)
        await send_stored(stored, scope, send, CACHE_CONTROL)

    async def _run(self, scope: Scope, receive: Receive) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        status = 500
        headers: list[tuple[bytes, bytes]] = []
        chunks: list[bytes] = []

        async def collect(message: Message) -> None:
            nonlocal status, headers
            if message["type"] == "http.response.start":
                status, headers = message["status"], list(message["headers"])
            elif message["type"] == "http.response.body":
                chunks.append(message.get("body", b""))

        await self.app(scope, receive, collect)
        return status, headers, b"".join(chunks)

    def _keep(self, key: tuple[str, bytes], stored: Stored) -> None:
        self.kept[key] = stored
        self.kept_bytes += stored.size
        while self.kept_bytes > MOST_BYTES:
            _, oldest = self.kept.popitem(last=False)
            self.kept_bytes -= oldest.size
