"""The pages of documents: a table with their state, uploads, and one document with its passages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import StreamingResponse  # noqa: TC002  - read at run time
from pydantic import BaseModel, Field

from adapters.web.operations import Access, get_result, perform
from adapters.web.pages.session import PageAccess, get_space, get_viewer
from adapters.web.pages.shell import NavigationEntry, render_page, render_part
from adapters.web.routes.documents import build_download, list_upload_events
from adapters.web.streams import NDJSON, StreamFormat, open_stream
from adapters.web.uploads import add_upload
from bot.capabilities.documents.requests import DocumentResult, GetDocument
from bot.capabilities.erasure.words import say_receipt
from bot.capabilities.maintenance.requests import MyData
from bot.capabilities.readers.requests import FindReaders, ReadersFound
from bot.capabilities.requests import ExportMyData, Forget, ForgetMe, GetMyData, ListDocuments, ListedStatus, RememberMe
from bot.capabilities.results import Completed, DocumentList, Erased, ErasureRehearsal, Forgotten
from bot.texts.overviews.readers import describe_own_readers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine import DocumentInfo

router = APIRouter(include_in_schema=False)

ENTRY = NavigationEntry("/documents", "Documents", "documents", "read")
PAGE_SIZE, LIST_SIZE = 50, 20  # passages, documents
SORTS = {"newest": "Newest first", "oldest": "Oldest first", "title": "By title", "length": "Longest first"}
STATES = {
    "pending": ("Waiting", "", "It was stored and is found by its words; it is not found by its meaning yet."),
    "searchable": ("Searchable", "warn", "Questions find it; its names and relations are still being read."),
    "indexed": ("Indexed", "good", "All of it is searchable, and in the graph."),
    "failed": ("Failed", "bad", "It could not be indexed completely."),
}
Offset = Annotated[int, Query(ge=0, le=10**9)]
Key = Annotated[str, Query(min_length=1, max_length=2000)]
OptionalKey = Annotated[str, Query(max_length=2000)]


class Chosen(BaseModel):
    """Which documents are listed, as in the address of the page."""

    search: Annotated[str, Field(max_length=200)] = ""
    status: ListedStatus = ""
    place: Annotated[str, Field(max_length=2000)] = ""
    sort: Literal["newest", "oldest", "title", "length"] = "newest"
    offset: Annotated[int, Field(ge=0, le=10**9)] = 0


@router.get("/documents")
async def show_documents(http: Request, access: PageAccess, chosen: Annotated[Chosen, Query()]) -> Response:
    """Show the documents that the visitor can read."""
    return await render_page(http, access, "documents.html", **await _list_documents(http, access, chosen))


@router.get("/documents/list")
async def show_list(http: Request, access: PageAccess, chosen: Annotated[Chosen, Query()]) -> Response:
    """Show the table alone."""
    return render_part("parts/documents.html", **await _list_documents(http, access, chosen))


@router.get("/documents/item")
async def show_document(
    http: Request, access: PageAccess, key: Key, offset: Offset = 0, passage: OptionalKey = ""
) -> Response:
    """Show a document with its passages: those from a number on, or the page that has one of them."""
    found = await get_result(http, access, GetDocument(key, offset, PAGE_SIZE, passage), DocumentResult)
    if not found.passages and (last := find_last_page(found.document.passages, PAGE_SIZE)) < found.offset:
        found = await get_result(http, access, GetDocument(key, last, PAGE_SIZE), DocumentResult)
    values: dict[str, Any] = {
        "document": found.document,
        "passages": found.passages,
        "states": STATES,
        "offset": found.offset,
        "why": found.why,
        "sought": passage,
        "size": PAGE_SIZE,
        "owned": await _find_owned(http, access, [found.document]),
    }
    return await render_page(http, access, "document.html", **values)


@router.get("/documents/readers")
async def show_readers(http: Request, access: PageAccess, key: Key) -> Response:
    """Say who can find a document."""
    found = await get_result(http, access, FindReaders(key), ReadersFound)
    return render_part("parts/improved.html", lines=[found.text])


@router.post("/documents/upload")
async def upload_document(http: Request, access: PageAccess) -> StreamingResponse:
    """Add a file, and stream each step as lines of JSON."""
    return await open_stream(list_upload_events(add_upload(http, access), http.app.state.clock), StreamFormat(NDJSON))


@router.get("/documents/forget")
async def rehearse_forget(
    http: Request,
    access: PageAccess,
    key: Key,
    title: OptionalKey = "",
    target: Literal["#documents", "#document"] = "#documents",
) -> Response:
    """Say what goes with a document, with a button that has it forgotten."""
    would = await get_result(http, access, Forget(key, dry_run=True), ErasureRehearsal)
    asked = f"Forget “{title or key}”? It is removed for good, with what was answered from it."
    return _render_dialog(asked, would, {"address": "/documents/forget", "target": target, "key": key, "title": title})


def _render_dialog(asked: str, would: ErasureRehearsal, values: dict[str, Any]) -> Response:
    return render_part("parts/forget.html", asked=asked, rehearsal=would.text, label="Forget it", **values)


@router.post("/documents/forget")
async def forget_document(
    http: Request,
    access: PageAccess,
    key: Annotated[str, Form(min_length=1, max_length=2000)],
    title: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """Forget a document, and show the table without it."""
    done = await get_result(http, access, Forget(key), Forgotten)
    values = await _list_documents(http, access, Chosen())
    told = f"“{title or key}” is forgotten. {say_receipt(done.receipt)}".strip()
    return render_part("parts/documents.html", **{**values, "done": told})


@router.get("/documents/my-data")
async def show_my_data(http: Request, access: PageAccess) -> Response:
    """Show how much is stored about the visitor."""
    found = await get_result(http, access, GetMyData(), MyData)
    return await render_page(http, access, "my_data.html", data=found, counts=dict(found.records))


@router.get("/documents/my-data.jsonl")
async def download_my_data(http: Request, access: PageAccess) -> Response:
    """Give the visitor what is stored about them, one record a line."""
    return await build_download(perform(http, access, ExportMyData()))


@router.get("/documents/forget-me")
async def rehearse_forget_me(http: Request, access: PageAccess) -> Response:
    """Say what goes with the visitor, with a button that has it forgotten."""
    would = await get_result(http, access, ForgetMe(dry_run=True), ErasureRehearsal)
    asked = "Forget everything that you wrote, shared and asked? It cannot be undone."
    return _render_dialog(asked, would, {"address": "/documents/forget-me", "target": "#documents", "key": ""})


@router.post("/documents/forget-me")
async def forget_me(http: Request, access: PageAccess) -> Response:
    """Forget what the visitor wrote, shared and asked, and show the table without it."""
    return await _change_own(http, access, ForgetMe())


@router.post("/documents/remember-me")
async def remember_me(http: Request, access: PageAccess) -> Response:
    """Read what the visitor writes from now on."""
    return await _change_own(http, access, RememberMe())


async def _change_own(http: Request, access: Access, request: ForgetMe | RememberMe) -> Response:
    done = await get_result(http, access, request, Completed)
    values = await _list_documents(http, access, Chosen())
    receipt = say_receipt(done.receipt) if isinstance(done, Erased) else ""
    return render_part("parts/documents.html", **{**values, "done": f"{done.text} {receipt}".strip()})


async def _list_documents(http: Request, access: Access, chosen: Chosen) -> dict[str, Any]:
    """What the table shows."""
    request = ListDocuments(
        chosen.search, chosen.status, chosen.offset, LIST_SIZE, place=chosen.place, sort=chosen.sort
    )
    found = await get_result(http, access, request, DocumentList)
    if not found.documents and (last := find_last_page(found.total, LIST_SIZE)) < chosen.offset:
        return await _list_documents(http, access, chosen.model_copy(update={"offset": last}))
    page = found.documents
    return {
        "documents": page,
        "located": found.located,
        "places": found.places,
        "sorts": SORTS,
        "chosen": chosen,
        "query": urlencode(chosen.model_dump(exclude={"offset"})),
        "total": found.total,
        "unread_files": found.unread_files,
        "known": found.known,
        "offset": chosen.offset,
        "size": LIST_SIZE,
        "states": STATES,
        "is_working": any(message.status in {"pending", "searchable"} for message in page),
        "owned": await _find_owned(http, access, page),
        "is_space": bool(await get_space(http, access)),
        "can_upload": "write" in (await get_viewer(http, access)).permissions,
        "readers": describe_own_readers(is_space=bool(await get_space(http, access))),
        "done": "",
    }


def find_last_page(total: int, size: int) -> int:
    """The number of the first item of the last page, counted from 0."""
    return max(total - 1, 0) // size * size


async def _find_owned(http: Request, access: Access, documents: Sequence[DocumentInfo]) -> frozenset[str]:
    """The keys of those that the visitor can surely forget: their own ones, or all if they manage the workspace.

    Authors of what was posted in a channel forget it by name, in the chat or over HTTP.
    """
    permissions = (await get_viewer(http, access)).permissions
    if "write" not in permissions:
        return frozenset()
    space = await get_space(http, access)
    if not space and "manage" in permissions:
        return frozenset(document.key for document in documents)
    return frozenset(
        document.key for document in documents if (document.space == space if space else ":dm:" in document.space)
    )
