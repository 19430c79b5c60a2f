"""The vector store on LanceDB: three tables in one folder, and the import of its library."""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
from contextlib import AsyncExitStack, suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import structlog

from engine.errors import CorruptProjection, EmbedderMismatch, EngineError, StoreError
from engine.memory import configure_malloc
from engine.options import VECTOR_CACHE_BYTES
from engine.scheduling.supervisor import wait_for_completion
from engine.storage.files import ensure_directory, remove_tree
from engine.storage.library_errors import translate_library_errors
from engine.storage.vectors.in_memory.table_shares import TABLES, TableShares
from engine.storage.vectors.lance_maintenance import INDEX_ABOVE, TableMaintenance
from engine.storage.vectors.lance_table import LanceTable, build_schema

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    import numpy as np

    from engine.scheduling.supervisor import Supervisor
    from engine.storage.vectors.base import VectorFilter, VectorHit, VectorRow, VectorTable


log = structlog.get_logger(__name__)

INDEX_CACHE = 96 << 20
METADATA_CACHE = 16 << 20
READ_AHEAD = 64 << 20
# Maintenance runs after this many writes (each leaves a file) or new rows (searched without the index).
MAINTENANCE_WRITES = 100
MAINTENANCE_ROWS = 8_000
MAINTENANCE_SHARE = 10
# Maintenance also runs after this many idle seconds that follow a few writes or rows.
IDLE_SECONDS = 5.0
IDLE_WRITES, IDLE_ROWS = 8, 128
REST_CLIENT = "lance_namespace_urllib3_client"  # of its cloud: 200 generated modules
PROGRESS_BARS = "tqdm"  # of its embedding functions
SIGNATURE_CHECKS = "overrides"  # compares each method with that of its base class; Python 3.11 only
# Parts of Arrow that it uses only when it is given rows; importing them takes as long as the rest of it.
LATER = frozenset({"pyarrow.compute", "pyarrow.dataset"})


