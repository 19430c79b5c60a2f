"""Parse plain text into paragraphs, located by their lines. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.models import Passage
from engine.parsers.base import ParsedFile
from engine.parsers.detection.charset import decode_text
from engine.parsers.passages.blocks import MAX_WORDS, Block, group_blocks, join_blocks, word_count
from engine.parsers.passages.sections import format_span
from engine.text.cleanup import clean_lines, clean_multiline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def parse(name: str, data: bytes) -> ParsedFile:
    """Passages with keys L1-12 and labels "lines 1–12". Raises CorruptFile if it is not text."""
    passages: list[Passage] = []
    keys: dict[str, int] = {}
    for group in group_blocks(_split_paragraphs(clean_lines(decode_text(data)))):
        start, stop = group[0].start, group[-1].stop
        key = f"L{start}-{stop}"
        keys[key] = keys.get(key, 0) + 1
        unique = key if keys[key] == 1 else f"{key}.{keys[key]}"
        if text := clean_multiline(join_blocks(group)):
            passages.append(Passage(unique, text, format_span("line", start, stop), position=len(passages)))
    return ParsedFile(name, tuple(passages))


def _split_paragraphs(lines: Sequence[str]) -> Iterator[Block]:
    """Paragraphs between empty lines; a paragraph that is too long is split into its lines."""
    start = 0
    for number, line in enumerate([*lines, ""]):
        if line.strip():
            continue
        if number > start:
            yield from _build_blocks(lines[start:number], start + 1)
        start = number + 1


def _build_blocks(lines: Sequence[str], first: int) -> Iterator[Block]:
    text = "\n".join(lines)
    if word_count(text) <= MAX_WORDS:
        yield Block(text, first, first + len(lines) - 1)
    else:
        yield from (Block(line, number, number, "item") for number, line in enumerate(lines, first))
