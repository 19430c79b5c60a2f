"""The pages of channels: which are read, and the settings of each."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Path, Request, Response

from adapters.web.operations import Access, get_result
from adapters.web.pages.management.plain_words import to_plain_lines
from adapters.web.pages.session import PageAccess, get_space
from adapters.web.pages.shell import NavigationEntry, render_page, render_part
from bot.capabilities.management.requests import BackfillChannel, ChangeChannel, GetChannel, ListChannels
from bot.capabilities.management.results import ChannelResult, WorkspaceChannels
from bot.capabilities.results import Completed

router = APIRouter(include_in_schema=False)

ENTRY = NavigationEntry("/channels", "Channels", "channels", "manage")
MAX_VALUE_LENGTH = 1000
MAX_DAYS = 3650
Room = Annotated[str, Path(min_length=1, max_length=300)]


@router.get("/channels")
async def show_channels(http: Request, access: PageAccess) -> Response:
    """Show the channels that the manager can read."""
    found = await get_result(http, access, ListChannels(), WorkspaceChannels)
    is_space = bool(await get_space(http, access))
    return await render_page(http, access, "channels.html", channels=found.channels, is_space=is_space)


@router.get("/channels/{room}")
async def show_channel(http: Request, access: PageAccess, room: Room) -> Response:
    """Show the settings of a channel."""
    found = await _get_channel(http, access, room)
    return await render_page(http, access, "channel.html", found=found, done=[])


@router.post("/channels/{room}")
async def change_channel(http: Request, access: PageAccess, room: Room) -> Response:
    """Save what was changed in a form, and show the settings as they are now."""
    form = await http.form()
    values = tuple((name, str(value)[:MAX_VALUE_LENGTH]) for name, value in form.items())
    done = await get_result(http, access, ChangeChannel(room, values), Completed)
    found = await _get_channel(http, access, room)
    return render_part("parts/channel.html", found=found, done=to_plain_lines(done.text))


@router.post("/channels/{room}/backfill")
async def backfill_channel(
    http: Request, access: PageAccess, room: Room, days: Annotated[int, Form(ge=1, le=MAX_DAYS)] = 30
) -> Response:
    """Read the history of a channel, and show it as it is now."""
    done = await get_result(http, access, BackfillChannel(room, days), Completed)
    found = await _get_channel(http, access, room)
    return render_part("parts/channel.html", found=found, done=to_plain_lines(done.text))


async def _get_channel(http: Request, access: Access, room: str) -> ChannelResult:
    return await get_result(http, access, GetChannel(room), ChannelResult)
