"""Errors as RFC 9457 problem details: which parameter, what is allowed, what was received; never a stack trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

MEDIA_TYPE = "application/problem+json"
LONGEST_ECHO = 200


class ParameterProblem(BaseModel):
    """One parameter that was refused."""

    parameter: str = Field(description="name of the query parameter")
    message: str = Field(description="what is wrong, in one sentence")
    allowed: str = Field(description="what the parameter may be")
    received: str | None = Field(description="the value received, shortened; null when it was missing")


class Problem(BaseModel):
    """RFC 9457 problem details."""

    type: str = Field(default="about:blank", description="kind of problem; about:blank means what `status` says")
    title: str = Field(description="short summary of the status")
    status: int = Field(description="HTTP status code")
    detail: str = Field(description="what went wrong with this request")
    errors: list[ParameterProblem] = Field(default_factory=list, description="the parameters refused, if any")


class BadParameterError(ValueError):
    """A parameter that is well-formed by itself but cannot be answered; becomes a 422 problem."""

    def __init__(self, parameter: str, message: str, allowed: str, received: object) -> None:
        super().__init__(message)
        self.problem = ParameterProblem(parameter=parameter, message=message, allowed=allowed, received=_echo(received))


RESPONSES: dict[int | str, dict[str, Any]] = {
    422: {
        "model": Problem,
        "description": "A parameter was refused; the answer names it, the allowed values and what was received.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
}


NOT_FOUND: dict[int | str, dict[str, Any]] = {
    404: {
        "model": Problem,
        "description": "Nothing has this id.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
}


def install(app: FastAPI) -> None:
    """Register the handlers that turn every refusal of an API address into a problem document."""

    @app.exception_handler(RequestValidationError)
    async def refused(_request: Request, error: RequestValidationError) -> JSONResponse:
        return _answer(422, [_from_pydantic(item) for item in error.errors()])

    @app.exception_handler(BadParameterError)
    async def cannot_answer(_request: Request, error: BadParameterError) -> JSONResponse:
        return _answer(422, [error.problem])


def response(error: HTTPException) -> JSONResponse:
    """The problem document of an HTTP error such as 404 or 405."""
    problem = Problem(title=_title(error.status_code), status=error.status_code, detail=str(error.detail))
    return JSONResponse(
        problem.model_dump(), error.status_code, media_type=MEDIA_TYPE, headers=dict(error.headers or {})
    )


def _answer(status: int, errors: list[ParameterProblem]) -> JSONResponse:
    detail = " ".join(f"{item.parameter}: {item.message}" for item in errors)
    problem = Problem(title=_title(status), status=status, detail=detail, errors=errors)
    return JSONResponse(problem.model_dump(), status, media_type=MEDIA_TYPE)


def _title(status: int) -> str:
    from http import HTTPStatus

    return HTTPStatus(status).phrase


def _from_pydantic(item: Mapping[str, Any]) -> ParameterProblem:
    context = item.get("ctx", {})
    missing = item["type"] == "missing"
    return ParameterProblem(
        parameter=".".join(str(part) for part in item["loc"][1:]) or str(item["loc"][0]),
        message=str(item["msg"]).removeprefix("Value error, "),
        allowed=_allowed(str(item["type"]), context),
        received=None if missing else _echo(item.get("input")),
    )


def _allowed(kind: str, context: Mapping[str, Any]) -> str:
    match kind:
        case "greater_than_equal":
            return f"at least {context['ge']}"
        case "less_than_equal":
            return f"at most {context['le']}"
        case "multiple_of":
            return f"a multiple of {context['multiple_of']}"
        case "literal_error" | "enum":
            return str(context["expected"])
        case "bool_parsing" | "bool_type":
            return "true or false"
        case "extra_forbidden":
            return "only the parameters this address documents"
        case "int_parsing" | "int_type" | "int_from_float" | "int_parsing_size":
            return "a whole number"
        case _:
            return "see the description of the parameter in /openapi.json"


def _echo(value: object) -> str:
    text = str(value)
    return text if len(text) <= LONGEST_ECHO else text[:LONGEST_ECHO] + "…"
