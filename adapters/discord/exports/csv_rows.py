"""Read the messages of a channel that DiscordChatExporter wrote as CSV."""

from __future__ import annotations

import csv
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from adapters.discord.exports.identity import attachment_at, invent_id, parse_time, snowflake_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

MAX_CELL = 1_000_000  # characters


def read_payloads(lines: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """The messages; one that cannot be read is an object that says its `line` alone, so that it is named."""
    csv.field_size_limit(MAX_CELL)
    at = 0

    def count_lines() -> Iterator[str]:
        nonlocal at
        for at, line in enumerate(lines, 1):  # noqa: B007  - where the reader is when a row ends
            yield line

    numbered = count_lines()
    head = next(numbered, "")
    rows = csv.DictReader(chain([head], numbered), delimiter=";" if ";" in head else ",")  # of versions before 2020
    for number in count():
        try:
            if (row := next(rows, None)) is None:
                return
            yield _build(row, number)
        except (ValueError, csv.Error):  # such as a cell without an end, after which the next line begins a row
            yield {"line": at}


def _build(row: Mapping[str, str | None], number: int) -> Mapping[str, Any]:
    """A message as in JSON. Raises ValueError."""
    time, author = parse_time(row.get("Date") or ""), row.get("Author") or ""
    addresses = filter(None, (row.get("Attachments") or "").split(","))
    return {
        "id": snowflake_at(time, number),
        "timestamp": time.isoformat(),
        "content": row.get("Content") or "",
        "author": {"id": row.get("AuthorID") or invent_id(author), "name": author},
        "attachments": list(map(attachment_at, addresses)),
    }
