"""Perform requests for whoever calls a tool: the subject of an access token, or a space of the terminal."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import structlog
from mcp.server.mcpserver.exceptions import ToolError

from bot.capabilities.access.problems import describe_problem
from bot.capabilities.access.tokens import read_bearer
from bot.capabilities.requests import AtSpace, Authorized
from bot.errors import InvalidToken

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from bot.capabilities.requests import OperationRequest
    from bot.capabilities.results import OperationResult
    from bot.rpc.service import AdminService

log = structlog.get_logger(__name__)

Result = TypeVar("Result")
DOOR = "mcp"


@dataclass(frozen=True, slots=True)
class Caller:
    """Performs requests. `token`: of every call; None if each call brings its own in the header Authorization.

    `space`: of calls without a token, where `token` is empty.
    """

    service: AdminService
    token: str | None = field(repr=False)
    space: str = ""

    async def perform(
        self, headers: Mapping[str, str] | None, request: OperationRequest
    ) -> AsyncGenerator[OperationResult]:
        """The results of a request; an error becomes one that the client is shown."""
        try:
            async with aclosing(self.service.perform(self._authorize(headers, request))) as results:
                async for result in results:
                    yield result
        except ToolError:
            raise
        except Exception as error:
            told = describe_problem(error)
            if told.is_internal:
                log.exception("mcp.request_failed")
            raise ToolError(f"{told.detail} {told.hint}".strip()) from error

    async def get_result(
        self, headers: Mapping[str, str] | None, request: OperationRequest, kind: type[Result]
    ) -> Result:
        """The one result of this kind. Raises an error of the protocol."""
        async with aclosing(self.perform(headers, request)) as results:
            async for result in results:
                if isinstance(result, kind):
                    return result
        raise ToolError("The request ended without a result.")

    def _authorize(self, headers: Mapping[str, str] | None, request: OperationRequest) -> OperationRequest:
        """The request with the caller of a call. Raises an error of the protocol."""
        if self.token is not None:
            if not self.token:
                return AtSpace(self.space, request, DOOR)
            return Authorized(self.token, request, DOOR)
        try:
            token = read_bearer(headers or {})
        except InvalidToken as error:
            raise ToolError(str(error)) from error
        return Authorized(token, request, DOOR)


def read_headers(request: Any) -> Mapping[str, str] | None:
    """The headers of the HTTP request that brought a call; None on standard input."""
    headers: Mapping[str, str] | None = getattr(request, "headers", None)
    return headers
