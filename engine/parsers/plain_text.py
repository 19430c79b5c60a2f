"""Plain text: paragraphs, located by their lines. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.models import Passage
from engine.parsers.base import Read
from engine.parsers.encoding import decode
from engine.parsers.passages.packing import MOST, Block, joined, pack, weight
from engine.parsers.passages.sections import span
from engine.text.cleaning import lines_of, tidy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def read(name: str, data: bytes) -> Read:
    """Passages with keys L1-12 and labels "lines 1–12". Raises Broken if it is no text."""
    passages: list[Passage] = []
    keys: dict[str, int] = {}
    for group in pack(_blocks(lines_of(decode(data)))):
        start, stop = group[0].start, group[-1].stop
        key = f"L{start}-{stop}"
        keys[key] = keys.get(key, 0) + 1
        unique = key if keys[key] == 1 else f"{key}.{keys[key]}"
        if text := tidy(joined(group)):
            passages.append(Passage(unique, text, span("line", start, stop), position=len(passages)))
    return Read(name, tuple(passages))


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Paragraphs between empty lines; one that is too long falls into its lines."""
    start = 0
    for number, line in enumerate([*lines, ""]):
        if line.strip():
            continue
        if number > start:
            yield from _paragraph(lines[start:number], start + 1)
        start = number + 1


def _paragraph(lines: Sequence[str], first: int) -> Iterator[Block]:
    text = "\n".join(lines)
    if weight(text) <= MOST:
        yield Block(text, first, first + len(lines) - 1)
    else:
        yield from (Block(line, number, number, "item") for number, line in enumerate(lines, first))
