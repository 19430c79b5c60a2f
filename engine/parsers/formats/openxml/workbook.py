"""What an XLSX workbook holds beside the values of its cells: formats, notes, charts, text boxes, headers. Pure."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import InvalidDocument
from engine.models import Omission, Passage
from engine.parsers.base import DAMAGED, EmbeddedPicture
from engine.parsers.formats.openxml.comments import cell_comments, threaded_comments
from engine.parsers.formats.openxml.drawings import drawing_blocks
from engine.parsers.formats.openxml.embedded import embedded_files
from engine.parsers.formats.openxml.parts import PartReader, paragraphs_of, picture_texts
from engine.parsers.formats.openxml.sheet_styles import Formats, read_cell_formats, read_style_codes
from engine.parsers.formats.xml_tree import XmlArchive, attribute, find_all, local_name
from engine.parsers.passages import Block, group_blocks, join_blocks
from engine.text.cleanup import clean_multiline, clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from engine.parsers.base import Attachment

_FIELD = re.compile(r'&(?:"[^"]*"|[0-9]+|K[0-9A-Fa-f]{6}|[A-Z])')
_HEADER = re.compile(rb"<(?:\w{1,20}:)?(?:odd|even|first)(?:Header|Footer)>([^<]+)<")
_SHAPES = frozenset({"sp", "cxnSp"})


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet by its name, with the part that holds it: "" if the workbook does not say."""

    name: str
    part: str

    @property
    def label(self) -> str:
        """How people see it."""
        return f"sheet {clean_single_line(self.name)}"


class WorkbookParts:
    """The parts of a workbook by sheet. Raises CorruptFile if the archive is damaged."""

    def __init__(self, data: bytes) -> None:
        self.parts = PartReader(XmlArchive(data))
        main = next((relation.target for relation in self.parts.relations("") if relation.type == "officeDocument"), "")
        self._workbook = main or "xl/workbook.xml"
        relations = self.parts.relations(self._workbook)
        styles = next((relation.target for relation in relations if relation.type == "styles"), "")
        self._codes = read_style_codes(self.parts.read(styles, "styles") if styles else None)
        targets = {relation.id: relation.target for relation in relations}
        root = self.parts.read(self._workbook, "workbook")
        self.sheets = {
            attribute(element, "name"): Sheet(
                attribute(element, "name"),
                targets.get(next((v for k, v in element.attrib.items() if k.endswith("}id")), ""), ""),
            )
            for element in find_all(root, "sheet")
        }

    def formats_of(self, name: str) -> Formats:
        """The formats of the cells of a sheet, by row and column from 0."""
        sheet = self.sheets.get(name)
        if not self._codes or sheet is None or sheet.part not in self.parts.archive.names:
            return {}
        try:
            return read_cell_formats(self.parts.archive.read(sheet.part), self._codes)
        except InvalidDocument:
            return {}

    def extras_of(self, name: str, number: int) -> Iterator[Passage | Omission]:
        """The notes, charts and texts of a sheet, and what of them cannot be read."""
        sheet = self.sheets.get(name)
        if sheet is None or not sheet.part:
            return
        before = len(self.parts.omissions)
        for kind, blocks in self._read_extras(sheet):
            for part, group in enumerate(group_blocks(blocks), 1):
                if text := clean_multiline(join_blocks(group)):
                    yield Passage(f"t{number}.{kind}{part}", text, f"{sheet.label}, {kind}")
        yield from self.parts.omissions[before:]

    def list_files(self) -> Iterator[Attachment]:
        """The files within all sheets."""
        for sheet in self.sheets.values():
            yield from embedded_files(self.parts, self.parts.relations(sheet.part) if sheet.part else [], sheet.label)

    def list_pictures(self) -> Iterator[EmbeddedPicture]:
        """The pictures on all sheets."""
        for sheet in self.sheets.values():
            drawings = (
                [relation for relation in self.parts.relations(sheet.part) if relation.type == "drawing"]
                if sheet.part
                else []
            )
            for drawing in drawings:
                for relation in self.parts.relations(drawing.target):
                    if relation.type == "image" and relation.target in self.parts.archive.names:
                        yield EmbeddedPicture(f"{sheet.label}, picture", self.parts.archive.read(relation.target))

    def _read_extras(self, sheet: Sheet) -> Iterator[tuple[str, list[Block]]]:
        relations = self.parts.relations(sheet.part)
        notes, drawn = list[Block](), list[Block]()
        for relation in relations:
            if relation.type in {"comments", "threadedComment"}:
                root = self.parts.read(relation.target, f"{sheet.label}, notes")
                notes += [] if root is None else self._notes(root, is_threaded=relation.type != "comments")
            elif (
                relation.type == "drawing"
                and (root := self.parts.read(relation.target, f"{sheet.label}, drawing")) is not None
            ):
                drawn += [Block(text, 0, 0, "item") for text in (*_shape_texts(root), *picture_texts(root))]
                drawn += drawing_blocks(self.parts, self.parts.relations(relation.target), sheet.label)
        yield "notes", notes
        yield "drawing", drawn
        yield "header", [Block(text, 0, 0, "item") for text in self._headers(sheet)]

    def _notes(self, root: Element, *, is_threaded: bool) -> list[Block]:
        found = threaded_comments(self.parts, root) if is_threaded else cell_comments(root)
        return [Block(f"{cell}: {text}", 0, 0, "item") for cell, text in found]

    def _headers(self, sheet: Sheet) -> list[str]:
        """The headers and footers of the printed sheet, without fields such as its page number."""
        try:
            data = self.parts.archive.read(sheet.part)
        except InvalidDocument:
            self.parts.omissions.append(Omission(sheet.label, DAMAGED))
            return []
        texts = _HEADER.findall(data[-20_000:])
        shown = (clean_single_line(_FIELD.sub(" ", _unescape(text))) for text in texts)
        return [text for text in dict.fromkeys(shown) if any(map(str.isalpha, text))]


def _unescape(text: bytes) -> str:
    return html.unescape(text.decode("utf-8", "replace"))


def _shape_texts(root: Element) -> Iterator[str]:
    for shape in root.iter():
        if local_name(shape) in _SHAPES and (text := "\n".join(paragraphs_of(shape))):
            yield text
