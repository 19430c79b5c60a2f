"""Errors as problem details (RFC 9457): {"type", "title", "status", "detail", "hint"}."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Self, cast

import structlog
from fastapi import Request  # noqa: TC002  - read at run time
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from bot.capabilities.access.problems import INTERNAL, describe_problem
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from fastapi import FastAPI

log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 30
DESCRIPTION_HINT = "GET /api/v1/openapi.json describes every address and its fields."
# Of every response. The server gives its response to an unforeseen failure outside of all middleware.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Problem(BaseModel):
    """What went wrong, and what to do about it."""

    type: Annotated[str, Field(description="The kind of the problem, a name that does not change.")] = "about:blank"
    title: str
    status: int
    detail: str
    hint: str = ""

    @classmethod
    def named(cls, name: str, status: int, detail: str, hint: str = "") -> Self:
        """A problem whose kind and title are this name."""
        return cls(type=f"urn:threadlore:{name}", title=name, status=status, detail=detail, hint=hint)


BUSY = Problem.named("TooBusy", 503, "Too many requests are answered at the moment, or too many of yours.")

_STATUSES = {400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 507}
RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"description": "Problem", "content": {MEDIA_TYPE: {"schema": Problem.model_json_schema()}}}
    for status in sorted(_STATUSES)
}


def describe(error: Exception) -> Problem:
    """The problem of an error; the text of an unexpected one, or of one of the store, is not shown."""
    told = describe_problem(error)
    problem = Problem.named(told.name, told.status, told.detail, told.hint)
    return problem.model_copy(update={"type": "about:blank"}) if told.is_internal else problem


def is_internal(problem: Problem) -> bool:
    """Whether only the log says what happened."""
    return problem.title == INTERNAL


def to_response(problem: Problem) -> Response:
    """A problem as a response."""
    headers = dict(HEADERS)
    if problem.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if problem.status in {429, 503}:
        headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    body = json.dumps(problem.model_dump(), ensure_ascii=False)
    return Response(body, status_code=problem.status, media_type=MEDIA_TYPE, headers=headers)


def register(app: FastAPI, respond: Callable[[Request, Problem], Awaitable[Response]]) -> None:
    """Answer all errors of an application by `respond`."""
    app.state.respond_to_problem = respond
    app.add_exception_handler(EngineError, _answer_error)
    app.add_exception_handler(Exception, _answer_error)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(HTTPException, _answer_http)


async def _answer_error(http: Request, error: Exception) -> Response:
    problem = describe(error)
    if is_internal(problem):
        log.error("web.request_failed", exc_info=error)
    return await _respond(http, problem)


async def _answer_invalid(http: Request, error: Exception) -> Response:
    first: Mapping[str, Any] = next(iter(cast("RequestValidationError", error).errors()), {})
    place = ".".join(map(str, first.get("loc", ())))
    detail = f"{place}: {first.get('msg', 'is not valid')}".replace(": Value error, ", ": ", 1)
    kind = "InvalidRequest"
    return await _respond(http, Problem.named(kind, 422, detail, DESCRIPTION_HINT))


async def _answer_http(http: Request, error: Exception) -> Response:
    refused = cast("HTTPException", error)
    detail = str(refused.detail)
    problem = Problem(title=detail, status=refused.status_code, detail=detail, hint=_advise(refused))
    response = await _respond(http, problem)
    response.headers.update(refused.headers or {})
    return response


def _advise(refused: HTTPException) -> str:
    """What to do about an address or a method that does not exist."""
    if refused.status_code == 405 and (allowed := (refused.headers or {}).get("Allow")):
        return f"This address takes {allowed}."
    return DESCRIPTION_HINT if refused.status_code == 404 else ""


async def _respond(http: Request, problem: Problem) -> Response:
    respond: Callable[[Request, Problem], Awaitable[Response]] = http.app.state.respond_to_problem
    return await respond(http, problem)
