"""Whether an old Office file is locked with a password: its headers say so in the open."""

from __future__ import annotations

import struct
from io import BytesIO

import olefile

_DOC_ENCRYPTED = 0x0100  # a flag of the header of a Word file, at its byte 10
_FILE_PASS, _END_OF_STREAM = 0x2F, 0x0A  # records of a workbook: it is locked from here on; the end of the globals
_PPT_ENCRYPTED = b"\xdf\xc4\xd1\xf3"  # the token at byte 12 of the stream of the current user
_MAX_RECORDS = 200


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
            stream = next((each for each in ("Workbook", "Book") if ole.exists(each)), "")
            return bool(stream) and _has_file_pass(ole.openstream(stream).read(64_000))
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
