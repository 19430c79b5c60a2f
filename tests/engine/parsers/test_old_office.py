from __future__ import annotations

import struct

import pytest

from engine.errors import UnsupportedFormat
from engine.parsers.base import ParserLimits
from engine.parsers.detection import detect_format

SECTOR, NONE = 512, 0xFFFFFFFF
END, FAT = 0xFFFFFFFE, 0xFFFFFFFD


def entry(name: str, kind: int, child: int, start: int, size: int) -> bytes:
    """An entry of the directory of a compound file."""
    text = name.encode("utf-16-le") + b"\0\0"
    head = text.ljust(64, b"\0") + struct.pack("<HBBIII", len(text), kind, 1, NONE, NONE, child)
    return head + bytes(36) + struct.pack("<IQ", start, size)


def compound_file(name: str, stream: bytes) -> bytes:
    """An OLE file of one stream, padded to the size from which on it has sectors of its own."""
    stream = stream.ljust(4096, b"\0")
    sectors = len(stream) // SECTOR
    table = [FAT, END, *range(3, sectors + 2), END]
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<IIIIIIIIII", 0, 1, 1, 0, 4096, END, 0, END, 0, 0) + b"\xff" * 4 * 108
    directory = entry("Root Entry", 5, 1, END, 0) + entry(name, 2, NONE, 2, len(stream))
    fat = struct.pack(f"<{len(table)}I", *table).ljust(SECTOR, b"\xff")
    return header + fat + directory.ljust(SECTOR, b"\0") + stream


@pytest.mark.parametrize(
    ("file", "stream", "content"),
    [("a.doc", "WordDocument", b"\xdc\xa5\x65\x00"), ("a.ppt", "PP40", b"Slides")],
    ids=["Word 6", "PowerPoint 4"],
)
def test_a_file_of_before_1997_is_not_called_damaged(file: str, stream: str, content: bytes) -> None:
    with pytest.raises(UnsupportedFormat, match="old Office format") as caught:
        detect_format(file, compound_file(stream, content), ParserLimits())
    assert caught.value.hint


def test_a_file_of_word_97_is_one() -> None:
    assert detect_format("a.doc", compound_file("WordDocument", b"\xec\xa5\xc1\x00"), ParserLimits()) == "doc"
