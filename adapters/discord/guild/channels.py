"""Which place a channel's id means: threads are remembered, for the library forgets those that were archived."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import discord

from adapters.common.lru import Latest
from adapters.discord.api.calls import UNKNOWN_CHANNEL, UNKNOWN_GUILD, Missing, patiently
from adapters.discord.translate import NAME, place_of
from bot.errors import NotThere, PlatformError, PlatformUnavailable, PutOut, Withheld
from bot.platform.models import Place

if TYPE_CHECKING:
    from adapters.discord.translate import Channel


Told: TypeAlias = discord.abc.GuildChannel | discord.Thread | discord.abc.PrivateChannel


class Whereabouts:
    """What is known of channels and threads."""

    def __init__(self, client: discord.Client) -> None:
        self._client = client
        self._threads: Latest[int, Place] = Latest()

    def note(self, channel: Channel) -> Place:
        """Remember a thread; gives the place of any channel."""
        place = place_of(channel)
        if isinstance(channel, discord.Thread):
            self._threads[channel.id] = place
        return place

    def remember(self, thread: int, place: Place) -> None:
        """The place of a thread that may not be known otherwise."""
        self._threads[thread] = place

    def known(self, guild: int | None, channel: int) -> Place | None:
        """The place of a channel or thread, as far as it is known without asking."""
        if guild is None:
            return Place(NAME, "", str(channel))
        found = self._client.get_channel(channel)
        return self.note(found) if found is not None else self._threads.get(channel)

    async def place(self, guild: int | None, channel: int) -> Place:
        """The place of a channel or thread; an archived thread that was never seen is asked for."""
        if known := self.known(guild, channel):
            return known
        try:
            return self.note(await self.fetched(channel))
        except (Missing, Withheld):
            return Place(NAME, str(guild or ""), str(channel))

    async def thread(self, place: Place) -> int:
        """The id of the thread of a place. Raises Missing if none was begun yet."""
        thread = int(place.thread)
        if self.known(int(place.workspace), thread) is None:
            self.note(await self.fetched(thread))
        return thread

    async def found(self, place: Place) -> Told:
        """The channel of a place. Raises NotThere, PutOut, and what `fetched` raises."""
        if known := self._client.get_channel(int(place.channel)):
            return known
        await self.inside(place)
        try:
            return await self.fetched(int(place.channel))
        except Missing as error:
            if place.workspace and error.code == UNKNOWN_CHANNEL:
                raise NotThere("The channel was deleted.") from None
            raise

    async def inside(self, place: Place) -> None:
        """Make sure that the bot is in the server of a place, and that it is there. Raises PutOut, PlatformError."""
        if not place.workspace:
            return
        if (known := self._client.get_guild(int(place.workspace))) is not None:
            available(known)
            return
        try:
            await patiently("to look at a server", lambda: self._client.fetch_guild(int(place.workspace)))
        except Missing as error:
            if error.code == UNKNOWN_GUILD:
                raise PutOut("The bot is not in this server.") from None
            raise
        raise PlatformUnavailable("This server is not known yet.")

    async def fetched(self, channel: int) -> Told:
        """A channel, asked for. Raises Missing, Withheld, PlatformError."""
        try:
            return await patiently("to look at a channel", lambda: self._client.fetch_channel(channel))
        except discord.InvalidData as error:
            raise PlatformError("Discord told of a channel of an unknown kind.") from error

    def deleted(self, thread: int) -> None:
        """Forget a thread."""
        self._threads.pop(thread, None)

    @property
    def me(self) -> discord.ClientUser:
        """The bot. It is known once it is logged in."""
        if self._client.user is None:
            raise PlatformUnavailable("The bot is not connected yet.")
        return self._client.user

    def messages(self, place: Place, channel: int) -> discord.PartialMessageable:
        """The messages of a channel or thread, whether it is known or not."""
        return self._client.get_partial_messageable(channel, guild_id=int(place.workspace) if place.workspace else None)

    def of_message(self, place: Place, message: str) -> int:
        """The id of the channel in which a message stands: the first one of a thread stands outside, save in a forum.

        Here `place` is where it is answered or indexed, which may be a thread that begins with it.
        """
        if not place.thread:
            return int(place.channel)
        first_outside = place.thread == message and not self.is_forum(place)
        return int(place.channel if first_outside else place.thread)

    def is_forum(self, place: Place) -> bool:
        """Whether its channel consists of posts."""
        return isinstance(self._client.get_channel(int(place.channel)), discord.ForumChannel)


def available(guild: discord.Guild) -> None:
    """Raises PlatformError of a server that is out of order: nothing that is said of it then counts."""
    if guild.unavailable:
        raise PlatformUnavailable("This server is not available now.")
