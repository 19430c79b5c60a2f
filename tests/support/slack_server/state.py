"""The nouns of a workspace, as Slack keeps them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

JSON = dict[str, Any]
Kind = Literal["member", "guest", "single_channel_guest"]
ChannelKind = Literal["public", "private", "mpim", "im"]


@dataclass(slots=True)
class User:
    """Somebody, or a bot. `team` differs from the workspace's for people of another one."""

    id: str
    name: str
    team: str
    kind: Kind = "member"
    admin: bool = False
    bot_id: str = ""
    app_id: str = ""
    deleted: bool = False


@dataclass(slots=True)
class StoredFile:
    """A file. `places` are the messages that show it: (channel, ts). `url`: it lies on another host."""

    id: str
    name: str
    mimetype: str
    data: bytes
    user: str
    created: int
    title: str = ""
    url: str = ""
    deleted: bool = False
    connect: bool = False
    places: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Stream:
    """A message that is being written. `written` counts what was sent for it, in characters."""

    started: float
    recipient: str = ""
    state: Literal["in_progress", "completed", "expired"] = "in_progress"
    written: int = 0
    blocks: list[JSON] = field(default_factory=list)


@dataclass(slots=True)
class Message:
    """One message. `only_for`: an ephemeral one; `previews`: links that were unfurled below it."""

    ts: str
    channel: str
    user: str
    text: str = ""
    thread_ts: str = ""
    subtype: str = ""
    blocks: list[JSON] | None = None
    files: list[StoredFile] = field(default_factory=list)
    edited: str = ""
    reactions: dict[str, list[str]] = field(default_factory=dict)
    metadata: JSON | None = None
    previews: list[JSON] = field(default_factory=list)
    stream: Stream | None = None
    only_for: str = ""
    extra: JSON = field(default_factory=dict)

    @property
    def is_reply(self) -> bool:
        return self.thread_ts not in {"", self.ts}


@dataclass(slots=True)
class Status:
    """What stands below a thread while the app works."""

    text: str
    at: float
    loading: tuple[str, ...] = ()


@dataclass(slots=True)
class Channel:
    """A conversation. `members` in the order of joining; `user`: the person of an im."""

    id: str
    name: str
    kind: ChannelKind
    created: int
    creator: str = ""
    members: list[str] = field(default_factory=list)
    user: str = ""
    archived: bool = False
    shared: bool = False
    general: bool = False
    messages: dict[str, Message] = field(default_factory=dict)
    ephemeral_messages: list[Message] = field(default_factory=list)
    statuses: dict[str, Status] = field(default_factory=dict)
    prompts: list[JSON] = field(default_factory=list)
    titles: dict[str, str] = field(default_factory=dict)

    @property
    def wire_type(self) -> str:
        """As events call it."""
        return {"public": "channel", "private": "group", "mpim": "mpim", "im": "im"}[self.kind]

    @property
    def event(self) -> str:
        """The subscription under which its messages are told."""
        return {"public": "channels", "private": "groups", "mpim": "mpim", "im": "im"}[self.kind]

    def thread(self, root: str) -> list[Message]:
        """The replies of a thread, oldest first."""
        return [message for message in self.messages.values() if message.is_reply and message.thread_ts == root]


@dataclass(frozen=True, slots=True)
class Ping:
    """Somebody's telephone rang: a user's id, or channel, here, everyone."""

    channel: str
    ts: str
    target: str


@dataclass(slots=True)
class View:
    """A modal, or somebody's Home tab."""

    id: str
    user: str
    body: JSON
    hash: str
