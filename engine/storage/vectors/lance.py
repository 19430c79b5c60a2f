"""The vector projection in LanceDB: three tables in one folder."""

from __future__ import annotations

import asyncio
import importlib
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, get_args

import structlog

from engine.data_dir import erase, make_folder
from engine.errors import BrokenProjection, EngineError, OtherEmbedder, StoreError
from engine.memory import return_large_blocks
from engine.scheduling.supervisor import Supervisor
from engine.scheduling.tasks import completed
from engine.storage.library_errors import told_in_words
from engine.storage.vectors.base import Area, Hit, Row, Table
from engine.storage.vectors.lance_maintenance import INDEX_ABOVE, Tidier
from engine.storage.vectors.lance_table import LanceTable, schema

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    import numpy as np

log = structlog.get_logger(__name__)

TABLES: tuple[Table, ...] = get_args(Table)
INDEX_CACHE = 96 << 20
METADATA_CACHE = 16 << 20
# Every so many writes (each leaves a file) or new rows (each is searched without the index) a table is tidied.
TIDY_WRITES = 100
TIDY_ROWS = 8_000
TIDY_SHARE = 10
# A table is also tidied when it has rested for so many seconds after a few writes, or rows.
REST = 5.0
FEW_WRITES, FEW_ROWS = 8, 128


