"""The records of the platform: people, guilds, channels, messages, interactions. They change, but decide nothing."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, IntFlag
from typing import Any

from tests.support.discord_server.permissions import Permission

Json = dict[str, Any]


class Intent(IntFlag):
    """The gateway intents that select events."""

    GUILDS = 1 << 0
    MEMBERS = 1 << 1
    PRESENCES = 1 << 8
    GUILD_MESSAGES = 1 << 9
    DIRECT_MESSAGES = 1 << 12
    MESSAGE_CONTENT = 1 << 15


class ChannelType(IntEnum):
    """Types of channels."""

    TEXT = 0
    DM = 1
    VOICE = 2
    PUBLIC_THREAD = 11
    PRIVATE_THREAD = 12
    FORUM = 15


class MessageType(IntEnum):
    """Types of messages."""

    DEFAULT = 0
    RECIPIENT_ADD = 1
    RENAMED = 4
    THREAD_CREATED = 18
    REPLY = 19
    COMMAND = 20
    THREAD_STARTER = 21
    CONTEXT_MENU = 23


SYSTEM_MESSAGES = {
    MessageType.RECIPIENT_ADD,
    MessageType.RENAMED,
    MessageType.THREAD_CREATED,
    MessageType.THREAD_STARTER,
}


class MessageFlag(IntFlag):
    """Flags of messages."""

    NONE = 0
    SUPPRESS_EMBEDS = 1 << 2
    HAS_THREAD = 1 << 5
    EPHEMERAL = 1 << 6
    LOADING = 1 << 7


class InteractionType(IntEnum):
    """What somebody did with the app."""

    COMMAND = 2
    COMPONENT = 3
    AUTOCOMPLETE = 4
    MODAL = 5


@dataclass(slots=True, eq=False)
class User:
    """A person or a bot, in all guilds."""

    id: str
    name: str
    bot: bool = False
    takes_dms: bool = True
    locale: str = "en-US"


@dataclass(slots=True, eq=False)
class Role:
    """A role of a guild; @everyone has the guild's id, and the role of a bot its id in `bot`."""

    id: str
    name: str
    permissions: Permission
    mentionable: bool = False
    bot: str = ""

    @property
    def managed(self) -> bool:
        return bool(self.bot)


@dataclass(slots=True, eq=False)
class Member:
    """A user in one guild."""

    user: User
    joined: datetime
    roles: set[str] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class Guild:
    """A server; `channels` includes its threads."""

    id: str
    name: str
    owner: User
    roles: dict[str, Role] = field(default_factory=dict)
    members: dict[str, Member] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    available: bool = True


@dataclass(slots=True, eq=False)
class ThreadFacts:
    """What a thread has beyond a channel; `members` maps ids to the time they joined."""

    owner: str
    archived_at: datetime
    archived: bool = False
    locked: bool = False
    members: dict[str, datetime] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Channel:
    """A channel, a thread or a DM; `overwrites` are what it allows and denies a role or a member, by id."""

    id: str
    kind: ChannelType
    name: str = ""
    guild: Guild | None = None
    parent: Channel | None = None
    nsfw: bool = False
    overwrites: dict[str, tuple[Permission, Permission]] = field(default_factory=dict)
    thread: ThreadFacts | None = None
    recipient: User | None = None
    messages: dict[str, Message] = field(default_factory=dict)
    last_message: str | None = None
    deleted: bool = False

    @property
    def server(self) -> Guild:
        """The guild of a channel that has one."""
        assert self.guild is not None
        return self.guild

    @property
    def facts(self) -> ThreadFacts:
        """The facts of a thread."""
        assert self.thread is not None
        return self.thread

    @property
    def private(self) -> bool:
        return self.kind is ChannelType.PRIVATE_THREAD


@dataclass(frozen=True, slots=True)
class File:
    """A file to upload."""

    name: str
    data: bytes = field(repr=False)
    kind: str = "text/plain; charset=utf-8"


@dataclass(slots=True, eq=False)
class Attachment:
    """An uploaded file; `gone` once its message is."""

    id: str
    file: File
    channel: str
    gone: bool = False


@dataclass(slots=True, eq=False)
class Message:
    """A message; `seen_by` is the only person who sees it if it is ephemeral. `extra`: more fields, such as a poll."""

    id: str
    channel: Channel
    author: User
    time: datetime
    content: str = ""
    kind: MessageType = MessageType.DEFAULT
    flags: MessageFlag = MessageFlag.NONE
    embeds: list[Json] = field(default_factory=list)
    components: list[Json] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    reactions: dict[str, list[str]] = field(default_factory=dict)
    mentions: list[User] = field(default_factory=list)
    mention_roles: list[str] = field(default_factory=list)
    mention_everyone: bool = False
    edited: datetime | None = None
    reference: Json | None = None
    replied: Message | None = None
    nonce: str = ""
    thread: Channel | None = None
    seen_by: str = ""
    interaction: Interaction | None = None
    webhook: str = ""
    followup: bool = False
    previews: list[str] = field(default_factory=list)
    deleted: bool = False
    extra: Json = field(default_factory=dict)

    @property
    def loading(self) -> bool:
        return MessageFlag.LOADING in self.flags


@dataclass(frozen=True, slots=True)
class Ping:
    """A notification that went out, and the users who got it."""

    author: str
    message: str
    users: frozenset[str]
    everyone: bool = False


@dataclass(slots=True, eq=False)
class Interaction:
    """A command, a click or a keystroke of a person, and the app's responses.

    `response` is the type of the first response (0: none yet); `error` is what the person reads if none came.
    """

    id: str
    token: str
    kind: InteractionType
    user: User
    channel: Channel
    started: float
    name: str = ""
    data: Json = field(default_factory=dict)
    message: Message | None = None
    response: int = 0
    original: Message | None = None
    followups: list[Message] = field(default_factory=list)
    choices: list[Json] = field(default_factory=list)
    modal: Json = field(default_factory=dict)
    error: str = ""
    took: float = 0.0
    acked: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def private(self) -> bool:
        """Only the person sees the response."""
        return self.original is not None and bool(self.original.seen_by)
