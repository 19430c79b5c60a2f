"""Perform a request as the subject of an access token, within what they may read now."""

from __future__ import annotations

import time
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bot.access.control import own_scope
from bot.admin import requests
from bot.admin.results import AnswerEnd
from bot.errors import AudienceChanged, NotPermitted
from bot.permissions.audience import named_rooms

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from bot.access.control import AccessControl
    from bot.admin.requests import Authorized, OperationRequest
    from bot.admin.results import OperationResult
    from bot.context import EngineContext
    from bot.store import Permission, Subject
    from engine import Scope

    Run = Callable[[EngineContext, OperationRequest], AsyncGenerator[OperationResult]]

CHECK_INTERVAL = 2.0  # seconds between two checks of the audience while results arrive

# The requests that a token can permit. All others are those of the owner of the data.
READING: Mapping[type, Permission] = {
    requests.Ask: "ask",
    requests.GetStatus: "read",
    requests.ListDocuments: "read",
    requests.GetEntity: "read",
}
CHANGING: Mapping[type, Permission] = {requests.Forget: "write"}
CORRECTING: Mapping[type, Permission] = {
    requests.Merge: "manage",
    requests.Separate: "manage",
    requests.SetDescription: "manage",
    requests.Hide: "manage",
    requests.AddFact: "manage",
}


async def perform_authorized(context: EngineContext, request: Authorized, run: Run) -> AsyncGenerator[OperationResult]:
    """Yield the results of the request within its token's scope. Raises NotAllowed, TooManyRequests, PlatformError.

    Raises AudienceChanged if the scope became smaller meanwhile; the results so far are then not to be used.
    """
    if context.open_access is None:
        raise NotPermitted("Access tokens cannot be checked here.")
    inner = request.request
    permission = {**READING, **CHANGING, **CORRECTING}.get(type(inner))
    if permission is None:
        raise NotPermitted("No access token permits this.")
    async with context.open_access() as access:
        token = await access.authorize(request.token, permission)
        scope = (await access.resolve_scope(token.subject)).scope
        checked = time.monotonic()
        async with aclosing(run(context, _limit_request(inner, scope, token.subject))) as results:
            async for result in results:
                if isinstance(result, AnswerEnd) or time.monotonic() - checked >= CHECK_INTERVAL:
                    await _check_scope(access, token.subject, scope)
                    checked = time.monotonic()
                yield result


def _limit_request(inner: OperationRequest, scope: Scope, subject: Subject) -> OperationRequest:
    """The request within a scope. Raises NotPermitted."""
    fields: dict[str, Any]
    if type(inner) in READING:
        fields = {"scope": scope}
    elif type(inner) in CHANGING:
        fields = {"scope": own_scope(subject)}
    elif subject.space:
        fields = {"space": subject.space}
    else:
        raise NotPermitted("The token of a person cannot correct the graph; use the command in the chat.")
    return replace(inner, **fields)


async def _check_scope(access: AccessControl, subject: Subject, scope: Scope) -> None:
    """Raise AudienceChanged unless the subject may still read all of a scope."""
    now = (await access.resolve_scope(subject)).scope
    if not (scope.spaces <= now.spaces and scope.rooms <= named_rooms(now)):
        raise AudienceChanged("What you can read changed during this answer. Ask again.")
