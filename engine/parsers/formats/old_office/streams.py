"""Read the streams of an old Office file. Pure."""

from __future__ import annotations

import struct
from datetime import UTC
from io import BytesIO
from typing import TYPE_CHECKING

import olefile

from engine.parsers.dates import first_stated

if TYPE_CHECKING:
    from datetime import datetime


def read_stream(data: bytes, name: str) -> bytes:
    """The bytes of a stream; none if the file is damaged or has no such stream."""
    try:
        with olefile.OleFileIO(BytesIO(data)) as ole:
            return bytes(ole.openstream(name).read()) if ole.exists(name) else b""
    except (OSError, ValueError, IndexError, struct.error):
        return b""


def read_saved_time(data: bytes) -> datetime | None:
    """The time of the last change, else of creation, as the program that saved the file states them."""
    try:
        with olefile.OleFileIO(BytesIO(data)) as ole:
            properties = ole.get_metadata()
    except (OSError, ValueError, IndexError, TypeError, OverflowError, struct.error):
        return None
    times = (properties.last_saved_time, properties.create_time)
    return first_stated(time.replace(tzinfo=UTC) for time in times if hasattr(time, "tzinfo"))
