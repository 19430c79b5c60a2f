"""Read the streams of an old Office file. Pure."""

from __future__ import annotations

import struct
from io import BytesIO

import olefile


def read_stream(data: bytes, name: str) -> bytes:
    """The bytes of a stream; none if the file is damaged or has no such stream."""
    try:
        with olefile.OleFileIO(BytesIO(data)) as ole:
            return bytes(ole.openstream(name).read()) if ole.exists(name) else b""
    except (OSError, ValueError, IndexError, struct.error):
        return b""
