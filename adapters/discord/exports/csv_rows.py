"""Read the messages of a channel that DiscordChatExporter wrote as CSV."""

from __future__ import annotations

import csv
from itertools import chain
from typing import TYPE_CHECKING, Any

from adapters.discord.exports.identity import attachment_at, invent_id, type_of
from adapters.discord.exports.times import IdMaker, parse_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

MAX_CELL = 1_000_000  # characters


def read_payloads(open_lines: Callable[[], Iterable[str]], slashed: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
    """The messages; one that cannot be read is an object that says its `line` alone, so that it is named.

    `slashed`: the formats of dates with slashes.
    """
    ids = IdMaker()
    for row, line in _read_rows(open_lines()):
        try:
            yield _build(row, ids, slashed)
        except ValueError:
            yield {"line": line}


def read_times(lines: Iterable[str]) -> Iterator[str]:
    """The times of the messages as they are written."""
    return (row.get("Date") or "" for row, _ in _read_rows(lines))


def _read_rows(lines: Iterable[str]) -> Iterator[tuple[Mapping[str, str | None], int]]:
    """The rows with the numbers of their last lines; an empty one for what cannot be read."""
    csv.field_size_limit(MAX_CELL)
    at = 0

    def count_lines() -> Iterator[str]:
        nonlocal at
        for at, line in enumerate(lines, 1):  # noqa: B007  - where the reader is when a row ends
            yield line

    numbered = count_lines()
    head = next(numbered, "")
    rows = csv.DictReader(chain([head], numbered), delimiter=";" if ";" in head else ",")  # of versions before 2020
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error:  # such as a cell without an end, after which the next line begins a row
            row = {}
        yield row, at


def _build(row: Mapping[str, str | None], ids: IdMaker, slashed: tuple[str, ...]) -> Mapping[str, Any]:
    """A message as in JSON. Raises ValueError."""
    time, author = parse_time(row.get("Date") or "", slashed), row.get("Author") or ""
    person = row.get("AuthorID") or invent_id(author)
    addresses = [address for address in (row.get("Attachments") or "").split(",") if address]
    content = row.get("Content") or ""
    return {
        "id": ids.make(time, person, content),
        "timestamp": time.isoformat(),
        "type": type_of(content, addresses),
        "content": content,
        "author": {"id": person, "name": author},
        "attachments": list(map(attachment_at, addresses)),
    }
