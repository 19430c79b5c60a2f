"""A manager outside of the chat: who they are, and which channels they may look at."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.commands.context import PersonAtPlace
from bot.errors import PermissionDenied
from bot.platform.models import Location
from engine.errors import NotFound

if TYPE_CHECKING:
    from bot.commands.context import BotServices
    from bot.store import StoredAnswer, Subject

UNKNOWN_CHANNEL = "There is no channel with this id that you can read."


@dataclass(frozen=True, slots=True)
class Manager:
    """A person who manages channels of their workspace, or reviews answers there."""

    services: BotServices
    subject: Subject

    def stand(self, location: Location | None = None) -> PersonAtPlace:
        """The manager in a channel, or outside of all."""
        subject, now = self.subject, self.services.context.clock.now()
        place = location or Location(subject.platform, subject.workspace, "")
        return PersonAtPlace(self.services, place, subject.person, now)

    async def can_read_answer(self, stored: StoredAnswer) -> bool:
        """Whether the person certainly may read now all that an answer rests on."""
        return await self.stand().can_read_answer(stored)

    async def open_channel(self, room: str) -> PersonAtPlace:
        """The person in a channel of their workspace, or in their direct messages.

        Raises NotFound unless they can read it now.
        """
        location = Location.from_room(room)
        is_own = location.platform == self.subject.platform and location.workspace in {self.subject.workspace, ""}
        if is_own and location.channel and await self._is_known(location):
            call = self.stand(location)
            try:
                channel = await self.services.context.audience.get_channel(location)
            except PermissionDenied:
                channel = None
            if channel is not None and await call.can_read(location.room):
                return call
        raise NotFound(UNKNOWN_CHANNEL, hint="The list of channels shows their ids.")

    async def _is_known(self, location: Location) -> bool:
        """Whether a channel is one that the bot joined, or the person's direct messages with it."""
        context, subject = self.services.context, self.subject
        if await context.store.channels.get_name(location.room):
            return True
        with suppress(PermissionDenied):
            direct = await context.platform_for(location).open_direct(subject.workspace, subject.person)
            return direct.room == location.room
        return False
