"""Whether an old Office file is locked with a password, or of before 1997: its headers say so in the open."""

from __future__ import annotations

import struct
from io import BytesIO
from typing import TYPE_CHECKING

import olefile

if TYPE_CHECKING:
    from collections.abc import Collection

_STREAMS = {
    "WordDocument": "doc",
    "Workbook": "xls",
    "Book": "xls",
    "PowerPoint Document": "ppt",
    "__properties_version1.0": "msg",
}
_DOC_ENCRYPTED = 0x0100  # a flag of the header of a Word file, at its byte 10
_FILE_PASS, _END_OF_STREAM = 0x2F, 0x0A  # records of a workbook: it is locked from here on; the end of the globals
_PPT_ENCRYPTED = b"\xdf\xc4\xd1\xf3"  # the token at byte 12 of the stream of the current user
_MAX_RECORDS = 200
_FIRST_WORD = 0xA5EC  # the header of a Word file since 1997 begins with this; those before with smaller numbers
_WORD_MARKS = range(0xA59B, _FIRST_WORD)


def find_kind(streams: Collection[str]) -> str:
    """The ending of the kind of old Office file that has these streams, or an empty string."""
    return next((kind for stream, kind in _STREAMS.items() if stream in streams), "")


def detect_kind(data: bytes) -> str:
    """The ending of the kind of an old Office file, whatever its name is; an empty string for what is none."""
    try:
        with olefile.OleFileIO(BytesIO(data)) as ole:
            return find_kind({path[0] for path in ole.listdir()})
    except (OSError, ValueError, IndexError, struct.error):
        return ""


def is_locked(data: bytes) -> bool:
    """Whether the file is locked; false for what is not an old Office file or is damaged."""
    try:
        with olefile.OleFileIO(BytesIO(data)) as ole:
            if ole.exists("EncryptedPackage") or ole.exists("EncryptedSummary"):
                return True
            if ole.exists("WordDocument"):
                return bool(struct.unpack_from("<H", ole.openstream("WordDocument").read(12), 10)[0] & _DOC_ENCRYPTED)
            if ole.exists("PowerPoint Document") and ole.exists("Current User"):
                return bool(ole.openstream("Current User").read(16)[12:16] == _PPT_ENCRYPTED)
            stream = next((text for text in ("Workbook", "Book") if ole.exists(text)), "")
            return bool(stream) and _has_file_pass(ole.openstream(stream).read(64_000))
    except (OSError, ValueError, IndexError, struct.error):
        return False


def is_from_before_1997(data: bytes) -> bool:
    """Whether the file is of Word 6 or 95, or PowerPoint 4 or 95, whose formats are others than those of 1997."""
    try:
        with olefile.OleFileIO(BytesIO(data)) as ole:
            if ole.exists("WordDocument"):
                return struct.unpack_from("<H", ole.openstream("WordDocument").read(2))[0] in _WORD_MARKS
            if ole.exists("PowerPoint Document"):  # one that both can open has a second form
                return bool(ole.exists("Text_Content") and not ole.exists("PP97_DUALSTORAGE"))
            return bool(ole.exists("PP40"))
    except (OSError, ValueError, IndexError, struct.error):
        return False


def _has_file_pass(data: bytes) -> bool:
    """Whether one of the first records of a workbook says that what follows is encrypted."""
    at = 0
    for _ in range(_MAX_RECORDS):
        if at + 4 > len(data):
            return False
        kind, size = struct.unpack_from("<HH", data, at)
        if kind == _FILE_PASS:
            return True
        if kind == _END_OF_STREAM:
            return False
        at += 4 + size
    return False
