"""Which requests are let in: not too many at once, with a valid token where one is needed, of no foreign page."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

import structlog
from starlette.datastructures import Headers
from starlette.requests import Request

from adapters.web.pages.errors import respond
from adapters.web.pages.guard import is_allowed, is_api_path
from adapters.web.pages.session import get_page_access
from adapters.web.problems import Problem, describe, is_internal, to_response
from bot.admin.access.requests import CheckToken
from bot.errors import InvalidToken

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Receive, Scope, Send

    from adapters.web.operations import Access
    from bot.admin.rpc.service import AdminService

log = structlog.get_logger(__name__)

MAX_REQUESTS = 200  # at once; further ones are answered 503
OPEN_PATHS = frozenset({"/api/v1/health", "/api/v1/openapi.json", "/login", "/logout"})  # without a token
BUSY = Problem(
    type="urn:threadlore:TooBusy", title="TooBusy", status=503, detail="Too many requests are answered at the moment."
)
FOREIGN = Problem(
    type="urn:threadlore:ForeignOrigin",
    title="ForeignOrigin",
    status=403,
    detail="This request does not come from a page of this server.",
    hint="A proxy in front of the server must pass on the header Host.",
)


class RequestSlots:
    """Refuses requests while many are answered."""

    def __init__(self, app: ASGIApp, limit: int = MAX_REQUESTS) -> None:
        self._app = app
        self._free = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on if a slot is free."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif self._free < 1:
            await to_response(BUSY)(scope, receive, send)
        else:
            self._free -= 1
            try:
                await self._app(scope, receive, send)
            finally:
                self._free += 1


class TokenCheck:
    """Refuses a request without a valid token before its body is read.

    A request without a body is passed on if it has a token, or is for a page; its operation checks that.
    """

    def __init__(self, app: ASGIApp, service: AdminService) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on if it may be read."""
        problem = await self._find_problem(Request(scope)) if scope["type"] == "http" else None
        await (self._app if problem is None else respond(Request(scope), problem))(scope, receive, send)

    async def _find_problem(self, http: Request) -> Problem | None:
        path, has_body = http.url.path, _has_body(http.headers)
        try:
            if is_api_path(path):
                access: Access = "" if path in OPEN_PATHS else parse_authorization(http.headers)
            else:
                access = get_page_access(http) if has_body and path not in OPEN_PATHS else ""
            if has_body and access and isinstance(access, str):
                async with aclosing(self._service.perform(CheckToken(access))) as results:
                    async for _ in results:
                        pass
        except Exception as error:
            problem = describe(error)
            if is_internal(problem):
                log.exception("web.token_check_failed")
            return problem
        return None


class OriginCheck:
    """Refuses requests of foreign sites that would change something with the cookie of a page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, if it may be handled."""
        is_foreign = scope["type"] == "http" and not is_allowed(scope["method"], scope["path"], Headers(scope=scope))
        await (to_response(FOREIGN) if is_foreign else self._app)(scope, receive, send)


def parse_authorization(headers: Mapping[str, str]) -> str:
    """The access token of a request. Raises InvalidToken."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind.casefold() != "bearer" or not token.strip():
        raise InvalidToken("An access token is missing.")
    return token.strip()


def _has_body(headers: Mapping[str, str]) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
