"""Read chats that WhatsApp exported: a text file for each chat, with the files that people shared beside it.

Times have no zone and count as UTC; the order of day and month is found out.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from adapters.chats.source import NOTICES, ChatLine, ExportedChats
from adapters.chats.whatsapp_heads import MARKS, find_order, match_head, parse_head, rest_of
from adapters.common.export_folder import open_folder, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from pathlib import Path

    from bot.platform.export_readers import ExportOptions
    from engine import Clock

NAME = "whatsapp"
AUTHOR = re.compile(r"(?:~ ?)?(?P<author>[^:\n]{1,100}?) ?: ?(?P<text>.*)", re.DOTALL)
FILE = re.compile(r"<[^<>:]{2,30}: ([^<>\n]{1,200})>|^([^\n/:]{1,200}\.\w{2,5}) \([^()\n]{3,40}\)$", re.MULTILINE)
CHAT_NAME = re.compile(r"(?:WhatsApp[ _-]{1,3}Chat(?: with|[ _]-|[ _]mit)?[ _]+)?(.+)", re.IGNORECASE)
# The names that WhatsApp itself gives to files, on an iPhone by number and on Android by day.
OWN_NAME = re.compile(r"0\d{7}-.{1,200}|(?:IMG|VID|PTT|AUD|DOC|STK)-\d{8}-WA\d{4}.{1,200}")
PLAIN_NAME = "_chat"  # of the file in an archive, which has the name


def open_export(path: Path, options: ExportOptions, *, clock: Clock) -> ExportedChats:
    """Open a chat: a text file, or an archive or folder with some. Raises InvalidDocument.

    Beside a text file, only files with names of WhatsApp's own are part of the export: people in the chat could name
    any other file of that folder.
    """
    is_bare = path.suffix.lower() == ".txt"
    folder = open_folder(path.parent, deep=False) if is_bare else open_folder(path)
    names = [name for name in folder.list_names() if not is_bare or name == path.name or OWN_NAME.fullmatch(name)]
    source = ExportedChats(NAME, folder, options, clock.now(), frozenset(names))
    for name in sorted(source.names):
        if name == path.name if is_bare else name.lower().endswith(".txt"):
            _add_chat(source, name, path.stem)
    return source.check("chat that WhatsApp exported")


def _add_chat(source: ExportedChats, name: str, archive: str) -> None:
    order = find_order(read_lines(source.folder, name))
    if not order:
        source.omissions.note("text files that are no chats", name=name)
        return
    stem = posixpath.splitext(posixpath.basename(name))[0]
    title = posixpath.basename(posixpath.dirname(name)) or archive if stem == PLAIN_NAME else stem
    match = CHAT_NAME.fullmatch(title)
    chat = match[1] if match else title
    source.add(chat, chat, lambda: _read(source, name, chat, order))


def _read(source: ExportedChats, name: str, chat: str, order: str) -> Iterator[ChatLine]:
    folder = posixpath.dirname(name)
    for time, rest in _read_entries(read_lines(source.folder, name), order):
        match = AUTHOR.fullmatch(rest)
        if match is None:
            source.omissions.note(NOTICES, chat)
            continue
        text = match["text"].strip()
        names = (posixpath.basename(first or second) for first, second in FILE.findall(text))
        files = tuple(posixpath.join(folder, file_name) for file_name in names)
        yield ChatLine(time, match["author"].strip(), FILE.sub("", text).strip(), files)


def _read_entries(lines: Iterable[str], order: str) -> Iterator[tuple[datetime, str]]:
    """Entries with their times; lines without a head continue the entry before."""
    time, parts = None, list[str]()
    for line in lines:
        clean = line.translate(MARKS).rstrip("\r\n")
        head = match_head(clean)
        begun = parse_head(head, order) if head else None
        if head is None or begun is None:
            parts.append(clean)
            continue
        if time is not None:
            yield time, "\n".join(parts)
        time, parts = begun, [rest_of(clean, head)]
    if time is not None:
        yield time, "\n".join(parts)
