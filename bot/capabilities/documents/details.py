"""Read one document with its passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.document_lookup import resolve_documents
from bot.capabilities.documents.results import DocumentResult

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.documents.requests import GetDocument
    from bot.capabilities.results import OperationResult


async def get_document(deps: Deps, caller: Caller, request: GetDocument) -> AsyncGenerator[OperationResult]:
    """Yield a document. Raises NotFound, and AmbiguousDocument if several could be meant."""
    [info] = await resolve_documents(deps, request.key, caller.scope)
    document = await deps.engine.documents.get(info.key, caller.scope)
    passages = document.passages[request.offset : request.offset + request.limit]
    yield DocumentResult(info, tuple(passages))
