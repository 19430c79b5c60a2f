"""Lines to events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.platform.events import (
    CommandInvoked,
    MessageEdited,
    MessageReceived,
    MessagesDeleted,
    PlatformEvent,
    VisibilityChanged,
)
from bot.platform.models import Channel, Message, Upload

if TYPE_CHECKING:
    from datetime import datetime

    from jsonl_adapter.platform import JsonlPlatform

CHANNEL_KINDS = {"open", "closed", "direct"}


def parse_event(line: dict[str, Any], platform: JsonlPlatform, now: datetime) -> PlatformEvent:
    """Translate a line of now, and record its channel or message. Raises ValueError, KeyError or TypeError."""
    match line["type"]:
        case "channel":
            return _change_channel(line, platform)
        case "message":
            message = platform.messages[line["id"]] = _parse_message(line, platform, now)
            return MessageReceived(message, addressed=message.addressed)
        case "edit":
            message = platform.messages[line["id"]] = _parse_message(line, platform, now)
            return MessageEdited(message)
        case "delete":
            platform.messages[line["id"]] = None
            return MessagesDeleted(platform.locate(line["channel"]), (line["id"],))
        case "command":
            location, (command, _, words) = platform.locate(line["channel"]), line["text"].partition(" ")
            return CommandInvoked(line["id"], location, line["author"], command, words, time=now)
        case other:
            raise ValueError(f"unknown type {other}")


def _change_channel(line: dict[str, Any], platform: JsonlPlatform) -> VisibilityChanged:
    kind = line.get("kind", "open")
    if kind not in CHANNEL_KINDS:
        raise ValueError(f"unknown kind {kind}")
    location = platform.locate(line["id"])
    platform.channels[line["id"]] = Channel(location, line["id"], kind, frozenset(line.get("members", ())))
    return VisibilityChanged(location)


def _parse_message(line: dict[str, Any], platform: JsonlPlatform, now: datetime) -> Message:
    is_direct = platform.channels[line["channel"]].kind == "direct"
    return Message(
        id=line["id"],
        location=platform.locate(line["channel"], line.get("thread", "")),
        author=line["author"],
        text=line["text"],
        time=now,
        uploads=tuple(Upload(f"{line['id']}/{name}", name, 0, "", name) for name in line.get("files", ())),
        edited=now.isoformat() if line["type"] == "edit" else "",
        addressed=is_direct or bool(line.get("mention")),
    )
