"""Read chats that Telegram Desktop exported, with the files beside them: as JSON, or as pages of HTML.

result.json has one chat or all of them. Pages do not say which chats are direct ones; those of a folder that has a
result.json, too, are not read again.
"""

from __future__ import annotations

import json
import posixpath
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from adapters.chats.source import NOT_EXPORTED, NOTICES, UNREADABLE, ChatLine, ExportedChats
from adapters.chats.telegram_pages import page_number, read_pages, read_title
from adapters.common.export_folder import open_folder, read_bytes, read_lines
from adapters.common.json_fields import MAX_DEPTH, get_row, get_rows, get_text, iterate_rows, join_lines
from engine.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from bot.platform.export_readers import ExportOptions
    from engine import Clock

NAME = "telegram"
MAX_SIZE = 1 << 30  # bytes of one result.json
MISSING = "(File not included"  # the beginning of a path that leads nowhere


def open_export(path: Path, options: ExportOptions, *, clock: Clock) -> ExportedChats:
    """Open an export: result.json, a page, or the folder or archive with them. Raises InvalidDocument."""
    is_file = path.suffix.lower() in {".json", ".html", ".htm"}
    folder = open_folder(path.parent if is_file else path)
    source = ExportedChats(NAME, folder, options, clock.now(), frozenset(folder.list_names()))
    is_page = is_file and path.suffix.lower() != ".json"
    if not is_page:
        for name in sorted(source.names):
            if name == path.name if is_file else posixpath.basename(name) == "result.json":
                _add_file(source, name)
    if is_page or not is_file:
        _add_pages(source, [name for name in source.names if not (is_page and "/" in name)])
    return source.check("export of Telegram (result.json, or messages.html)")


def _add_file(source: ExportedChats, name: str) -> None:
    try:
        found = json.loads(read_bytes(source.folder, name, MAX_SIZE))
    except (ValueError, RecursionError) as error:
        raise CorruptFile(f"“{name}” is not complete JSON.") from error
    root = found if isinstance(found, dict) else {}
    lists = (iterate_rows(get_row(root, key).get("list")) for key in ("chats", "left_chats"))
    for chat in [root] if "messages" in root else [row for rows in lists for row in rows]:
        _add_chat(source, chat, posixpath.dirname(name))


def _add_pages(source: ExportedChats, names: Iterable[str]) -> None:
    """Add the chats whose pages are in folders of their own."""
    folders: dict[str, list[tuple[int, str]]] = {}
    read = tuple(name.removesuffix("result.json") for name in source.names if posixpath.basename(name) == "result.json")
    for name in names:
        if (number := page_number(posixpath.basename(name))) and not name.startswith(read):
            folders.setdefault(posixpath.dirname(name), []).append((number, name))
    for folder, pages in sorted(folders.items()):
        pages.sort()
        if title := read_title(read_lines(source.folder, pages[0][1])):
            _add_page_chat(source, title, folder, [name for _, name in pages])
        else:
            source.omissions.note("pages that are no exported chats", name=pages[0][1])


def _add_page_chat(source: ExportedChats, title: str, folder: str, names: Sequence[str]) -> None:
    def read() -> Iterator[ChatLine]:
        rows = read_pages(read_lines(source.folder, name) for name in names)
        return _read_rows(source, rows, title, folder)

    source.add(title, title, read)


def _add_chat(source: ExportedChats, chat: Mapping[str, Any], folder: str) -> None:
    title = get_text(chat, "name") or f"chat {get_text(chat, 'id')}"
    is_direct = get_text(chat, "type") in {"personal_chat", "bot_chat", "saved_messages"}
    if is_direct and not source.options.direct_messages:
        source.omissions.note("direct messages (--direct-messages includes them)", title)
        return
    source.add(get_text(chat, "id") or title, title, lambda: _read(source, chat, title, folder))


def _read(source: ExportedChats, chat: Mapping[str, Any], title: str, folder: str) -> Iterator[ChatLine]:
    messages = chat.get("messages")
    yield from _read_rows(source, messages if isinstance(messages, list) else (), title, folder)


