"""Which events reach the app, and in what shape."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from tests.support.slack_server import shapes

if TYPE_CHECKING:
    from tests.support.slack_server.socket import Socket
    from tests.support.slack_server.state import JSON, Channel, Message
    from tests.support.slack_server.workspace import Workspace


class EventNotifier:
    """Sends an event if it is subscribed to, granted, and of a channel that the app is in."""

    def __init__(self, space: Workspace, socket: Socket) -> None:
        self.space = space
        self.socket = socket

    def event(self, event: JSON, channel: Channel | None = None, *, subscription: str = "") -> None:
        """Tell an event; without a channel it is the workspace's."""
        space = self.space
        if channel is not None and space.bot.id not in channel.members:
            return
        if space.revoked or not space.app.is_subscribed(subscription or event["type"]):
            return
        shared = channel is not None and channel.shared
        body = shapes.wrap_event(space, deepcopy(event), space.new_id("Ev"), shared=shared)
        self.socket.deliver("events_api", body)

    def message(self, channel: Channel, event: JSON) -> None:
        """Tell a message event."""
        event = {**event, "channel": channel.id, "channel_type": channel.wire_type}
        self.event(event, channel, subscription=f"message.{channel.event}")

    def message_posted(self, channel: Channel, message: Message) -> None:
        """A new message; a mention of the app in it is told twice, as Slack does."""
        body = shapes.message(self.space, message)
        self.message(channel, {**body, "event_ts": message.ts})
        mentioned = f"<@{self.space.bot.id}>" in message.text and message.user != self.space.bot.id
        if mentioned and channel.kind != "im":
            mention = {key: value for key, value in body.items() if key not in {"subtype", "upload", "display_as_bot"}}
            self.event({**mention, "type": "app_mention", "channel": channel.id, "event_ts": message.ts}, channel)

    def message_changed(self, channel: Channel, before: JSON, after: JSON) -> None:
        """A message looks different now, whatever the reason."""
        stamp = self.space.new_ts()
        event = {"type": "message", "subtype": "message_changed", "message": after, "previous_message": before}
        self.message(channel, {**event, "hidden": True, "ts": stamp, "event_ts": stamp})

    def message_deleted(self, channel: Channel, before: JSON) -> None:
        """A message is gone."""
        stamp = self.space.new_ts()
        event = {"type": "message", "subtype": "message_deleted", "previous_message": before, "hidden": True}
        self.message(channel, {**event, "deleted_ts": before["ts"], "ts": stamp, "event_ts": stamp})

    def system_message(self, channel: Channel, subtype: str, user: str, text: str) -> None:
        """A line that Slack itself writes into a channel."""
        stamp = self.space.new_ts()
        event = {"type": "message", "subtype": subtype, "user": user, "text": text, "ts": stamp, "event_ts": stamp}
        self.message(channel, event)
