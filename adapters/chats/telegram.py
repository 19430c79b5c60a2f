"""Read chats that Telegram Desktop exported as JSON: result.json of one chat or of all, with the files beside it."""

from __future__ import annotations

import json
import posixpath
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from adapters.chats.source import NOT_EXPORTED, NOTICES, UNREADABLE, ChatLine, ExportedChats
from adapters.common.export_folder import open_folder, read_bytes
from adapters.common.json_fields import get_row, get_rows, get_text, iterate_rows, join_lines
from engine.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from bot.platform.export_readers import ExportOptions
    from engine import Clock

NAME = "telegram"
MAX_SIZE = 1 << 30  # bytes of one result.json
MISSING = "(File not included"  # the beginning of a path that leads nowhere


def open_export(path: Path, options: ExportOptions, *, clock: Clock) -> ExportedChats:
    """Open an export: result.json, or the folder or archive with it. Raises InvalidDocument."""
    folder = open_folder(path.parent if path.suffix.lower() == ".json" else path)
    source = ExportedChats(NAME, folder, options, clock.now())
    for name in sorted(source.names):
        is_wanted = name == path.name if path.suffix.lower() == ".json" else posixpath.basename(name) == "result.json"
        if is_wanted:
            _add_file(source, name)
    return source.check("export of Telegram as JSON (result.json)")


def _add_file(source: ExportedChats, name: str) -> None:
    try:
        found = json.loads(read_bytes(source.folder, name, MAX_SIZE))
    except (ValueError, RecursionError) as error:
        raise CorruptFile(f"“{name}” is not complete JSON.") from error
    root = found if isinstance(found, dict) else {}
    lists = (iterate_rows(get_row(root, key).get("list")) for key in ("chats", "left_chats"))
    for chat in [root] if "messages" in root else [each for rows in lists for each in rows]:
        _add_chat(source, chat, posixpath.dirname(name))


def _add_chat(source: ExportedChats, chat: Mapping[str, Any], folder: str) -> None:
    title = get_text(chat, "name") or f"chat {get_text(chat, 'id')}"
    is_direct = get_text(chat, "type") in {"personal_chat", "bot_chat", "saved_messages"}
    if is_direct and not source.options.direct_messages:
        source.omissions.note("direct messages (--direct-messages includes them)", title)
        return
    source.add(get_text(chat, "id") or title, title, lambda: _read(source, chat, title, folder))


def _read(source: ExportedChats, chat: Mapping[str, Any], title: str, folder: str) -> Iterator[ChatLine]:
    messages = chat.get("messages")
    for row in messages if isinstance(messages, list) else ():
        if not isinstance(row, dict) or row.get("type") != "message":
            source.omissions.note(NOTICES if isinstance(row, dict) else UNREADABLE, title)
            continue
        try:
            yield _parse(row, folder)
        except (ValueError, OverflowError, OSError):
            source.omissions.note(UNREADABLE, title, get_text(row, "id"))
            continue
        for key in ("file", "photo"):
            if get_text(row, key).startswith(MISSING):
                source.omissions.note(NOT_EXPORTED, title, get_text(row, "file_name") or key)


def _parse(row: Mapping[str, Any], folder: str) -> ChatLine:
    """A message. Raises ValueError."""
    text = join_lines([_join_text(row.get("text")).strip("\n"), _render_poll(get_row(row, "poll")), _render_place(row)])
    origin = get_text(row, "forwarded_from")
    paths = [get_text(row, key) for key in ("file", "photo")]
    quoted = "\n".join(f"> {line}" for line in text.split("\n"))
    return ChatLine(
        _parse_time(row, "date"),
        get_text(row, "from", "from_id"),
        "" if origin else text,
        tuple(posixpath.join(folder, each) for each in paths if each and not each.startswith(MISSING)),
        get_text(row, "id"),
        get_text(row, "from_id"),
        get_text(row, "reply_to_message_id"),
        get_text(row, "edited_unixtime", "edited"),
        f"Forwarded message by {origin}:\n{quoted}" if origin and text else "",
    )


def _parse_time(row: Mapping[str, Any], key: str) -> datetime:
    seconds = get_text(row, f"{key}_unixtime")
    found = datetime.fromtimestamp(int(seconds), UTC) if seconds else datetime.fromisoformat(get_text(row, key))
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _join_text(found: object) -> str:
    """A text, or its pieces, with the addresses of links that have another text."""
    if isinstance(found, str):
        return found
    return "".join(map(_render_piece, found)) if isinstance(found, list) else ""


def _render_piece(piece: object) -> str:
    if isinstance(piece, str):
        return piece
    if not isinstance(piece, dict) or not isinstance(text := piece.get("text"), str):
        return ""
    match piece.get("type"):
        case "pre":
            return f"\n```\n{text}\n```\n"
        case "code":
            return f"`{text}`"
        case "text_link":
            return f"{text} ({get_text(piece, 'href')})"
    return text


def _render_poll(poll: Mapping[str, Any]) -> str:
    answers = [
        f"- {get_text(each, 'text')} ({get_text(each, 'voters') or 0} votes)" for each in get_rows(poll, "answers")
    ]
    return join_lines([f"Poll: {get_text(poll, 'question')}", *answers]) if poll else ""


def _render_place(row: Mapping[str, Any]) -> str:
    """A place or a contact that somebody shared."""
    contact = get_row(row, "contact_information")
    names = [get_text(contact, key) for key in ("first_name", "last_name", "phone_number")]
    return join_lines([get_text(row, "place_name"), get_text(row, "address"), " ".join(filter(None, names))])
