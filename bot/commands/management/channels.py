"""Channels of a workspace and their settings, for its managers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.management.results import ChannelEntry, ChannelResult, WorkspaceChannels
from bot.capabilities.results import Completed
from bot.commands.forms import settings as settings_form
from bot.commands.settings.fields import FORM_TITLES
from bot.errors import PlatformError
from bot.i18n import gettext
from bot.permissions.audience import named_rooms
from bot.platform.models import Location
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.capabilities.management.requests import ChangeChannel, GetChannel, ListChannels
    from bot.commands.context import PersonAtPlace
    from bot.commands.management.manager import Manager
    from engine import Scope


async def list_channels(manager: Manager, _: ListChannels) -> WorkspaceChannels:
    """The channels that the manager can read now."""
    call, store = manager.stand(), manager.services.context.store
    scope, subject = await call.resolve_scope(), manager.subject
    counts = await call.engine.documents.count_by_room(scope)
    names = await store.channels.list_names(subject.platform, subject.workspace)
    found = [await _describe(call, Location.from_room(room), name, scope, counts) for room, name in names]
    return WorkspaceChannels(tuple(channel for channel in found if channel is not None))


async def get_channel(manager: Manager, request: GetChannel) -> ChannelResult:
    """A channel with its settings, for those who manage it. Raises NotFound and NotAllowed."""
    call = await manager.open_channel(request.room)
    await call.require_manager(gettext("see or change settings"))
    return await describe_channel(call)


async def change_channel(manager: Manager, request: ChangeChannel) -> Completed:
    """Change settings as the form does. Raises NotFound and InvalidQuestion."""
    call = await manager.open_channel(request.room)
    values = dict(request.values)
    if errors := settings_form.find_errors(values):
        raise InvalidQuestion(" ".join(errors.values()))
    card = await settings_form.save_changes(call, values)
    return Completed(card.text)


async def describe_channel(call: PersonAtPlace) -> ChannelResult:
    """The channel of a command with its settings, as forms show them."""
    scope, location = await call.resolve_scope(), call.location
    name = await call.store.channels.get_name(location.room) or location.channel
    counts = await call.engine.documents.count_by_room(scope)
    entry = await _describe(call, location, name, scope, counts)
    groups = [(gettext(title), await settings_form.build_fields(call, group)) for group, title in FORM_TITLES.items()]
    return ChannelResult(
        entry or ChannelEntry(location.room, name, "closed", is_read=False, documents=0), tuple(groups)
    )


async def _describe(
    call: PersonAtPlace, location: Location, name: str, scope: Scope, counts: Mapping[str, int]
) -> ChannelEntry | None:
    """A channel, or None if it is not in scope or cannot be looked up."""
    context, room = call.services.context, location.room
    try:
        channel = await context.audience.get_channel_info(location)
        space = await context.audience.get_home_space(location)
    except PlatformError:
        return None
    if channel.kind == "direct" or not (space in scope.spaces or room in named_rooms(scope)):
        return None
    return ChannelEntry(
        room,
        name,
        channel.kind,
        (await context.get_channel_settings(room)).ingest and await context.store.channels.is_announced(room),
        counts.get(room, 0),
        await context.store.backfill_cursors.get_position(room) is not None,
    )
