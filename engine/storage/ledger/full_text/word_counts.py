"""Whether many chunks contain a word, by what was counted before: counting 60,000 of a million takes 5 ms.

A former count is wrong by at most as many chunks as came or went since. Ids of chunks are never used again, so the
number of ids that were given and the number of chunks tell how many these are.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.work.settings import CHUNK_MOVES, CHUNKS_REINDEXED, Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from engine.storage.sql.connection import Connection

MAX_COUNTS = 4_096  # that are kept
MARGIN = 32  # one row in so many is counted beyond what is asked, so that the count says enough later

_COUNT_CHUNKS = (
    "SELECT COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'chunk'), 0), COALESCE(SUM(row_count), 0)"
    " FROM corpus_stats WHERE kind = ?"
)


class IndexState(NamedTuple):
    """The chunks of a snapshot: those that were ever added, those that are gone, and how often others changed."""

    added: int
    gone: int
    moves: int
    reindexed: int

    @classmethod
    def read(cls, db: Connection) -> Self:
        """The state of a snapshot of SQLite."""
        [[added, left]] = db.execute_fetchall(_COUNT_CHUNKS, (KeyKind.CHUNK,))
        settings = Settings(db)
        return cls(added, added - left, settings.get_int(CHUNK_MOVES), settings.get_int(CHUNKS_REINDEXED))


class _Counted(NamedTuple):
    """So many rows were counted; `is_whole`: there were no more."""

    rows: int
    is_whole: bool
    state: IndexState

    def compare(self, limit: int, state: IndexState) -> bool | None:
        """Whether there are at least so many rows in another state; None if that is unknown."""
        if (self.state.moves, self.state.reindexed) != (state.moves, state.reindexed):
            return None
        added, gone = state.added - self.state.added, state.gone - self.state.gone  # negative: of an earlier state
        if self.rows - max(gone, 0) + min(added, 0) >= limit:
            return True
        return False if self.is_whole and self.rows + max(added, 0) - min(gone, 0) < limit else None


class WordCounts:
    """The last counts of words within scopes, for several threads; the words themselves are not kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: OrderedDict[bytes, _Counted] = OrderedDict()

    def reaches(self, word: str, scope: str, limit: int, state: IndexState, count: Callable[[int], int]) -> bool:
        """Whether at least `limit` rows within a scope contain a word; `count` counts them up to a number."""
        key = blake2b(f"{word}\n{scope}".encode(), digest_size=16).digest()
        with self._lock:
            known = self._counts.get(key)
        if known is None or (found := known.compare(limit, state)) is None:
            most = limit + limit // MARGIN
            counted = count(most)
            known, found = _Counted(counted, counted < most, state), counted >= limit
        with self._lock:
            self._counts[key] = known
            self._counts.move_to_end(key)
            if len(self._counts) > MAX_COUNTS:
                self._counts.popitem(last=False)
        return found
