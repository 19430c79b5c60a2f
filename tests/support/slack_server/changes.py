"""Changes of a workspace, each with the events that Slack sends about it to the app."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import TYPE_CHECKING

from tests.support.slack_server import shapes

if TYPE_CHECKING:
    from tests.support.slack_server.socket import Socket
    from tests.support.slack_server.state import JSON, Channel, Message, StoredFile, User
    from tests.support.slack_server.workspace import Workspace

LINK = re.compile(r"<(https?://[^>|]+)(?:\|[^>]*)?>")


class Changes:
    """Changes that people and apps make; `emit` and its siblings send the events."""

    def __init__(self, space: Workspace, socket: Socket) -> None:
        self.space = space
        self.socket = socket

    # Events.

    def emit(self, kind: str, body: JSON, channel: Channel | None = None, subscription: str = "") -> None:
        """Send an event if the app is subscribed to it and in the channel; without a channel it is the workspace's."""
        space = self.space
        if channel is not None and space.bot.id not in channel.members:
            return
        if space.revoked or not space.app.is_subscribed(subscription or kind):
            return
        event = deepcopy({"event_ts": space.new_ts(), **body, "type": kind})
        shared = channel is not None and channel.shared
        self.socket.deliver("events_api", shapes.wrap_event(space, event, space.new_id("Ev"), shared=shared))

    def _emit_message(self, channel: Channel, body: JSON) -> None:
        located = {"ts": self.space.new_ts(), **body, "channel": channel.id, "channel_type": channel.wire_type}
        self.emit("message", {"event_ts": located["ts"], **located}, channel, f"message.{channel.scope_prefix}")

    def _emit_posted(self, channel: Channel, message: Message) -> None:
        """A new message; one that mentions the app in a channel is also sent as app_mention."""
        body = shapes.message(self.space, message)
        self._emit_message(channel, body)
        is_mention = f"<@{self.space.bot.id}>" in message.text and message.user != self.space.bot.id
        if is_mention and channel.kind != "im":
            mention = {key: value for key, value in body.items() if key != "subtype"}
            self.emit("app_mention", {**mention, "channel": channel.id, "event_ts": message.ts}, channel)

    def emit_changed(self, channel: Channel, before: JSON, message: Message) -> None:
        """A message looks different, for whatever reason."""
        after = shapes.message(self.space, message)
        body = {"subtype": "message_changed", "message": after, "previous_message": before, "hidden": True}
        self._emit_message(channel, body)
        self.space.changed()

    def emit_notice(self, channel: Channel, subtype: str, user: str, text: str) -> None:
        """A line that Slack itself writes into a channel."""
        self._emit_message(channel, {"subtype": subtype, "user": user, "text": text})
        self.space.changed()

    def emit_lifecycle(self, what: str, channel: Channel, **body: object) -> None:
        """A change of a channel: of a public one all apps learn, of a private one its members."""
        kind = f"{'channel' if channel.kind == 'public' else 'group'}_{what}"
        self.emit(kind, {"channel": channel.id, **body}, None if channel.kind == "public" else channel)
        self.space.changed()

    # Messages.

    def post(self, channel: Channel, message: Message, *, unfurl: bool = False) -> Message:
        """Add a message to its channel; a reply also changes the counters of its root."""
        root = channel.messages.get(message.thread_ts) if message.is_reply else None
        before = shapes.message(self.space, root) if root is not None else {}
        channel.messages[message.ts] = message
        for file in message.files:
            file.places.append((channel.id, message.ts))
        if message.user == self.space.bot.id:
            channel.statuses.pop(message.thread_ts, None)
        self._emit_posted(channel, message)
        if root is not None:
            root.thread_ts = root.ts
            self.emit_changed(channel, before, root)
        links = [link for link in LINK.findall(message.text) if f"{self.space.domain}.slack.com" not in link]
        if unfurl and links:
            before = shapes.message(self.space, message)
            message.previews = [{"from_url": link, "title": link, "fallback": link} for link in links]
            self.emit_changed(channel, before, message)
        self.space.changed()
        return message

    def add_previews(self, channel: Channel, message: Message, previews: list[JSON]) -> None:
        """Show previews of the links of a message, some time after it was posted."""
        before = shapes.message(self.space, message)
        message.previews = previews
        self.emit_changed(channel, before, message)
        self.space.changed()

    def edit(self, channel: Channel, message: Message, text: str) -> None:
        """The author changes the text."""
        before = shapes.message(self.space, message)
        message.text, message.edited = text, self.space.new_ts()
        self.emit_changed(channel, before, message)

    def delete(self, channel: Channel, message: Message) -> None:
        """Delete a message; the root of a thread with replies leaves a tombstone."""
        before = shapes.message(self.space, message)
        for file in message.files:
            file.places.remove((channel.id, message.ts))
        if shapes.thread_counters(channel, message):
            self._leave_tombstone(channel, message, before)
            return
        del channel.messages[message.ts]
        body = {"subtype": "message_deleted", "previous_message": before, "deleted_ts": message.ts, "hidden": True}
        self._emit_message(channel, body)
        root = channel.messages.get(message.thread_ts) if message.is_reply else None
        if root is not None and root.subtype == "tombstone" and not channel.thread(root.ts):
            self.delete(channel, root)
        elif root is not None:
            self.emit_changed(channel, shapes.message(self.space, root), root)
        self.space.changed()

    def _leave_tombstone(self, channel: Channel, message: Message, before: JSON) -> None:
        message.subtype, message.text, message.files = "tombstone", "This message was deleted.", []
        message.blocks, message.reactions, message.previews = None, {}, []
        message.extra = {"user": "USLACKBOT", "hidden": True}
        self.emit_changed(channel, before, message)

    def delete_file(self, file: StoredFile) -> None:
        """Delete a file everywhere; the messages that showed it stay, with a tombstone in its place."""
        shown = [self.space.channels[channel].messages[ts] for channel, ts in file.places]
        befores = [shapes.message(self.space, message) for message in shown]
        is_known = self.space.can_read_file(file)
        file.deleted, file.data, file.places = True, b"", []
        if is_known:
            self.emit("file_deleted", {"file_id": file.id})
        for message, before in zip(shown, befores, strict=True):
            self.emit_changed(self.space.channels[message.channel], before, message)

    # Members.

    def join(self, channel: Channel, user: User, inviter: str = "") -> None:
        """Add a member; the app learns of itself, too."""
        if user.id in channel.members:
            return
        channel.members.append(user.id)
        self._emit_membership("joined", channel, user, {"inviter": inviter} if inviter else {})
        subtype = "channel_join" if channel.kind == "public" else "group_join"
        self.emit_notice(channel, subtype, user.id, f"<@{user.id}> has joined the channel")

    def leave(self, channel: Channel, user: User) -> None:
        """Remove a member, who left or was removed."""
        if user.id not in channel.members:
            return
        self._emit_membership("left", channel, user, {})
        channel.members.remove(user.id)
        prefix = "channel" if channel.kind == "public" else "group"
        if user.id == self.space.bot.id:
            self.emit(f"{prefix}_left", {"channel": channel.id})
        self.emit_notice(channel, f"{prefix}_leave", user.id, f"<@{user.id}> has left the channel")

    def _emit_membership(self, what: str, channel: Channel, user: User, more: JSON) -> None:
        letter = "C" if channel.kind == "public" else "G"
        body: JSON = {"user": user.id, "channel": channel.id, "channel_type": letter, "team": user.team, **more}
        self.emit(f"member_{what}_channel", body, channel)
