"""Write the lines of an export atomically to a file, or to standard output."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from io import TextIOWrapper
from typing import TYPE_CHECKING

from bot.capabilities.maintenance.archive_key import encrypting
from bot.capabilities.results import ExportLine
from bot.errors import file_write_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Iterator
    from pathlib import Path
    from typing import IO, BinaryIO

    from bot.capabilities.maintenance.archive_key import BackupKey
    from bot.capabilities.results import OperationResult
    from engine.storage.journal import Journal


async def save_lines(
    events: AsyncIterable[OperationResult], output: Path | None, journal: Journal, key: BackupKey | None = None
) -> None:
    """Write the export lines of a result stream, encrypted with a key if there is one.

    A part that a kill leaves is in the journal. Raises DiskError.
    """
    with _open_atomically(output, journal, key) if output else _open_stdout(key) as file:
        async for event in events:
            if isinstance(event, ExportLine):
                file.write(event.text + "\n")


@contextmanager
def _open_stdout(key: BackupKey | None) -> Iterator[IO[str]]:
    if key is None:
        yield sys.stdout
    else:
        with _encrypted(sys.stdout.buffer, key) as file:
            yield file
    sys.stdout.flush()


@contextmanager
def _encrypted(file: BinaryIO, key: BackupKey) -> Iterator[IO[str]]:
    with encrypting(file, key) as plain, TextIOWrapper(plain, encoding="utf-8") as text:
        yield text


@contextmanager
def _open_atomically(output: Path, journal: Journal, key: BackupKey | None) -> Iterator[IO[str]]:
    """Open a temporary file next to the output, which replaces it when everything is written."""
    try:
        with journal.temporary(output.parent) as part:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            if key is None:
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    yield file
            else:
                with os.fdopen(descriptor, "wb") as raw, _encrypted(raw, key) as file:
                    yield file
            part.replace(output)
    except OSError as error:
        raise file_write_error(output, error) from error
