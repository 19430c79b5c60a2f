"""Which place a channel's id means: threads are remembered, for the library forgets those that were archived."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import discord

from adapters.common.lru import LRUDict
from adapters.discord.api.calls import UNKNOWN_CHANNEL, UNKNOWN_GUILD, UnknownResource, call_with_retries
from adapters.discord.translate import NAME, location_of
from bot.errors import ChannelGone, PermissionDenied, PlatformError, PlatformUnavailable, WorkspaceGone
from bot.platform.models import Location

if TYPE_CHECKING:
    from adapters.discord.translate import AnyChannel


FetchedChannel: TypeAlias = discord.abc.GuildChannel | discord.Thread | discord.abc.PrivateChannel


class ChannelLookup:
    """What is known of channels and threads."""

    def __init__(self, client: discord.Client) -> None:
        self._client = client
        self._threads: LRUDict[int, Location] = LRUDict()

    def remember_channel(self, channel: AnyChannel) -> Location:
        """Remember a thread; gives the place of any channel."""
        location = location_of(channel)
        if isinstance(channel, discord.Thread):
            self._threads[channel.id] = location
        return location

    def remember_thread(self, thread: int, location: Location) -> None:
        """The place of a thread that may not be known otherwise."""
        self._threads[thread] = location

    def get_cached_location(self, guild: int | None, channel: int) -> Location | None:
        """The place of a channel or thread, as far as it is known without asking."""
        if guild is None:
            return Location(NAME, "", str(channel))
        found = self._client.get_channel(channel)
        return self.remember_channel(found) if found is not None else self._threads.get(channel)

    async def resolve_location(self, guild: int | None, channel: int) -> Location:
        """The place of a channel or thread; an archived thread that was never seen is asked for."""
        if cached := self.get_cached_location(guild, channel):
            return cached
        try:
            return self.remember_channel(await self.fetch_channel(channel))
        except (UnknownResource, PermissionDenied):
            return Location(NAME, str(guild or ""), str(channel))

    async def resolve_thread_id(self, location: Location) -> int:
        """The id of the thread of a place. Raises Missing if none was begun yet."""
        thread = int(location.thread)
        if self.get_cached_location(int(location.workspace), thread) is None:
            self.remember_channel(await self.fetch_channel(thread))
        return thread

    async def get_channel(self, location: Location) -> FetchedChannel:
        """The channel of a place. Raises ChannelGone, WorkspaceGone, and what `fetched` raises."""
        if cached := self._client.get_channel(int(location.channel)):
            return cached
        await self.check_membership(location)
        try:
            return await self.fetch_channel(int(location.channel))
        except UnknownResource as error:
            if location.workspace and error.code == UNKNOWN_CHANNEL:
                raise ChannelGone("The channel was deleted.") from None
            raise

    async def check_membership(self, location: Location) -> None:
        """Check that the bot is in the server of a place. Raises WorkspaceGone, PlatformError."""
        if not location.workspace:
            return
        if (cached := self._client.get_guild(int(location.workspace))) is not None:
            check_available(cached)
            return
        try:
            await call_with_retries("to look at a server", lambda: self._client.fetch_guild(int(location.workspace)))
        except UnknownResource as error:
            if error.code == UNKNOWN_GUILD:
                raise WorkspaceGone("The bot is not in this server.") from None
            raise
        raise PlatformUnavailable("This server is not known yet.")

    async def fetch_channel(self, channel: int) -> FetchedChannel:
        """A channel, asked for. Raises Missing, Withheld, PlatformError."""
        try:
            return await call_with_retries("to look at a channel", lambda: self._client.fetch_channel(channel))
        except discord.InvalidData as error:
            raise PlatformError("Discord told of a channel of an unknown kind.") from error

    def forget_thread(self, thread: int) -> None:
        """Forget a thread."""
        self._threads.pop(thread, None)

    @property
    def me(self) -> discord.ClientUser:
        """The bot. It is known once it is logged in."""
        if self._client.user is None:
            raise PlatformUnavailable("The bot is not connected yet.")
        return self._client.user

    def get_partial_channel(self, location: Location, channel: int) -> discord.PartialMessageable:
        """The messages of a channel or thread, whether it is known or not."""
        return self._client.get_partial_messageable(
            channel, guild_id=int(location.workspace) if location.workspace else None
        )

    def channel_of_message(self, location: Location, message: str) -> int:
        """The id of the channel in which a message stands: the first one of a thread stands outside, save in a forum.

        Here `place` is where it is answered or indexed, which may be a thread that begins with it.
        """
        if not location.thread:
            return int(location.channel)
        first_outside = location.thread == message and not self.is_forum(location)
        return int(location.channel if first_outside else location.thread)

    def is_forum(self, location: Location) -> bool:
        """Whether its channel consists of posts."""
        return isinstance(self._client.get_channel(int(location.channel)), discord.ForumChannel)


def check_available(guild: discord.Guild) -> None:
    """Raises PlatformError of a server that is out of order: nothing that is said of it then counts."""
    if guild.unavailable:
        raise PlatformUnavailable("This server is not available now.")
