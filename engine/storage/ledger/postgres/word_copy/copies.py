"""The copies of the indexes of texts and names, which are brought up to the state of each reader.

A reader asks in its own snapshot which rows changed since the copy was read, and reads these again. So nothing comes
out of a copy that was deleted, or moved out of the scope, before the reader began.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from engine.scheduling.supervisor import wait_for_completion
from engine.storage.column_arrays import ArraysFull
from engine.storage.ledger.postgres.word_copy.source import (
    IndexMoment,
    find_present,
    find_unseen,
    holding_rows,
    read_all,
    read_ids,
)
from engine.storage.ledger.postgres.word_copy.word_arrays import WordArrays
from engine.storage.ledger.records.projection import KeyKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engine.storage.postgres.connection import Raw

KINDS = (KeyKind.CHUNK, KeyKind.NAME)
MAX_READ = 2_000  # changed rows that a reader reads again; with more the index is loaded again
FOLLOW_SECONDS = 5.0  # between two looks for changes, so that a reader finds few
RETRY_ROUNDS = 720  # looks until an index that did not fit may be loaded again


class WordCopy:
    """The copy of one index, in at most `max_bytes`; for several threads."""

    def __init__(self, kind: KeyKind, max_bytes: int, want: Callable[[], object]) -> None:
        self._kind = kind
        self._max_bytes = max_bytes
        self._want = want
        self._lock = threading.Lock()
        self._arrays: WordArrays | None = None
        self._seen = IndexMoment("", None)
        self.is_wanted = False
        self._is_too_large = not max_bytes

    @contextmanager
    def use(self, raw: Raw) -> Iterator[WordArrays | None]:
        """The index as of the snapshot of a transaction, or later, while the block lasts.

        None if it is not in memory: then the server is to be asked.
        """
        with self._lock:
            self._catch_up(raw)
            arrays = self._arrays
            if arrays is None and not self._is_too_large:
                self.is_wanted = True
                self._want()
            yield arrays

    def load(self, raw: Raw, is_ending: threading.Event) -> None:
        """Read the whole index; readers ask the server meanwhile."""
        seen, arrays = find_present(raw), WordArrays(self._max_bytes)
        try:
            with holding_rows(raw, self._kind):
                for block in read_all(raw, self._kind):
                    arrays.append(*block)
                    if is_ending.is_set():
                        return
        except ArraysFull:
            self._is_too_large, self.is_wanted = True, False
            return
        with self._lock:
            self._arrays, self._seen, self.is_wanted = arrays, seen, False

    def follow(self, raw: Raw) -> None:
        """Apply what has changed."""
        with self._lock:
            self._catch_up(raw)

    def try_again(self) -> None:
        """Let an index that did not fit be loaded again: it may have become smaller."""
        self._is_too_large = not self._max_bytes

    def _catch_up(self, raw: Raw) -> None:
        """Apply the changes that a transaction sees; without the copy if they are too many, or unknown."""
        if self._arrays is None:
            return
        unseen = find_unseen(raw, self._kind, self._seen)
        if unseen.is_outdated or unseen.ids is None or len(unseen.ids) > MAX_READ:
            self._arrays = None
            return
        try:
            self._replace(raw, self._arrays, sorted(unseen.ids))
        except BaseException as error:
            self._arrays = None
            if not isinstance(error, ArraysFull):
                raise
        self._seen = max(self._seen, unseen.until, key=lambda moment: moment.order)

    def _replace(self, raw: Raw, arrays: WordArrays, ids: list[int]) -> None:
        """Put the present rows of some ids in the place of the former ones."""
        if ids:
            blocks = list(read_ids(raw, self._kind, ids))
            arrays.delete(ids)
            for block in blocks:
                arrays.append(*block)


class WordCopies:
    """The copies of both indexes, and the work that loads and follows them.

    `connect`: a connection of its own to the database, for use in a thread. `max_bytes`: of each; 0: no copies.
    """

    def __init__(self, connect: Callable[[], Raw], max_bytes: int) -> None:
        self._connect = connect
        self._loop = asyncio.get_running_loop()
        self._wanted = asyncio.Event()
        self._is_ending = threading.Event()
        self._raw: Raw | None = None
        self._rounds = 0
        self._copies = {kind: WordCopy(kind, max_bytes, self._ask) for kind in KINDS}

    def __getitem__(self, kind: KeyKind) -> WordCopy:
        return self._copies[kind]

    async def run(self) -> None:
        """Load what readers asked for, and follow it; runs until it is cancelled."""
        await self._wanted.wait()
        while True:
            self._wanted.clear()
            await wait_for_completion(asyncio.to_thread(self._work))
            with suppress(TimeoutError):
                async with asyncio.timeout(FOLLOW_SECONDS):
                    await self._wanted.wait()

    def end(self) -> None:
        """End a load soon, so that `run` can be cancelled."""
        self._is_ending.set()

    def close(self) -> None:
        """Close the connection once `run` has ended."""
        if self._raw is not None:
            self._raw.close()

    def _ask(self) -> None:
        with suppress(RuntimeError):  # the program ends
            self._loop.call_soon_threadsafe(self._wanted.set)

    def _work(self) -> None:
        """Load each wanted copy, or apply the changes since. A connection that fails is replaced the next time."""
        raw, self._raw = self._raw or self._connect(), None
        try:
            for copy in self._copies.values():
                if copy.is_wanted:
                    copy.load(raw, self._is_ending)
                else:
                    copy.follow(raw)
            self._rounds += 1
            if self._rounds % RETRY_ROUNDS == 0:
                for copy in self._copies.values():
                    copy.try_again()
        except BaseException:
            raw.close()
            raise
        if self._is_ending.is_set():
            raw.close()
        else:
            self._raw = raw
