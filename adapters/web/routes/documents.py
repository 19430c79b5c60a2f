"""Documents: list them with their state, read, add and forget one."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse

from adapters.web.models import (
    DocumentBody,
    DocumentItem,
    DocumentsBody,
    ErasureBody,
    PassageItem,
    UploadBody,
)
from adapters.web.operations import get_result, perform
from adapters.web.security import Token  # noqa: TC001  - read at run time
from adapters.web.streams import EVENT_STREAM, NDJSON, StreamFormat, open_stream
from adapters.web.uploads import FIELD, add_upload
from bot.capabilities.documents.requests import DocumentResult, GetDocument, UploadResult
from bot.capabilities.ingest.progress_text import RemainingTime, describe_progress, describe_time
from bot.capabilities.requests import ExportMyData, Forget, ListDocuments, ListedStatus
from bot.capabilities.results import (
    Completed,
    DocumentList,
    ErasureRehearsal,
    ExportLine,
    Forgotten,
    ProgressUpdate,
)
from engine.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.results import OperationResult
    from engine import Clock

router = APIRouter(tags=["documents"])

MAX_PAGE = 500
RECEIPT_HEADER = "Threadlore-Receipt"
DocumentKey = Annotated[str, Path(min_length=1, max_length=2000)]
Offset = Annotated[int, Query(ge=0, le=10**9)]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE)]
UPLOAD_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": [FIELD],
    "properties": {FIELD: {"type": "string", "format": "binary", "contentMediaType": "application/octet-stream"}},
}
UPLOAD_BODY = {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": UPLOAD_SCHEMA}}}}


@router.get("/documents")
async def list_documents(
    http: Request,
    token: Token,
    offset: Offset = 0,
    limit: Limit = 100,
    search: Annotated[str, Query(max_length=200, description="A part of the title or the key.")] = "",
    status: Annotated[ListedStatus, Query(description="Only these; partial: of which something was not read.")] = "",
) -> DocumentsBody:
    """List the documents that the token can read, with their state."""
    found = await get_result(http, token, ListDocuments(search, status, offset, limit), DocumentList)
    return DocumentsBody.of(found)


@router.post(
    "/documents",
    status_code=201,
    response_model=UploadBody,
    openapi_extra=UPLOAD_BODY,
    responses={
        200: {"description": "The file was added before and did not change.", "model": UploadBody},
        201: {"description": "The file is a document.", "content": {NDJSON: {}, EVENT_STREAM: {}}},
    },
)
async def upload_document(http: Request, token: Token, accept: Annotated[str, Header()] = "*/*") -> Response:
    """Add the file of a form (its part `file`) to what the subject of the token alone can read.

    A file with the same name replaces the earlier upload. The response comes once the file can be found; to clients
    that accept lines of JSON or server-sent events, each step before that is an event of type progress.
    """
    results = add_upload(http, token)
    if EVENT_STREAM in accept or NDJSON in accept:
        stream_format = StreamFormat(EVENT_STREAM if EVENT_STREAM in accept else NDJSON)
        return await open_stream(list_upload_events(results, http.app.state.clock), stream_format)
    async with aclosing(results):
        async for result in results:
            if isinstance(result, UploadResult):
                body = UploadBody.of(result).model_dump(mode="json")
                return JSONResponse(body, status_code=201 if result.changed else 200)
    raise StoreError("The upload ended without a result.")


@router.get("/documents/{key:path}")
async def get_document(
    http: Request, token: Token, key: DocumentKey, offset: Offset = 0, limit: Limit = 50
) -> DocumentBody:
    """Get a document with its passages and their locators."""
    found = await get_result(http, token, GetDocument(key, offset, limit), DocumentResult)
    passages = [PassageItem.of(passage) for passage in found.passages]
    item = DocumentItem.of(found.document)
    return DocumentBody(document=item, passages=passages, total=found.document.passages, why=found.why)


@router.delete(
    "/documents/{key:path}",
    status_code=204,
    responses={
        200: {"description": "What would go, or the receipt.", "model": ErasureBody},
        204: {"headers": {RECEIPT_HEADER: {"description": "The id of the receipt.", "schema": {"type": "string"}}}},
    },
)
async def forget_document(
    http: Request, token: Token, key: DocumentKey, *, dry_run: bool = False, receipt: bool = False
) -> Response:
    """Forget a document that belongs to the subject of the token, by its key, title, link or path.

    Answers that used it are redacted. Several documents with the title are a conflict (409). `dry_run`: only say what
    would go. `receipt`: respond with the signed receipt instead of its id.
    """
    done = await get_result(http, token, Forget(key, dry_run=dry_run), Completed)
    if isinstance(done, ErasureRehearsal):
        body = ErasureBody(counts=dict(done.counts), questions=list(done.questions))
        return JSONResponse(body.model_dump(mode="json"))
    found = done.receipt if isinstance(done, Forgotten) else {}
    if receipt and found:
        body = ErasureBody(counts=found["counts"], receipt=dict(found))
        return JSONResponse(body.model_dump(mode="json"))
    return Response(status_code=204, headers={RECEIPT_HEADER: found["id"]} if found else None)


@router.get("/my-data.jsonl", response_class=Response, responses={200: {"content": {NDJSON: {}}}})
async def export_my_data(http: Request, token: Token) -> Response:
    """Export what is stored about the person of the token, one record a line."""
    return await build_download(perform(http, token, ExportMyData()))


async def build_download(
    results: AsyncGenerator[OperationResult], name: str = "my-data.jsonl", media_type: str = NDJSON
) -> Response:
    """The lines of an export as a file to be kept."""
    async with aclosing(results):
        lines = [f"{result.text}\n" async for result in results if isinstance(result, ExportLine)]
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response("".join(lines), media_type=media_type, headers=headers)


async def list_upload_events(
    results: AsyncGenerator[OperationResult], clock: Clock
) -> AsyncGenerator[dict[str, object]]:
    """The progress of an upload, also in words, and its end."""
    time = RemainingTime()
    async with aclosing(results):
        async for result in results:
            if isinstance(result, ProgressUpdate):
                yield {
                    "type": "progress",
                    "stage": result.stage,
                    "done": result.done,
                    "total": result.total,
                    "trouble": result.trouble,
                    "text": _describe(result, time, clock),
                }
            elif isinstance(result, UploadResult):
                yield {"type": "end", **UploadBody.of(result).model_dump(mode="json")}


def _describe(update: ProgressUpdate, time: RemainingTime, clock: Clock) -> str:
    """What is done, and about how long it takes."""
    line = describe_progress(update.stage, update.done, update.total)
    seconds = time.estimate(update.stage, update.left or update.total - update.done, clock.monotonic())
    return f"{line}, {describe_time(seconds)}" if seconds is not None else line
