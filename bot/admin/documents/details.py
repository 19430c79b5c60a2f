"""Read one document with its passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.admin.documents.results import DocumentResult
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.admin.documents.requests import GetDocument
    from bot.admin.results import OperationResult
    from bot.context import EngineContext


async def get_document(engine_context: EngineContext, request: GetDocument) -> AsyncGenerator[OperationResult]:
    """Yield a document. Raises NotFound."""
    listed = await engine_context.engine.list_documents(request.scope)
    info = next((each for each in listed if each.key == request.key), None)
    if info is None:
        raise NotFound(f"There is no document “{request.key}”.", hint="The list of documents shows their keys.")
    document = await engine_context.engine.get_document(request.key, request.scope)
    passages = document.passages[request.offset : request.offset + request.limit]
    yield DocumentResult(info, tuple(passages))