class LanceVectors:
    """Vectors of one embedder, in a folder that one process opens at a time."""

    def __init__(self, path: Path, connection: Any, dim: int, supervisor: Supervisor, cache_bytes: int) -> None:
        self._path = path
        self._shares = TableShares(cache_bytes, dim, has_files=True)
        self._loading = asyncio.Lock()
        self._supervisor = supervisor
        self._connection = connection
        self._dim = dim
        self._tables: dict[VectorTable, LanceTable] = {}
        self._maintenance: dict[VectorTable, TableMaintenance] = {}
        self._new_rows: dict[VectorTable, int] = dict.fromkeys(TABLES, 0)
        self._running_maintenance: dict[VectorTable, asyncio.Task[None]] = {}
        self._idle_timers: dict[VectorTable, asyncio.TimerHandle] = {}

    @classmethod
    async def open(
        cls, path: Path, dim: int, supervisor: Supervisor, cache_bytes: int = VECTOR_CACHE_BYTES
    ) -> LanceVectors:
        """Open or create the vectors in the folder `path`; `dim` dimensions each.

        A table whose rows fit into its share of memory, `cache_bytes` in the mean, rounded if need be, is searched
        there; of a larger one a file holds the other rows.
        Raises EmbedderMismatch, DiskError, or CorruptProjection if the files cannot be read; then `erase` helps.
        """
        with translate_library_errors(path):
            vectors = cls(path, await _connect(path), dim, supervisor, cache_bytes)
            for name in TABLES:
                await vectors._open_table(name)
        return vectors

    @staticmethod
    async def erase(path: Path) -> None:
        """Remove the files of a store that is not open."""
        await wait_for_completion(asyncio.to_thread(remove_tree, path, ignore_errors=True))

    async def upsert(
        self,
        table: VectorTable,
        rows: Sequence[VectorRow],
        vectors: np.ndarray,
        spaces: Collection[int] | None = None,  # noqa: ARG002 - one file holds all spaces
    ) -> None:
        if not rows:
            return
        await self._get_table(table).upsert(rows, vectors)
        self._new_rows[table] += len(rows)
        await self._schedule_maintenance(table)

    async def delete(
        self,
        table: VectorTable,
        ids: Collection[int],
        spaces: Collection[int] | None = None,  # noqa: ARG002 - see `upsert`
    ) -> None:
        await self._get_table(table).delete(ids)
        await self._schedule_maintenance(table)

    async def has_ids_above(self, table: VectorTable, id_: int) -> bool:
        """Whether a table has a higher id."""
        return await self._get_table(table).has_ids_above(id_)

    async def search(
        self, table: VectorTable, vector: np.ndarray, k: int, vector_filter: VectorFilter
    ) -> list[VectorHit]:
        return await self._get_table(table).search(vector, k, vector_filter)

    async def fetch(
        self,
        table: VectorTable,
        ids: Collection[int],
        spaces: Collection[int] | None = None,  # noqa: ARG002 - see `upsert`
    ) -> dict[int, np.ndarray]:
        return await self._get_table(table).fetch(ids)

    async def fetch_stored(self, table: VectorTable, ids: Collection[int]) -> dict[int, np.ndarray]:
        return await self._get_table(table).fetch_stored(ids)

    async def list_rows(self, table: VectorTable) -> list[VectorRow]:
        return await self._get_table(table).list_rows()

    async def clear(self) -> None:
        """Delete all rows; tables with damaged files are created again."""
        try:
            for name in TABLES:
                await self._clear_table(name)
        except CorruptProjection as error:
            log.warning("vectors.table_recreated", error=str(error))
            await self._recreate_tables()

    async def _clear_table(self, name: VectorTable) -> None:
        await self._wait_for_maintenance(name)
        table = self._get_table(name)
        with translate_library_errors(self._path):
            async with table.write_lock:
                made = self._connection.create_table(name, schema=build_schema(self._dim), mode="overwrite")
                await table.attach(await wait_for_completion(made))
        await self._run_maintenance(name, purge=True)

    async def _recreate_tables(self) -> None:
        """Remove all files, and create empty tables; writes wait for these."""
        for name in TABLES:
            with suppress(EngineError):
                await self._wait_for_maintenance(name)
        async with AsyncExitStack() as locks:
            for table in self._tables.values():
                await locks.enter_async_context(table.write_lock)
            self._connection.close()
            await self.erase(self._path)
            with translate_library_errors(self._path):
                self._connection = await _connect(self._path)
                for name in TABLES:
                    await self._open_table(name)

    async def compact(self) -> None:
        for name in TABLES:
            await self._wait_for_maintenance(name)
            await self._run_maintenance(name, purge=True)

    async def close(self) -> None:
        """Release the files. May be called twice."""
        for timer in self._idle_timers.values():
            timer.cancel()
        for name in list(self._tables):
            await self._wait_for_maintenance(name)
            await self._get_table(name).drop_cache()
        self._tables.clear()
        self._connection.close()

    async def _open_table(self, name: VectorTable) -> None:
        if name in (await self._connection.list_tables()).tables:
            table = await self._connection.open_table(name)
            found = (await table.schema()).field("vector").type.list_size
            if found != self._dim:
                raise EmbedderMismatch(
                    f"The vectors in {self._path} have {found} dimensions, the embedder {self._dim}."
                )
        else:
            table = await self._connection.create_table(name, schema=build_schema(self._dim))
        folder = self._path / f"{name}.lance"
        opened = self._tables.get(name) or LanceTable(name, folder, self._dim, self._shares, self._loading)
        await opened.attach(table)
        self._tables[name], self._maintenance[name] = opened, TableMaintenance(opened)

    def _get_table(self, name: VectorTable) -> LanceTable:
        if name not in self._tables:
            raise StoreError(f"The vectors in {self._path} are closed.")
        return self._tables[name]

    async def _schedule_maintenance(self, name: VectorTable) -> None:
        """Start maintenance in the background when it is due. Raises the error of the last one."""
        running = self._running_maintenance.get(name)
        if running is not None and running.done():
            del self._running_maintenance[name]
            running.result()
        if name not in self._running_maintenance and await self._needs_maintenance(name):
            self._start_maintenance(name)
        self._restart_idle_timer(name)

    def _restart_idle_timer(self, name: VectorTable) -> None:
        """Restart the timer of an idle table."""
        if name in self._idle_timers:
            self._idle_timers[name].cancel()
        self._idle_timers[name] = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._handle_idle, name)

    def _handle_idle(self, name: VectorTable) -> None:
        """Start maintenance of an idle table unless one is running; an error is raised by the next write."""
        running = self._running_maintenance.get(name)
        if running is not None and not running.done():
            self._restart_idle_timer(name)
        elif (running is None or running.exception() is None) and self._needs_idle_maintenance(name):
            self._start_maintenance(name)

    def _needs_idle_maintenance(self, name: VectorTable) -> bool:
        """Whether indexing the new rows would make searches notably faster: rows without an index are scanned."""
        table = self._get_table(name)
        return table.writes >= IDLE_WRITES or (table.is_indexed and self._new_rows[name] >= IDLE_ROWS)

    def _start_maintenance(self, name: VectorTable) -> None:
        self._running_maintenance[name] = self._supervisor.spawn(
            f"tidy {name}", self._run_maintenance(name, purge=False)
        )

    async def _needs_maintenance(self, name: VectorTable) -> bool:
        table = self._get_table(name)
        if table.writes >= MAINTENANCE_WRITES:
            return True
        if self._new_rows[name] < MAINTENANCE_ROWS:
            return False
        rows = await table.count_rows()
        return rows > INDEX_ABOVE and self._new_rows[name] >= rows // MAINTENANCE_SHARE

    async def _run_maintenance(self, name: VectorTable, *, purge: bool) -> None:
        self._new_rows[name] = 0
        await self._maintenance[name].run(purge=purge)

    async def _wait_for_maintenance(self, name: VectorTable) -> None:
        """Wait for running maintenance; its supervisor reports a failure."""
        if (task := self._running_maintenance.pop(name, None)) is not None:
            await asyncio.wait({task})


