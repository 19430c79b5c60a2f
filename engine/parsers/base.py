"""What reading gives, and how much it may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from engine.models import Passage

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Read:
    """A file as passages. `time` is the document's date as it states it, None if it states none.

    `stamp` is when a program says it saved the file: it counts where neither the document nor its name states a date.
    """

    title: str
    passages: tuple[Passage, ...]
    time: datetime | None = None
    stamp: datetime | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one file may take: bytes, seconds, and characters of text; beyond them it is TooLarge.

    `unpacked` bounds what a zipped format (DOCX, EPUB...) may unfold to, `ratio` how many times its own size.
    `memory` is the address space of one worker process; `workers` how many files are read at once.
    """

    size: int = 50 * MIB
    unpacked: int = 400 * MIB
    ratio: int = 200
    text: int = 20_000_000
    memory: int = 2048 * MIB
    seconds: float = 60.0
    workers: int = 2
