from __future__ import annotations

import struct
from collections.abc import Mapping

import pytest

from engine.errors import UnsupportedFormat
from engine.parsers.base import ParserLimits
from engine.parsers.detection import detect_format
from engine.parsers.formats.old_office.documents import read_texts
from engine.parsers.formats.old_office.sheets import OldWorkbook

SECTOR, NONE = 512, 0xFFFFFFFF
END, FAT = 0xFFFFFFFE, 0xFFFFFFFD


def entry(name: str, kind: int, child: int, start: int, size: int, after: int = NONE) -> bytes:
    """An entry of the directory of a compound file."""
    text = name.encode("utf-16-le") + b"\0\0"
    head = text.ljust(64, b"\0") + struct.pack("<HBBIII", len(text), kind, 1, NONE, after, child)
    return head + bytes(36) + struct.pack("<IQ", start, size)


def compound_file(name: str, stream: bytes, others: Mapping[str, bytes] | None = None) -> bytes:
    """An OLE file of at most three streams, padded to the size from which on they have sectors of their own."""
    streams = {name: stream} | dict(others or {})
    table, directory, body = [FAT, END], entry("Root Entry", 5, 1, END, 0), b""
    for number, (each, content) in enumerate(streams.items(), 1):
        padded = content.ljust(max(4096, -(-len(content) // SECTOR) * SECTOR), b"\0")
        start, count = len(table), len(padded) // SECTOR
        after = number + 1 if number < len(streams) else NONE
        directory += entry(each, 2, NONE, start, len(padded), after)
        table += [*range(start + 1, start + count), END]
        body += padded
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<IIIIIIIIII", 0, 1, 1, 0, 4096, END, 0, END, 0, 0) + b"\xff" * 4 * 108
    fat = struct.pack(f"<{len(table)}I", *table).ljust(SECTOR, b"\xff")
    return header + fat + directory.ljust(SECTOR, b"\0") + body


@pytest.mark.parametrize(
    ("file", "streams"),
    [
        ("a.doc", {"WordDocument": b"\xdc\xa5\x65\x00"}),
        ("a.ppt", {"PP40": b"Slides"}),
        ("a.ppt", {"PowerPoint Document": b"\x03\0\0\0", "Text_Content": b"Slides"}),
    ],
    ids=["Word 6", "PowerPoint 4", "PowerPoint 95"],
)
def test_a_file_of_before_1997_is_not_called_damaged(file: str, streams: dict[str, bytes]) -> None:
    (name, content), *others = streams.items()
    with pytest.raises(UnsupportedFormat, match="old Office format") as caught:
        detect_format(file, compound_file(name, content, dict(others)), ParserLimits())
    assert caught.value.hint


@pytest.mark.parametrize(
    ("file", "start"), [("a.xls", b"\x09\x04\x06\0"), ("a.xls", b"\x09\0\x04\0"), ("a.doc", b"\xdb\xa5\x2d\0")]
)
def test_a_file_that_is_older_than_compound_files_is_not_called_damaged(file: str, start: bytes) -> None:
    with pytest.raises(UnsupportedFormat, match="old Office format"):
        detect_format(file, start + bytes(500), ParserLimits())


def test_a_file_of_word_97_is_one() -> None:
    assert detect_format("a.doc", compound_file("WordDocument", b"\xec\xa5\xc1\x00"), ParserLimits()) == "doc"


ROW_END = b"\x16\x24\x01\x17\x24\x01"  # in a table, and the end of a row


def word_file(texts: list[str], row_ends: list[int] | None = None, *, are_wide: bool = False) -> bytes:
    """A Word file with the main text, and those of footnotes, headers, macros, comments, endnotes and boxes.

    `row_ends`: the positions of the marks in its text that end rows. `are_wide`: their formats are elsewhere.
    """
    whole = "".join(texts).encode("utf-16-le")
    stream = bytearray(2048) + whole
    ends = [2048 + 2 * position + 2 for position in row_ends or []]
    struct.pack_into(f"<{len(ends) + 1}I", stream, 1024, 2048, *ends)
    for number in range(len(ends)):
        stream[1024 + 4 * (len(ends) + 1) + 13 * number] = 200
    formats = b"\x46\x66" + struct.pack("<I", 4) if are_wide else ROW_END
    stream[1424:1434] = b"\x05\x00\x00" + formats + b"\x00"
    stream[1535] = len(ends)
    struct.pack_into("<H", stream, 0x00, 0xA5EC)
    struct.pack_into("<8i", stream, 0x4C, *map(len, texts))
    pieces = b"\x02" + struct.pack("<IIIHIH", 16, 0, sum(map(len, texts)), 0, 2048, 0)
    struct.pack_into("<II", stream, 0x01A2, 0, len(pieces))
    struct.pack_into("<II", stream, 0x0102, len(pieces), 12)
    others = {"0Table": pieces + struct.pack("<III", 2048, 4096, 2)}
    others |= {"Data": bytes(4) + struct.pack("<H", len(ROW_END)) + ROW_END} if are_wide else {}
    return compound_file("WordDocument", bytes(stream), others)


def test_the_texts_beside_the_main_one_of_a_word_file_are_read() -> None:
    field = "\x13 HYPERLINK \x13 x \x15y\x14Shown\x15"
    ruby = "\x13 EQ \\o\\al(\\s\\up 11(kana),漢字)\x15"
    main = f"Duty\x07Fee\x07\x07{field} {ruby}\r"
    parts = [main, "\x02 Weighed.\r", "\x03\r", "", "\x05Ask Mo.\r", "", "In a box\r", ""]
    assert read_texts(word_file(parts, [9])) == {
        "": ["Duty | Fee", "Shown 漢字"],
        "footnotes": ["Weighed."],
        "comments": ["Ask Mo."],
        "text box": ["In a box"],
    }
    assert read_texts(word_file(parts)[:2500]) == {}


def test_an_empty_cell_of_a_word_table_moves_no_value_to_another_row() -> None:
    rows = ["Ada\x07\x075\x07\x07", "Bo\x0711\x07\x07\x07", "Eve\x0712\r13\x076\x07\x07"]
    ends = [sum(map(len, rows[: number + 1])) - 1 for number in range(3)]
    parts = ["".join(rows) + "After\r", *[""] * 7]
    for are_wide in (False, True):
        found = read_texts(word_file(parts, ends, are_wide=are_wide))[""]
        assert found == ["Ada | | 5", "Bo | 11 |", "Eve | 12 13 | 6", "After"]
    assert read_texts(word_file(parts))[""] == ["Ada | | 5 | | Bo | 11 | | | Eve | 12", "13 | 6 | | After"]


def record(kind: int, content: bytes) -> bytes:
    return struct.pack("<HH", kind, len(content)) + content


def test_the_formats_notes_and_texts_of_an_old_workbook_are_read() -> None:
    begin, end = record(0x0809, bytes(16)), record(0x0A, b"")
    style = record(0xE0, bytes(20)) + record(0xE0, struct.pack("<HH", 0, 10) + bytes(16))
    name = struct.pack("<BB", 4, 0) + b"Toll"
    start = len(begin + style) + 4 + 6 + len(name) + len(end)
    head = begin + style + record(0x85, struct.pack("<IH", start, 0) + name) + end
    cell = record(0x0203, struct.pack("<HHHd", 2, 1, 1, 0.5))
    texts = b"".join(
        record(0x5D, struct.pack("<HHHH", 0x15, 18, 25, object_) + bytes(14))
        + record(0x01B6, bytes(10) + struct.pack("<HHI", len(text), 0, 0))
        + record(0x3C, b"\0" + text)
        for object_, text in ((7, b"For sheep"), (8, b"In a box"))
    )
    note = record(0x1C, struct.pack("<HHHHH", 2, 27, 0, 7, 2) + b"\0Mo")
    workbook = OldWorkbook(compound_file("Workbook", head + begin + cell + texts + note + end))
    assert workbook.formats_of("Toll") == {2: {1: "0.00%"}}
    found = [(passage.label, passage.text) for passage in workbook.extras_of("Toll", 1)]
    assert found == [
        ("sheet Toll, notes", "AB3: Comment by Mo: For sheep"),
        ("sheet Toll, drawing", "In a box"),
    ]
    assert workbook.formats_of("Other") == {}
