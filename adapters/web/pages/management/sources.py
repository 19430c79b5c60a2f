"""The page of sources outside of the chat: how far each is read, what was not, and what goes with it."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Form, Path, Request, Response

from adapters.web.operations import get_result, perform
from adapters.web.pages.session import PageAccess, get_space
from adapters.web.pages.shell import NavigationEntry, render_page, render_part
from bot.capabilities.management.requests import ListChannels
from bot.capabilities.management.results import WorkspaceChannels
from bot.capabilities.results import Completed, EstimateResult, Listing
from bot.capabilities.sources.requests import (
    AddSource,
    ListSources,
    ListUnreadItems,
    PauseSource,
    RemoveSource,
    SyncSource,
)
from bot.text.format import format_duration, round_figure

if TYPE_CHECKING:
    from adapters.web.operations import Access

router = APIRouter(include_in_schema=False)

ENTRY = NavigationEntry("/sources", "Sources", "link", "manage")
OPEN = "open"
Name = Annotated[str, Path(min_length=1, max_length=100)]
Address = Annotated[str, Form(min_length=1, max_length=2048)]
Channel = Annotated[str, Form(max_length=300)]
Confirmed = Annotated[bool, Form()]


@router.get("/sources")
async def show_sources(http: Request, access: PageAccess) -> Response:
    """Show the sources of what the manager reads, and where another one can be read for."""
    is_space = bool(await get_space(http, access))
    channels = () if is_space else (await get_result(http, access, ListChannels(), WorkspaceChannels)).channels
    rooms = [channel for channel in channels if channel.is_read]
    sources = await _list(http, access)
    return await render_page(http, access, "sources.html", sources=sources, rooms=rooms, is_space=is_space, done="")


@router.get("/sources/list")
async def show_list(http: Request, access: PageAccess) -> Response:
    """Show how far they are read now."""
    return await _render_list(http, access)


@router.post("/sources")
async def add_source(
    http: Request,
    access: PageAccess,
    address: Address,
    channel: Channel = "",
    confirmed: Confirmed = False,  # noqa: FBT002  - a field
) -> Response:
    """Say who will find how much, and what reading it costs; once that is confirmed, add the source."""
    request = AddSource(address.strip(), channel, confirmed=confirmed)
    said, cost = "", ""
    async with aclosing(perform(http, access, request)) as results:
        async for result in results:
            if isinstance(result, EstimateResult):
                cost = describe_cost(result)
            elif isinstance(result, Completed):
                said = result.text
                break
    if confirmed:
        return await _render_list(http, access, said)
    return render_part("parts/source_rehearsal.html", said=said, cost=cost, address=request.address, channel=channel)


@router.get("/sources/{name}/unread")
async def show_unread(http: Request, access: PageAccess, name: Name) -> Response:
    """Show what of a source was not read, and why."""
    found = await get_result(http, access, ListUnreadItems(name), Listing)
    return render_part("parts/source_unread.html", rows=found.rows)


@router.post("/sources/{name}/remove")
async def remove_source(
    http: Request,
    access: PageAccess,
    name: Name,
    confirmed: Confirmed = False,  # noqa: FBT002  - a field
) -> Response:
    """Say what goes with a source; once that is confirmed, remove it."""
    done = await get_result(http, access, RemoveSource(name, confirmed), Completed)
    if confirmed:
        return await _render_list(http, access, done.text)
    return render_part("parts/source_removal.html", said=done.text, name=name)


@router.post("/sources/{name}/sync")
async def sync_source(http: Request, access: PageAccess, name: Name) -> Response:
    """Have a source read now."""
    done = await get_result(http, access, SyncSource(name), Completed)
    return await _render_list(http, access, done.text)


@router.post("/sources/{name}/pause")
async def pause_source(http: Request, access: PageAccess, name: Name, paused: Annotated[bool, Form()]) -> Response:
    """Read a source no longer, or again."""
    done = await get_result(http, access, PauseSource(name, paused), Completed)
    return await _render_list(http, access, done.text)


def describe_cost(estimate: EstimateResult) -> str:
    """What reading a source takes, as a sentence. Pure."""
    if not estimate.model:
        return "No model reads it, so that costs nothing."
    price = "price unknown" if estimate.dollars is None else f"${estimate.dollars:,.2f}"
    tokens = f"{round_figure(estimate.tokens):,}"
    return f"{estimate.model} takes about {tokens} tokens ({price}) and {format_duration(estimate.seconds)} to read it."


async def _render_list(http: Request, access: Access, done: str = "") -> Response:
    return render_part("parts/sources_list.html", sources=await _list(http, access), done=done)


async def _list(http: Request, access: Access) -> list[dict[str, Any]]:
    """The sources, each by its columns."""
    found = await get_result(http, access, ListSources(), Listing)
    columns = [column.replace(" ", "_") for column in found.columns]
    return [dict(zip(columns, row, strict=True)) for row in found.rows]
