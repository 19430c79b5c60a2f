"""Parse JSON Lines without chat messages: each record as lines of names and values. Pure."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

from engine.errors import CorruptFile
from engine.models import Omission, Passage
from engine.parsers.base import stream_passages, word_reason
from engine.parsers.encodings.decoding import decode_text
from engine.parsers.formats.row_passages import number_passages
from engine.parsers.passages import Block, format_span, group_blocks, join_blocks
from engine.parsers.plain_text import iterate_lines
from engine.text.cleanup import clean_multiline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.parsers.base import ParsedFile

MAX_LINE_LENGTH = 1_000_000  # characters per line: parsed, each may take a hundred times its size
MAX_DEPTH = 20
_BATCH = 1000  # records that are grouped at once
JSON_LINES_HINT = "JSON Lines have one JSON value per line; a chat message is an object with id, user, text and time."


def parse(name: str, data: bytes) -> ParsedFile:
    """Passages of whole records where they fit, labeled "records 1–12"; a line that cannot be read is omitted.

    Raises CorruptFile if no line can be read, naming the first.
    """
    parsed = stream_passages(name, number_passages(_record_passages(_read_records(decode_text(data)))))
    if not parsed.passages and parsed.omissions:
        first = parsed.omissions[0]
        raise CorruptFile(f"{first.part.capitalize()} cannot be read: {first.reason}.", hint=JSON_LINES_HINT)
    return parsed


def _read_records(text: str) -> Iterator[Block | Omission]:
    for number, line in enumerate(iterate_lines(text), 1):
        if not line.strip():
            continue
        try:
            record = "\n".join(flatten_value(parse_json_line(line, number)))
        except CorruptFile as error:
            yield Omission(f"line {number}", word_reason(error))
            continue
        if record:
            yield Block(record, number, number)


def _record_passages(pieces: Iterator[Block | Omission]) -> Iterator[Passage | Omission]:
    count = 0
    while batch := list(islice(pieces, _BATCH)):
        yield from (piece for piece in batch if isinstance(piece, Omission))
        for group in group_blocks(piece for piece in batch if isinstance(piece, Block)):
            start, stop = group[0].start, group[-1].stop
            yield Passage(
                f"R{start}-{stop}.{count}", clean_multiline(join_blocks(group)), format_span("record", start, stop)
            )
            count += 1


def parse_json_line(line: str, number: int) -> Any:
    """Parse one line. Raises CorruptFile if it is not JSON, too long or nested too deeply."""
    if len(line) > MAX_LINE_LENGTH:
        raise CorruptFile(f"Line {number} has more than {MAX_LINE_LENGTH:,} characters.", hint=JSON_LINES_HINT)
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CorruptFile(f"Line {number} is not JSON.", hint=JSON_LINES_HINT) from error


def flatten_value(value: Any, path: str = "", depth: int = 0) -> Iterator[str]:
    """`name: value` for every nested value; nested names are joined with dots, plain lists with commas."""
    if isinstance(value, dict | list) and depth < MAX_DEPTH:
        plain = isinstance(value, list) and not any(isinstance(item, dict | list) for item in value)
        if plain:
            yield from flatten_value(", ".join(filter(None, map(_render_value, value))), path, MAX_DEPTH)
            return
        for name, each in value.items() if isinstance(value, dict) else enumerate(value, 1):
            yield from flatten_value(each, f"{path}.{name}" if path else str(name), depth + 1)
    elif word := _render_value(value):
        yield f"{path}: {word}" if path else word


def _render_value(value: Any) -> str:
    if value is None or isinstance(value, dict | list):
        return "" if value is None else "…"
    return str(value).lower() if isinstance(value, bool) else str(value)
