"""Tables of an OpenDocument file as rows of cells; what spans several cells is repeated in each. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.parsers.formats.opendocument.inline import SKIPPED, read_inline
from engine.parsers.formats.xml_tree import attribute, local_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

MAX_COLUMNS = 16_384
_MAX_REPEATED = 1000  # rows or cells that say the same
_ROW_GROUPS = frozenset({"table-header-rows", "table-row-group", "table-rows", "table-row"})
_STOPS = (".", ":", ";", ",", "!", "?", "。", "、")


def read_rows(table: Element) -> Iterator[list[str]]:
    """The rows of a table; each cell with its paragraphs apart."""
    spans: dict[int, tuple[int, str]] = {}  # by column: rows that are still covered, and with what
    for row in _iterate_rows(table):
        cells = read_row(row, spans)
        for _ in range(min(count_of(row, "number-rows-repeated"), _MAX_REPEATED) if cells else 1):
            yield list(cells)


def read_row(row: Element, spans: dict[int, tuple[int, str]]) -> list[str]:
    """The cells of a row; `spans` are the rows, by column, that cells above still cover, and with what."""
    cells: list[str] = []
    for cell in row:
        _add_cell(cell, cells, spans)
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _iterate_rows(element: Element) -> Iterator[Element]:
    for child in element:
        if local_name(child) == "table-row":
            yield child
        elif local_name(child) in _ROW_GROUPS:
            yield from _iterate_rows(child)


def _add_cell(cell: Element, cells: list[str], spans: dict[int, tuple[int, str]]) -> None:
    name, times = local_name(cell), count_of(cell, "number-columns-repeated")
    if name == "covered-table-cell":
        for _ in range(min(times, _MAX_REPEATED)):
            left, text = spans.get(len(cells), (0, ""))
            spans[len(cells)] = (left - 1, text)
            cells.append(text if left > 0 else "")
    elif name == "table-cell":
        text = read_cell(cell) or attribute(cell, "string-value") or attribute(cell, "value")
        start = len(cells)
        cells += [text] * (min(times, _MAX_REPEATED) if text else min(times, MAX_COLUMNS - start))
        _note_span(cell, start, text, spans)


def _note_span(cell: Element, start: int, text: str, spans: dict[int, tuple[int, str]]) -> None:
    """Remember which cells a cell covers: those beside it in its row, and those below."""
    columns = min(count_of(cell, "number-columns-spanned"), _MAX_REPEATED)
    rows = min(count_of(cell, "number-rows-spanned"), _MAX_REPEATED)
    for column in range(start, start + columns):
        spans[column] = (rows - (column == start), text)


def read_cell(cell: Element) -> str:
    """The paragraphs of a cell, of lists and tables in it, too, as one line."""
    text = ""
    for paragraph in _iterate_paragraphs(cell):
        if piece := read_inline(paragraph).text.replace("\n", " "):
            text = join_paragraphs(text, piece)
    return text


def join_paragraphs(before: str, after: str) -> str:
    """Two paragraphs of a cell on one line."""
    if not before:
        return after
    return f"{before} {after}" if before.endswith(_STOPS) else f"{before}; {after}"


def _iterate_paragraphs(element: Element) -> Iterator[Element]:
    for child in element:
        name = local_name(child)
        if name in {"p", "h"}:
            yield child
            for frame in read_inline(child).frames:
                yield from _iterate_paragraphs(frame)
        elif name not in SKIPPED and name != "annotation":
            yield from _iterate_paragraphs(child)


def count_of(element: Element, name: str) -> int:
    """A number of repetitions, 1 if none is stated."""
    value = attribute(element, name)
    return max(1, int(value)) if value.isascii() and value.isdigit() and len(value) < 10 else 1
