"""Parse plain text into paragraphs located by their lines. Pure."""

from __future__ import annotations

from itertools import count, islice
from typing import TYPE_CHECKING

from engine.models import Passage
from engine.parsers.base import stream_passages
from engine.parsers.encodings.decoding import decode_text
from engine.parsers.passages import MAX_WORDS, Block, format_span, group_blocks, join_blocks, word_count
from engine.text.cleanup import clean_lines, clean_multiline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engine.parsers.base import ParsedFile

_BLOCKS_AT_ONCE = 5000  # grouped into passages, so that a long file is sent while it is parsed


def parse(name: str, data: bytes) -> ParsedFile:
    """Passages with keys L1-12 and labels "lines 1–12". Raises CorruptFile if it is not text."""
    return stream_passages(name, _build_passages(_split_paragraphs(clean_lines(decode_text(data)))))


def _build_passages(paragraphs: Iterator[Block]) -> Iterator[Passage]:
    position, keys = count(), dict[str, int]()
    while batch := list(islice(paragraphs, _BLOCKS_AT_ONCE)):
        for group in group_blocks(batch):
            start, stop = group[0].start, group[-1].stop
            key = f"L{start}-{stop}"
            keys[key] = keys.get(key, 0) + 1
            unique = key if keys[key] == 1 else f"{key}.{keys[key]}"
            if text := clean_multiline(join_blocks(group)):
                yield Passage(unique, text, format_span("line", start, stop), position=next(position))


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


def iterate_lines(text: str) -> Iterator[str]:
    """The lines one by one: a million of them would take several times the memory of the text."""
    text, start = text.replace("\r\n", "\n").replace("\r", "\n"), 0
    while (stop := text.find("\n", start) + 1) > 0:
        yield text[start:stop]
        start = stop
    yield text[start:]
