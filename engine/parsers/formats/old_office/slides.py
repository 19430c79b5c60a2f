"""The comments of a PPT, and its headers and footers. Pure."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from engine.models import Passage
from engine.parsers.formats.old_office.streams import read_stream
from engine.text.cleanup import clean_multiline, clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterator

# How a record of a comment begins, and those of headers and footers: of all slides, of all notes, of one of them.
_COMMENT = b"\x0f\x00\xe0\x2e"
_AROUND = (b"\x3f\x00\xd9\x0f", b"\x4f\x00\xd9\x0f", b"\x0f\x00\xd9\x0f")
_TEXT, _HEAD = 0x0FBA, 8
_AUTHOR, _WORDS = 0, 1  # which of the texts of a comment is what


def read_beside(data: bytes, first: int) -> tuple[Passage, ...]:
    """The headers and footers, each once, then the comments in the order of the file.

    `first`: the position of the first one.
    """
    stream = read_stream(data, "PowerPoint Document")
    around = dict.fromkeys(_list_around(stream))
    found = [("headers and footers", "\n".join(around))] if around else []
    found += [("comments", text) for text in _list_comments(stream)]
    return tuple(Passage(f"c{at}", text, label, position=first + at) for at, (label, text) in enumerate(found))


def _list_around(stream: bytes) -> Iterator[str]:
    for sign in _AROUND:
        for texts in _list_records(stream, sign):
            yield from filter(None, map(clean_single_line, texts.values()))


def _list_comments(stream: bytes) -> Iterator[str]:
    for texts in _list_records(stream, _COMMENT):
        if text := clean_multiline(texts.get(_WORDS, "")):
            author = clean_single_line(texts.get(_AUTHOR, ""))
            yield f"Comment by {author}: {text}" if author else f"Comment: {text}"


def _list_records(stream: bytes, sign: bytes) -> Iterator[dict[int, str]]:
    """The texts of each record that begins like this."""
    at = stream.find(sign)
    while 0 <= at <= len(stream) - _HEAD:
        size = struct.unpack_from("<I", stream, at + 4)[0]
        yield _read_texts(stream[at + _HEAD : at + _HEAD + size])
        at = stream.find(sign, at + _HEAD)


def _read_texts(record: bytes) -> dict[int, str]:
    """The texts of a record by their numbers."""
    found: dict[int, str] = {}
    at = 0
    while at <= len(record) - _HEAD:
        number, kind, size = struct.unpack_from("<HHI", record, at)
        if kind == _TEXT:
            found[number >> 4] = record[at + _HEAD : at + _HEAD + size].decode("utf-16-le", "replace")
        at += _HEAD + size
    return found
