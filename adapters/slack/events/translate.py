"""Translate Slack's events into events of the bot, with idempotency keys. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from adapters.slack.context import NAME
from adapters.slack.workspace.messages import is_tombstone, parse_message
from bot.platform.events import (
    BotAdded,
    ChannelRemoved,
    FilesRemoved,
    MessageEdited,
    MessageReceived,
    MessagesDeleted,
    VisibilityChanged,
    WorkspaceLeft,
    message_event_key,
)
from bot.platform.models import Location

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from adapters.slack.context import BotIdentity
    from bot.platform.events import PlatformEvent

    Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TranslatedEvent:
    """An event of the bot and its idempotency keys; an event with a known key is a repetition."""

    event: PlatformEvent
    keys: tuple[str, ...]


def translate_event(body: Event, identity: BotIdentity) -> TranslatedEvent | None:
    """Translate an event of the Events API; None if the bot ignores it."""
    event = body.get("event") or {}
    translate = EVENT_TRANSLATORS.get(str(event.get("type")))
    platform_event = translate(event, identity) if translate else None
    return (
        TranslatedEvent(platform_event, (_event_key(body, event, identity), *_message_keys(platform_event)))
        if platform_event
        else None
    )


def _event_key(body: Event, event: Event, identity: BotIdentity) -> str:
    event_id = body.get("event_id") or f"{event.get('type')}:{channel_id(event)}:{event.get('event_ts')}"
    return f"{NAME}:event:{identity.team}:{event_id}"


def _message_keys(platform_event: PlatformEvent) -> tuple[str, ...]:
    """The idempotency key of a message: Slack reports the same message as `message` and as `app_mention`."""
    if not isinstance(platform_event, MessageReceived):
        return ()
    return (message_event_key(platform_event.message),)


def channel_id(event: Event) -> str:
    """The channel of an event; empty if it has none."""
    channel = event.get("channel") or event.get("channel_id") or ""
    return str(channel.get("id") or "") if isinstance(channel, dict) else str(channel)


def _location(event: Event, identity: BotIdentity) -> Location:
    return Location(NAME, identity.team, channel_id(event))


# Messages.


def _mention(event: Event, identity: BotIdentity) -> PlatformEvent | None:
    """Translate app_mention."""
    message = parse_message({**event, "subtype": event.get("subtype") or ""}, _location(event, identity), identity)
    return MessageReceived(message, addressed=not message.by_bot) if message else None


def _message(event: Event, identity: BotIdentity) -> PlatformEvent | None:
    """Translate a new, changed or deleted message, or a notice about the channel."""
    subtype = str(event.get("subtype") or "")
    translate = SUBTYPE_TRANSLATORS.get(subtype)
    if translate:
        return translate(event, identity)
    message = parse_message(event, _location(event, identity), identity)
    if message is None or event.get("hidden"):
        return None
    addressed = message.addressed or (not message.by_bot and event.get("channel_type") == "im")
    return MessageReceived(message, addressed=addressed)


def _edited(event: Event, identity: BotIdentity) -> PlatformEvent | None:
    """Translate a changed message; the deleted root of a thread arrives as a change to a tombstone."""
    now = event.get("message") or {}
    if is_tombstone(now):
        return MessagesDeleted(_location(event, identity), (str(now.get("ts")),))
    message = parse_message(now, _location(event, identity), identity)
    return MessageEdited(message) if message else None


def _deleted(event: Event, identity: BotIdentity) -> PlatformEvent | None:
    """Translate a deleted message; None for the bot's own."""
    before = event.get("previous_message") or {}
    ts, root = str(event.get("deleted_ts") or before.get("ts") or ""), str(before.get("thread_ts") or "")
    if not ts or identity.is_author(str(before.get("user") or ""), str(before.get("bot_id") or "")):
        return None
    return MessagesDeleted(replace(_location(event, identity), thread="" if root == ts else root), (ts,))


# Channels and users.


def _changed(event: Event, identity: BotIdentity) -> PlatformEvent | None:
    return VisibilityChanged(_location(event, identity))


def _gone(event: Event, identity: BotIdentity) -> PlatformEvent | None:
    return ChannelRemoved(_location(event, identity))


def _joined(event: Event, identity: BotIdentity) -> PlatformEvent | None:
    """Translate a join: of the bot itself, or of another member."""
    if event.get("user") == identity.user:
        return BotAdded(_location(event, identity))
    return _members_changed(event, identity)


def _members_changed(event: Event, identity: BotIdentity) -> VisibilityChanged:
    """Build the event for changed members; a member of another workspace may also change the channel's kind."""
    return VisibilityChanged(_location(event, identity), members_only=event.get("team") == identity.team)


def _left(event: Event, identity: BotIdentity) -> PlatformEvent | None:
    """Translate a leave: the bot was removed, or there is one member less."""
    return (
        ChannelRemoved(_location(event, identity))
        if event.get("user") == identity.user
        else _members_changed(event, identity)
    )


def _file_deleted(event: Event, identity: BotIdentity) -> PlatformEvent | None:
    """Translate a file deleted everywhere."""
    file = str(event.get("file_id") or "")
    return FilesRemoved(Location(NAME, identity.team, ""), (file,)) if file else None


def _file_unshared(event: Event, identity: BotIdentity) -> PlatformEvent | None:
    """Translate a file unshared from one channel."""
    file, location = str(event.get("file_id") or ""), _location(event, identity)
    return FilesRemoved(location, (file,)) if file and location.channel else None


def _uninstalled(_event: Event, identity: BotIdentity) -> PlatformEvent | None:
    return WorkspaceLeft(NAME, identity.team, "app_uninstalled")


def _revoked(event: Event, identity: BotIdentity) -> PlatformEvent | None:
    """Translate revoked tokens; only the bot's own count, since it never has users' tokens."""
    bots = (event.get("tokens") or {}).get("bot") or ()
    return WorkspaceLeft(NAME, identity.team, "tokens_revoked") if identity.user in bots else None


def _id_changed(event: Event, identity: BotIdentity) -> PlatformEvent | None:
    """Translate a changed channel id (the workspace was migrated): the audience must be looked up again."""
    return VisibilityChanged(Location(NAME, identity.team, str(event.get("old_channel_id") or "")))


SUBTYPE_TRANSLATORS: Mapping[str, Callable[[Event, BotIdentity], PlatformEvent | None]] = {
    "message_changed": _edited,
    "message_deleted": _deleted,
    "channel_convert_to_private": _changed,
    "channel_convert_to_public": _changed,
}

EVENT_TRANSLATORS: Mapping[str, Callable[[Event, BotIdentity], PlatformEvent | None]] = {
    "app_mention": _mention,
    "message": _message,
    "member_joined_channel": _joined,
    "member_left_channel": _left,
    "channel_left": _gone,
    "group_left": _gone,
    "channel_deleted": _gone,
    "group_deleted": _gone,
    "channel_id_changed": _id_changed,
    "file_deleted": _file_deleted,
    "file_unshared": _file_unshared,
    "app_uninstalled": _uninstalled,
    "tokens_revoked": _revoked,
    **dict.fromkeys(
        [
            "channel_rename",
            "group_rename",
            "channel_archive",
            "group_archive",
            "channel_unarchive",
            "group_unarchive",
            "channel_shared",
            "channel_unshared",
            "channel_convert_to_private",
            "channel_convert_to_public",
        ],
        _changed,
    ),
}
