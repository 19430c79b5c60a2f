"""Everything there is on the platform, and how it is found; what happens in it goes out through `emit`."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.support.discord_server.errors import ApiError
from tests.support.discord_server.ids import Clock, Snowflakes
from tests.support.discord_server.model import (
    Attachment,
    Channel,
    ChannelType,
    Guild,
    Interaction,
    Json,
    Member,
    Message,
    Ping,
    User,
)
from tests.support.discord_server.permissions import ALL, NOTHING, Permission, channel_permissions

if TYPE_CHECKING:
    from collections.abc import Iterator

Emit = Callable[..., None]

PRIVILEGED = {"members": 1 << 1, "presences": 1 << 8, "message_content": 1 << 15}
"""Intents that must be switched on in the developer portal."""

OFTEN = 0.05
"""Seconds between looks at what changes outside of the platform."""

DM_POWERS = ALL & ~(
    Permission.MANAGE_MESSAGES | Permission.MANAGE_CHANNELS | Permission.MANAGE_THREADS | Permission.ADMINISTRATOR
)


class World:
    """The records by id. `app` is the bot's user; its application bears the same id."""

    def __init__(self, token: str, privileged: frozenset[str]) -> None:
        self.clock = Clock()
        self.ids = Snowflakes(self.clock)
        self.token = token
        self.privileged = sum(PRIVILEGED[name] for name in privileged)
        self.secret = secrets.token_bytes(16)
        self.base = ""
        self.app = User(self.ids.next(), "Threadlore", bot=True)
        self.developer = User(self.ids.next(), "Developer")
        self.users: dict[str, User] = {self.app.id: self.app, self.developer.id: self.developer}
        self.guilds: dict[str, Guild] = {}
        self.channels: dict[str, Channel] = {}
        self.attachments: dict[str, Attachment] = {}
        self.interactions: dict[str, Interaction] = {}
        self.commands: dict[str, dict[str, Json]] = {}
        self.creates: dict[str, list[float]] = {}
        self.pings: list[Ping] = []
        self.previews: list[tuple[Message, str]] = []
        self.emit: Emit = lambda *_, **__: None
        self._stirred = asyncio.Event()

    # How others learn that something has changed.

    def notify_waiters(self) -> None:
        """Wake whoever waits for a change."""
        self._stirred.set()

    async def wait_for(self, predicate: Callable[[], Any], timeout: float) -> Any:  # noqa: ASYNC109 - the caller's patience
        """Wait until the predicate holds, looking again at every change, and often; gives what it gave."""
        async with asyncio.timeout(timeout):
            while not (found := predicate()):
                self._stirred.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stirred.wait(), OFTEN)
        return found

    # How things are found.

    def guild(self, guild: str) -> Guild:
        """A guild that the app is in."""
        found = self.guilds.get(guild)
        if found is None or self.app.id not in found.members:
            raise ApiError(10004)
        return found

    def channel(self, channel: str) -> Channel:
        """A channel that the app can see."""
        found = self.channels.get(channel)
        if found is None or found.deleted or (found.guild is not None and self.app.id not in found.guild.members):
            raise ApiError(10003)
        if not self.can_view(self.app, found):
            raise ApiError(50001)
        return found

    def message(self, channel: Channel, message: str) -> Message:
        """A message of a channel, as the channel's own routes know it: ephemeral ones are not among them."""
        found = channel.messages.get(message)
        if found is None or found.deleted or found.seen_by:
            raise ApiError(10008)
        return found

    def member(self, guild: Guild, user: str) -> Member:
        if user not in guild.members:
            raise ApiError(10007 if user in self.users else 10013)
        return guild.members[user]

    def dm(self, user: User) -> Channel:
        """The conversation of somebody with the app, opened if there was none."""
        for channel in self.channels.values():
            if channel.kind is ChannelType.DM and channel.recipient is user:
                return channel
        channel = Channel(self.ids.next(), ChannelType.DM, recipient=user)
        self.channels[channel.id] = channel
        return channel

    def threads(self, guild: Guild) -> Iterator[Channel]:
        return (channel for channel in guild.channels.values() if channel.thread is not None)

    # What somebody may do.

    def permissions_of(self, user: User, channel: Channel) -> Permission:
        """What somebody may do in a channel; nothing in a private thread that they are not in."""
        if channel.guild is None:
            return DM_POWERS if user in {self.app, channel.recipient} else NOTHING
        member = channel.guild.members.get(user.id)
        if member is None:
            return NOTHING
        powers = channel_permissions(channel.guild, member, channel)
        if channel.private and channel.thread is not None and Permission.MANAGE_THREADS not in powers:
            return powers if user.id in channel.thread.members else NOTHING
        return powers

    def can_view(self, user: User, channel: Channel) -> bool:
        return Permission.VIEW_CHANNEL in self.permissions_of(user, channel)

    def require(self, channel: Channel, *powers: Permission, user: User | None = None) -> None:
        """Refuse unless the app (or somebody) may do all of this there."""
        have = self.permissions_of(user or self.app, channel)
        if Permission.VIEW_CHANNEL not in have:
            raise ApiError(50001)
        for power in powers:
            if power not in have:
                raise ApiError(50013)

    def readers(self, channel: Channel) -> list[User]:
        """Who can see a channel."""
        if channel.guild is None:
            return [user for user in (channel.recipient, self.app) if user is not None]
        return [member.user for member in channel.guild.members.values() if self.can_view(member.user, channel)]
