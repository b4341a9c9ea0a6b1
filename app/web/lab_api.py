"""The addresses of the laboratory: one sweep for the lever, the same as CSV, and the wrong forms."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from app.theory import broken
from app.web.lab import lab_sweep, sweep_csv
from app.web.lab_schemas import BrokenAnswer, LabSweepAnswer
from app.web.queries import BrokenQuery, LabSweepQuery

CSV = "text/csv; charset=utf-8; header=present"


class CsvResponse(Response):
    """A table as RFC 4180 text."""

    media_type = CSV


def router() -> APIRouter:
    """The laboratory's routes, without the description of refusals, which the caller's router adds."""
    routes = APIRouter()

    @routes.get("/api/traffic/sweep", tags=["counts"], summary="/api/traffic at every stop of the lever, with formulas")
    async def get_sweep(query: Annotated[LabSweepQuery, Query()]) -> LabSweepAnswer:
        return lab_sweep(query)

    @routes.get(
        "/api/traffic/sweep.csv",
        tags=["counts"],
        summary="The sweep as CSV, units in the header",
        response_class=CsvResponse,
    )
    async def get_sweep_csv(query: Annotated[LabSweepQuery, Query()]) -> CsvResponse:
        return CsvResponse(sweep_csv(query))

    @routes.get("/api/broken", tags=["algorithms"], summary="One thing left out, beside the right result")
    async def get_broken(query: Annotated[BrokenQuery, Query()]) -> BrokenAnswer:
        return BrokenAnswer.model_validate(broken.broken(query.kind))

    return routes
