"""Operations on access tokens: check, create, list and revoke; logins and their end."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bot.capabilities.access.token_text import find_token_id
from bot.capabilities.results import Completed, TokenChecked, TokenCreated, TokenList
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.access.requests import CheckToken, CreateToken, ListTokens, LogIn, LogOut, RevokeToken
    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.results import OperationResult

LIST_HINT = "`threadlore token list` shows their ids."


async def check_token(deps: Deps, _caller: Caller, request: CheckToken) -> AsyncGenerator[OperationResult]:
    """Yield a valid token. Raises InvalidToken."""
    access = (await deps.parts.open()).access
    yield TokenChecked(await access.authenticate(request.token))


async def create_token(deps: Deps, _caller: Caller, request: CreateToken) -> AsyncGenerator[OperationResult]:
    """Create a token, and yield it with its text."""
    lifetime = timedelta(days=request.days) if request.days else None
    access = (await deps.parts.open()).access
    token, text = await access.create_token(
        request.name, request.subject, request.permissions, request.requests_per_minute, lifetime
    )
    yield TokenCreated(token, text)


async def list_tokens(deps: Deps, _caller: Caller, _request: ListTokens) -> AsyncGenerator[OperationResult]:
    """Yield all tokens."""
    access = (await deps.parts.open()).access
    yield TokenList(tuple(await access.list_tokens()))


async def revoke_token(deps: Deps, _caller: Caller, request: RevokeToken) -> AsyncGenerator[OperationResult]:
    """Revoke a token by its id or its full text, which is repeated nowhere. Raises NotFound."""
    access, id_ = (await deps.parts.open()).access, find_token_id(request.id)
    if not id_:
        raise NotFound("This is no id of an access token.", hint=LIST_HINT)
    if not await access.revoke_token(id_):
        raise NotFound(f"There is no access token “{id_}”.", hint=LIST_HINT)
    yield Completed(f"Revoked: {id_}")


async def log_in(deps: Deps, _caller: Caller, request: LogIn) -> AsyncGenerator[OperationResult]:
    """Yield the token of a login. Raises NotPermitted, and PlatformError if the person cannot be looked up."""
    access = (await deps.parts.open()).access
    token, text = await access.log_in(
        request.platform, request.person, request.workspaces, with_guests=request.with_guests
    )
    yield TokenCreated(token, text)


async def log_out(deps: Deps, _caller: Caller, request: LogOut) -> AsyncGenerator[OperationResult]:
    """End a login. Raises InvalidToken."""
    access = (await deps.parts.open()).access
    await access.log_out(request.token)
    yield Completed("Logged out.")
