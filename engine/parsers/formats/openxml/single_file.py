"""Parse what Excel and Word of 2003 saved as one XML file: sheets by rows, documents by paragraphs. Pure."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from engine.models import Omission, Passage
from engine.parsers.base import IS_DATA, EmbeddedPicture, ParsedFile
from engine.parsers.dates import first_stated, parse_date
from engine.parsers.formats.openxml.number_formats import format_number, plain_number
from engine.parsers.formats.openxml.sheet_styles import PLAIN_CODES
from engine.parsers.formats.row_passages import number_passages, repeat_merged, table_passages
from engine.parsers.formats.xml_tree import attribute, find_all, local_name
from engine.parsers.passages import Block, group_blocks, join_blocks, passages_by_section, render_table
from engine.parsers.sandbox.nesting import check_xml_depth
from engine.text.cleanup import clean_multiline, clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from xml.etree.ElementTree import Element

    from engine.parsers.passages import BlockType

_HEAD = 8000  # characters
_SPACES = re.compile(
    r"[\"'](?:urn:schemas-microsoft-com:office:spreadsheet|http://schemas\.microsoft\.com/office/word/2003/wordml)[\"']"
)
_ENTITY = "<!ENTITY"
_MIDNIGHT, _FRACTION, _NO_DATE = re.compile(r"T00:00:00(?:\.0+)?$"), re.compile(r"\.0+$"), re.compile(r"^1899-12-31T")
_NUMBER = re.compile(r"-?\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,2})?")
_NAMED = {
    "Percent": "0.00%",
    "Fixed": "0.00",
    "Standard": "#,##0.00",
    "Scientific": "0.00E+00",
    "Currency": "$#,##0.00",
    "Euro Currency": "€#,##0.00",  # the first is that of whoever opens it
}
_CHOICES = frozenset({"Yes/No", "True/False", "On/Off"})
_TRUTH = {"0": "false", "1": "true"}
_MAX_COLUMNS = 16_384
_MAX_PARENTS = 16  # of a style
_PROPERTIES = ("Title", "Subject", "Author", "Keywords", "Description")
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*")  # how their data begin
_SIGNS = {"tab": "\t", "br": "\n", "noBreakHyphen": "-"}


def parse_single_file(name: str, text: str) -> ParsedFile | None:
    """The passages of a workbook or document; None for other XML, and for what is damaged.

    Raises DocumentTooLarge if it is nested too deeply.
    """
    if not _SPACES.search(text[:_HEAD]) or _ENTITY in text:
        return None
    check_xml_depth(text.encode("utf-8", "replace"))
    try:
        root = ET.fromstring(text)  # noqa: S314 - it defines no entities
    except ET.ParseError:
        return None
    pieces: list[Passage | Omission] = []
    pictures: list[EmbeddedPicture] = []
    match local_name(root):
        case "Workbook":
            pieces = list(number_passages(_sheets(root)))
        case "wordDocument":
            blocks = (block for body in find_all(root, "body") for block in _paragraphs(body))
            numbered = [Block(text, at, at, kind) for at, (text, kind) in enumerate(blocks, 1)]
            pieces = [*passages_by_section(numbered, "paragraph"), *_read_data(root, pictures)]
    return _build(name, root, pieces, pictures) if pieces or pictures else None


def _build(name: str, root: Element, pieces: list[Passage | Omission], pictures: list[EmbeddedPicture]) -> ParsedFile:
    passages = [piece for piece in pieces if isinstance(piece, Passage)]
    passages += _properties(root, len(passages)) if passages else []
    times = (parse_date(each.text or "") for tag in ("LastSaved", "Created") for each in find_all(root, tag))
    return ParsedFile(
        name,
        tuple(passages),
        saved_at=first_stated(times),
        embedded=tuple(pictures),
        omissions=tuple(piece for piece in pieces if isinstance(piece, Omission)),
    )


def _properties(root: Element, position: int) -> list[Passage]:
    """What the document says of itself, such as its title, as a passage."""
    facts = (each for properties in find_all(root, "DocumentProperties") for each in properties)
    named = ((local_name(each), clean_single_line(each.text or "")) for each in facts)
    lines = [f"{name}: {text}" for name, text in named if name in _PROPERTIES and text]
    return [Passage("properties", "\n".join(lines), "properties", position=position)] if lines else []


def _read_data(root: Element, pictures: list[EmbeddedPicture]) -> Iterator[Omission]:
    """Put the pictures of the text into `pictures`; other data, such as objects, are named."""
    for place in (each for tag in ("body", "docOleData") for each in find_all(root, tag)):
        for number, element in enumerate(find_all(place, "binData"), 1):
            data = _decode(element.text or "")
            if data.startswith(_PICTURES):
                pictures.append(EmbeddedPicture("picture", data))
            else:
                title = clean_single_line(attribute(element, "name").rpartition("/")[2])
                yield Omission(title or f"data {number}", IS_DATA)


def _decode(text: str) -> bytes:
    """The bytes of base64; none if it is damaged."""
    try:
        return base64.b64decode(text)
    except ValueError:
        return b""


def _sheets(root: Element) -> Iterator[Passage | Omission]:
    """The rows of each sheet, then its comments."""
    codes = _read_codes(root)
    for number, sheet in enumerate(find_all(root, "Worksheet"), 1):
        label = f"sheet {clean_single_line(attribute(sheet, 'Name'))}"
        rows = _SheetRows(sheet, codes)
        yield from table_passages(repeat_merged(rows.cells, rows.merged), f"t{number}.", f"{label}, ")
        for part, group in enumerate(group_blocks(Block(text, 0, 0, "item") for text in rows.comments), 1):
            yield Passage(f"t{number}.notes{part}", clean_multiline(join_blocks(group)), f"{label}, notes")


def _read_codes(root: Element) -> dict[str, str]:
    """The number formats of the styles; a style without one has that of its parent."""
    styles = {attribute(style, "ID"): style for style in find_all(root, "Style")}
    codes: dict[str, str] = {}
    for name, style in styles.items():
        own: Element | None = style
        for _ in range(_MAX_PARENTS):
            if own is None or (code := next((attribute(each, "Format") for each in find_all(own, "NumberFormat")), "")):
                break
            own = styles.get(attribute(own, "Parent"))
        codes[name] = code
    return codes


class _SheetRows:
    """The rows of a sheet with their numbers from 1, the ranges of merged cells, and the comments."""

    def __init__(self, sheet: Element, codes: Mapping[str, str]) -> None:
        self._codes = codes
        self._table = next((attribute(table, "StyleID") for table in find_all(sheet, "Table")), "")
        self._columns = _read_column_styles(sheet)
        self.cells: list[tuple[int, list[str]]] = []
        self.merged: list[tuple[tuple[int, int], tuple[int, int]]] = []
        self.comments: list[str] = []
        number = 0
        for row in find_all(sheet, "Row"):
            number = _index(row, "Index") or number + 1
            self.cells.append((number, self._read_row(row, number)))
            number += _index(row, "Span")  # empty rows that look like this one

    def _read_row(self, row: Element, number: int) -> list[str]:
        found: list[str] = []
        after = 0
        for cell in (child for child in row if local_name(child) == "Cell"):
            column = (_index(cell, "Index") or after + 1) - 1
            across, down = _index(cell, "MergeAcross"), _index(cell, "MergeDown")
            after = column + across + 1
            if after > _MAX_COLUMNS:
                break
            styles = (attribute(cell, "StyleID"), attribute(row, "StyleID"), self._columns.get(column), self._table)
            code = self._codes.get(next(filter(None, styles), ""), "")
            found += [""] * (after - len(found))
            found[column] = next((_value(child, code) for child in cell if local_name(child) == "Data"), "")
            if across or down:
                self.merged.append(((number - 1, column), (number - 1 + down, column + across)))
            self.comments += [_comment(child, number) for child in cell if local_name(child) == "Comment"]
        return found


def _read_column_styles(sheet: Element) -> dict[int, str]:
    """The styles of the columns of a sheet, by their numbers from 0."""
    found: dict[int, str] = {}
    number = 0
    for column in find_all(sheet, "Column"):
        number = _index(column, "Index") or number + 1
        last = min(number + _index(column, "Span"), _MAX_COLUMNS)
        found |= dict.fromkeys(range(number - 1, last), attribute(column, "StyleID"))
        number = last
    return found


def _index(element: Element, name: str) -> int:
    text = attribute(element, name)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 else 0


def _value(data: Element, code: str) -> str:
    """A cell as it is shown, as far as its format is one of numbers."""
    text = "".join(data.itertext()).strip()
    match attribute(data, "Type"):
        case "DateTime":
            return _FRACTION.sub("", _NO_DATE.sub("", _MIDNIGHT.sub("", text))).replace("T", " ")
        case "Boolean":
            return _TRUTH.get(text, text)
        case "Number" if _NUMBER.fullmatch(text):
            usual = _NAMED.get(code, "" if _is_plain(code) else code)
            return format_number(float(text), usual) if usual else plain_number(float(text))
        case _:
            return text


def _is_plain(code: str) -> bool:
    """Whether a format changes no number: a plain one, or a name, such as "Short Date"."""
    return code in PLAIN_CODES or code in _CHOICES or code.replace(" ", "").isalpha()


def _comment(comment: Element, number: int) -> str:
    author = clean_single_line(attribute(comment, "Author"))
    return f"row {number}: Comment{f' by {author}' if author else ''}: {clean_single_line(''.join(comment.itertext()))}"


def _paragraphs(element: Element) -> Iterator[tuple[str, BlockType]]:
    """The texts of the paragraphs and tables below an element; notes and boxes follow the paragraph they are in."""
    for child in element:
        match local_name(child):
            case "p":
                pieces: list[str] = []
                inner: list[Element] = []
                _read_runs(child, pieces, inner)
                text = "\n".join(" ".join(line.split()) for line in "".join(pieces).split("\n")).strip()
                if text:
                    yield text, "text"
                for each in inner:
                    yield from _paragraphs(each)
            case "tbl":
                rows = [[_cell_text(cell) for cell in _find_own(row, "tc")] for row in _find_own(child, "tr")]
                if table := render_table(rows):
                    yield table, "table"
            case _:
                yield from _paragraphs(child)


def _find_own(element: Element, name: str) -> Iterator[Element]:
    """The rows of a table or the cells of a row, without those of tables within it."""
    for child in element:
        if local_name(child) == name:
            yield child
        elif local_name(child) not in {"tbl", "tc"}:
            yield from _find_own(child, name)


def _cell_text(cell: Element) -> str:
    return clean_single_line(" ".join(text for text, _ in _paragraphs(cell)))


def _read_runs(element: Element, pieces: list[str], inner: list[Element]) -> None:
    """The text of a paragraph; what holds paragraphs of its own is put into `inner`."""
    for child in element:
        name = local_name(child)
        if any(local_name(each) in {"p", "tbl"} for each in child):
            inner.append(child)
        elif name == "t":
            pieces.append(child.text or "")
        elif name != "tabs":
            pieces.append(_SIGNS.get(name, ""))
            _read_runs(child, pieces, inner)
