"""A copy of stored rows in memory that stays equal to them."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Generic, TypeVar

from engine.scheduling.supervisor import cancel_tasks
from engine.storage.column_arrays import ArraysFull

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

Rows = TypeVar("Rows")

MAX_WAIT_SECONDS = 0.3  # for a load; a search in the files takes a tenth of that


class MemoryCopy(Generic[Rows]):
    """Loads the rows at the first read and applies every later change to them.

    `load` reads all rows as they are stored at any moment of the call. If it raises ArraysFull, there is no copy until
    rows have been deleted; if a change does, the rows are loaded again. `improve` makes loaded rows faster while
    they are used: one step, and whether there is another. It raises nothing.
    """

    def __init__(
        self, load: Callable[[], Awaitable[Rows]], improve: Callable[[Rows], Awaitable[bool]] | None = None
    ) -> None:
        self._load_rows = load
        self._improve_rows = improve
        self._improving: asyncio.Task[None] | None = None
        self._rows: Rows | None = None
        self._is_too_large = False
        self._changes: list[Callable[[Rows], None]] | None = None  # those made while rows are loaded
        self._loading: asyncio.Task[None] | None = None
        self._patience_ends = 0.0

    @property
    def is_loaded(self) -> bool:
        """Whether the rows are in memory."""
        return self._rows is not None

    @property
    def rows(self) -> Rows | None:
        """The rows if they are in memory. Use them before awaiting anything."""
        return self._rows

    @property
    def is_followed(self) -> bool:
        """Whether the rows are in memory, or are being loaded, so that changes matter to them."""
        return self._rows is not None or self._changes is not None

    @property
    def is_too_large(self) -> bool:
        """Whether the rows did not fit, so that only deletions matter."""
        return self._is_too_large

    async def get(self) -> Rows | None:
        """The rows. Use them before awaiting anything else.

        None if they are too many, if loading them takes long (it goes on), or if `drop` was called meanwhile. Writes
        continue during the load.
        """
        if self._rows is None and not self._is_too_large:
            loop = asyncio.get_running_loop()
            if self._loading is None:
                self._loading, self._patience_ends = asyncio.create_task(self._load()), loop.time() + MAX_WAIT_SECONDS
            loading = self._loading
            await asyncio.wait({loading}, timeout=max(0.0, self._patience_ends - loop.time()))
            if loading.done() and not loading.cancelled():
                if self._loading is loading:  # another may have begun meanwhile
                    self._loading = None
                loading.result()
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
                self._rows = None
            except BaseException:
                self.drop()
                raise

    def drop(self) -> None:
        """Free the rows; the next read loads them again."""
        if self._loading is not None:
            self._loading.cancel()
        self._rows = self._changes = self._loading = None
        self._is_too_large = False

    async def close(self) -> None:
        """Free the rows, and wait until nothing reads the store or the rows any more."""
        tasks = [task for task in (self._loading, self._improving) if task is not None]
        self.drop()
        await cancel_tasks(*tasks)

    async def _load(self) -> None:
        """Read all rows, then repeat the changes made meanwhile, because the version that was read may lack them.

        Former rows that a step still improves are freed first.
        """
        if self._improving is not None:
            await asyncio.wait({self._improving})
        changes: list[Callable[[Rows], None]] = []
        self._changes = changes
        try:
            rows = await self._load_rows()
            with suppress(ArraysFull):
                for change in changes:
                    change(rows)
                if self._changes is changes:
                    self._rows = rows
                    if self._improve_rows is not None:
                        self._improving = asyncio.create_task(self._improve(self._improve_rows, rows))
            self._loading = None
        except ArraysFull:
            self._loading, self._is_too_large = None, not changes  # they may have deleted rows
        finally:
            if self._changes is changes:
                self._changes = None

    async def _improve(self, improve: Callable[[Rows], Awaitable[bool]], rows: Rows) -> None:
        """Improve the rows until they are dropped."""
        while self._rows is rows and await improve(rows):
            pass
