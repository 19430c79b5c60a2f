"""Parse subtitles (SRT, VTT) into passages located by their times. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.models import Passage
from engine.parsers.base import ParsedFile
from engine.parsers.encodings.decoding import decode_text
from engine.parsers.passages import Block, group_blocks
from engine.text.cleanup import clean_lines, clean_multiline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TIMES = re.compile(
    r"\s{0,9}+(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})[.,]\d{1,3}\s{0,9}+-->\s{0,9}+(?:\d{1,3}:)?\d{1,2}:\d{1,2}[.,]\d"
)
_SPEAKER = re.compile(r"<v(?:\.[^\s>]{1,80})?[ \t]+([^<>]{1,100})>")
_TAGS = re.compile(r"</?[a-zA-Z0-9:.][^<>]{0,200}>|\{\\[^{}]{0,100}\}")


def parse(name: str, data: bytes) -> ParsedFile:
    """Passages labeled "time 00:12:31", the time at which each begins. Raises CorruptFile if it is not text."""
    cues = list(_read_cues(clean_lines(decode_text(data))))
    blocks = [Block(text, at, at, "item") for at, (_, text) in enumerate(cues)]
    passages: list[Passage] = []
    for group in group_blocks(blocks):
        if text := clean_multiline("\n".join(block.text for block in group)):
            key = f"t{group[0].start}.{len(passages)}"
            passages.append(Passage(key, text, f"time {cues[group[0].start][0]}", position=len(passages)))
    return ParsedFile(name, tuple(passages))


def _read_cues(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The time and the text of each cue; a cue ends with an empty line."""
    time, text = "", list[str]()
    for line in [*lines, ""]:
        if found := _TIMES.match(line):
            time, text = f"{int(found[1] or 0):02}:{int(found[2]):02}:{int(found[3]):02}", []
        elif time and line.strip():
            text.append(_TAGS.sub("", _SPEAKER.sub(r"\1: ", line)).strip())
        elif time:
            if joined := " ".join(filter(None, text)):
                yield time, joined
            time = ""
