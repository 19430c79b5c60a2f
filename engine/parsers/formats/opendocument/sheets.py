"""The sheets of an ODS workbook row by row, with each cell as it is shown. Pure."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from engine.errors import CorruptFile
from engine.parsers.formats.opendocument.content import ContentReader
from engine.parsers.formats.opendocument.inline import read_comment
from engine.parsers.formats.opendocument.tables import count_of, read_row
from engine.parsers.formats.xml_tree import attribute, find_all, local_name
from engine.parsers.sandbox.nesting import check_xml_depth

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from engine.parsers.formats.xml_tree import XmlArchive
    from engine.parsers.passages import Block

_MAX_REPEATED = 100  # rows that say the same


class SheetReader:
    """Reads one sheet after the other: `read` yields its name, then its rows, its notes and its drawings.

    Raises CorruptFile and DocumentTooLarge.
    """

    def __init__(self, archive: XmlArchive) -> None:
        self.content = ContentReader(archive)
        self.notes: list[str] = []
        self.drawn: list[Block] = []
        self._data = archive.read("content.xml")
        check_xml_depth(self._data)

    def read(self) -> Iterator[str | tuple[int, list[str]]]:
        """The name of each sheet, followed by its rows with their numbers; the notes and drawings lie beside them."""
        tables: list[Element] = []
        spans: dict[int, tuple[int, str]] = {}
        number = 1
        try:
            for event, element in ET.iterparse(BytesIO(self._data), ("start", "end")):  # noqa: S314 - bounded by the sandbox
                name = local_name(element)
                if name == "table" and event == "start":
                    tables.append(element)
                    if len(tables) == 1:
                        number, spans = 1, {}
                        yield attribute(element, "name")  # what lies beside the rows of the former sheet is read now
                        self.notes.clear()
                        self.drawn.clear()
                elif name == "table":
                    tables.pop().clear()
                elif event == "end" and len(tables) == 1 and name == "shapes":
                    self.drawn += self.content.read(element)
                elif event == "end" and len(tables) == 1 and name == "table-row":
                    yield from self._read_row(element, number, spans)
                    number += count_of(element, "number-rows-repeated")
                    element.clear()
        except ET.ParseError as error:
            raise CorruptFile("The workbook is damaged or incomplete.") from error

    def _read_row(
        self, row: Element, number: int, spans: dict[int, tuple[int, str]]
    ) -> Iterator[tuple[int, list[str]]]:
        cells = read_row(row, spans)
        for note in find_all(row, "annotation"):
            comment = read_comment(note)
            self.notes += [f"row {number}: {comment}"] if comment else []
        for frame in find_all(row, "frame"):
            self.drawn += self.content.read(frame)
        for at in range(min(count_of(row, "number-rows-repeated"), _MAX_REPEATED) if any(cells) else 0):
            yield number + at, cells
