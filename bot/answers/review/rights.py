"""Who may verify answers in a channel: managers, and the experts of the channel."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from bot.permissions.managers import is_workspace_manager
from bot.permissions.provenance import can_read, provenance_of_room
from bot.platform.models import Location
from bot.texts.overviews.readers import explain_reading
from engine.errors import EngineError

if TYPE_CHECKING:
    from bot.context import BotContext
    from bot.permissions.resolver import AudienceResolver
    from bot.store import Expert


async def may_verify(context: BotContext, location: Location, person: str) -> bool:
    """Whether a person is a manager or an expert of a channel, and can read it now; False if that is unknown."""
    try:
        known = await context.audience.get_person_at(location, person)
        if not await can_read_room(context, location.room, location, person):
            return False
        return is_workspace_manager(known) or person in {
            expert.person for expert in await list_experts(context, location)
        }
    except EngineError:
        return False


async def is_manager(context: BotContext, location: Location, person: str) -> bool:
    """Whether a person manages the workspace of a location; False if that is unknown."""
    try:
        return is_workspace_manager(await context.audience.get_person_at(location, person))
    except EngineError:
        return False


async def list_experts(context: BotContext, location: Location) -> list[Expert]:
    """The experts of a channel: those named there, and those of channels that everyone there can read."""
    found = await context.store.experts.list_in_workspace(location.platform, location.workspace)
    rooms = {channel.location.room for channel in found}
    named = {room for room in rooms if room == location.room or await can_read_room(context, room, location)}
    return [channel for channel in found if channel.location.room in named]


async def can_read_room(context: BotContext, room: str, location: Location, person: str = "") -> bool:
    """Whether everyone in a location, or one person there, certainly can read a room."""
    return bool(await check_room(context, room, location, person))


async def explain_room(audience: AudienceResolver, room: str, location: Location, person: str) -> str:
    """Why a person in a location may read a room, in one sentence; empty if they may not, or that is unknown."""
    grant = await audience.find_grant(location, person, room)
    if grant is None:
        return ""
    name = ""
    with suppress(EngineError):
        name = "" if grant.rule == "own" else (await audience.get_channel_info(Location.from_room(room))).name
    return explain_reading(grant.rule, name)


async def check_room(context: BotContext, room: str, location: Location, person: str = "") -> bool | None:
    """Whether everyone in a location, or one person there, can read a room; None if that is unknown."""
    return await can_read(context.audience, provenance_of_room(room), location, person)
