"""A copy of stored rows in memory that stays equal to them."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Generic, TypeVar

from engine.storage.column_arrays import ArraysFull

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

Rows = TypeVar("Rows")


class MemoryCopy(Generic[Rows]):
    """Loads the rows at the first read and applies every later change to them.

    `load` reads all rows as they are stored at any moment of the call. If it or a change raises ArraysFull, there is no
    copy until rows have been deleted.
    """

    def __init__(self, load: Callable[[], Awaitable[Rows]]) -> None:
        self._load_rows = load
        self._rows: Rows | None = None
        self._is_too_large = False
        self._changes: list[Callable[[Rows], None]] | None = None  # those made while rows are loaded
        self._loading = asyncio.Lock()

    @property
    def is_loaded(self) -> bool:
        """Whether the rows are in memory."""
        return self._rows is not None

    async def get(self) -> Rows | None:
        """The rows, loaded if necessary. Use them before awaiting anything else.

        None if they are too many, or if `drop` was called while they were loaded. Writes continue meanwhile.
        """
        if self._needs_rows():
            async with self._loading:
                if self._needs_rows():
                    await self._load()
        return self._rows

    @contextmanager
    def follow(self, change: Callable[[Rows], None], *, deletes: bool = False) -> Iterator[None]:
        """Apply a change to the rows once the block has stored it; drop the rows if the block fails.

        Changes come in the order in which they are stored. Making one twice is no error. `deletes`: there may be
        fewer rows afterwards.
        """
        try:
            yield
        except BaseException:
            self.drop()
            raise
        self._is_too_large = self._is_too_large and not deletes
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
        return self._rows is None and not self._is_too_large

    async def _load(self) -> None:
        """Read all rows, then repeat the changes made meanwhile, because the version that was read may lack them."""
        changes: list[Callable[[Rows], None]] = []
        self._changes = changes
        rows: Rows | None = None
        try:
            with suppress(ArraysFull):
                loaded = await self._load_rows()
                for change in changes:
                    change(loaded)
                rows = loaded
            if self._changes is changes:
                self._rows, self._is_too_large = rows, rows is None
        finally:
            if self._changes is changes:
                self._changes = None
