"""Read the messages of a channel that DiscordChatExporter wrote as plain text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from adapters.discord.exports.identity import attachment_at, invent_id, type_of
from adapters.discord.exports.times import IdMaker, parse_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

HEAD = re.compile(r"\[(?P<time>[^\]\n]{6,40})\] (?P<author>[^\n]{1,120}?)(?: \(pinned\))?")
RULE = "=" * 62  # above and below what is said of the channel, and of the number of messages
DIGITS, WORDS = re.compile(r"\d+"), re.compile(r"[^\W\d_]+")
UNREADABLE_HEAD = re.compile(r"\[[^\]\n]{0,20}\d[^\]\n]{0,20}\d[:.]\d{2}[^\]\n]{0,20}\] [^\n]{1,130}")
END = re.compile(r"Exported \d.{0,20} message\(s\)")
ATTACHMENTS, SKIPPED = "{Attachments}", frozenset({"{Reactions}"})
SECTION = re.compile(r"\{(?:Attachments|Embed|Stickers|Inline Emojis|Reactions)\}")


def read_times(lines: Iterable[str]) -> Iterator[str]:
    """The times of the messages as they are written."""
    return (match["time"] for match in map(HEAD.match, lines) if match)


def read_payloads(open_lines: Callable[[], Iterable[str]], slashed: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
    """The messages as in JSON. What is before the first and after the last one is between rules, and left out.

    `slashed`: the formats of dates with slashes. A message whose time cannot be read is an empty object.
    """
    head: tuple[datetime, str] | None = None
    body: list[str] = [""]
    ids, form = IdMaker(), ""
    for line in (text.rstrip("\r\n") for text in open_lines()):
        is_apart = body[-1:] == [""]  # as each head is
        begun, shown = _read_head(line, slashed) if is_apart else None, _form_of(line)
        form = form or shown
        is_unreadable = begun is None and bool(shown) and shown == form and is_apart
        if begun is None and not is_unreadable:
            body.append(line)
            continue
        if head is not None:
            yield _build(head, body, ids)
        if is_unreadable:
            yield {}
        head, body = begun, []
    if head is not None:
        yield _build(head, _without_end(body), ids)


def _form_of(line: str) -> str:
    """How the time of a head is written, without its digits and letters; empty for a line that is none."""
    match = HEAD.fullmatch(line) if UNREADABLE_HEAD.fullmatch(line) else None
    return WORDS.sub("a", DIGITS.sub("0", match["time"])) if match else ""


def _without_end(body: list[str]) -> list[str]:
    """The lines of the last message, without the number of messages between rules."""
    lines = [line for line in body if line.strip()][-3:]
    is_end = len(lines) == 3 and lines[0] == lines[2] == RULE and END.fullmatch(lines[1])
    return body[: len(body) - 1 - body[::-1].index(RULE, body[::-1].index(RULE) + 1)] if is_end else body


def _read_head(line: str, slashed: tuple[str, ...]) -> tuple[datetime, str] | None:
    match = HEAD.fullmatch(line)
    try:
        return (parse_time(match["time"], slashed), match["author"]) if match else None
    except ValueError:
        return None


def _build(head: tuple[datetime, str], body: Iterable[str], ids: IdMaker) -> Mapping[str, Any]:
    """A message as in JSON, with the sections below its words."""
    time, author = head
    words, addresses, section = list[str](), list[str](), ""
    for line in body:
        if SECTION.fullmatch(line):
            section = line
        elif section == ATTACHMENTS:
            addresses += [line] if line.strip() else []
        elif section not in SKIPPED:
            words.append(line)
    content = "\n".join(words).strip()
    return {
        "id": ids.make(time, author, content),
        "timestamp": time.isoformat(),
        "type": type_of(content, addresses),
        "content": content,
        "author": {"id": invent_id(author), "name": author},
        "attachments": list(map(attachment_at, addresses)),
    }
