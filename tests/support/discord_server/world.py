"""All records of the platform by id, its clock, and who may do what; `emit` sends events to the gateway."""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.support.clock import ShiftedClock
from tests.support.discord_server.errors import ApiError
from tests.support.discord_server.model import (
    Attachment,
    Channel,
    ChannelType,
    Guild,
    Intent,
    Interaction,
    Json,
    Member,
    Message,
    Ping,
    User,
)
from tests.support.discord_server.permissions import ALL, MANAGING, NOTHING, Permission, channel_permissions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

Emit = Callable[..., None]

EPOCH_MS = 1_420_070_400_000
PRIVILEGED = {"members": Intent.MEMBERS, "message_content": Intent.MESSAGE_CONTENT}


class Snowflakes:
    """Ids that contain their time and so sort by it; two of the same millisecond keep their order."""

    def __init__(self, clock: ShiftedClock) -> None:
        self._clock = clock
        self._count = itertools.count(1)
        self._last = 0

    def next(self) -> str:
        self._last = max(self._last + 1, int(self.at(self._clock.now())))
        return str(self._last)

    def at(self, moment: datetime) -> str:
        """An id of that time."""
        return str((int(moment.timestamp() * 1000) - EPOCH_MS << 22) | (next(self._count) & 0x3FFFFF))


class World:
    """The records by id. `app` is the bot's user; its application has the same id."""

    def __init__(self, token: str, privileged: frozenset[str]) -> None:
        self.clock = ShiftedClock()
        self.ids = Snowflakes(self.clock)
        self.token = token
        self.privileged = Intent(sum(PRIVILEGED[name] for name in privileged))
        self.secret = secrets.token_bytes(16)
        self.base = ""
        self.app = User(self.ids.next(), "Threadlore", bot=True)
        self.users: dict[str, User] = {self.app.id: self.app}
        self.guilds: dict[str, Guild] = {}
        self.channels: dict[str, Channel] = {}
        self.attachments: dict[str, Attachment] = {}
        self.interactions: dict[str, Interaction] = {}
        self.commands: dict[str, dict[str, Json]] = {}
        self.pings: list[Ping] = []
        self.previews: list[tuple[Message, str]] = []
        self.emit: Emit = lambda *_: None
        self.recommended_shards = 1
        self.requires_shards = False
        self.max_concurrency = 1
        self.identify_seconds = 0.05  # between two IDENTIFY of a bucket; Discord's are 5
        self.sessions_left = 1000
        self.sessions_reset_ms = 0
        self.connections_changed = asyncio.Event()

    # Look-ups for the app; each raises ApiError.

    def joined_guilds(self) -> list[Guild]:
        """The guilds that the app is in."""
        return [guild for guild in self.guilds.values() if self.app.id in guild.members]

    def user(self, user: str) -> User:
        if user not in self.users:
            raise ApiError(10013)
        return self.users[user]

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
        """A message of a channel; ephemeral messages have no route there."""
        found = channel.messages.get(message)
        if found is None or found.deleted or found.seen_by:
            raise ApiError(10008)
        return found

    def member(self, guild: str, user: str) -> Member:
        members = self.guild(guild).members
        if self.user(user).id not in members:
            raise ApiError(10007)
        return members[user]

    def dm(self, user: User) -> Channel:
        """The conversation of a user with the app; created if there is none."""
        for channel in self.channels.values():
            if channel.recipient is user:
                return channel
        channel = Channel(self.ids.next(), ChannelType.DM, recipient=user)
        self.channels[channel.id] = channel
        return channel

    def threads(self, guild: Guild, *, archived: bool = False) -> Iterator[Channel]:
        """The threads of a guild that the app can see."""
        for channel in guild.channels.values():
            if channel.thread is not None and channel.thread.archived is archived and self.can_view(self.app, channel):
                yield channel

    # Permissions.

    def permissions_of(self, user: User, channel: Channel) -> Permission:
        """What a user may do in a channel: nothing in a private thread that they are not in."""
        if channel.guild is None:
            return ALL & ~MANAGING if user in {self.app, channel.recipient} else NOTHING
        member = channel.guild.members.get(user.id)
        if member is None:
            return NOTHING
        powers = channel_permissions(channel.guild, member, channel)
        if channel.private and Permission.MANAGE_THREADS not in powers and user.id not in channel.facts.members:
            return NOTHING
        return powers

    def can_view(self, user: User, channel: Channel) -> bool:
        return Permission.VIEW_CHANNEL in self.permissions_of(user, channel)

    def app_can(self, power: Permission, channel: Channel) -> bool:
        return power in self.permissions_of(self.app, channel)

    def require(self, channel: Channel, *powers: Permission) -> None:
        """Refuse unless the app may do all of this in a channel."""
        have = self.permissions_of(self.app, channel)
        if Permission.VIEW_CHANNEL not in have:
            raise ApiError(50001)
        if any(power not in have for power in powers):
            raise ApiError(50013)

    def readers(self, channel: Channel) -> set[str]:
        """The ids of the users who can see a channel."""
        if channel.guild is None:
            return {user.id for user in (channel.recipient, self.app) if user is not None}
        return {member.user.id for member in channel.guild.members.values() if self.can_view(member.user, channel)}
