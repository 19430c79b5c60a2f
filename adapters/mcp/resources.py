"""Documents as resources: listed page by page, and read in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mcp.server.mcpserver import Context  # noqa: TC002  - read at run time
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from adapters.common.shown_text import clean_prose
from adapters.mcp.caller import read_headers
from bot.capabilities.documents.requests import DocumentResult, GetDocument
from bot.capabilities.requests import ListDocuments
from bot.capabilities.results import DocumentList
from bot.text.markdown import clean_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

    from adapters.mcp.caller import Caller
    from engine import DocumentInfo, Passage

PREFIX = "threadlore://documents/"
TEMPLATE = PREFIX + "{key}{?offset}"
PAGE = 100  # documents of a list
MAX_PASSAGES = 200  # of one part of a document


def document_uri(key: str, offset: int = 0) -> str:
    """The address of a document, or of its part from a passage on."""
    return f"{PREFIX}{quote(key, safe='')}" + (f"?offset={offset}" if offset else "")


class DocumentResources:
    """The documents that a caller can read."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def list_page(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Answer a request for the list of resources; pass on any other one. Raises an error of the protocol."""
        if ctx.method != "resources/list":
            return await call_next(ctx)
        envelope = await call_next(ctx)
        offset = _parse_cursor(ctx.params)
        request = ListDocuments(offset=offset, limit=PAGE)
        try:
            found = await self._caller.get_result(read_headers(ctx.request), request, DocumentList)
        except ToolError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from error
        rest = {"nextCursor": str(offset + PAGE)} if offset + PAGE < found.total else {}
        kept = envelope if isinstance(envelope, dict) else {}
        return {**kept, "resources": [_describe(document) for document in found.documents], **rest}

    async def read(self, key: str, context: Context[Any, Any], offset: str = "0") -> str:
        """Read passages of a document as text. Raises an error of the protocol."""
        start = int(offset) if offset.isdecimal() and len(offset) < 10 else -1
        if start < 0:
            raise ResourceError("The offset is not a number.")
        request = GetDocument(key, start, MAX_PASSAGES)
        headers = read_headers(context.request_context.request)
        try:
            found = await self._caller.get_result(headers, request, DocumentResult)
        except ToolError as error:
            raise ResourceError(str(error)) from error
        end = start + len(found.passages)
        more = [f"The next part: {document_uri(key, end)}"] if end < found.document.passages else []
        return clean_prose("\n\n".join([found.document.title, *map(_format_passage, found.passages), *more]))


def _parse_cursor(params: Mapping[str, Any] | None) -> int:
    """The number of the first document of a page. Raises an error of the protocol."""
    cursor = (params or {}).get("cursor") or "0"
    if isinstance(cursor, str) and cursor.isdecimal() and len(cursor) < 10:
        return int(cursor)
    raise MCPError(INVALID_PARAMS, "The cursor is not one of this list.")


def _describe(document: DocumentInfo) -> dict[str, Any]:
    described = " · ".join(filter(None, (document.kind, document.room, document.status)))
    return {
        "uri": document_uri(document.key),
        "name": document.key,
        "title": clean_line(document.title),
        "description": clean_line(described),
        "mimeType": "text/plain",
    }


def _format_passage(passage: Passage) -> str:
    time = f"{passage.time:%Y-%m-%d %H:%M}" if passage.time else ""
    heading = " · ".join(filter(None, (passage.label, time if time not in passage.label else "", passage.link)))
    return f"[{heading}]\n{passage.text}" if heading else passage.text
