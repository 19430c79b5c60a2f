"""Read chats of Microsoft Teams: messages.json of a person's own export, and messages as Microsoft Graph returns them.

The latter are documented resources, in a list or below `value`. A message says which chat or channel it is of; where it
does not, each file is one.
"""

from __future__ import annotations

import json
import posixpath
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from adapters.chats.source import (
    NOT_EXPORTED,
    NOTICES,
    UNREADABLE,
    ChatLine,
    ExportedChats,
    plain_text_of,
)
from adapters.chats.teams_cards import (
    FORWARDED,
    QUOTED,
    quoted_message,
    render_cards,
    render_forwarded,
    render_quoted,
)
from adapters.common.export_folder import open_folder, read_bytes
from adapters.common.json_fields import get_row, get_rows, get_text, iterate_rows, join_lines
from engine.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from bot.platform.export_readers import ExportOptions
    from engine import Clock

NAME = "teams"
PURVIEW_HINT = (
    "Microsoft Purview exports pages and mailboxes instead: add the pages with `threadlore ingest`, and the mails of a"
    " PST file once they are saved as .msg or .eml files."
)
KIND_OF_ACCOUNT = re.compile(r"\d{1,3}:(?=.)")  # before the name of an account
MAX_SIZE = 1 << 30  # bytes of one file
WORDS = frozenset({"RichText", "Text", "RichText/Html", "message"})  # types of messages of people


def open_export(path: Path, options: ExportOptions, *, clock: Clock) -> ExportedChats:
    """Open an export: a JSON file, or a folder or archive with some. Raises InvalidDocument."""
    folder = open_folder(path.parent if path.suffix.lower() == ".json" else path)
    source = ExportedChats(NAME, folder, options, clock.now(), frozenset(folder.list_names()))
    for name in sorted(source.names):
        is_wanted = name == path.name if path.suffix.lower() == ".json" else name.lower().endswith(".json")
        if is_wanted and not _add_file(source, name):
            source.omissions.note("JSON files that are no exported chats", name=name)
    pages = [name for name in source.names if name.lower().endswith((".html", ".htm", ".pst"))]
    return source.check(
        "export of Teams (messages.json, or messages of Microsoft Graph)", PURVIEW_HINT if pages else ""
    )


def _add_file(source: ExportedChats, name: str) -> bool:
    """Add the chats of a file; returns whether there are any."""
    try:
        found = json.loads(read_bytes(source.folder, name, MAX_SIZE))
    except (ValueError, RecursionError, InvalidDocument):
        return False
    root = found if isinstance(found, dict) else {"value": found}
    chats = [
        (get_text(row, "id"), get_text(row, "displayName"), row.get("MessageList"))
        for row in iterate_rows(root.get("conversations"))
    ]
    rows = root.get("value", root.get("messages"))
    if isinstance(rows, list) and any(isinstance(row, dict) and "body" in row for row in rows):
        chats += _split_by_chat(root, rows, name)
    for key, title, messages in chats:
        if isinstance(messages, list) and messages:
            _add_chat(source, key, title or key, messages)
    return bool(chats)


def _split_by_chat(root: Mapping[str, Any], rows: Sequence[Any], name: str) -> list[tuple[str, str, Any]]:
    """The chats of the messages in a file, with their titles."""
    stem = posixpath.splitext(posixpath.basename(name))[0]
    title, given = get_text(root, "displayName", "topic") or stem, get_text(root, "id")
    found: dict[str, list[Any]] = {}
    for row in rows:
        place = row if isinstance(row, dict) else {}
        key = given or get_text(place, "chatId") or get_text(get_row(place, "channelIdentity"), "channelId") or name
        found.setdefault(key, []).append(row)
    return [(key, title if len(found) == 1 else f"{title} {key}", messages) for key, messages in found.items()]


def _add_chat(source: ExportedChats, key: str, title: str, messages: Sequence[Any]) -> None:
    source.add(key or title, title, lambda: _read(source, title, messages))


def _read(source: ExportedChats, title: str, messages: Sequence[Any]) -> Iterator[ChatLine]:
    lines = []
    for row in _with_replies(messages):
        try:
            kind = get_text(row, "messagetype", "messageType")
            if kind and kind not in WORDS:
                source.omissions.note(NOTICES, title)
                continue
            lines.append(_parse(row))
        except (ValueError, TypeError, AttributeError, OverflowError):
            source.omissions.note(UNREADABLE, title, str(row)[:60])
            continue
        for file in get_rows(row, "attachments"):
            if (name := get_text(file, "name")) and get_text(file, "contentType") not in {QUOTED, FORWARDED}:
                source.omissions.note(NOT_EXPORTED, title, name)
    yield from sorted(lines, key=lambda each: each.time)


def _with_replies(messages: Iterable[Any]) -> Iterator[Any]:
    """The messages, each followed by the replies within it."""
    for row in messages:
        yield row
        if isinstance(row, dict):
            yield from ({"replyToId": row.get("id"), **iterate_row} for iterate_row in iterate_rows(row.get("replies")))


def _parse(row: Mapping[str, Any]) -> ChatLine:
    """A message. Raises ValueError."""
    body, user = get_row(row, "body"), get_row(get_row(row, "from"), "user")
    app = get_row(get_row(row, "from"), "application")
    time = datetime.fromisoformat(get_text(row, "originalarrivaltime", "createdDateTime"))
    content = get_text(body, "content") or get_text(row, "content")
    words = plain_text_of(content)
    files = [f"File “{name}”" for attachment in get_rows(row, "attachments") if (name := get_text(attachment, "name"))]
    name = next(filter(None, (get_text(author, "displayName") for author in (user, app, row))), "")
    return ChatLine(
        time if time.tzinfo else time.replace(tzinfo=UTC),
        name or KIND_OF_ACCOUNT.sub("", get_text(row, "from")),
        join_lines([get_text(row, "subject"), render_quoted(row), words, render_cards(row), *files]),
        id=get_text(row, "id"),
        person=get_text(user, "id") or get_text(row, "from"),
        replies_to=get_text(row, "replyToId") or quoted_message(row),
        edited=get_text(row, "lastEditedDateTime", "edittime"),
        forwarded=render_forwarded(row),
    )
