"""Perform requests of the API and its pages through the service, as the subject of an access token."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from bot.capabilities.access.requests import CheckToken, LogIn, LogOut
from bot.capabilities.requests import Authorized, WithoutLogin
from bot.capabilities.results import Completed, TokenChecked, TokenCreated
from engine.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from fastapi import Request

    from adapters.web.oauth import Identity
    from bot.capabilities.requests import OperationRequest
    from bot.capabilities.results import OperationResult
    from bot.rpc.service import AdminService

Result = TypeVar("Result")
API_PATHS = ("/api/", "/v1/")  # of programs; everything else is the page


@dataclass(frozen=True, slots=True)
class TerminalSpace:
    """The access of somebody on this machine without a login: a space of the terminal."""

    name: str


Access = str | TerminalSpace  # a text is that of an access token


def perform(http: Request, access: Access, request: OperationRequest) -> AsyncGenerator[OperationResult]:
    """The results of a request; closing the generator stops the work. Raises EngineError."""
    service: AdminService = http.app.state.service
    door = "api" if http.url.path.startswith(API_PATHS) else "page"
    if isinstance(access, TerminalSpace):
        return service.perform(WithoutLogin(access.name, request, door))
    return service.perform(Authorized(access, request, door))


async def check_token(http: Request, token: str) -> TokenChecked:
    """A valid token, without its secret. Raises InvalidToken."""
    service: AdminService = http.app.state.service
    return await _find_result(service.perform(CheckToken(token)), TokenChecked)


async def log_in(http: Request, identity: Identity) -> str:
    """The token of a login. Raises NotAllowed, PlatformError."""
    service: AdminService = http.app.state.service
    request = LogIn(identity.platform, identity.person, identity.workspaces, with_guests=identity.with_guests)
    return (await _find_result(service.perform(request), TokenCreated)).text


async def log_out(http: Request, token: str) -> None:
    """End a login; a token of a command is kept. Raises InvalidToken."""
    service: AdminService = http.app.state.service
    await _find_result(service.perform(LogOut(token)), Completed)


async def get_result(http: Request, access: Access, request: OperationRequest, kind: type[Result]) -> Result:
    """The one result of this kind. Raises EngineError."""
    return await _find_result(perform(http, access, request), kind)


async def _find_result(results: AsyncGenerator[OperationResult], kind: type[Result]) -> Result:
    async with aclosing(results):
        async for result in results:
            if isinstance(result, kind):
                return result
    raise StoreError("The request ended without a result.")
