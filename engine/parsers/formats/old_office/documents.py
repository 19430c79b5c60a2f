"""What a DOC holds beside its main text: notes, comments, headers and text boxes. Pure."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

from engine.models import Passage
from engine.parsers.formats.old_office.rows import ROW_END, mark_row_ends
from engine.parsers.formats.old_office.streams import read_stream
from engine.parsers.passages import Block, group_blocks, join_blocks
from engine.text.cleanup import clean_multiline, clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterator

# Places in the header of a Word file, and the texts in the order in which they follow the main one.
_FLAGS, _LENGTHS, _PIECES = 0x0A, 0x4C, 0x01A2
_IN_SECOND_TABLE = 0x0200
_LABELS = ("", "footnotes", "page headers and footers", None, "comments", "endnotes", "text box", "text box")
_COMPRESSED = 0x40000000
_MAX_CHARACTERS = 50_000_000
_FIELD_BEGIN, _FIELD_RESULT, _FIELD_END = "\x13", "\x14", "\x15"
_FIELD_MARK = re.compile(r"([\x13-\x15])")
# What is below the letters that say how it sounds.
_RUBY = re.compile(r"\\s\\up[^()]{0,20}\([^()]{0,100}\),([^()]{1,100})\)")
_MAX_CODE = 1000  # characters
_CELL, _ROW = "\x07", ROW_END.decode()
_SHORT_ROW = re.compile(rf"{_CELL}[^{_ROW}]{{0,500}}{_ROW}")  # whose cells may hold several paragraphs, on one line
_ENDS = re.compile(r"[\r\x0b\x0c]")
_UNSEEN = re.compile(r"[\x00-\x08\x0e-\x1f]")


def read_texts(data: bytes) -> dict[str, list[str]]:
    """The paragraphs of each text by its label, that of the main one is ""; none of a damaged file."""
    found: dict[str, list[str]] = {}
    try:
        for label, text in _list_texts(data):
            if not label or any(map(str.isalpha, text)):
                found.setdefault(label, []).append(text)
    except (struct.error, IndexError):
        return {}
    return found


def build_beside(texts: dict[str, list[str]], first: int) -> tuple[Passage, ...]:
    """The passages of the texts beside the main one. `first`: the position of the first of them."""
    groups = [
        (label, group)
        for label, lines in texts.items()
        if label
        for group in group_blocks(Block(line, 0, 0, "item") for line in lines)
    ]
    return tuple(
        Passage(f"o{at}", clean_multiline(join_blocks(group)), label, position=first + at)
        for at, (label, group) in enumerate(groups)
    )


def _list_texts(data: bytes) -> Iterator[tuple[str, str]]:
    """The paragraphs of each text with its label. Raises struct.error and IndexError."""
    stream = read_stream(data, "WordDocument")
    is_second = struct.unpack_from("<H", stream, _FLAGS)[0] & _IN_SECOND_TABLE
    lengths = struct.unpack_from("<8i", stream, _LENGTHS)
    table = read_stream(data, "1Table" if is_second else "0Table")
    text = _read_pieces(mark_row_ends(stream, table, read_stream(data, "Data")), table)
    at = 0
    for label, length in zip(_LABELS, lengths, strict=True):
        for paragraph in _ENDS.split(_clean(text[at : at + max(0, length)])):
            if label is not None and (cleaned := clean_single_line(_UNSEEN.sub("", paragraph))):
                yield label, cleaned
        at += max(0, length)


def _clean(text: str) -> str:
    """The text as people see it: with what fields show, not with what they compute.

    Rows whose ends are not known stay on one line, so that no value moves to another row.
    """
    shown = text.replace("\x1e", "-").replace("\x1f", "")
    shown = _SHORT_ROW.sub(lambda row: row[0].replace("\r", " "), shown)
    shown = shown.replace(_CELL + _ROW, "\r").replace(_ROW, "\r").replace(_CELL, " | ")
    pieces, codes = list[str](), list[str | None]()  # the code of each open field, None once its result began
    hidden = 0
    for token in _FIELD_MARK.split(shown):
        seen = token
        if token == _FIELD_BEGIN:
            codes.append("")
            hidden += 1
        elif token == _FIELD_RESULT and codes and codes[-1] is not None:
            codes[-1] = None
            hidden -= 1
        elif token == _FIELD_END and codes:
            code = codes.pop()
            hidden -= code is not None
            ruby = _RUBY.search(code or "")
            seen = ruby[1] if ruby else ""
        if not hidden:
            pieces.append(seen)
        elif codes[-1] is not None and len(codes[-1]) < _MAX_CODE:
            codes[-1] += seen
    return "".join(pieces)


def _read_pieces(stream: bytes, table: bytes) -> str:
    """All texts of a file, which lie in pieces of one or two bytes a character. Raises struct.error."""
    at, size = struct.unpack_from("<II", stream, _PIECES)
    end = at + size
    while at < end and table[at] == 1:  # changes of formats come first
        at += 3 + struct.unpack_from("<H", table, at + 1)[0]
    count = (struct.unpack_from("<I", table, at + 1)[0] - 4) // 12
    starts = struct.unpack_from(f"<{count + 1}I", table, at + 5)
    pieces = list[str]()
    for number in range(count):
        place = struct.unpack_from("<I", table, at + 5 + 4 * (count + 1) + 8 * number + 2)[0]
        length = min(max(0, starts[number + 1] - starts[number]), _MAX_CHARACTERS)
        if place & _COMPRESSED:
            begin = (place & ~_COMPRESSED) // 2
            pieces.append(stream[begin : begin + length].decode("cp1252", "replace"))
        else:
            pieces.append(stream[place : place + 2 * length].decode("utf-16-le", "replace"))
    return "".join(pieces)
