"""What a workspace stores: users, files, messages, channels and views."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

JSON = dict[str, Any]
Kind = Literal["member", "guest", "single_channel_guest"]
ChannelKind = Literal["public", "private", "mpim", "im"]


class SlackError(Exception):
    """A refused call: answered with `ok: false`; `status` is 200 except for rate limits and server errors."""

    def __init__(
        self, error: str, *messages: str, status: int = 200, retry_after: int | None = None, **more: Any
    ) -> None:
        super().__init__(error)
        self.error = error
        self.status = status
        self.headers = {"Retry-After": str(retry_after)} if retry_after is not None else {}
        self.body: JSON = {"ok": False, "error": error, **more}
        if messages:
            self.body["response_metadata"] = {"messages": [f"[ERROR] {message}" for message in messages]}


@dataclass(slots=True)
class User:
    """A person or a bot. `team` is another workspace's for strangers."""

    id: str
    name: str
    team: str
    kind: Kind = "member"
    admin: bool = False
    bot_id: str = ""
    app_id: str = ""
    deleted: bool = False
    locale: str = "en-US"


@dataclass(slots=True)
class StoredFile:
    """A file. `places`: the messages that show it, as (channel, ts). `connect`: it came from another workspace.

    `external_url`: where another service has it.
    """

    id: str
    name: str
    mimetype: str
    data: bytes
    user: str
    created: int
    title: str = ""
    deleted: bool = False
    connect: bool = False
    external_url: str = ""
    places: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Stream:
    """The stream that writes a message. `written`: characters sent so far."""

    started: float
    state: Literal["in_progress", "completed", "expired"] = "in_progress"
    written: int = 0
    blocks: list[JSON] = field(default_factory=list)


@dataclass(slots=True)
class Message:
    """A message. `only_for`: the only reader of an ephemeral one; `previews`: unfurled links."""

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
class Channel:
    """A conversation. `user`: the person of an im; `statuses`: for each thread, the app's status and its time."""

    id: str
    name: str
    kind: ChannelKind
    created: int
    creator: str = ""
    members: list[str] = field(default_factory=list)
    user: str = ""
    archived: bool = False
    shared: bool = False
    messages: dict[str, Message] = field(default_factory=dict)
    ephemeral_messages: list[Message] = field(default_factory=list)
    statuses: dict[str, tuple[str, float]] = field(default_factory=dict)
    prompts: list[JSON] = field(default_factory=list)

    @property
    def wire_type(self) -> str:
        """The `channel_type` of its message events."""
        return {"public": "channel", "private": "group"}.get(self.kind, self.kind)

    @property
    def scope_prefix(self) -> str:
        """The start of the scopes and of the message subscription that it needs."""
        return {"public": "channels", "private": "groups"}.get(self.kind, self.kind)

    def thread(self, root: str) -> list[Message]:
        """The replies of a thread, oldest first."""
        return [message for message in self.messages.values() if message.is_reply and message.thread_ts == root]


@dataclass(frozen=True, slots=True)
class Ping:
    """A notification of a user id, a user group, `channel`, `here` or `everyone`."""

    channel: str
    ts: str
    target: str
