"""Operations on access tokens: check, create, list and revoke; logins and their end."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bot.capabilities.results import Completed, TokenChecked, TokenCreated, TokenList
from engine.errors import NotFound, StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from contextlib import AbstractAsyncContextManager

    from bot.access.control import AccessControl
    from bot.capabilities.access.requests import CheckToken, CreateToken, ListTokens, LogIn, LogOut, RevokeToken
    from bot.capabilities.results import OperationResult
    from bot.context import EngineContext


async def check_token(engine_context: EngineContext, request: CheckToken) -> AsyncGenerator[OperationResult]:
    """Yield a valid token. Raises InvalidToken."""
    async with _open_access(engine_context) as access:
        yield TokenChecked(await access.authenticate(request.token))


async def create_token(engine_context: EngineContext, request: CreateToken) -> AsyncGenerator[OperationResult]:
    """Create a token, and yield it with its text."""
    lifetime = timedelta(days=request.days) if request.days else None
    async with _open_access(engine_context) as access:
        token, text = await access.create_token(
            request.name, request.subject, request.permissions, request.requests_per_minute, lifetime
        )
    yield TokenCreated(token, text)


async def list_tokens(engine_context: EngineContext, request: ListTokens) -> AsyncGenerator[OperationResult]:  # noqa: ARG001  - a verb's signature
    """Yield all tokens."""
    async with _open_access(engine_context) as access:
        yield TokenList(tuple(await access.list_tokens()))


async def revoke_token(engine_context: EngineContext, request: RevokeToken) -> AsyncGenerator[OperationResult]:
    """Revoke a token. Raises NotFound."""
    async with _open_access(engine_context) as access:
        if not await access.revoke_token(request.id):
            raise NotFound(f"There is no access token “{request.id}”.", hint="`threadlore token list` shows their ids.")
    yield Completed(f"Revoked: {request.id}")


async def log_in(engine_context: EngineContext, request: LogIn) -> AsyncGenerator[OperationResult]:
    """Yield the token of a login. Raises NotPermitted, and PlatformError if the person cannot be looked up."""
    async with _open_access(engine_context) as access:
        token, text = await access.log_in(
            request.platform, request.person, request.workspaces, with_guests=request.with_guests
        )
    yield TokenCreated(token, text)


async def log_out(engine_context: EngineContext, request: LogOut) -> AsyncGenerator[OperationResult]:
    """End a login. Raises InvalidToken."""
    async with _open_access(engine_context) as access:
        await access.log_out(request.token)
    yield Completed("Logged out.")


def _open_access(engine_context: EngineContext) -> AbstractAsyncContextManager[AccessControl]:
    if engine_context.open_access is None:
        raise StoreError("The bot's database is not open.")
    return engine_context.open_access()
