"""The comments of a PPT. Pure."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from engine.models import Passage
from engine.parsers.formats.old_office.streams import read_stream
from engine.text.cleanup import clean_multiline, clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMMENT = b"\x0f\x00\xe0\x2e"  # how the record of a comment begins
_TEXT, _HEAD = 0x0FBA, 8
_AUTHOR, _WORDS = 0, 1  # which of the texts of a comment is what


def read_comments(data: bytes, first: int) -> tuple[Passage, ...]:
    """The comments in the order of the file. `first`: the position of the first one."""
    found = list(_list_comments(read_stream(data, "PowerPoint Document")))
    return tuple(Passage(f"c{at}", text, "comments", position=first + at) for at, text in enumerate(found))


def _list_comments(stream: bytes) -> Iterator[str]:
    at = stream.find(_COMMENT)
    while 0 <= at <= len(stream) - _HEAD:
        size = struct.unpack_from("<I", stream, at + 4)[0]
        texts = _read_texts(stream[at + _HEAD : at + _HEAD + size])
        if text := clean_multiline(texts.get(_WORDS, "")):
            author = clean_single_line(texts.get(_AUTHOR, ""))
            yield f"Comment by {author}: {text}" if author else f"Comment: {text}"
        at = stream.find(_COMMENT, at + _HEAD)


def _read_texts(record: bytes) -> dict[int, str]:
    """The texts of a comment by their numbers."""
    found: dict[int, str] = {}
    at = 0
    while at <= len(record) - _HEAD:
        number, kind, size = struct.unpack_from("<HHI", record, at)
        if kind == _TEXT:
            found[number >> 4] = record[at + _HEAD : at + _HEAD + size].decode("utf-16-le", "replace")
        at += _HEAD + size
    return found
