"""Read one document with its passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.document_lookup import public_key
from bot.capabilities.documents.results import DocumentResult
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.documents.requests import GetDocument
    from bot.capabilities.results import OperationResult
    from engine import DocumentInfo, Scope


async def get_document(deps: Deps, caller: Caller, request: GetDocument) -> AsyncGenerator[OperationResult]:
    """Yield a document. Raises NotFound."""
    info = await find_document(deps, request.key, caller.scope)
    document = await deps.engine.documents.get(info.key, caller.scope)
    passages = document.passages[request.offset : request.offset + request.limit]
    yield DocumentResult(info, tuple(passages))


async def find_document(deps: Deps, key: str, scope: Scope) -> DocumentInfo:
    """The document with a key, or with the one that tokens see. Raises NotFound."""
    listed = await deps.engine.documents.list(scope)
    found = next((each for each in listed if key in {each.key, public_key(each.key)}), None)
    if found is None:
        raise NotFound(f"There is no document “{key}”.", hint="The list of documents shows their keys.")
    return found
