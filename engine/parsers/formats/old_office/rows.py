"""Where the rows of the tables of a DOC end: the formats of its paragraphs say it. Pure."""

from __future__ import annotations

import struct
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROW_END = b"\x1c"  # in place of the mark, which cells have, too
_MARK, _WIDE_MARK = b"\x07", b"\x07\x00"  # in texts of one and of two bytes a character
_PARAGRAPHS = 0x0102  # the place and size of the list of pages of formats, in the header of a Word file
_PAGE, _PAGE_NUMBER = 512, 0x3FFFFF
_PLACE = 13  # bytes that locate the formats of a paragraph within a page
_IS_ROW_END = 0x2417
_SIZES = (1, 1, 2, 4, 2, 2, 0, 3)  # of the operands of formats, by the three highest bits of their numbers
_ELSEWHERE = frozenset({0x6645, 0x6646})  # the formats are in the stream of data
_LONG_TABLE, _TABS, _LONG_TABS = 0xD608, 0xC615, 255


def mark_row_ends(stream: bytes, table: bytes, further: bytes = b"") -> bytes:
    """The main stream of a Word file with `ROW_END` for each mark that ends a row, as far as its formats are whole.

    `further`: the stream of data, which holds the formats of paragraphs with many, such as rows of many cells.
    """
    marked = bytearray(stream)
    with suppress(struct.error, IndexError):
        for end in _find_row_ends(stream, table, further):
            at = end - 2 if stream[end - 2 : end] == _WIDE_MARK else end - 1
            if stream[at : at + 1] == _MARK:
                marked[at : at + 1] = ROW_END
    return bytes(marked)


def _find_row_ends(stream: bytes, table: bytes, further: bytes) -> Iterator[int]:
    """The offsets after the marks that end rows. Raises struct.error and IndexError."""
    at, size = struct.unpack_from("<II", stream, _PARAGRAPHS)
    count = max(0, size - 4) // 8
    for page in struct.unpack_from(f"<{count}I", table, at + 4 * (count + 1)):
        yield from _ends_in_page(_cut_page(stream, page), further)


def _cut_page(stream: bytes, number: int) -> bytes:
    at = (number & _PAGE_NUMBER) * _PAGE
    return stream[at : at + _PAGE]


def _ends_in_page(page: bytes, further: bytes) -> Iterator[int]:
    """The ends of the paragraphs of a page that end rows; none of a page that is cut off."""
    count = page[-1] if len(page) == _PAGE else 0
    ends = struct.unpack_from(f"<{count}I", page, 4) if count else ()
    for number, end in enumerate(ends):
        place = 2 * page[4 * (count + 1) + _PLACE * number]
        if place and _has_row_end(_cut_formats(page, place), further):
            yield end


def _cut_formats(page: bytes, place: int) -> bytes:
    """The formats of a paragraph, after the number of its style."""
    size = page[place]
    begin, length = (place + 1, 2 * size - 1) if size else (place + 2, 2 * page[place + 1])
    return page[begin + 2 : begin + length]


def _has_row_end(formats: bytes, further: bytes) -> bool:
    """Whether formats say that a row ends; `further` holds those that they refer to, which refer to no others."""
    at = 0
    while at + 3 <= len(formats):
        kind = struct.unpack_from("<H", formats, at)[0]
        if kind == _IS_ROW_END:
            return bool(formats[at + 2])
        if kind in _ELSEWHERE and further:
            place = struct.unpack_from("<I", formats, at + 2)[0]
            size = int.from_bytes(further[place : place + 2], "little")
            return _has_row_end(further[place + 2 : place + 2 + size], b"")
        at += 2 + (_SIZES[kind >> 13] or _measure(formats, kind, at + 2))
    return False


def _measure(formats: bytes, kind: int, at: int) -> int:
    """The size of an operand that says it itself; of a long list of tabs it counts them."""
    if kind == _LONG_TABLE:
        return 1 + int(struct.unpack_from("<H", formats, at)[0])
    if kind == _TABS and formats[at] == _LONG_TABS:
        deleted = formats[at + 1]
        return 3 + 4 * deleted + 3 * formats[at + 2 + 4 * deleted]
    return 1 + formats[at]
