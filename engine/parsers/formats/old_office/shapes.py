"""The texts of the shapes of a PPT: of boxes, tables and drawn letters. Pure."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from engine.parsers.passages import Block, render_table
from engine.text.cleanup import clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from engine.parsers.formats.old_office.records import Record

# Types of records of PowerPoint and of its drawings.
_HEADER, WIDE, NARROW, _OUTLINE = 0x0F9F, 0x0FA0, 0x0FA8, 0x0F9E
_GROUP, _SHAPE, _BOX, _ANCHOR = 0xF003, 0xF004, 0xF00D, 0xF00F
_OPTIONS = frozenset({0xF00B, 0xF121, 0xF122})
_DRAWN_TEXT, _PICTURE, _TABLE = 0x00C0, 0x0104, 0x039F  # properties of a shape
_PROPERTY_MASK, _IS_LONG = 0x3FFF, 0x8000
_TITLES = frozenset({0, 6})
_FIELD = "*"  # stands for the number of the slide, a date, a header
_ENTRY = struct.Struct("<HI")
_MAX_CELLS = 10_000  # of a table, empty ones included


class SlideText(NamedTuple):
    """A text with its kind, as PowerPoint numbers kinds."""

    kind: int
    text: str

    @property
    def is_title(self) -> bool:
        """Whether it is a title of a slide."""
        return self.kind in _TITLES


@dataclass(slots=True)
class ShapeReader:
    """Reads the shapes of one slide: `outline` are its texts that stand elsewhere, to which shapes refer."""

    outline: list[SlideText] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    has_picture: bool = False
    _used: set[int] = field(default_factory=set)

    def read(self, slide: Record) -> list[Block]:
        """The paragraphs and tables of a slide, the title first."""
        found = [*self._read_shapes(slide)]
        found += [text for at, text in enumerate(self.outline) if at not in self._used]
        ordered = sorted(found, key=lambda each: not (isinstance(each, SlideText) and each.is_title))
        self.titles += [each.text for each in ordered if isinstance(each, SlideText) and each.is_title]
        return [
            block for each in ordered for block in ([each] if isinstance(each, Block) else split_paragraphs(each.text))
        ]

    def _read_shapes(self, record: Record) -> Iterator[SlideText | Block]:
        for child in record.children():
            if child.type == _SHAPE:
                yield from self._read_shape(child)
            elif child.type == _GROUP and _is_table(child):
                yield self._read_table(child)
            else:
                yield from self._read_shapes(child)

    def _read_shape(self, shape: Record) -> Iterator[SlideText]:
        for part in shape.children():
            if part.type == _BOX:
                yield from self._read_box(part)
            elif part.type in _OPTIONS:
                options = _list_options(part)
                self.has_picture = self.has_picture or _PICTURE in options
                if drawn := clean_single_line(options.get(_DRAWN_TEXT, b"").decode("utf-16-le", "replace")):
                    yield SlideText(-1, drawn)

    def _read_box(self, box: Record) -> Iterator[SlideText]:
        children = list(box.children())
        yield from list_texts(children)
        for child in children:
            if child.type == _OUTLINE and child.stop - child.start >= 4:
                number = struct.unpack_from("<I", child.data, child.start)[0]
                if number < len(self.outline) and number not in self._used:
                    self._used.add(number)
                    yield self.outline[number]

    def _read_table(self, group: Record) -> Block:
        """A table: boxes at the same height are a row."""
        rows: dict[int, list[tuple[int, str]]] = {}
        for shape in (child for child in group.children() if child.type == _SHAPE):
            anchors = [part for part in shape.children() if part.type == _ANCHOR and part.stop - part.start >= 16]
            if not anchors:
                continue
            left, top = struct.unpack_from("<ii", anchors[0].data, anchors[0].start)
            if any(part.type == _BOX for part in shape.children()):
                text = " ".join(clean_single_line(each.text) for each in self._read_shape(shape))
                rows.setdefault(top, []).append((left, text))
        columns = sorted({left for row in rows.values() for left, _ in row})
        if len(rows) * len(columns) > _MAX_CELLS:
            columns = []
        return Block(render_table(_place_cells(row, columns) for _, row in sorted(rows.items())), 0, 0, "table")


def list_texts(records: Iterable[Record]) -> Iterator[SlideText]:
    """The texts among records, each of the kind that stands before it; fields alone are none."""
    kind = -1
    for record in records:
        if record.type == _HEADER and record.stop - record.start >= 4:
            kind = struct.unpack_from("<I", record.data, record.start)[0]
        elif record.type in {WIDE, NARROW}:
            text = record.content.decode("utf-16-le" if record.type == WIDE else "latin-1", "replace")
            if text.strip() not in {"", _FIELD}:
                yield SlideText(kind, text)


def list_outline(records: Iterable[Record]) -> list[SlideText]:
    """The texts of a slide in the outline, also empty ones: shapes refer to them by number."""
    groups: list[list[Record]] = []
    for record in records:
        if record.type == _HEADER:
            groups.append([])
        if groups:
            groups[-1].append(record)
    return [next(list_texts(group), SlideText(-1, "")) for group in groups]


def split_paragraphs(text: str) -> Iterator[Block]:
    """The paragraphs of a text, lines that end within one joined."""
    for line in text.split("\r"):
        if shown := clean_single_line(line.replace("\x0b", " ")):
            yield Block(shown, 0, 0, "item")


def _place_cells(row: Iterable[tuple[int, str]], columns: list[int]) -> list[str]:
    """The cells of a row in their columns; one after the other without these."""
    if not columns:
        return [text for _, text in sorted(row)]
    cells = dict(row)
    return [cells.get(left, "") for left in columns]


def _is_table(group: Record) -> bool:
    first = next((child for child in group.children() if child.type == _SHAPE), None)
    return first is not None and any(
        _TABLE in _list_options(part) for part in first.children() if part.type in _OPTIONS
    )


def _list_options(record: Record) -> dict[int, bytes]:
    """The properties of a shape: the number of each is its value, or the length of what follows all of them."""
    count = min(record.instance, (record.stop - record.start) // _ENTRY.size)
    place = record.start + count * _ENTRY.size
    found: dict[int, bytes] = {}
    for at in range(count):
        name, value = _ENTRY.unpack_from(record.data, record.start + at * _ENTRY.size)
        length = value if name & _IS_LONG else 0
        found[name & _PROPERTY_MASK] = record.data[place : min(place + length, record.stop)]
        place += length
    return found
