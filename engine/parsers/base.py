"""What reading gives, and how much it may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from engine.models import Passage

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file as passages. `time` is the document's date as it states it, None if it states none.

    `stamp` is when a program says it saved the file: it counts where neither the document nor its name states a date.
    """

    title: str
    passages: tuple[Passage, ...]
    time: datetime | None = None
    saved_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ParserLimits:
    """How much one file may take: bytes, seconds, and characters of text; beyond them it is DocumentTooLarge.

    `unpacked` bounds what a zipped format (DOCX, EPUB...) may unfold to, `ratio` how many times its own size.
    `memory` is the address space of one worker process; `workers` how many files are read at once.
    """

    max_file_size: int = 50 * MIB
    max_unpacked_size: int = 400 * MIB
    max_unpack_ratio: int = 200
    max_text_length: int = 20_000_000
    max_memory: int = 2048 * MIB
    timeout_seconds: float = 60.0
    workers: int = 2
