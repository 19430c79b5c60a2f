"""Parse a PPT slide by slide, with its tables, notes and comments, then its headers and footers. Pure."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from engine.errors import CorruptFile
from engine.models import Omission
from engine.parsers.base import DAMAGED, IS_PICTURE, TOO_MANY, Attachment, ParsedFile, count_parts
from engine.parsers.formats.old_office.records import Record, list_objects, list_records
from engine.parsers.formats.old_office.shapes import ShapeReader, SlideText, list_outline
from engine.parsers.formats.old_office.streams import read_saved_time, read_stream
from engine.parsers.formats.openxml.embedded import NO_DOCUMENT, unpack_object
from engine.parsers.passages import Block, passages_by_part
from engine.text.cleanup import clean_multiline, clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterator

# Types of records.
_DOCUMENT, _LIST, _PERSIST, _SLIDE, _SLIDE_ATOM, _NOTES, _OBJECT, _OBJECT_ATOM = (
    0x03E8,
    0x0FF0,
    0x03F3,
    0x03EE,
    0x03EF,
    0x03F0,
    0x1011,
    0x0FC3,
)
_OBJECT_NUMBER = 16  # where an entry of the list of objects names the record of one
_SLIDES, _MASTERS, _NOTE_PAGES = 0, 1, 2  # which of the lists of a document is what
_NOTES_OF_SLIDE = 16  # where a slide names its notes
_STREAM = "PowerPoint Document"
# A file that PowerPoint 95 can open, too, keeps a second form of all streams.
_FORMS = ("PP97_DUALSTORAGE/", "")
# How a record of a comment begins, and those of headers and footers: of all slides, of all notes, of one of them.
_COMMENT = b"\x0f\x00\xe0\x2e"
_AROUND = (b"\x3f\x00\xd9\x0f", b"\x4f\x00\xd9\x0f", b"\x0f\x00\xd9\x0f")
_TEXT, _HEAD = 0x0FBA, 8
_AUTHOR, _WORDS = 0, 1  # which of the texts of a comment is what
_AROUND_LABEL = "header and footer"
_DAMAGED = "The file is damaged, incomplete, or not in the format of its extension."
_MAX_OBJECTS, _MAX_UNPACKED = 200, 50_000_000  # bytes of all objects
_MAX_SIGNED = 16  # records within one of a comment, or of headers and footers
_LIST_OF_SLIDES = "list of slides"


def parse(name: str, data: bytes, mime: str) -> ParsedFile:  # noqa: ARG001 - the file tells its kind itself
    """Passages labeled "slide 7: Title". Raises CorruptFile."""
    form = next((form for form in _FORMS if read_stream(data, form + _STREAM)), "")
    stream = read_stream(data, form + _STREAM)
    if not stream:
        raise CorruptFile(_DAMAGED)
    deck = _Deck(stream, list_objects(stream, read_stream(data, form + "Current User")))
    slides = deck.read()
    if not slides and deck.document is None:
        raise CorruptFile(_DAMAGED)
    around = [Block(text, 0, 0, "item") for text in dict.fromkeys(deck.list_around())]
    return ParsedFile(
        name,
        passages_by_part([*slides, (_AROUND_LABEL, around)]),
        saved_at=read_saved_time(data),
        attachments=tuple(deck.files),
        omissions=tuple(deck.omissions),
        coverage=count_parts(len(slides) - deck.unread, len(slides), "slide"),
    )


@dataclass(slots=True)
class _Deck:
    """The slides of a presentation. `objects`: its records by number, none if the tables of the file are damaged."""

    stream: bytes
    objects: dict[int, Record]
    files: list[Attachment] = field(default_factory=list)
    omissions: list[Omission] = field(default_factory=list)
    unread: int = 0
    _taken: int = 0
    _in_use: dict[int, Record] = field(default_factory=dict)

    @property
    def document(self) -> Record | None:
        """The record that lists the slides."""
        return next((record for record in self.objects.values() if record.type == _DOCUMENT), None)

    def read(self) -> list[tuple[str, list[Block]]]:
        """The slides in their order with their labels; objects of other programs become files.

        Of a file that does not tell which slides are in use all are read, without their texts in the outline.
        """
        if self.document is None:
            slides = [record for record in list_records(self.stream) if record.type == _SLIDE]
            self.omissions += [Omission(_LIST_OF_SLIDES, DAMAGED)] if slides else []
            return [self._read_slide(at, slide, [], {}) for at, slide in enumerate(slides, 1)]
        entries = list(_list_entries(self.document, _SLIDES))
        pages = {identifier: number for number, identifier, _ in _list_entries(self.document, _NOTE_PAGES)}
        found = [
            self._read_slide(at, self.objects.get(number), outline, pages)
            for at, (number, _, outline) in enumerate(entries, 1)
        ]
        self._read_objects()
        return found

    def _read_slide(
        self, number: int, slide: Record | None, outline: list[SlideText], pages: dict[int, int]
    ) -> tuple[str, list[Block]]:
        reader = ShapeReader(outline)
        place = f"slide {number}"
        is_whole = slide is not None and slide.type == _SLIDE and self._take(slide)
        blocks = reader.read(slide if slide and is_whole else Record(b"", 0, 0, 0, 0, is_container=False))
        if slide and is_whole:
            blocks += self._read_notes(slide, pages)
            blocks += [Block(text, 0, 0, "item") for text in _list_comments(slide.content)]
        else:
            self.omissions.append(Omission(place, DAMAGED))
        if reader.has_picture and not blocks:
            self.omissions.append(Omission(place, IS_PICTURE))
        self.unread += not is_whole or (reader.has_picture and not blocks)
        title = clean_single_line(reader.titles[0]) if reader.titles else ""
        return f"{place}: {title}" if title else place, blocks

    def _read_notes(self, slide: Record, pages: dict[int, int]) -> Iterator[Block]:
        atom = next((child for child in slide.children() if child.type == _SLIDE_ATOM), None)
        if atom is None or atom.stop - atom.start < _NOTES_OF_SLIDE + 4:
            return
        number = pages.get(struct.unpack_from("<I", atom.data, atom.start + _NOTES_OF_SLIDE)[0], 0)
        page = self.objects.get(number)
        is_whole = page is not None and page.type == _NOTES and self._take(page)
        text = "\n".join(block.text for block in ShapeReader().read(page)) if page and is_whole else ""
        if text:
            yield Block(f"Notes: {text}", 0, 0)

    def _take(self, record: Record) -> bool:
        """Whether a record may be read: those of a whole file are listed once, and hold no more bytes than the file."""
        self._taken += record.stop - record.start
        is_new = record.start not in self._in_use and self._taken <= len(self.stream)
        if is_new:
            self._in_use[record.start] = record
        return is_new

    def list_around(self) -> Iterator[str]:
        """The headers and footers of the document, and of what was read of it."""
        masters = [self.objects.get(number) for number, _, _ in _list_entries(self.document, _MASTERS)]
        for record in (self.document, *filter(None, masters), *self._in_use.values()):
            yield from _list_around(record.content) if record else ()

    def _read_objects(self) -> None:
        """Objects that other programs made: files within the file, or named. Those of former states are skipped."""
        used = set(_list_object_numbers(self.document))
        records = [
            record for number, record in self.objects.items() if record.type == _OBJECT and (not used or number in used)
        ]
        left = _MAX_UNPACKED
        for at, record in enumerate(sorted(records, key=lambda each: each.start)[:_MAX_OBJECTS], 1):
            name = f"object {at}"
            content = _unpack(record, left)
            left -= len(content)
            opened = unpack_object(f"{name}.bin", content)
            self.files += [opened] if opened else []
            self.omissions += [] if opened else [Omission(name, NO_DOCUMENT if left else TOO_MANY)]
        if others := len(records) - _MAX_OBJECTS:
            self.omissions += [Omission(f"{others} other object{'s' * (others > 1)}", TOO_MANY)] if others > 0 else []


def _unpack(record: Record, most: int) -> bytes:
    """The bytes of an object, at most as many as given."""
    if not record.instance:
        return record.content[:most]
    try:
        return zlib.decompressobj().decompress(record.content[4:], most) if most else b""
    except zlib.error:
        return b""


def _list_object_numbers(document: Record | None) -> Iterator[int]:
    """The numbers of the records of objects that the document lists."""
    for atom in document.find(_OBJECT_ATOM) if document else ():
        if atom.stop - atom.start >= _OBJECT_NUMBER + 4:
            yield struct.unpack_from("<I", atom.data, atom.start + _OBJECT_NUMBER)[0]


def _list_entries(document: Record | None, which: int) -> Iterator[tuple[int, int, list[SlideText]]]:
    """The slides or pages of a list: the number of the record, its name for others, and its texts in the outline."""
    for record in document.children() if document else ():
        if record.type != _LIST or record.instance != which:
            continue
        groups: list[list[Record]] = []
        for child in record.children():
            if child.type == _PERSIST:
                groups.append([])
            if groups:
                groups[-1].append(child)
        for first, *rest in groups:
            if first.stop - first.start >= 16:
                number, _, _, identifier = struct.unpack_from("<4I", first.data, first.start)
                yield number, identifier, list_outline(rest)


def _list_around(stream: bytes) -> Iterator[str]:
    for sign in _AROUND:
        for texts in _list_signed(stream, sign):
            yield from filter(None, map(clean_single_line, texts.values()))


def _list_comments(stream: bytes) -> Iterator[str]:
    for texts in _list_signed(stream, _COMMENT):
        if text := clean_multiline(texts.get(_WORDS, "")):
            author = clean_single_line(texts.get(_AUTHOR, ""))
            yield f"Comment by {author}: {text}" if author else f"Comment: {text}"


def _list_signed(stream: bytes, sign: bytes) -> Iterator[dict[int, str]]:
    """The texts by their numbers of each record that begins like this; no text twice."""
    at = stream.find(sign)
    while 0 <= at <= len(stream) - _HEAD:
        size = struct.unpack_from("<I", stream, at + 4)[0]
        at += _HEAD
        records = islice(list_records(stream, at, min(at + size, len(stream))), _MAX_SIGNED)
        texts = [record for record in records if record.type == _TEXT]
        yield {record.instance: record.content.decode("utf-16-le", "replace") for record in texts}
        at = stream.find(sign, max([at, *(record.stop for record in texts)]))
