"""Parse Slack's message payloads. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from adapters.common.json_fields import get_row, get_rows, get_text
from adapters.slack.workspace.message_text import MENTIONED_FILES, is_unread_file, render_message
from bot.platform.models import Message, Upload
from bot.text.speech.mentions import calls_another

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapters.slack.context import BotIdentity
    from bot.platform.models import Location

USER_SUBTYPES = frozenset(
    {"", "file_share", "thread_broadcast", "me_message", "bot_message"}
    | {"file_comment", "file_mention", "reply_broadcast"}  # before 2018
)  # other subtypes are notices, unless they bring a file
CANVAS_KIND = "application/vnd.slack-docs"
CANVAS_TYPES = frozenset({"quip", "canvas", CANVAS_KIND})
DELETED_FILE_MODE = "tombstone"  # mode of a deleted file; hidden_by_limit is not deletion


def parse_ts(ts: str) -> datetime:
    """The time of a message, which is its id."""
    return datetime.fromtimestamp(float(ts), UTC)


def parse_upload(file: Mapping[str, Any]) -> Upload:
    """Parse a file; without a URL if files.info must be called first (Slack Connect)."""
    is_canvas = bool(CANVAS_TYPES & {get_text(file, key) for key in ("mode", "filetype", "mimetype")})
    names = ("title", "name", "id") if is_canvas else ("name", "title", "id")
    return Upload(
        id=str(file.get("id") or ""),
        name=get_text(file, *names) or "file",
        size=int(file.get("size") or 0),
        kind=CANVAS_KIND if is_canvas else str(file.get("mimetype") or ""),
        url=str(file.get("url_private_download") or file.get("url_private") or ""),
    )


def parse_uploads(payload: Mapping[str, Any]) -> tuple[Upload, ...]:
    """Parse the files of a message that still exist, and that Slack hands out; before 2018 it had one."""
    files = get_rows(payload, "files") or ([found] if (found := get_row(payload, "file")) else [])
    is_shared = payload.get("subtype") not in MENTIONED_FILES
    present = (file for file in files if file.get("mode") != DELETED_FILE_MODE and not is_unread_file(file))
    return tuple(map(parse_upload, present)) if is_shared else ()


def is_tombstone(payload: Mapping[str, Any]) -> bool:
    """Whether a message is the placeholder of a deleted thread root."""
    return payload.get("subtype") == "tombstone"


def is_by_bot(payload: Mapping[str, Any]) -> bool:
    """Whether an app wrote a message."""
    return bool(payload.get("bot_id")) or payload.get("subtype") == "bot_message"


def is_user_message(payload: Mapping[str, Any]) -> bool:
    """Whether somebody wrote a message, unlike Slack's notices."""
    subtype = str(payload.get("subtype") or "")
    return subtype in USER_SUBTYPES or (bool(payload.get("files")) and not is_tombstone(payload))


def is_bot_mentioned(text: str, identity: BotIdentity) -> bool:
    """Whether a text mentions the bot."""
    return re.search(rf"<@{re.escape(identity.user)}(\|[^>]*)?>", text) is not None


def parse_message(payload: Mapping[str, Any], channel: Location, identity: BotIdentity) -> Message | None:
    """Parse a message; None for the bot's own messages and Slack's notices."""
    ts = str(payload.get("ts") or "")
    author = str(payload.get("user") or get_text(get_row(payload, "comment"), "user"))
    bot = str(payload.get("bot_id") or "")
    if not ts or not is_user_message(payload) or identity.is_author(author, bot):
        return None
    root, rendered = str(payload.get("thread_ts") or ""), render_message(payload)
    return Message(
        id=ts,
        location=replace(channel, thread="" if root == ts else root),
        author=author or bot,
        text=rendered.text,
        time=parse_ts(ts),
        uploads=parse_uploads(payload),
        edited=str((payload.get("edited") or {}).get("ts") or ""),
        by_bot=is_by_bot(payload),
        addressed=not is_by_bot(payload) and is_bot_mentioned(rendered.text, identity),
        calls_another=calls_another(rendered.text, (identity.user,)),
        forwarded=rendered.forwarded,
        previews=rendered.previews,
    )


def message_link(url: str, location: Location, message: str) -> str:
    """The permalink of a message in the workspace with this address, which ends in "/"."""
    link = f"{url}archives/{location.channel}/p{message.replace('.', '')}"
    is_reply = location.thread and location.thread != message
    return f"{link}?thread_ts={location.thread}&cid={location.channel}" if is_reply else link
