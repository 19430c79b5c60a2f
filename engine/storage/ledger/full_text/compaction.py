"""The compaction of a term index of SQLite in parts, between which other writers take their turns.

FTS5 keeps an index in segments at levels; a deleted row is in one segment, and its deletion in a later one. Neither is
left when all segments that there are have been merged into one. Segments that others add meanwhile are not waited for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from engine.errors import CorruptLedger
from engine.storage.ledger.full_text.fts5 import TABLES, fill
from engine.storage.ledger.work.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.storage.ledger.records.projection import KeyKind
    from engine.storage.sql.connection import Connection

MAX_LEVELS = 1_000  # FTS5 takes an index with more than 2,000 for corrupt, and a merge of all of it adds two
DEFAULT_SEGMENTS = 4  # at one level, which FTS5 merges when it is told to go on
_SECOND_FORMAT = b"\xff\x00\x00\x01"  # after the cookie of 4 bytes
_ADDED_FIELDS = 5  # of a segment, in the second format


@dataclass(frozen=True, slots=True)
class TermSegment:
    """A part of an index, and the number of its last page."""

    id: int
    last_page: int


@dataclass(frozen=True, slots=True)
class Level:
    """Segments of similar age, of which the first ones may be merged into the last segment of the next level."""

    merging: int
    segments: tuple[TermSegment, ...]


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge in progress: the ids of its segments, that of the result, and how many pages the result has.

    `pages`: to be written in the next transaction.
    """

    inputs: tuple[int, ...]
    output: int
    written: int
    pages: int

    def is_same(self, other: Merge) -> bool:
        """Whether the other is this merge at another time."""
        return (self.inputs, self.output) == (other.inputs, other.output)


def begin_merge(db: Connection, kind: KeyKind, pages: int) -> Merge | None:
    """Begin to merge all of an index; returns what is left to do.

    An index with too many levels is filled again in this transaction.
    """
    index, _ = TABLES[kind]
    if len(read_levels(db, index)) > MAX_LEVELS:
        fill_again(db, kind)
        return None
    _merge_pages(db, index, -pages)  # a negative number begins with all segments
    return next(_find_merges(read_levels(db, index), pages), None)


def continue_merge(db: Connection, kind: KeyKind, begun: Merge) -> Merge | None:
    """Merge further pages; returns what is left to do of the merge that was begun.

    FTS5 prefers new segments if they are more, so a turn without progress is followed by one of twice the pages.
    """
    index, _ = TABLES[kind]
    _merge_pages(db, index, begun.pages)
    found = next(filter(begun.is_same, _find_merges(read_levels(db, index), begun.pages)), None)
    if found and found.written == begun.written:
        return replace(found, pages=2 * begun.pages)
    return found


def fill_again(db: Connection, kind: KeyKind) -> None:
    """Empty an index, and fill it from its rows."""
    index, _ = TABLES[kind]
    db.execute(f"INSERT INTO {index} ({index}) VALUES ('delete-all')")
    fill(db, kind)
    db.execute("DELETE FROM unsegmented_fts WHERE kind = ?", (kind,))
    Settings(db).count_chunk_reindexing()


def read_levels(db: Connection, index: str) -> list[Level]:
    """The levels of an index, from the newest segments to the oldest. Raises CorruptLedger."""
    try:
        [[block]] = db.execute_fetchall(f"SELECT block FROM {index}_data WHERE id = 10")
        is_second = block[4:8] == _SECOND_FORMAT
        numbers = _read_numbers(block[8 if is_second else 4 :])
        count, _, _ = next(numbers), next(numbers), next(numbers)  # segments, and pages written since the beginning
        return [_read_level(numbers, _ADDED_FIELDS if is_second else 0) for _ in range(count)]
    except (StopIteration, ValueError, TypeError) as error:
        raise CorruptLedger(f"The full-text index {index} is damaged: its structure cannot be read.") from error


def _read_level(numbers: Iterator[int], added: int) -> Level:
    merging, count = next(numbers), next(numbers)
    segments = list[TermSegment]()
    for _ in range(count):
        segment, _, last_page, *_ = [next(numbers) for _ in range(3 + added)]
        segments.append(TermSegment(segment, last_page))
    return Level(merging, tuple(segments))


def _read_numbers(block: bytes) -> Iterator[int]:
    """Numbers of SQLite's format: 7 bits a byte, and a high bit if another byte follows."""
    number = 0
    for byte in block:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            yield number
            number = 0


def _find_merges(levels: list[Level], pages: int) -> Iterator[Merge]:
    """The merges in progress."""
    for level, following in pairwise(levels):
        if level.merging and following.segments:
            inputs = tuple(segment.id for segment in level.segments[: level.merging])
            output = following.segments[-1]
            yield Merge(inputs, output.id, output.last_page, pages)


def _merge_pages(db: Connection, index: str, pages: int) -> None:
    """Merge about as many pages, of a level with two segments too: otherwise FTS5 may do nothing."""
    command = f"INSERT INTO {index} ({index}, rank) VALUES (?, ?)"
    for name, value in (("usermerge", 2), ("merge", pages), ("usermerge", DEFAULT_SEGMENTS)):
        db.execute(command, (name, value))
