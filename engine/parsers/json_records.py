"""JSON Lines that are no chat: each record as lines of names and values. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engine.errors import Broken
from engine.models import Passage
from engine.parsers.base import Read
from engine.parsers.encoding import decode
from engine.parsers.passages.packing import Block, joined, pack
from engine.parsers.passages.sections import span
from engine.text.cleaning import tidy

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 1_000_000  # characters of a line: parsed, each may take a hundred times its size
DEEPEST = 20
HINT = "JSON Lines have one JSON value a line; of chat messages it is an object with id, user, text and time."


def read(name: str, data: bytes) -> Read:
    """Passages of whole records, as far as they fit, labelled "records 1–12". Raises Broken, naming the line."""
    blocks = [
        Block(text, number, number)
        for number, line in enumerate(decode(data).split("\n"), 1)
        if line.strip() and (text := "\n".join(_lines(parsed(line, number))))
    ]
    passages: list[Passage] = []
    for group in pack(blocks):
        if text := tidy(joined(group)):
            start, stop = group[0].start, group[-1].stop
            key = f"R{start}-{stop}.{len(passages)}"
            passages.append(Passage(key, text, span("record", start, stop), position=len(passages)))
    return Read(name, tuple(passages))


def parsed(line: str, number: int) -> Any:
    """The value of a line. Raises Broken for what is no JSON, or too long or deep to be looked at."""
    if len(line) > LONGEST:
        raise Broken(f"Line {number} has more than {LONGEST:,} characters.", hint=HINT)
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Broken(f"Line {number} is not JSON.", hint=HINT) from error


def _lines(value: Any, path: str = "", depth: int = 0) -> Iterator[str]:
    """`name: value` for every value inside; names of nested ones are joined with dots, plain lists with commas."""
    if isinstance(value, dict | list) and depth < DEEPEST:
        plain = isinstance(value, list) and not any(isinstance(each, dict | list) for each in value)
        if plain:
            yield from _lines(", ".join(filter(None, map(_word, value))), path, DEEPEST)
            return
        for name, each in value.items() if isinstance(value, dict) else enumerate(value, 1):
            yield from _lines(each, f"{path}.{name}" if path else str(name), depth + 1)
    elif word := _word(value):
        yield f"{path}: {word}" if path else word


def _word(value: Any) -> str:
    if value is None or isinstance(value, dict | list):
        return "" if value is None else "…"
    return str(value).lower() if isinstance(value, bool) else str(value)
