"""Documents: list them with their state, and forget one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from adapters.web.models import DocumentItem, DocumentsBody
from adapters.web.operations import get_result
from adapters.web.scope import OF_TOKEN
from adapters.web.security import Token  # noqa: TC001  - read at run time
from bot.admin.requests import Forget, ListDocuments
from bot.admin.results import Completed, DocumentList

router = APIRouter(tags=["documents"])

MAX_PAGE = 500
DocumentKey = Annotated[str, Path(min_length=1, max_length=2000)]


@router.get("/documents")
async def list_documents(
    http: Request,
    token: Token,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 100,
) -> DocumentsBody:
    """List the documents that the token can read."""
    found = (await get_result(http, token, ListDocuments(OF_TOKEN), DocumentList)).documents
    page = [DocumentItem.of(each) for each in found[offset : offset + limit]]
    return DocumentsBody(documents=page, total=len(found))


@router.delete("/documents/{key:path}", status_code=204)
async def forget_document(
    http: Request, token: Token, key: Annotated[str, Path(min_length=1, max_length=2000)]
) -> None:
    """Forget a document that belongs to the subject of the token; answers that used it are redacted."""
    await get_result(http, token, Forget(key, OF_TOKEN), Completed)
