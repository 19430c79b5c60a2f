"""A manager outside of the chat: who they are, and which channels they may look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.commands.context import PersonAtPlace
from bot.errors import PermissionDenied
from bot.platform.models import Location
from engine.errors import NotFound

if TYPE_CHECKING:
    from bot.commands.context import BotServices
    from bot.store import Subject

UNKNOWN_CHANNEL = "There is no channel with this id that you can read."


@dataclass(frozen=True, slots=True)
class Manager:
    """A person who manages their workspace, or reviews answers in its channels."""

    services: BotServices
    subject: Subject

    def stand(self, location: Location | None = None) -> PersonAtPlace:
        """The manager in a channel, or outside of all."""
        subject, now = self.subject, self.services.context.clock.now()
        place = location or Location(subject.platform, subject.workspace, "")
        return PersonAtPlace(self.services, place, subject.person, now)

    async def open_channel(self, room: str) -> PersonAtPlace:
        """The manager in a channel of their workspace. Raises NotFound unless they can read it now."""
        location = Location.from_room(room)
        is_own = (location.platform, location.workspace) == (self.subject.platform, self.subject.workspace)
        if is_own and location.channel and await self.services.context.store.channels.get_name(location.room):
            call = self.stand(location)
            try:
                channel = await self.services.context.audience.get_channel(location)
            except PermissionDenied:
                channel = None
            if channel is not None and channel.kind != "direct" and await call.can_read(location.room):
                return call
        raise NotFound(UNKNOWN_CHANNEL, hint="The list of channels shows their ids.")