class LanceVectors:
    """Vectors of one embedder in a folder that one process may have open at a time."""

    def __init__(self, path: Path, connection: Any, dim: int, supervisor: Supervisor | None = None) -> None:
        self._path = path
        self._supervisor = supervisor or Supervisor()
        self._connection = connection
        self._dim = dim
        self._tables: dict[Table, LanceTable] = {}
        self._tidiers: dict[Table, Tidier] = {}
        self._put_since: dict[Table, int] = dict.fromkeys(TABLES, 0)
        self._background: dict[Table, asyncio.Task[None]] = {}
        self._resting: dict[Table, asyncio.TimerHandle] = {}

    @classmethod
    async def open(cls, path: Path, dim: int, supervisor: Supervisor | None = None) -> LanceVectors:
        """The vectors in the folder `path`, made if there are none; `dim` dimensions each.

        Raises OtherEmbedder, DiskTrouble, or BrokenProjection if the files cannot be read; then `erase` helps.
        """
        with told_in_words(path):
            vectors = cls(path, await _connected(path), dim, supervisor)
            for name in TABLES:
                await vectors._start(name)
        return vectors

    @staticmethod
    async def erase(path: Path) -> None:
        """Remove the files of a store that is not open."""
        await completed(asyncio.to_thread(erase, path, ignore_errors=True))

    async def put(self, table: Table, rows: Sequence[Row], vectors: np.ndarray) -> None:
        if not rows:
            return
        await self._open(table).put(rows, vectors)
        self._put_since[table] += len(rows)
        await self._keep_tidy(table)

    async def drop(self, table: Table, ids: Collection[int]) -> None:
        await self._open(table).drop(ids)
        await self._keep_tidy(table)

    def top(self, table: Table) -> int:
        """The highest id of a table, -1 if it is empty."""
        return self._open(table).top

    async def search(self, table: Table, vector: np.ndarray, k: int, area: Area) -> list[Hit]:
        return await self._open(table).search(vector, k, area)

    async def fetch(self, table: Table, ids: Collection[int]) -> dict[int, np.ndarray]:
        return await self._open(table).fetch(ids)

    async def everything(self, table: Table) -> list[Row]:
        return await self._open(table).keys()

    async def clear(self) -> None:
        """Empty all tables; those whose files are damaged are removed and made anew."""
        try:
            for name in TABLES:
                await self._empty(name)
        except BrokenProjection as error:
            log.warning("vectors_recreated", error=str(error))
            await self._recreate()

    async def _empty(self, name: Table) -> None:
        await self._finish(name)
        table = self._open(name)
        with told_in_words(self._path):
            async with table.writing:
                made = self._connection.create_table(name, schema=schema(self._dim), mode="overwrite")
                await table.start(await completed(made))
        await self._tidy(name, purge=True)

    async def _recreate(self) -> None:
        """Remove all files, and begin with empty tables."""
        for name in TABLES:
            with suppress(EngineError):
                await self._finish(name)
        self._connection.close()
        await self.erase(self._path)
        with told_in_words(self._path):
            self._connection = await _connected(self._path)
            for name in TABLES:
                await self._start(name)

    async def compact(self) -> None:
        for name in TABLES:
            await self._finish(name)
            await self._tidy(name, purge=True)

    async def close(self) -> None:
        """Release the files. May be called twice."""
        for timer in self._resting.values():
            timer.cancel()
        for name in list(self._tables):
            await self._finish(name)
        self._tables.clear()
        self._connection.close()

    async def _start(self, name: Table) -> None:
        if name in (await self._connection.list_tables()).tables:
            table = await self._connection.open_table(name)
            found = (await table.schema()).field("vector").type.list_size
            if found != self._dim:
                raise OtherEmbedder(f"The vectors in {self._path} have {found} dimensions, the embedder {self._dim}.")
        else:
            table = await self._connection.create_table(name, schema=schema(self._dim))
        opened = LanceTable(self._path / f"{name}.lance", self._dim)
        await opened.start(table)
        self._tables[name], self._tidiers[name] = opened, Tidier(opened)

    def _open(self, name: Table) -> LanceTable:
        if name not in self._tables:
            raise StoreError(f"The vectors in {self._path} are closed.")
        return self._tables[name]

    async def _keep_tidy(self, name: Table) -> None:
        """Start to tidy in the background when it is time; what went wrong the last time is raised here."""
        running = self._background.get(name)
        if running is not None and running.done():
            del self._background[name]
            running.result()
        if name not in self._background and await self._is_time(name):
            self._begin(name)
        self._rest(name)

    def _rest(self, name: Table) -> None:
        """The time of rest begins anew."""
        if name in self._resting:
            self._resting[name].cancel()
        self._resting[name] = asyncio.get_running_loop().call_later(REST, self._at_rest, name)

    def _at_rest(self, name: Table) -> None:
        """Tidy what was written since the last tidying; one that is under way is waited for, one that failed told."""
        running = self._background.get(name)
        if running is not None and not running.done():
            self._rest(name)
        elif (running is None or running.exception() is None) and self._wants_order(name):
            self._begin(name)

    def _wants_order(self, name: Table) -> bool:
        """Whether so much is new that searches get notably faster: what has no index yet is read row by row."""
        table = self._open(name)
        return table.writes >= FEW_WRITES or (table.indexed and self._put_since[name] >= FEW_ROWS)

    def _begin(self, name: Table) -> None:
        self._background[name] = self._supervisor.spawn(f"tidy {name}", self._tidy(name, purge=False))

    async def _is_time(self, name: Table) -> bool:
        table = self._open(name)
        if table.writes >= TIDY_WRITES:
            return True
        if self._put_since[name] < TIDY_ROWS:
            return False
        rows = await table.size()
        return rows > INDEX_ABOVE and self._put_since[name] >= rows // TIDY_SHARE

    async def _tidy(self, name: Table, *, purge: bool) -> None:
        self._put_since[name] = 0
        await self._tidiers[name].tidy(purge=purge)

    async def _finish(self, name: Table) -> None:
        """Wait for the tidying under way, if any; of a failure its supervisor knows."""
        if (task := self._background.pop(name, None)) is not None:
            await asyncio.wait({task})


async def _connected(path: Path) -> Any:
    lancedb = await asyncio.to_thread(_prepare, path)
    session = lancedb.Session(index_cache_size_bytes=INDEX_CACHE, metadata_cache_size_bytes=METADATA_CACHE)
    return await lancedb.connect_async(str(path), session=session)


def _prepare(path: Path) -> Any:
    make_folder(path)
    return_large_blocks()
    # The library tells its own workings on stderr; it reads this once, when it is loaded.
    os.environ.setdefault("LANCEDB_LOG", "error")
    # Arrow's own allocator keeps what it has freed: 190 MB after 3,000 documents. It too is chosen when loaded.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    return importlib.import_module("lancedb")
