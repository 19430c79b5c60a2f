"""Guards the file of a graph database: the library may hang, or crash, over a damaged one instead of raising."""

from __future__ import annotations

import zlib
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from engine.errors import BrokenProjection

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PIECE = 1 << 20


def seal(file: Path) -> None:
    """Keep the checksum of a file that was closed in order; without one the file is opened unchecked."""
    with suppress(OSError):
        _seal(file).write_text(_checksum(file), encoding="ascii")


@contextmanager
def opening(file: Path) -> Iterator[None]:
    """Open the file inside.

    Raises BrokenProjection if it is empty, was changed since it was closed, or if the last attempt did not end.
    """
    mark = file.with_suffix(".opening")
    if mark.exists():
        raise BrokenProjection(f"The last attempt to open {file} did not end.")
    if file.exists() and not file.stat().st_size:  # it would pass for a graph of nothing
        raise BrokenProjection(f"{file} is empty.")
    if _seal(file).exists():
        if not file.exists() or _seal(file).read_text(encoding="ascii", errors="replace") != _checksum(file):
            raise BrokenProjection(f"{file} was changed since it was closed.")
        _seal(file).unlink()
    mark.touch()
    try:
        yield
    finally:
        mark.unlink(missing_ok=True)


def _seal(file: Path) -> Path:
    return file.with_suffix(".checksum")


def _checksum(file: Path) -> str:
    found = 0
    with file.open("rb") as content:
        while piece := content.read(PIECE):
            found = zlib.crc32(piece, found)
    return f"{found:08x}"
