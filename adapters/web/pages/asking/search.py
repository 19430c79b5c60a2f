"""The page that searches: passages with the words, filtered, each with a link to its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from adapters.web.operations import get_result
from adapters.web.pages.session import PageAccess  # noqa: TC001  - read at run time
from adapters.web.pages.shell import NavigationEntry, render_page, render_part
from bot import texts
from bot.capabilities.access.hints import list_as_of_notices
from bot.capabilities.asking.requests import Search, SearchResult
from bot.capabilities.requests import ListFilterNames
from bot.capabilities.results import FilterNames
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from adapters.web.operations import Access

router = APIRouter(include_in_schema=False)

ENTRY = NavigationEntry("/search", "Search", "search", "read")
PAGE_SIZE = 20
NOT_ALL = "There is more than one search looks through. More words or filters narrow it."
KINDS = {"conversation": "Messages", "file": "Files"}


class SearchForm(BaseModel):
    """The fields of the form, as they are in the address of the page."""

    q: Annotated[str, Field(max_length=500)] = ""
    channel: Annotated[str, Field(max_length=80)] = ""
    person: Annotated[str, Field(max_length=80)] = ""
    since: Annotated[str, Field(max_length=40)] = ""
    until: Annotated[str, Field(max_length=40)] = ""
    as_of: Annotated[str, Field(max_length=40)] = ""
    kind: Literal["", "conversation", "file"] = ""
    file: Annotated[str, Field(max_length=200)] = ""
    zone: Annotated[str, Field(max_length=64)] = ""
    offset: Annotated[int, Field(ge=0, le=10_000)] = 0

    @property
    def is_filled(self) -> bool:
        """Whether there is anything to search for."""
        return any(value.strip() for value in (self.q, self.channel, self.person, self.since, self.until, self.file))

    def to_request(self) -> Search:
        """The request of a page of results."""
        named = (self.q, self.channel, self.person, self.since, self.until)
        return Search(
            *named,
            type=self.kind,
            file=self.file,
            zone=self.zone,
            as_of=self.as_of,
            offset=self.offset,
            limit=PAGE_SIZE,
        )


@router.get("/search")
async def show_search(http: Request, access: PageAccess, form: Annotated[SearchForm, Query()]) -> Response:
    """Show the search and what it finds; to htmx only what it finds."""
    found = await _search(http, access, form)
    if http.headers.get("HX-Request"):
        return render_part("parts/search.html", **found)
    names = await get_result(http, access, ListFilterNames(), FilterNames)
    return await render_page(http, access, "search.html", names=names, kinds=KINDS, **found)


def _list_notices(found: SearchResult) -> list[str]:
    gap = [texts.GAP_NOTICES[found.gap]] if found.gap else []
    return [*list_as_of_notices(found.as_of), *gap, *([NOT_ALL] if found.is_truncated else [])]


async def _search(http: Request, access: Access, form: SearchForm) -> dict[str, Any]:
    """What is found, and the address of the search without its page."""
    shown: dict[str, Any] = {"found": None, "problem": None, "notices": []}
    if form.is_filled or form.kind:
        try:
            found = await get_result(http, access, form.to_request(), SearchResult)
            shown |= {"found": found, "notices": _list_notices(found)}
        except InvalidQuestion as error:
            shown["problem"] = error
    query = urlencode({name: value for name, value in form.model_dump(exclude={"offset"}).items() if value})
    return {**shown, "fields": form, "query": query, "offset": form.offset, "size": PAGE_SIZE}
