"""Read chats that WhatsApp exported: a text file for each chat, with the files that people shared beside it.

Times have no zone and count as UTC; the order of day and month is found out.
"""

from __future__ import annotations

import posixpath
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from adapters.chats.source import NOTICES, ChatLine, ExportedChat, ExportedChats
from adapters.common.export_folder import open_folder, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from bot.platform.export_readers import ExportOptions
    from engine import Clock

NAME = "whatsapp"
MARKS = str.maketrans({"\u200e": "", "\u200f": "", "\u202a": "", "\u202c": "", "\u202f": " ", "\u00a0": " "})
_DATE_MARK, _TIME_MARK = re.compile("[./-]"), re.compile("[:.]")
HEAD = re.compile(
    r"\[?(?P<date>\d{1,4}[./-]\d{1,2}[./-]\d{1,4}),? (?:at )?(?P<time>\d{1,2}[:.]\d{2}(?:[:.]\d{2})?)"
    r"(?: ?(?P<half>[AaPp])\.? ?[Mm]\.?)?(?:\] ?| - )(?P<rest>.*)",
    re.DOTALL,
)
AUTHOR = re.compile(r"(?P<author>[^:\n]{1,100}): ?(?P<text>.*)", re.DOTALL)
FILE = re.compile(r"<[^<>:]{2,30}: ([^<>\n]{1,200})>|^([^\n/:]{1,200}\.\w{2,5}) \([^()\n]{3,40}\)$", re.MULTILINE)
CHAT_NAME = re.compile(r"(?:WhatsApp[ _-]{1,3}Chat(?: with|[ _]-|[ _]mit)?[ _]+)?(.+)", re.IGNORECASE)
PLAIN_NAME = "_chat"  # of the file in an archive, which has the name
SAMPLE_LINES = 2000
YEAR_DIGITS, LAST_MONTH, NOON = 4, 12, 12


def open_export(path: Path, options: ExportOptions, *, clock: Clock) -> ExportedChats:
    """Open a chat: a text file, or an archive or folder with some. Raises InvalidDocument."""
    folder = open_folder(path if path.suffix.lower() != ".txt" else path.parent)
    source = ExportedChats(NAME, folder, options, clock.now())
    wanted = {path.name} if path.suffix.lower() == ".txt" else None
    for name in sorted(source.names):
        if name.lower().endswith(".txt") and (wanted is None or name in wanted):
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
    source.add(ExportedChat(chat, chat, lambda: _read(source, name, chat, order)))


def find_order(lines: Iterable[str]) -> str:
    """The order of day, month and year in the heads of messages, such as "dmy"; "" if there are no heads."""
    dates, has_halves = [], False
    for _, line in zip(range(SAMPLE_LINES), lines, strict=False):
        if match := HEAD.fullmatch(line.translate(MARKS).rstrip("\r\n")):
            dates.append(_DATE_MARK.split(match["date"]))
            has_halves |= bool(match["half"])
    if not dates:
        return ""
    if all(len(each[0]) == YEAR_DIGITS for each in dates):
        return "ymd"
    if any(int(each[0]) > LAST_MONTH for each in dates):
        return "dmy"
    return "mdy" if has_halves or any(int(each[1]) > LAST_MONTH for each in dates) else "dmy"


def _read(source: ExportedChats, name: str, chat: str, order: str) -> Iterator[ChatLine]:
    folder = posixpath.dirname(name)
    for time, rest in _read_entries(read_lines(source.folder, name), order):
        match = AUTHOR.fullmatch(rest)
        if match is None:
            source.omissions.note(NOTICES, chat)
            continue
        text = match["text"].strip()
        files = tuple(posixpath.join(folder, first or second) for first, second in FILE.findall(text))
        yield ChatLine(time, match["author"].strip(), FILE.sub("", text).strip(), files)


def _read_entries(lines: Iterable[str], order: str) -> Iterator[tuple[datetime, str]]:
    """Entries with their times; lines without a head continue the entry before."""
    time, parts = None, list[str]()
    for line in lines:
        clean = line.translate(MARKS).rstrip("\r\n")
        match = HEAD.fullmatch(clean)
        begun = parse_head(match, order) if match else None
        if match is None or begun is None:
            parts.append(clean)
            continue
        if time is not None:
            yield time, "\n".join(parts)
        time, parts = begun, [match["rest"]]
    if time is not None:
        yield time, "\n".join(parts)


def parse_head(match: re.Match[str], order: str) -> datetime | None:
    """The time of a head; None if there is no such time."""
    numbers = dict(zip(order, map(int, _DATE_MARK.split(match["date"])), strict=True))
    hour, minute, *rest = map(int, _TIME_MARK.split(match["time"]))
    if match["half"]:
        hour = hour % NOON + (NOON if match["half"].lower() == "p" else 0)
    year = numbers["y"] + (2000 if numbers["y"] < 100 else 0)
    try:
        return datetime(year, numbers["m"], numbers["d"], hour, minute, rest[0] if rest else 0, tzinfo=UTC)
    except ValueError:
        return None
