"""Headers every answer carries: nothing is loaded from elsewhere, nothing is sniffed, no referrer leaves."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

# blob: is how three.js hands the textures inside a GLB to the browser; data: carries small inline pictures.
POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; connect-src 'self' blob:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


class SecurityHeaders:
    """ASGI middleware that adds HEADERS to every HTTP answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on, with the headers added where an answer starts."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *HEADERS]}
            await send(message)

        await self.app(scope, receive, with_headers)
