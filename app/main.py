"""Wiring only: the server made of its parts. Served by `python -m app serve`."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app import __version__, paths
from app.content.chapters import load as load_chapters
from app.facts.registry import load as load_registry
from app.web import api, pages, problems
from app.web.assets import Assets
from app.web.caching import DeterministicCache
from app.web.headers import SecurityHeaders

DESCRIPTION = "Traffic counts, online-softmax steps and tile schedules of attention. Stateless and deterministic."


def create_app() -> FastAPI:
    """Build the server: templates, ledger, chapters and built files are read once and served from memory.

    Raises:
        BundleMissingError: the browser bundle has not been built.
    """
    assets = Assets(paths.dist())
    registry = load_registry()
    chapters = load_chapters()
    app = FastAPI(
        title="FlashAttention exhibit", version=__version__, description=DESCRIPTION, redoc_url=None, docs_url=None
    )
    site = pages.Site(paths.templates(), assets, registry, chapters)
    app.include_router(api.router(registry, api.Loaded(len(chapters), len(assets.files))))
    app.include_router(site.router())
    app.mount("/static", assets)
    problems.install(app)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        if request.url.path.startswith(("/api", "/static")):
            return problems.response(error)
        return site.error_page(error.status_code, str(error.detail))

    app.add_middleware(DeterministicCache, prefix="/api/")
    app.add_middleware(SecurityHeaders)
    return app
