"""An answer kept in memory: its encodings with one strong ETag each, and the one way to send it (304, HEAD, gzip)."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import Headers
from starlette.types import Scope, Send

SMALLEST_TO_COMPRESS = 500
FILE_CODINGS = (("br", ".br"), ("gzip", ".gz"))

RawHeaders = tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """One encoding of a body; `coding` None is the plain form."""

    coding: str | None
    body: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class Stored:
    """A 200 answer; the variants stand smallest first and end with the plain form."""

    content_type: str
    variants: tuple[Variant, ...]

    @property
    def size(self) -> int:
        """Bytes of memory the bodies take."""
        return sum(len(variant.body) for variant in self.variants)


def from_body(content_type: str, body: bytes) -> Stored:
    """Keep a body made at run time; compress it when that pays."""
    packed = [("gzip", gzip.compress(body, 9, mtime=0))] if len(body) >= SMALLEST_TO_COMPRESS else []
    return Stored(content_type, tuple(_variant(coding, data) for coding, data in [*packed, (None, body)]))


def from_file(content_type: str, path: Path) -> Stored:
    """Keep a built file with the precompressed forms that lie beside it."""
    found: list[tuple[str | None, bytes]] = []
    for coding, suffix in FILE_CODINGS:
        packed = path.with_name(path.name + suffix)
        if packed.is_file():
            found.append((coding, packed.read_bytes()))
    found.append((None, path.read_bytes()))
    return Stored(content_type, tuple(_variant(coding, data) for coding, data in found))


async def send_stored(stored: Stored, scope: Scope, send: Send, cache_control: bytes, extra: RawHeaders = ()) -> None:
    """Answer with the best encoding the client takes: 304 when it has it already, no body for HEAD."""
    headers = Headers(scope=scope)
    accept = headers.get("accept-encoding", "")
    chosen = next(item for item in stored.variants if item.coding is None or accepts(accept, item.coding))
    answer = [
        (b"etag", chosen.etag.encode()),
        (b"vary", b"accept-encoding"),
        (b"cache-control", cache_control),
        *extra,
    ]
    if matches(headers.get("if-none-match"), chosen.etag):
        await send({"type": "http.response.start", "status": 304, "headers": answer})
        await send({"type": "http.response.body", "body": b""})
        return
    answer.append((b"content-type", stored.content_type.encode()))
    answer.append((b"content-length", str(len(chosen.body)).encode()))
    if chosen.coding:
        answer.append((b"content-encoding", chosen.coding.encode()))
    await send({"type": "http.response.start", "status": 200, "headers": answer})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else chosen.body})


def accepts(accept_encoding: str, coding: str) -> bool:
    """Whether an Accept-Encoding header takes `coding`; quality 0 refuses it, a named coding outranks `*`."""
    qualities: dict[str, float] = {}
    for item in accept_encoding.split(","):
        name, _, parameters = item.strip().lower().partition(";")
        _, _, quality = parameters.replace(" ", "").partition("q=")
        try:
            qualities[name.strip()] = float(quality) if quality else 1.0
        except ValueError:
            qualities[name.strip()] = 0.0
    return qualities.get(coding, qualities.get("*", 0.0)) > 0


def matches(if_none_match: str | None, etag: str) -> bool:
    """Whether an If-None-Match header names `etag` (weak comparison, as RFC 9110 asks for here)."""
    if if_none_match is None:
        return False
    candidates = {item.strip().removeprefix("W/") for item in if_none_match.split(",")}
    return "*" in candidates or etag in candidates


def _variant(coding: str | None, body: bytes) -> Variant:
    return Variant(coding, body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
