"""Lines of an export into a file, which is there whole or not at all, or to the standard output.

And what to say of a file that cannot be written.
"""

from __future__ import annotations

import errno
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bot.events import Line
from engine.errors import DiskTrouble

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Iterator
    from typing import IO

    from bot.events import Event


async def save(events: AsyncIterable[Event], output: Path | None) -> None:
    """Write the lines among the events. Raises DiskTrouble."""
    with _whole(output) if output else _standard() as file:
        async for event in events:
            if isinstance(event, Line):
                file.write(event.text + "\n")


@contextmanager
def _standard() -> Iterator[IO[str]]:
    yield sys.stdout
    sys.stdout.flush()


@contextmanager
def _whole(output: Path) -> Iterator[IO[str]]:
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
        raise unwritable(output, error) from error


def unwritable(path: Path, error: OSError) -> DiskTrouble:
    """Why a file could not be written, and what to do about it."""
    if isinstance(error, IsADirectoryError):
        return DiskTrouble(f"{path} is a folder.", hint="Name a file in it.")
    told = f"{path} cannot be written"
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        what = "does not exist" if isinstance(error, FileNotFoundError) else "is no folder"
        return DiskTrouble(f"{told}: {path.parent} {what}.", hint="Make the folder first, or name another.")
    hint = "Name another place, or let yourself write there."
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        hint = "Free some space there, or name another place."
    return DiskTrouble(f"{told}: {(error.strerror or str(error)).lower()}.", hint=hint)
