"""Builds documents from plain text and from files, for programs that use the engine as a library."""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from engine.boundary import Closable, guard_public_methods, repair_surrogates
from engine.errors import NotFound
from engine.models import Document
from engine.parsers import plain_text
from engine.parsers.base import read_file_content

if TYPE_CHECKING:
    from datetime import datetime

    from engine.clock import Clock
    from engine.parsers.sandbox.pool import FileParser

TEXT_ROOM, FILE_ROOM = "texts", "files"
CLOCK_TOLERANCE = timedelta(days=1)


def plausible_time(stated: datetime | None, now: datetime) -> datetime | None:
    """The date that a file states, or None if it is in the future."""
    return stated if stated and stated <= now + CLOCK_TOLERANCE else None


@guard_public_methods
class DocumentInput(Closable, ABC):
    """The verbs that build a document and pass it to `add`. `_parser` runs parsers in subprocesses."""

    _parser: FileParser
    _clock: Clock

    @abstractmethod
    async def add(self, document: Document) -> bool:
        """Add a document; returns whether anything changed."""

    async def add_text(
        self,
        title: str,
        text: str,
        *,
        space: str,
        key: str = "",
        room: str = TEXT_ROOM,
        time: datetime | None = None,
    ) -> bool:
        """Add plain text, cited by its lines; returns whether anything changed.

        A text with the same key replaces the earlier one. The default key is `text:SPACE:TITLE`. Raises EmptyDocument.
        """
        passages = await asyncio.to_thread(lambda: plain_text.parse(title, text.encode()).parse_whole())
        return await self.add(Document(key or f"text:{space}:{title}", space, room, title, passages, time))

    async def add_file(
        self, path: Path | str, *, space: str, key: str = "", room: str = FILE_ROOM, parser: FileParser | None = None
    ) -> bool:
        """Parse a file in a subprocess and add it; returns whether anything changed.

        A file with the same key replaces the earlier one. The default key is `file:SPACE:ABSOLUTE_PATH`. `parser`: with
        other limits, with OCR, or with a model that describes pictures. Raises NotFound, InvalidDocument (unsupported,
        empty, encrypted, broken or too large) and OSError, and ModelError if a picture could not be described now.
        """
        parser = parser or self._parser
        file, data = await asyncio.to_thread(_read_file, Path(path), parser.limits.max_file_size)
        name = repair_surrogates(file.name)
        parsed = await parser.parse(name, data)
        return await self.add(
            Document(
                key or f"file:{space}:{_printable_path(file)}",
                space,
                room,
                parsed.title or name,
                parsed.passages,
                time=plausible_time(parsed.time, self._clock.now()),
                link=file.as_uri(),
            )
        )


def _read_file(path: Path, limit: int) -> tuple[Path, bytes]:
    """The absolute path and the content of a regular file. Raises NotFound, InvalidDocument and OSError."""
    if not path.exists():
        raise NotFound(f"There is no file {_printable_path(path)}.", hint="Check the path.")
    return path.resolve(), read_file_content(path, limit)


def _printable_path(path: Path) -> str:
    """The path as valid Unicode; other bytes are escaped, so that different files keep different keys."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
