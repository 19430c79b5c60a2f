"""The page of decisions and tasks: who decided what, until when, where it was said, and what replaced it."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from adapters.web.operations import Access, get_result, perform
from adapters.web.pages.session import PageAccess  # noqa: TC001  - read at run time
from adapters.web.pages.shell import NavigationEntry, render_page
from bot.capabilities.decisions.requests import DecisionList, DecisionState, EntryName, ListDecisions
from bot.capabilities.requests import ListFilterNames
from bot.capabilities.results import ExportLine, FilterNames
from engine.errors import InvalidQuestion

router = APIRouter(include_in_schema=False)

ENTRY = NavigationEntry("/decisions", "Decisions", "decisions", "read")
STATES: dict[DecisionState, str] = {"": "All", "open": "Open", "replaced": "Replaced"}
KINDS: dict[EntryName, str] = {"": "All", "decision": "Decisions", "task": "Tasks"}
MAX_ROWS = 1000


class DecisionForm(BaseModel):
    """The fields of the form, as they are in the address of the page."""

    channel: Annotated[str, Field(max_length=80)] = ""
    person: Annotated[str, Field(max_length=80)] = ""
    since: Annotated[str, Field(max_length=40)] = ""
    until: Annotated[str, Field(max_length=40)] = ""
    state: DecisionState = ""
    kind: EntryName = ""

    def to_request(self, *, as_csv: bool = False) -> ListDecisions:
        """The request of the whole list."""
        return ListDecisions(
            self.channel, self.person, self.since, self.until, self.state, self.kind, MAX_ROWS, as_csv=as_csv
        )


@router.get("/decisions")
async def show_decisions(http: Request, access: PageAccess, form: Annotated[DecisionForm, Query()]) -> Response:
    """Show the decisions and tasks of what the visitor can read."""
    names = await get_result(http, access, ListFilterNames(), FilterNames)
    values = await _list_decisions(http, access, form)
    return await render_page(http, access, "decisions.html", names=names, states=STATES, kinds=KINDS, **values)


@router.get("/decisions.csv")
async def download_decisions(http: Request, access: PageAccess, form: Annotated[DecisionForm, Query()]) -> Response:
    """Give the visitor the list as a spreadsheet."""
    results = perform(http, access, form.to_request(as_csv=True))
    lines = [result.text async for result in results if isinstance(result, ExportLine)]
    headers = {"content-disposition": 'attachment; filename="decisions.csv"', "cache-control": "no-store"}
    return Response("\r\n".join([*lines, ""]), media_type="text/csv; charset=utf-8", headers=headers)


async def _list_decisions(http: Request, access: Access, form: DecisionForm) -> dict[str, Any]:
    """What is found, or the problem of a filter; each row by the names of its columns."""
    query = urlencode({name: value for name, value in form.model_dump().items() if value})
    shown: dict[str, Any] = {"fields": form, "query": query, "problem": None, "entries": [], "complete_since": ""}
    try:
        found = await get_result(http, access, form.to_request(), DecisionList)
    except InvalidQuestion as error:
        return {**shown, "problem": error}
    columns = [name.replace(" ", "_") for name in found.columns]
    entries = [dict(zip(columns, row, strict=True)) for row in found.rows]
    return {**shown, "entries": entries, "complete_since": found.complete_since}
