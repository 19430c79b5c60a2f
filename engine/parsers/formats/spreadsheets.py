"""Parse workbooks (XLSX, XLS, ODS) sheet by sheet into groups of rows, with each cell as the sheet shows it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from io import BytesIO
from typing import TYPE_CHECKING, Any

from python_calamine import CalamineError, CalamineWorkbook, PasswordError, WorksheetNotFound

from engine.errors import CorruptFile, EncryptedFile
from engine.models import Omission, Passage
from engine.parsers.base import DAMAGED, EmbeddedPicture, stream_passages
from engine.parsers.formats.old_office.objects import read_embedded
from engine.parsers.formats.old_office.sheets import OldWorkbook
from engine.parsers.formats.opendocument.sheets import SheetReader
from engine.parsers.formats.opendocument.text import check_encryption, read_part
from engine.parsers.formats.openxml.number_formats import format_number, plain_number
from engine.parsers.formats.openxml.part_names import with_usual_names
from engine.parsers.formats.openxml.workbook import WorkbookParts
from engine.parsers.formats.row_passages import number_passages, repeat_merged, table_passages
from engine.parsers.formats.xml_tree import XmlArchive
from engine.parsers.passages import Block, group_blocks, join_blocks
from engine.text.cleanup import clean_multiline, clean_single_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from engine.parsers.base import ParsedFile
    from engine.parsers.formats.openxml.sheet_styles import Formats

    _Parts = WorkbookParts | OldWorkbook

_PICTURES = "Pictures/"
_NO_CELLS = "it is not a sheet of cells"
_BINARY_PART, _ONLY_CELLS = "xl/workbook.bin", "only the cells of a binary workbook are read"
_BESIDE_CELLS = re.compile(r"xl/(comments|drawings|charts|diagrams|embeddings|media)")
_PANIC = "PanicException"  # of the library on some damaged files; its class cannot be imported
_REPEATED = "header and footer"
_WORDS = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,}+\W++[^\W\d_]{2}")  # more than "Page 1", which every program writes
_EPOCH = datetime(1899, 12, 30, tzinfo=UTC)
_HAS_TIME = re.compile(r"h|s", re.IGNORECASE)
# Dates that are read in one way only: years first, names of months, or points between the numbers.
_CLEAR_DATE = re.compile(r"y.*m|mmm|d\.|m\.|\bm+$|^y+$", re.IGNORECASE)
_HIDDEN = re.compile(r'"[^"]*"|\\.|\[[^\[\]]*\]')


def parse(name: str, data: bytes, mime: str) -> ParsedFile:
    """Passages labeled "sheet Budget, rows 2–40", with the header repeated. Raises EncryptedFile or CorruptFile.

    Notes, charts and texts of a sheet follow its rows. One sheet at a time is in memory.
    """
    if "opendocument" in mime:
        parsed = stream_passages(name, number_passages(_opendocument_passages(data)))
        return replace(parsed, embedded=_list_pictures(data))
    if "openxml" in mime and _BINARY_PART in (names := XmlArchive(data).names):
        return _parse_binary(name, data, names)
    data = with_usual_names(data) if "openxml" in mime else data
    parts = WorkbookParts(data) if "openxml" in mime else None
    files, unread = (tuple(parts.list_files()), tuple(parts.parts.omissions)) if parts else read_embedded(data)
    parsed = stream_passages(name, number_passages(_workbook_passages(data, parts or OldWorkbook(data))))
    pictures = parts.list_pictures() if parts else ()
    return replace(parsed, attachments=files, omissions=(*unread, *parsed.omissions), embedded=pictures)


def _parse_binary(name: str, data: bytes, parts: Collection[str]) -> ParsedFile:
    """The cells of an XLSB file, whose other parts are named."""
    beside = sorted({found[1] for part in parts if (found := _BESIDE_CELLS.match(part))})
    parsed = stream_passages(name, number_passages(_workbook_passages(data, None)))
    return replace(parsed, omissions=(*parsed.omissions, *(Omission(text, _ONLY_CELLS) for text in beside)))


def _list_pictures(data: bytes) -> Iterator[EmbeddedPicture]:
    archive = XmlArchive(data)
    return (
        EmbeddedPicture("picture", archive.read(name)) for name in sorted(archive.names) if name.startswith(_PICTURES)
    )


def _opendocument_passages(data: bytes) -> Iterator[Passage | Omission]:
    archive = XmlArchive(data)
    check_encryption(archive)
    reader = SheetReader(archive)
    pieces = reader.read()
    number, name = 0, next((piece for piece in pieces if isinstance(piece, str)), "")
    while name:
        number, following = number + 1, list[str]()
        label = f"sheet {clean_single_line(name)}"
        yield from table_passages(_rows_until_name(pieces, following), f"t{number}.", f"{label}, ")
        name = next(iter(following), "")
        notes = [Block(text, 0, 0, "item") for text in reader.notes]
        for kind, blocks in (("notes", notes), ("drawing", list(reader.drawn))):
            for part, group in enumerate(group_blocks(blocks), 1):
                text = clean_multiline(join_blocks(group))
                yield Passage(f"t{number}.{kind}{part}", text, f"{label}, {kind}")
    styles = read_part(archive, "styles.xml", reader.content.omissions)
    repeated = [block for block in reader.content.read_repeated(styles) if _WORDS.search(block.text.partition(": ")[2])]
    for part, group in enumerate(group_blocks(repeated), 1):
        yield Passage(f"header{part}", clean_multiline(join_blocks(group)), _REPEATED)
    yield from reader.content.omissions


def _rows_until_name(
    pieces: Iterator[str | tuple[int, list[str]]], following: list[str]
) -> Iterator[tuple[int, list[str]]]:
    """The rows of a sheet; the name of the next one is put into `following`."""
    for piece in pieces:
        if isinstance(piece, str):
            following.append(piece)
            return
        yield piece


def _workbook_passages(data: bytes, parts: _Parts | None) -> Iterator[Passage | Omission]:
    try:
        with CalamineWorkbook.from_filelike(BytesIO(data)) as workbook:
            for number, sheet_name in enumerate(workbook.sheet_names, 1):
                yield from _sheet_passages(workbook, number, sheet_name, parts)
    except PasswordError as error:
        raise EncryptedFile("The workbook is locked with a password.") from error
    except (CalamineError, OSError) as error:
        raise CorruptFile("The workbook is damaged or incomplete.") from error
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
        raise CorruptFile("The workbook is damaged or incomplete.") from error


def _sheet_passages(
    workbook: CalamineWorkbook, number: int, sheet_name: str, parts: _Parts | None
) -> Iterator[Passage | Omission]:
    label = f"sheet {clean_single_line(sheet_name)}"
    extras = list(parts.extras_of(sheet_name, number)) if parts else []
    try:
        sheet = workbook.get_sheet_by_name(sheet_name)
    except WorksheetNotFound:  # a sheet that is a chart
        yield from extras or [Omission(label, _NO_CELLS)]
        return
    except CalamineError:
        yield from (Omission(label, DAMAGED), *extras)
        return
    left = (sheet.start or (0, 0))[1]
    formats = parts.formats_of(sheet_name) if parts else {}
    rows = (
        (at + 1, [_render_cell(cell, code) for cell, code in _with_formats(row, formats, at, left)])
        for at, row in enumerate(sheet.iter_rows())  # from the first row on, but from the first column with a value
    )
    filled = repeat_merged(rows, sheet.merged_cell_ranges or (), left)
    yield from table_passages(filled, f"t{number}.", f"{label}, ")
    yield from extras


def _with_formats(row: list[Any], formats: Formats, at: int, left: int) -> Iterator[tuple[Any, str]]:
    codes = formats.get(at)
    return ((cell, codes.get(left + place, "") if codes else "") for place, cell in enumerate(row))


def _render_cell(value: Any, code: str = "") -> str:
    """A cell as the sheet shows it; without a format, whole numbers have no fraction and midnight is a date alone."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float | int):
        return format_number(float(value), code) if code else plain_number(float(value))
    if isinstance(value, timedelta):
        return format_number(
            value / timedelta(days=1), code if "[" in code else "[h]:mm:ss" if _is_long(value) else code
        )
    if isinstance(value, datetime | date):
        return _render_date(value, code)
    if isinstance(value, time):
        days = (value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6) / 86_400
        return format_number(days, code) if code else value.isoformat()
    return str(value)


def _is_long(value: timedelta) -> bool:
    return value >= timedelta(days=1)


def _render_date(value: datetime | date, code: str) -> str:
    """A date as shown if that is clear; day and month as numbers are shown with the date as ISO 8601."""
    moment = value if isinstance(value, datetime) else datetime.combine(value, time())
    has_clock = moment.time() != time()
    plain = moment.isoformat(" ", "minutes") if has_clock else moment.date().isoformat()
    letters = _HIDDEN.sub("", code)
    if not letters or (not has_clock and _HAS_TIME.search(letters)):
        return plain
    shown = format_number((moment.replace(tzinfo=UTC) - _EPOCH) / timedelta(days=1), code)
    return shown if shown == plain or _CLEAR_DATE.search(letters) else f"{shown} ({plain})"
