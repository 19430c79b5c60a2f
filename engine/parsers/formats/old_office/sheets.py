"""What an XLS workbook holds beside the values of its cells: formats, notes, text boxes, titles of charts. Pure."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.models import Passage
from engine.parsers.formats.old_office.streams import read_stream
from engine.parsers.formats.openxml.number_formats import BUILT_IN
from engine.parsers.formats.openxml.sheet_styles import PLAIN_CODES, Formats
from engine.parsers.passages import Block, group_blocks, join_blocks
from engine.text.cleanup import clean_multiline, clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterator

# Records of a workbook, by their numbers.
_BEGIN, _END, _SHEET, _CONTINUED = 0x0809, 0x0A, 0x85, 0x3C
_FORMAT, _STYLE = 0x041E, 0xE0
_CELLS = frozenset({0x0203, 0x0006, 0x027E, 0x0205})  # a number, a formula, a short number, a truth value
_MANY_NUMBERS = 0xBD
_NOTE, _OBJECT, _TEXT = 0x1C, 0x5D, 0x01B6
_CHART_TEXT = 0x100D
_WIDE = 0x1  # a flag of a text: two bytes for each character
_MAX_TEXTS = 20_000


@dataclass(slots=True)
class _Sheet:
    """What was found of a sheet; `texts` are those of its objects, by their numbers."""

    formats: Formats = field(default_factory=dict)
    notes: list[tuple[int, int, int, str]] = field(default_factory=list)  # row, column, object, author
    texts: dict[int, str] = field(default_factory=dict)
    charts: list[str] = field(default_factory=list)


class OldWorkbook:
    """The records of a workbook by sheet; a damaged one has none, and those of before 1997 are not read."""

    def __init__(self, data: bytes) -> None:
        self._data = read_stream(data, "Workbook")
        self._codes: dict[int, str] = {}
        self._offsets: dict[str, int] = {}
        self._read: dict[str, _Sheet] = {}
        self._read_globals()

    def formats_of(self, name: str) -> Formats:
        """The formats of the cells of a sheet, by row and column from 0."""
        return self._sheet(name).formats

    def extras_of(self, name: str, number: int) -> Iterator[Passage]:
        """The notes, texts and charts of a sheet."""
        sheet, label = self._sheet(name), f"sheet {clean_single_line(name)}"
        written = {object_ for _, _, object_, _ in sheet.notes}
        notes = [
            f"{_name_cell(row, column)}: Comment{f' by {author}' if author else ''}: {text}"
            for row, column, object_, author in sheet.notes
            if (text := sheet.texts.get(object_, ""))
        ]
        drawn = [text for object_, text in sheet.texts.items() if object_ not in written and text]
        drawn += [f"Chart: {', '.join(dict.fromkeys(sheet.charts))}"] if sheet.charts else []
        for kind, texts in (("notes", notes), ("drawing", drawn)):
            for part, group in enumerate(group_blocks(Block(text, 0, 0, "item") for text in texts), 1):
                yield Passage(f"t{number}.{kind}{part}", clean_multiline(join_blocks(group)), f"{label}, {kind}")

    def _sheet(self, name: str) -> _Sheet:
        if name not in self._read:
            self._read = {name: self._read_sheet(self._offsets[name]) if name in self._offsets else _Sheet()}
        return self._read[name]

    def _read_globals(self) -> None:
        formats = dict(BUILT_IN)
        styles: list[int] = []
        for kind, at, size in self._records(0):
            if kind == _FORMAT and size > 4:
                formats[self._word(at)] = self._text(at + 4, self._word(at + 2))
            elif kind == _STYLE and size >= 4:
                styles.append(self._word(at + 2))
            elif kind == _SHEET and size > 8:
                offset = struct.unpack_from("<I", self._data, at)[0]
                self._offsets[self._text(at + 7, self._data[at + 6])] = offset
        named = ((number, formats.get(code, "")) for number, code in enumerate(styles))
        self._codes = {number: code for number, code in named if code not in PLAIN_CODES}

    def _read_sheet(self, offset: int) -> _Sheet:
        found, object_ = _Sheet(), -1
        for kind, at, size in self._records(offset):
            if kind in _CELLS and size >= 6:
                self._add_format(found, self._word(at), self._word(at + 2), self._word(at + 4))
            elif kind == _MANY_NUMBERS:
                for place in range((size - 6) // 6):
                    self._add_format(found, self._word(at), self._word(at + 2) + place, self._word(at + 4 + 6 * place))
            elif kind == _NOTE and size >= 12:
                author = clean_single_line(self._text(at + 10, self._word(at + 8)))
                found.notes.append((self._word(at), self._word(at + 2), self._word(at + 6), author))
            elif kind == _OBJECT and size >= 8:
                object_ = self._word(at + 6)
            elif kind == _TEXT and size >= 12 and len(found.texts) < _MAX_TEXTS:
                found.texts[object_] = clean_multiline(self._text_after(at + size, self._word(at + 10)))
            elif kind == _CHART_TEXT and size > 4:
                text = clean_single_line(self._text(at + 3, self._data[at + 2]))
                found.charts += [text] if text else []
        return found

    def _add_format(self, sheet: _Sheet, row: int, column: int, style: int) -> None:
        if code := self._codes.get(style):
            sheet.formats.setdefault(row, {})[column] = code

    def _records(self, at: int) -> Iterator[tuple[int, int, int]]:
        """The number, start and size of each record up to the end of a part, and of charts within it."""
        depth = 0
        while at + 4 <= len(self._data):
            kind, size = struct.unpack_from("<HH", self._data, at)
            if at + 4 + size > len(self._data):
                return
            yield kind, at + 4, size
            depth += (kind == _BEGIN) - (kind == _END)
            if depth <= 0 and kind == _END:
                return
            at += 4 + size

    def _text_after(self, at: int, count: int) -> str:
        """The text of an object, which the next records continue."""
        pieces = ""
        while len(pieces) < count and at + 5 <= len(self._data):
            kind, size = struct.unpack_from("<HH", self._data, at)
            if kind != _CONTINUED or size < 1:
                break
            width = 2 if self._data[at + 4] & _WIDE else 1
            pieces += self._text(at + 4, min(count - len(pieces), (size - 1) // width))
            at += 4 + size
        return pieces

    def _word(self, at: int) -> int:
        found: int = struct.unpack_from("<H", self._data, at)[0]
        return found

    def _text(self, at: int, count: int) -> str:
        """A text of so many characters, after its flags."""
        is_wide = bool(self._data[at] & _WIDE) if at < len(self._data) else False
        piece = self._data[at + 1 : at + 1 + count * (1 + is_wide)]
        return piece.decode("utf-16-le" if is_wide else "latin-1", "replace")


def _name_cell(row: int, column: int) -> str:
    letters, column = "", column + 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return f"{letters}{row + 1}"
