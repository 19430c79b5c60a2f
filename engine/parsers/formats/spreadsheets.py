"""Parse workbooks (XLSX, XLS, ODS) sheet by sheet into groups of rows, through calamine."""

from __future__ import annotations

from datetime import date, datetime, time
from io import BytesIO
from typing import TYPE_CHECKING, Any

from python_calamine import CalamineError, CalamineWorkbook, PasswordError, WorksheetNotFound

from engine.errors import CorruptFile, EncryptedFile
from engine.parsers.base import Omission, stream_passages
from engine.parsers.formats.row_passages import number_passages, table_passages
from engine.text.cleanup import clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.models import Passage
    from engine.parsers.base import ParsedFile


def parse(name: str, data: bytes, mime: str) -> ParsedFile:  # noqa: ARG001 - the library finds the format itself
    """Passages labeled "sheet Budget, rows 2–40", with the header repeated. Raises EncryptedFile or CorruptFile.

    One sheet at a time is in memory.
    """
    return stream_passages(name, number_passages(_workbook_passages(data)))


def _workbook_passages(data: bytes) -> Iterator[Passage | Omission]:
    try:
        with CalamineWorkbook.from_filelike(BytesIO(data)) as workbook:
            for number, sheet_name in enumerate(workbook.sheet_names, 1):
                yield from _sheet_passages(workbook, number, sheet_name)
    except PasswordError as error:
        raise EncryptedFile("The workbook is locked with a password.") from error
    except (CalamineError, OSError) as error:
        raise CorruptFile("The workbook is damaged or incomplete.") from error


def _sheet_passages(workbook: CalamineWorkbook, number: int, sheet_name: str) -> Iterator[Passage | Omission]:
    try:
        sheet = workbook.get_sheet_by_name(sheet_name)
    except WorksheetNotFound:
        yield Omission(f"sheet {clean_single_line(sheet_name)}", "it is not a sheet of cells")
        return
    first = (sheet.start or (0, 0))[0] + 1
    rows = ((at, [_render_cell(cell) for cell in row]) for at, row in enumerate(sheet.iter_rows(), first))
    yield from table_passages(rows, f"t{number}.", f"sheet {clean_single_line(sheet_name)}, ")


def _render_cell(value: Any) -> str:
    """A cell as text: whole numbers without a fraction, midnight as a date alone."""
    if isinstance(value, float):
        return f"{value:.10g}" if value != int(value) or abs(value) >= 1e15 else str(int(value))
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "minutes")
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, date | time) else str(value)
