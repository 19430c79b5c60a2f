from __future__ import annotations

import struct
import zipfile
from io import BytesIO

from engine.models import Omission
from engine.parsers.formats import spreadsheets
from engine.parsers.registry import PARSERS
from tests.engine.parsers.samples import xlsx


def test_the_first_rows_of_a_long_sheet_are_there_before_the_others() -> None:
    rows: list[list[str | int]] = [["id", "words"]]
    rows += [[number, "some words " * 30] for number in range(3000)]
    parsed = spreadsheets.parse("long.xlsx", xlsx({"Budget": rows, "Costs": rows[:3]}), "")
    assert parsed.passages[0].label.startswith("sheet Budget, rows 2–")
    labels = [passage.label for passage in parsed.parse_whole()]
    assert len(labels) > len(parsed.passages)
    assert labels[-1] == "sheet Costs, rows 2–3"


def _binary_record(kind: int, payload: bytes = b"") -> bytes:
    number = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    return number + bytes([len(payload)]) + payload


def _binary_text(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def build_binary_workbook(sheet: str, rows: list[list[str]]) -> bytes:
    """An XLSB file of one sheet, which has a chart as well."""
    cells = b"".join(
        _binary_record(0, struct.pack("<III", at, 0, 0) + bytes(13))
        + b"".join(
            _binary_record(6, struct.pack("<II", column, 0) + _binary_text(text)) for column, text in enumerate(row)
        )
        for at, row in enumerate(rows)
    )
    size = struct.pack("<IIII", 0, len(rows) - 1, 0, len(rows[0]) - 1)
    listed = _binary_record(156, struct.pack("<II", 0, 1) + _binary_text("rId1") + _binary_text(sheet))
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.bin": _binary_record(131)
        + _binary_record(143)
        + listed
        + _binary_record(144)
        + _binary_record(132),
        "xl/_rels/workbook.bin.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"'
        ' Target="worksheets/sheet1.bin"/></Relationships>',
        "xl/worksheets/sheet1.bin": _binary_record(129)
        + _binary_record(148, size)
        + _binary_record(145)
        + cells
        + _binary_record(146)
        + _binary_record(130),
        "xl/charts/chart1.xml": "<chart/>",
    }
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def test_the_cells_of_a_binary_workbook_are_read() -> None:
    data = build_binary_workbook("Moorings", [["Pontoon", "Tenant"], ["B", "Marit"]])
    parsed = spreadsheets.parse("a.xlsb", data, PARSERS["xlsx"].mime)
    [passage] = parsed.passages
    assert passage.text == "Pontoon | Tenant\n--- | ---\nB | Marit"
    assert parsed.omissions == (Omission("charts", "only the cells of a binary workbook are read"),)
