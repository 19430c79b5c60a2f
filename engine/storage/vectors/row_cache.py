"""The rows of a small table, kept in memory beside its files and equal to them."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from engine.storage.vectors.row_arrays import ArraysFull, RowArrays

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    RowChange = Callable[[RowArrays], None]


class RowSource(Protocol):
    """A table whose rows can be read."""

    async def count_rows(self) -> int:
        """The number of rows."""

    async def read_rows(self, into: RowArrays) -> None:
        """Append all rows of one version of the table."""


class RowCache:
    """Loads the rows of a table at the first read and applies every later change to them.

    A table that does not fit into `max_bytes` is not kept; its reads use the files.
    """

    def __init__(self, source: RowSource, dim: int, max_bytes: int) -> None:
        self._source = source
        self._dim = dim
        self._max_rows = max_bytes // RowArrays.row_bytes(dim)
        self._rows: RowArrays | None = None
        self._is_too_large = False
        self._changes: list[RowChange] | None = None  # those made while rows are loaded
        self._loading = asyncio.Lock()

    @property
    def is_loaded(self) -> bool:
        """Whether the rows are in memory."""
        return self._rows is not None

    async def get(self) -> RowArrays | None:
        """The rows, loaded if necessary. Use them before awaiting anything else.

        None if they do not fit, or if `drop` was called while they were loaded. Writes continue meanwhile.
        """
        if self._needs_rows():
            async with self._loading:
                if self._needs_rows():
                    await self._load()
        return self._rows

    @contextmanager
    def follow(self, change: RowChange) -> Iterator[None]:
        """Apply a change to the rows once the block has written it to the files; drop the rows if the block fails.

        The caller makes one change at a time. Each replaces or deletes all rows of its ids, so that making it twice is
        no error.
        """
        try:
            yield
        except BaseException:
            self.drop()
            raise
        self._is_too_large = False
        if self._changes is not None:
            self._changes.append(change)
        if self._rows is not None:
            try:
                change(self._rows)
            except ArraysFull:
                self._rows, self._is_too_large = None, True

    def drop(self) -> None:
        """Free the rows; the next read loads them again."""
        self._rows = self._changes = None
        self._is_too_large = False

    def _needs_rows(self) -> bool:
        return self._rows is None and self._max_rows > 0 and not self._is_too_large

    async def _load(self) -> None:
        """Read all rows, then repeat the changes made meanwhile, because the version that was read may lack them."""
        changes: list[RowChange] = []
        self._changes = changes
        try:
            rows = await self._read_rows(changes)
            if self._changes is changes:
                self._rows, self._is_too_large = rows, rows is None
        finally:
            if self._changes is changes:
                self._changes = None

    async def _read_rows(self, changes: list[RowChange]) -> RowArrays | None:
        if await self._source.count_rows() > self._max_rows:
            return None
        rows = RowArrays(self._dim, self._max_rows)
        try:
            await self._source.read_rows(rows)
            for change in changes:
                change(rows)
        except ArraysFull:
            return None
        return rows
