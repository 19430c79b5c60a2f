"""Guards the file of a graph database: the library may hang or crash on a damaged file instead of raising."""

from __future__ import annotations

import zlib
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from engine.errors import CorruptProjection

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

READ_SIZE = 1 << 20


def write_checksum(file: Path) -> None:
    """Save the checksum of a properly closed file; a file without one is opened unchecked."""
    with suppress(OSError):
        _checksum_file(file).write_text(_compute_checksum(file), encoding="ascii")


@contextmanager
def guard_opening(file: Path) -> Iterator[None]:
    """Open the file inside.

    Raises CorruptProjection if it is empty, was changed since it was closed, or if the last attempt did not end.
    """
    mark = file.with_suffix(".opening")
    if mark.exists():
        raise CorruptProjection(f"The last attempt to open {file} did not end.")
    if file.exists() and not file.stat().st_size:  # the library would take it for an empty graph
        raise CorruptProjection(f"{file} is empty.")
    if _checksum_file(file).exists():
        if not file.exists() or _checksum_file(file).read_text(encoding="ascii", errors="replace") != _compute_checksum(
            file
        ):
            raise CorruptProjection(f"{file} was changed since it was closed.")
        _checksum_file(file).unlink()
    mark.touch()
    try:
        yield
    finally:
        mark.unlink(missing_ok=True)


def _checksum_file(file: Path) -> Path:
    return file.with_suffix(".checksum")


def _compute_checksum(file: Path) -> str:
    found = 0
    with file.open("rb") as content:
        while piece := content.read(READ_SIZE):
            found = zlib.crc32(piece, found)
    return f"{found:08x}"
