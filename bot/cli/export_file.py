"""Lines of an export into a file, which is there whole or not at all, or to the standard output."""

from __future__ import annotations

import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bot.admin.file_errors import file_write_error
from bot.admin.results import ExportLine

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Iterator
    from typing import IO

    from bot.admin.results import OperationResult


async def save_lines(events: AsyncIterable[OperationResult], output: Path | None) -> None:
    """Write the lines among the events. Raises DiskError."""
    with _open_atomically(output) if output else _open_stdout() as file:
        async for event in events:
            if isinstance(event, ExportLine):
                file.write(event.text + "\n")


@contextmanager
def _open_stdout() -> Iterator[IO[str]]:
    yield sys.stdout
    sys.stdout.flush()


@contextmanager
def _open_atomically(output: Path) -> Iterator[IO[str]]:
    """A file beside the output, which takes its place once everything is written."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=output.parent, prefix=".threadlore-", delete=False
        ) as file:
            part = Path(file.name)
            try:
                yield file
                file.close()
                part.replace(output)
            finally:
                with suppress(FileNotFoundError):
                    part.unlink()
    except OSError as error:
        raise file_write_error(output, error) from error
