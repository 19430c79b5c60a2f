"""Read one document with its passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.answers.review.rights import explain_room
from bot.capabilities.documents.lookup import resolve_documents
from bot.capabilities.documents.requests import DocumentResult
from bot.platform.models import Location

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.documents.requests import GetDocument
    from bot.capabilities.results import OperationResult
    from engine import Passage


async def get_document(deps: Deps, caller: Caller, request: GetDocument) -> AsyncGenerator[OperationResult]:
    """Yield a document. Raises NotFound, and AmbiguousDocument if several could be meant."""
    [info] = await resolve_documents(deps, request.key, caller.scope)
    document = await deps.engine.documents.get(info.key, caller.scope)
    offset = _find_offset(document.passages, request)
    passages = document.passages[offset : offset + request.limit]
    yield DocumentResult(info, tuple(passages), offset, await _explain(deps, caller, info.room))


async def _explain(deps: Deps, caller: Caller, room: str) -> str:
    """Why a person may read what is in a room; empty for other callers, or if that is unknown."""
    if caller.kind != "person" or (parts := await deps.parts.find()) is None:
        return ""
    subject = caller.subject
    place = caller.place or Location(subject.platform, subject.workspace, "")
    return await explain_room(parts.access.audience_of(subject), room, place, subject.person)


def _find_offset(passages: Sequence[Passage], request: GetDocument) -> int:
    """The number of the first passage on the page."""
    at = next((at for at, each in enumerate(passages) if request.passage and each.key == request.passage), None)
    return request.offset if at is None else at - at % max(request.limit, 1)
