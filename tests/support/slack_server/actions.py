"""What changes a workspace: each change with the events that Slack tells of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.support.slack_server import shapes

if TYPE_CHECKING:
    from tests.support.slack_server.notify import EventNotifier
    from tests.support.slack_server.state import JSON, Channel, Message, StoredFile, User
    from tests.support.slack_server.workspace import Workspace

LINK = re.compile(r"<(https?://[^>|]+)(?:\|[^>]*)?>")


class WorkspaceActions:
    """The acts of people and of apps."""

    def __init__(self, space: Workspace, herald: EventNotifier) -> None:
        self.space = space
        self.herald = herald

    def post(self, channel: Channel, message: Message, *, unfurl: bool = True) -> Message:
        """Put a message into a channel."""
        root = channel.messages.get(message.thread_ts) if message.is_reply else None
        before = shapes.message(self.space, root) if root is not None else None
        channel.messages[message.ts] = message
        for each in message.files:
            each.places.append((channel.id, message.ts))
        if message.is_reply:
            channel.statuses.pop(message.thread_ts, None) if self._by_app(message) else None
        self.herald.message_posted(channel, message)
        for each in message.files:
            self._shared(channel, each)
        if root is not None and before is not None:
            root.thread_ts = root.ts
            self.herald.message_changed(channel, before, shapes.message(self.space, root))
        if unfurl:
            self._unfurl(channel, message)
        self.space.changed()
        return message

    def _by_app(self, message: Message) -> bool:
        return message.user == self.space.bot.id

    def _shared(self, channel: Channel, each: StoredFile) -> None:
        stamp = self.space.new_ts()
        event: JSON = {"type": "file_shared", "channel_id": channel.id, "file_id": each.id, "user_id": each.user}
        self.herald.event({**event, "file": {"id": each.id}, "event_ts": stamp}, channel)

    def _unfurl(self, channel: Channel, message: Message) -> None:
        links = [link for link in LINK.findall(message.text) if f"{self.space.domain}.slack.com" not in link]
        if links:
            before = shapes.message(self.space, message)
            message.previews = [{"from_url": link, "title": link, "id": 1, "fallback": link} for link in links]
            self.herald.message_changed(channel, before, shapes.message(self.space, message))

    def edit(self, channel: Channel, message: Message, text: str) -> None:
        """The author writes something else."""
        before = shapes.message(self.space, message)
        message.text, message.edited = text, self.space.new_ts()
        self.herald.message_changed(channel, before, shapes.message(self.space, message))
        self.space.changed()

    def emit_changed(self, channel: Channel, message: Message, before: JSON) -> None:
        """A message was changed in place."""
        self.herald.message_changed(channel, before, shapes.message(self.space, message))
        self.space.changed()

    def delete(self, channel: Channel, message: Message) -> None:
        """Take a message away; a root with replies leaves a tombstone behind."""
        before = shapes.message(self.space, message)
        for each in message.files:
            each.places = [place for place in each.places if place != (channel.id, message.ts)]
        if not message.is_reply and channel.thread(message.ts):
            bare: JSON = {"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "hidden": True}
            message.subtype, message.text, message.files = "tombstone", "This message was deleted.", []
            message.blocks, message.reactions, message.previews = None, {}, []
            after = shapes.message(self.space, message)
            counters = {key: after[key] for key in after if key.startswith(("reply", "thread", "latest", "is_locked"))}
            message.extra = bare
            self.herald.message_changed(channel, before, {**bare, "text": message.text, "ts": message.ts, **counters})
        else:
            del channel.messages[message.ts]
            self.herald.message_deleted(channel, before)
            if message.is_reply:
                self._count_reply_deleted(channel, message.thread_ts)
        self.space.changed()

    def _count_reply_deleted(self, channel: Channel, ts: str) -> None:
        root = channel.messages.get(ts)
        if root is None:
            return
        if root.subtype == "tombstone" and not channel.thread(ts):
            self.delete(channel, root)
            return
        shape = shapes.message(self.space, root)
        self.herald.message_changed(channel, shape, shape)

    def react(self, channel: Channel, message: Message, user: str, name: str) -> None:
        message.reactions.setdefault(name, []).append(user)
        self._reaction("reaction_added", channel, message, user, name)

    def unreact(self, channel: Channel, message: Message, user: str, name: str) -> None:
        message.reactions[name].remove(user)
        if not message.reactions[name]:
            del message.reactions[name]
        self._reaction("reaction_removed", channel, message, user, name)

    def _reaction(self, kind: str, channel: Channel, message: Message, user: str, name: str) -> None:
        item = {"type": "message", "channel": channel.id, "ts": message.ts}
        event: JSON = {"type": kind, "user": user, "reaction": name, "item": item, "item_user": message.user}
        self.herald.event({**event, "event_ts": self.space.new_ts()}, channel)
        self.space.changed()

    def join(self, channel: Channel, user: User, inviter: str = "") -> None:
        """Somebody comes in; the app is told of itself, too."""
        if user.id in channel.members:
            return
        channel.members.append(user.id)
        event = self._membership("member_joined_channel", channel, user)
        self.herald.event(event | ({"inviter": inviter} if inviter else {}), channel)
        subtype = "channel_join" if channel.kind == "public" else "group_join"
        self.herald.system_message(channel, subtype, user.id, f"<@{user.id}> has joined the channel")
        self.space.changed()

    def leave(self, channel: Channel, user: User) -> None:
        """Somebody goes, or is put out."""
        if user.id not in channel.members:
            return
        self.herald.event(self._membership("member_left_channel", channel, user), channel)
        channel.members.remove(user.id)
        if user.id == self.space.bot.id:
            kind = "channel_left" if channel.kind == "public" else "group_left"
            self.herald.event({"type": kind, "channel": channel.id, "event_ts": self.space.new_ts()})
        else:
            subtype = "channel_leave" if channel.kind == "public" else "group_leave"
            self.herald.system_message(channel, subtype, user.id, f"<@{user.id}> has left the channel")
        self.space.changed()

    def _membership(self, kind: str, channel: Channel, user: User) -> JSON:
        letter = "C" if channel.kind == "public" else "G"
        event: JSON = {"type": kind, "user": user.id, "channel": channel.id, "channel_type": letter, "team": user.team}
        return {**event, "event_ts": self.space.new_ts()}

    def delete_file(self, attached: StoredFile) -> None:
        """A file is gone everywhere; the messages that showed it stay, with a tombstone in its place."""
        befores = []
        for place, ts in attached.places:
            channel = self.space.channels[place]
            befores.append((channel, channel.messages[ts], shapes.message(self.space, channel.messages[ts])))
        known = any(self.space.bot.id in channel.members for channel, _, _ in befores)
        attached.deleted, attached.data, attached.places = True, b"", []
        if known:
            self.herald.event({"type": "file_deleted", "file_id": attached.id, "event_ts": self.space.new_ts()})
        for channel, message, before in befores:
            self.herald.message_changed(channel, before, shapes.message(self.space, message))
        self.space.changed()
