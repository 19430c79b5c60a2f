"""Look up channels and threads by id; remembers threads, since the library drops archived ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import discord

from adapters.common.bounded_dict import BoundedDict
from adapters.discord.calls import UNKNOWN_CHANNEL, UNKNOWN_GUILD, UnknownResource, call_with_retries
from adapters.discord.translate import NAME, location_of
from bot.errors import ChannelGone, PermissionDenied, PlatformError, PlatformUnavailable, WorkspaceGone
from bot.platform.models import Location

if TYPE_CHECKING:
    from adapters.discord.translate import AnyChannel


FetchedChannel: TypeAlias = discord.abc.GuildChannel | discord.Thread | discord.abc.PrivateChannel


class ChannelLookup:
    """Looks up channels and their locations."""

    def __init__(self, client: discord.Client) -> None:
        self._client = client
        self._threads: BoundedDict[int, Location] = BoundedDict()

    def remember_channel(self, channel: AnyChannel) -> Location:
        """Convert a channel to its location; threads are remembered."""
        location = location_of(channel)
        if isinstance(channel, discord.Thread):
            self._threads[channel.id] = location
        return location

    def remember_thread(self, thread: int, location: Location) -> None:
        """Remember the location of a thread that the library may not have cached."""
        self._threads[thread] = location

    def get_cached_location(self, guild: int | None, channel: int) -> Location | None:
        """The location of a channel or thread without an API call; None if unknown."""
        if guild is None:
            return Location(NAME, "", str(channel))
        found = self._client.get_channel(channel)
        return self.remember_channel(found) if found is not None else self._threads.get(channel)

    async def resolve_location(self, guild: int | None, channel: int) -> Location:
        """The location of a channel or thread; fetches it if it is not cached (archived threads)."""
        if cached := self.get_cached_location(guild, channel):
            return cached
        try:
            return self.remember_channel(await self.fetch_channel(channel))
        except (UnknownResource, PermissionDenied):
            return Location(NAME, str(guild or ""), str(channel))

    async def resolve_thread_id(self, location: Location) -> int:
        """The id of a location's thread. Raises UnknownResource if the thread does not exist."""
        thread = int(location.thread)
        if self.get_cached_location(int(location.workspace), thread) is None:
            self.remember_channel(await self.fetch_channel(thread))
        return thread

    async def get_channel(self, location: Location) -> FetchedChannel:
        """Get the channel of a location. Raises ChannelGone, WorkspaceGone, and the errors of `fetch_channel`."""
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
        """Check that the bot is in the guild of a location. Raises WorkspaceGone, PlatformError."""
        if not location.workspace:
            return
        if (cached := self._client.get_guild(int(location.workspace))) is not None:
            check_available(cached)
            return
        try:
            await call_with_retries("to fetch a server", lambda: self._client.fetch_guild(int(location.workspace)))
        except UnknownResource as error:
            if error.code == UNKNOWN_GUILD:
                raise WorkspaceGone("The bot is not in this server.") from None
            raise
        raise PlatformUnavailable("This server is not loaded yet.")

    async def fetch_channel(self, channel: int) -> FetchedChannel:
        """Fetch a channel. Raises UnknownResource, PermissionDenied, PlatformError."""
        try:
            return await call_with_retries("to fetch a channel", lambda: self._client.fetch_channel(channel))
        except discord.InvalidData as error:
            raise PlatformError("Discord sent a channel of an unknown kind.") from error

    async def open_direct(self, person: str) -> Location:
        """Open the direct messages of a person, which belong to no server. Raises PlatformError."""
        user = await call_with_retries("to fetch a user", lambda: self._client.fetch_user(int(person)))
        return location_of(await call_with_retries("to open direct messages", user.create_dm))

    def forget_thread(self, thread: int) -> None:
        """Drop what is known of a thread that was deleted."""
        self._threads.pop(thread, None)

    @property
    def me(self) -> discord.ClientUser:
        """The bot's user. Raises PlatformUnavailable before the login."""
        if self._client.user is None:
            raise PlatformUnavailable("The bot is not connected yet.")
        return self._client.user

    def get_partial_channel(self, location: Location, channel: int) -> discord.PartialMessageable:
        """Get a channel or thread as a handle for its messages, without fetching it."""
        return self._client.get_partial_messageable(
            channel, guild_id=int(location.workspace) if location.workspace else None
        )

    def channel_of_message(self, location: Location, message: str) -> int:
        """The id of the channel that contains a message: a thread's first message is outside of it, except in a forum.

        `location` is where the message is answered or indexed, which may be the thread that starts from it.
        """
        if not location.thread:
            return int(location.channel)
        first_outside = location.thread == message and not self.is_forum(location)
        return int(location.channel if first_outside else location.thread)

    def is_forum(self, location: Location) -> bool:
        """Whether a location's channel is a forum."""
        return isinstance(self._client.get_channel(int(location.channel)), discord.ForumChannel)


def check_available(guild: discord.Guild) -> None:
    """Raise PlatformUnavailable during an outage of a guild, when its cached data is not reliable."""
    if guild.unavailable:
        raise PlatformUnavailable("This server is not available now.")
