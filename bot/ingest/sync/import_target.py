"""Where an import puts the documents of a channel: as its platform says, or where the person who imports says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import PlatformError
from bot.permissions.audience import home_space, parse_workspace_space
from engine import Scope
from engine.scheduling.processes import has_others

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.context import BotContext
    from bot.permissions.import_destination import ImportDestination
    from bot.platform.history_source import SourcePlatform
    from bot.platform.models import Channel, Location
    from bot.platform.ports import Platform

NO_READERS = "closed channels that --channel-map does not name"
NOT_CLOSED = "channels whose channel of --channel-map is not a private one that I can look up"
WAS_CLOSED = "channels that an earlier import kept closed"


class ImportTarget:
    """The spaces of an import. `context` and `source` belong to it; `platforms` are those that are attached now."""

    def __init__(
        self,
        context: BotContext,
        platforms: Mapping[str, Platform],
        source: SourcePlatform,
        destination: ImportDestination | None,
    ) -> None:
        self._context = context
        self._platforms = platforms
        self._source = source
        self._destination = destination

    async def prepare(self, channel: Channel) -> str:
        """Decide the space of a channel, if a person says where it is read; why it is left out, else ""."""
        if self._destination is None:
            return ""
        space, room = self._destination.find_home(channel), channel.location.room
        if not space:
            return NO_READERS
        if parse_workspace_space(space) and not await self._was_open(room):
            return WAS_CLOSED
        target = self._destination.find_channel(channel)
        if target is not None and not await self._is_closed(target):
            return NOT_CLOSED
        self._source.spaces[room] = space
        return ""

    async def settle_space(self, location: Location) -> str:
        """Move what is known of a channel to its space, never from a narrower one to a wider one; returns the space.

        The caller holds the lock of the room, or an older look-up could undo what a change of the audience did.
        """
        room, engine = location.room, self._context.engine_context.engine
        if room not in self._source.spaces and (
            room in await self._list_spaces(room) or await self._is_elsewhere(room)
        ):
            self._source.closed_rooms.add(room)
        await self._context.store.imported_spaces.set(room, self._source.spaces.get(room, ""))
        self._context.audience.invalidate(location)
        home = home_space(await self._context.audience.get_channel(location))
        await self._context.store.unread_files.move_room(room, home)
        await engine.documents.move_room(room, home)
        return home

    async def _list_spaces(self, room: str) -> set[str]:
        """The spaces of what is known of a room."""
        known = await self._context.engine_context.engine.documents.list(Scope(frozenset(), frozenset({room})))
        return {channel.space for channel in known}

    async def _was_open(self, room: str) -> bool:
        """Whether everything that is known of a room is in a space of a workspace."""
        return all(parse_workspace_space(space) for space in await self._list_spaces(room))

    async def _is_closed(self, target: Location) -> bool:
        """Whether only its members can read a channel, as far as can be known: without a connection it stays unread."""
        platform = self._platforms.get(target.platform)
        if platform is None:
            return True
        try:
            found = await platform.fetch_channel(target)
        except (PlatformError, ValueError):  # the latter: an id that the platform cannot have
            return False
        return found.kind == "closed" and not found.shared

    async def _is_elsewhere(self, room: str) -> bool:
        """Whether other processes work on the data, and the bot is not in the channel: its audience is unknown here."""
        processes = self._context.engine_context.engine.processes
        return await has_others(processes) and not await self._context.store.channels.is_announced(room)
