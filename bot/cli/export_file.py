"""Write the lines of an export atomically to a file, or to standard output."""

from __future__ import annotations

import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bot.admin.results import ExportLine
from bot.errors import file_write_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Iterator
    from typing import IO

    from bot.admin.results import OperationResult


async def save_lines(events: AsyncIterable[OperationResult], output: Path | None) -> None:
    """Write the export lines of a result stream. Raises DiskError."""
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
    """Open a temporary file next to the output, which replaces it when everything is written."""
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