async def _connect(path: Path) -> Any:
    lancedb = await asyncio.to_thread(_load_library, path)
    session = lancedb.Session(index_cache_size_bytes=INDEX_CACHE, metadata_cache_size_bytes=METADATA_CACHE)
    return await lancedb.connect_async(str(path), session=session)


def _load_library(path: Path) -> Any:
    ensure_directory(path)
    configure_malloc()
    # Silences the library's log on stderr; read once, at its import.
    os.environ.setdefault("LANCEDB_LOG", "error")
    # What a scan reads ahead, 2 GiB by default; read once, at the first scan.
    os.environ.setdefault("LANCE_DEFAULT_IO_BUFFER_SIZE", str(READ_AHEAD))
    # Arrow's own allocator keeps freed memory (190 MB after 3,000 documents); also chosen at import.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    return import_lancedb()


class _Placeholder(ModuleType):
    """A module whose classes have no methods and keep what they are made with."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _return_given if name == "override" else type(name, (SimpleNamespace,), {})


def _return_given(method: Any) -> Any:
    return method


class _LateModule(_Placeholder):
    """A module that is imported when something of it is used; a placeholder until the library is imported."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or sys.modules.get(self.__name__) is self:
            return super().__getattr__(name)
        return getattr(importlib.import_module(self.__name__), name)


class _PlaceholderFinder(MetaPathFinder, Loader):
    """Finds placeholders for modules that nothing has imported yet, and forgets them afterwards."""

    def __init__(self, *packages: str) -> None:
        self._packages = frozenset(name for name in packages if name not in sys.modules)

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> ModuleSpec | None:
        is_wanted = fullname in LATER or fullname.partition(".")[0] in self._packages
        return ModuleSpec(fullname, self, is_package=fullname not in LATER) if is_wanted else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _LateModule(spec.name) if spec.name in LATER else _Placeholder(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module empty."""


def import_lancedb() -> Any:
    """Import the library with placeholders, which a later import of the same modules does not get.

    A program that needs LanceDB's cloud in the same process imports `lancedb` first.
    """
    finder = _PlaceholderFinder(REST_CLIENT, PROGRESS_BARS, SIGNATURE_CHECKS)
    sys.meta_path.insert(0, finder)
    try:
        return importlib.import_module("lancedb")
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name, module in sys.modules.items() if isinstance(module, _Placeholder)]:
            del sys.modules[name]
