"""Get the index status, the list of documents, and single entities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.admin.document_lookup import build_scope
from bot.admin.results import DocumentList, EntityResult, StatusResult
from engine import normalize_name
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.admin.requests import GetEntity, GetStatus, ListDocuments
    from bot.admin.results import OperationResult
    from bot.engine_context import EngineContext


async def get_status(engine_context: EngineContext, request: GetStatus) -> AsyncGenerator[OperationResult]:
    """Yield the index status."""
    yield StatusResult(await engine_context.engine.get_status(build_scope(request.spaces)))


async def list_documents(engine_context: EngineContext, request: ListDocuments) -> AsyncGenerator[OperationResult]:
    """Yield the list of documents."""
    yield DocumentList(tuple(await engine_context.engine.list_documents(build_scope(request.spaces))))


async def get_entity(engine_context: EngineContext, request: GetEntity) -> AsyncGenerator[OperationResult]:
    """Yield an entity. Raises NotFound with similar names in the hint."""
    scope = build_scope(request.spaces)
    found = await engine_context.engine.get_neighborhood(request.name, scope, request.limit)
    if found.entity is None:
        alike = await engine_context.engine.find_names(normalize_name(request.name)[:3], scope, 5)
        hint = (
            f"Similar names: {', '.join(alike)}."
            if alike
            else "Use a name as it is spelled in a document, or ask a question."
        )
        raise NotFound(f"There is no entity “{request.name}”.", hint=hint)
    yield EntityResult(found.entity, found.relations)
