"""Parse Slack's message payloads. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bot.platform.models import Message, Upload

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapters.slack.context import BotIdentity
    from bot.platform.models import Location

USER_SUBTYPES = frozenset(
    ("", "file_share", "thread_broadcast", "me_message", "bot_message")
)  # other subtypes are notices
DELETED_FILE_MODE = "tombstone"  # mode of a deleted file; hidden_by_limit is not deletion


def parse_ts(ts: str) -> datetime:
    """The time of a message, which is its id."""
    return datetime.fromtimestamp(float(ts), UTC)


def parse_upload(file: Mapping[str, Any]) -> Upload:
    """Parse a file; without a URL if files.info must be called first (Slack Connect)."""
    return Upload(
        id=str(file.get("id") or ""),
        name=str(file.get("name") or file.get("title") or file.get("id") or "file"),
        size=int(file.get("size") or 0),
        kind=str(file.get("mimetype") or ""),
        url=str(file.get("url_private_download") or file.get("url_private") or ""),
    )


def parse_uploads(payload: Mapping[str, Any]) -> tuple[Upload, ...]:
    """Parse the files of a message that still exist."""
    return tuple(parse_upload(file) for file in payload.get("files") or () if file.get("mode") != DELETED_FILE_MODE)


def is_tombstone(payload: Mapping[str, Any]) -> bool:
    """Whether a message is the placeholder of a deleted thread root."""
    return payload.get("subtype") == "tombstone"


def is_by_bot(payload: Mapping[str, Any]) -> bool:
    """Whether an app wrote a message."""
    return bool(payload.get("bot_id")) or payload.get("subtype") == "bot_message"


def message_text(payload: Mapping[str, Any]) -> str:
    """The text of a message; of an app's message without text, that of its attachments."""
    if payload.get("text") or not is_by_bot(payload):
        return str(payload.get("text") or "")
    texts = (part.get("text") or part.get("fallback") or "" for part in payload.get("attachments") or ())
    return "\n".join(filter(None, texts))


def is_bot_mentioned(text: str, identity: BotIdentity) -> bool:
    """Whether a text mentions the bot."""
    return re.search(rf"<@{re.escape(identity.user)}(\|[^>]*)?>", text) is not None


def parse_message(payload: Mapping[str, Any], channel: Location, identity: BotIdentity) -> Message | None:
    """Parse a message; None for the bot's own messages and Slack's notices."""
    ts = str(payload.get("ts") or "")
    author, bot = str(payload.get("user") or ""), str(payload.get("bot_id") or "")
    if not ts or (payload.get("subtype") or "") not in USER_SUBTYPES or identity.is_author(author, bot):
        return None
    root = str(payload.get("thread_ts") or "")
    return Message(
        id=ts,
        location=replace(channel, thread="" if root == ts else root),
        author=author or bot,
        text=message_text(payload),
        time=parse_ts(ts),
        uploads=parse_uploads(payload),
        edited=str((payload.get("edited") or {}).get("ts") or ""),
        by_bot=is_by_bot(payload),
        addressed=not is_by_bot(payload) and is_bot_mentioned(message_text(payload), identity),
    )


def message_link(url: str, location: Location, message: str) -> str:
    """The permalink of a message in the workspace with this address, which ends in "/"."""
    link = f"{url}archives/{location.channel}/p{message.replace('.', '')}"
    is_reply = location.thread and location.thread != message
    return f"{link}?thread_ts={location.thread}&cid={location.channel}" if is_reply else link