def _read_rows(source: ExportedChats, rows: Iterable[Any], title: str, folder: str) -> Iterator[ChatLine]:
    for row in rows:
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
    texts = [_join_text(row.get("text")).strip("\n"), *_list_words(row.get("rich_message"))]
    texts += [_render_poll(get_row(row, "poll")), _render_list(get_row(row, "todo_list")), _render_place(row)]
    text = join_lines([*texts, *_list_offers(row), *_list_buttons(row)])
    origin = get_text(row, "forwarded_from")
    paths = [get_text(row, key) for key in ("file", "photo")]
    quoted = "\n".join(f"> {line}" for line in text.split("\n"))
    return ChatLine(
        _parse_time(row, "date"),
        get_text(row, "from", "from_id"),
        "" if origin else text,
        tuple(posixpath.join(folder, path) for path in paths if path and not path.startswith(MISSING)),
        get_text(row, "id"),
        get_text(row, "from_id"),
        get_text(row, "reply_to_message_id"),
        get_text(row, "edited_unixtime", "edited"),
        f"Forwarded message by {origin}:\n{quoted}" if origin and text else "",
    )


def _parse_time(row: Mapping[str, Any], key: str) -> datetime:
    seconds = get_text(row, f"{key}_unixtime")
    found = datetime.fromtimestamp(int(seconds), UTC) if seconds else datetime.fromisoformat(get_text(row, key))
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


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
    answers = [f"- {get_text(row, 'text')} ({get_text(row, 'voters') or 0} votes)" for row in get_rows(poll, "answers")]
    return join_lines([f"Poll: {get_text(poll, 'question')}", *answers]) if poll else ""


def _render_list(tasks: Mapping[str, Any]) -> str:
    """A checklist."""
    items = [f"- {_text_of(row.get('text'))}" for row in get_rows(tasks, "answers")]
    return join_lines([f"List: {_text_of(tasks.get('title'))}", *items]) if tasks else ""


def _list_offers(row: Mapping[str, Any]) -> Iterator[str]:
    """The words of a game, an invoice and a prize."""
    yield from (get_text(row, key) for key in ("game_title", "game_description", "game_link"))
    written = row.get("invoice_information")  # Telegram writes this object as a text
    try:
        invoice = json.loads(written) if isinstance(written, str) else written
    except (ValueError, RecursionError):
        invoice = None
    if isinstance(invoice, dict):
        yield from (get_text(invoice, key) for key in ("title", "description"))
    yield from (get_text(get_row(row, key), "additional_prize") for key in ("giveaway_information", "giveaway_results"))


def _list_buttons(row: Mapping[str, Any]) -> Iterator[str]:
    """The buttons that lead somewhere; others are controls."""
    found = row.get("inline_bot_buttons")
    for line in found if isinstance(found, list) else ():
        for button in line if isinstance(line, list) else ():
            if isinstance(button, dict) and get_text(button, "data").startswith(("http://", "https://")):
                yield f"{get_text(button, 'text')} ({get_text(button, 'data')})"


def _list_words(found: object, depth: int = 0) -> Iterator[str]:
    """The texts of a message with a structure of its own, one a line."""
    if isinstance(found, dict) and depth < MAX_DEPTH:
        text = _join_text(found.get("text"))
        yield text
        inner = (value for key, value in found.items() if key != "text" or not text)
        yield from (word for value in inner for word in _list_words(value, depth + 1))
    elif isinstance(found, list) and depth < MAX_DEPTH:
        yield from (word for value in found for word in _list_words(value, depth + 1))


def _text_of(found: object) -> str:
    """A text, or an object that has one, which is a text or pieces."""
    return _join_text(found.get("text") if isinstance(found, dict) else found)


def _render_place(row: Mapping[str, Any]) -> str:
    """A place or a contact that somebody shared."""
    contact = get_row(row, "contact_information")
    names = [get_text(contact, key) for key in ("first_name", "last_name", "phone_number")]
    return join_lines([get_text(row, "place_name"), get_text(row, "address"), " ".join(filter(None, names))])
