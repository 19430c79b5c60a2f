"""The graph store on an embedded graph database: Kùzu, or its fork Ladybug."""

from __future__ import annotations

import asyncio
import queue
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from engine.errors import CorruptProjection, StoreError
from engine.memory import trim_heap
from engine.scheduling.supervisor import wait_for_completion
from engine.storage.column_arrays import ArraysFull
from engine.storage.files import ensure_directory, remove_tree
from engine.storage.graph import kuzu_file
from engine.storage.graph.edge_arrays import EdgeArrays
from engine.storage.graph.kuzu_connection import GRAPH_BACKENDS, SCHEMA, GraphBackend, KuzuConnection, open_database
from engine.storage.graph.kuzu_queries import fetch_arrays, fetch_graph, has_missing_rows, heaviest_edges, needs_reload
from engine.storage.graph.kuzu_writer import KuzuWriter, build_database
from engine.storage.library_errors import translate_library_errors
from engine.storage.memory_copy import MemoryCopy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from engine.storage.graph.base import GraphEdge, GraphNode

Result = TypeVar("Result")

BUFFER_POOL = 256 << 20
READER_COUNT = 2
# The library keeps about 300 bytes of memory for each written row until the database is closed. Reopening takes 20 ms.
REOPEN_AFTER_ROWS = 40_000
# A graph of up to this many relations, and as many entities, is also kept in memory: at most 26 MB. With 300,000 it
# loads in 0.1 s; by the library, a look-up takes 12 to 15 ms.
CACHED_EDGES = 500_000
EDGE_BYTES = 52  # of an edge and a node, and of their places


class KuzuGraph:
    """A graph in the folder `path`, opened by one process at a time.

    Writes run in one thread; reads run in others with their own connections.
    """

    def __init__(self, path: Path, module: GraphBackend, buffer_pool: int, cached_edges: int) -> None:
        self._module = module
        self._folder = path
        self._file = path / f"graph.{module}"
        self._buffer_pool = buffer_pool
        self._writer_executor = ThreadPoolExecutor(1, "graph-writer")
        self._reader_executor = ThreadPoolExecutor(READER_COUNT, "graph-reader")
        self._reader_connections: queue.SimpleQueue[KuzuConnection | None] = queue.SimpleQueue()
        self._database: Any = None
        self._writer: KuzuWriter | None = None
        self._rows_written = 0
        self._is_closed = False
        self._cache = MemoryCopy[EdgeArrays](self._load_arrays)
        self._max_cached_edges = cached_edges

    @classmethod
    async def open(
        cls,
        path: Path,
        module: GraphBackend = "kuzu",
        buffer_pool: int = BUFFER_POOL,
        cached_edges: int = CACHED_EDGES,
    ) -> KuzuGraph:
        """Open or create the graph in the folder `path`; `buffer_pool` in bytes.

        Up to `cached_edges` edges, and as many nodes, are also kept in memory.

        Raises DataDirInUse, DiskError, or CorruptProjection if the files are damaged or of another version or module;
        then `erase` and `replace_all` help.
        """
        graph = cls(path, module, buffer_pool, cached_edges)
        try:
            await graph._run_in_writer(graph._open_database)
        except BaseException:
            graph._writer_executor.shutdown(wait=False)
            graph._reader_executor.shutdown(wait=False)
            raise
        return graph

    @staticmethod
    async def erase(path: Path) -> None:
        """Remove the files of a graph that is not open."""
        await wait_for_completion(asyncio.to_thread(remove_tree, path, ignore_errors=True))

    async def upsert(self, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> None:
        if nodes or edges:
            with self._cache.follow(lambda cached: cached.upsert(nodes, edges)):
                await self._run_in_writer(lambda: self._upsert(nodes, edges))

    async def delete(self, nodes: Collection[int], edges: Sequence[GraphEdge]) -> None:
        if nodes or edges:
            with self._cache.follow(lambda cached: cached.delete(nodes, edges), deletes=True):
                await self._run_in_writer(lambda: self._prepare_writer(len(nodes) + len(edges)).delete(nodes, edges))

    async def neighbors(self, nodes: Collection[int], spaces: Collection[int], limit: int) -> list[GraphEdge]:
        ids, space_ids = [int(node) for node in nodes], [int(space) for space in spaces]
        if not ids or not space_ids or limit <= 0:  # the library rejects an empty list as a parameter
            return []
        self._check_open()
        if (cached := await self._cache.get()) is not None:
            return cached.neighbors(ids, space_ids, limit)
        return await self._run_in_reader(lambda session: heaviest_edges(session, ids, space_ids, limit))

    async def replace_all(self, nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> None:
        """Replace the whole content; readers see the former graph until the new one is complete."""
        try:
            await self._run_in_writer(lambda: self._replace_all(nodes, edges))
        finally:
            self._cache.drop()

    async def list_all(self) -> tuple[list[GraphNode], list[GraphEdge]]:
        return await self._run_in_reader(fetch_graph)

    async def has_missing(self, nodes: Sequence[int], edges: Sequence[GraphEdge]) -> bool:
        """Whether any of these nodes and edges is missing, as after a lost log or with a newly created file."""
        return await self._run_in_reader(lambda session: has_missing_rows(session, nodes, edges))

    async def compact(self) -> None:
        """Write the log back; load the graph again once many of its rows are deleted. No other write may run."""
        if await self._run_in_reader(needs_reload):
            await self.replace_all(*await self.list_all())
        else:
            await self._run_in_writer(self._checkpoint)

    async def close(self) -> None:
        """Release the files. May be called twice."""
        if self._is_closed:
            return
        self._is_closed = True
        await self._cache.close()
        try:
            await asyncio.get_running_loop().run_in_executor(self._writer_executor, self._translate_errors, self._close)
        finally:
            self._writer_executor.shutdown()
            self._reader_executor.shutdown()

    async def _run_in_writer(self, work: Callable[[], Result]) -> Result:
        self._check_open()
        loop = asyncio.get_running_loop()
        return await wait_for_completion(loop.run_in_executor(self._writer_executor, self._translate_errors, work))

    async def _load_arrays(self) -> EdgeArrays:
        content = await self._run_in_reader(lambda session: fetch_arrays(session, self._max_cached_edges))
        if content is None:
            raise ArraysFull
        arrays = EdgeArrays(self._max_cached_edges)
        arrays.append(*content)
        await wait_for_completion(asyncio.to_thread(arrays.index))
        return arrays

    async def _run_in_reader(self, work: Callable[[KuzuConnection], Result]) -> Result:
        def read() -> Result:
            with self._reader_connection() as session:
                return work(session)

        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._reader_executor, self._translate_errors, read)

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreError(f"The graph in {self._folder} is closed.")

    def _translate_errors(self, work: Callable[[], Result]) -> Result:
        with translate_library_errors(self._folder):
            return work()

    @contextmanager
    def _reader_connection(self) -> Iterator[KuzuConnection]:
        """A connection for one read."""
        session = self._reader_connections.get()
        try:
            if session is None:
                raise StoreError(f"The graph in {self._folder} is closed.")
            yield session
        finally:
            self._reader_connections.put(session)

    @contextmanager
    def _without_readers(self) -> Iterator[None]:
        """Keep readers out: a checkpoint waits for them, and fails if there always is one."""
        sessions = [self._reader_connections.get() for _ in range(READER_COUNT)]
        try:
            yield
        finally:
            for session in sessions:
                self._reader_connections.put(session)

    def _upsert(self, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> None:
        if many := self._prepare_writer(len(nodes) + len(edges)).upsert(nodes, edges):
            with self._without_readers():
                self._get_writer().copy_edges(many)

    def _checkpoint(self) -> None:
        with self._without_readers():
            self._get_writer().connection.run("CHECKPOINT")

    def _prepare_writer(self, rows: int) -> KuzuWriter:
        """The writer, for `rows` more rows; first reopens the database if it is due."""
        if self._writer is None or self._rows_written >= REOPEN_AFTER_ROWS:
            self._reopen_database()
        self._rows_written += rows
        return self._get_writer()

    def _get_writer(self) -> KuzuWriter:
        if self._writer is None:
            raise StoreError(f"The graph in {self._folder} is closed.")
        return self._writer

    def _open_database(self) -> None:
        ensure_directory(self._folder)
        others = [name for name in GRAPH_BACKENDS if name != self._module and (self._folder / f"graph.{name}").exists()]
        if others:
            raise CorruptProjection(f"The graph in {self._folder} was made with {others[0]}, not with {self._module}.")
        with kuzu_file.guard_opening(self._file):
            database = open_database(self._module, self._file, self._buffer_pool)
            try:
                session = KuzuConnection(self._module, database)
                for statement in SCHEMA:
                    session.run(statement)
                readers = [KuzuConnection(self._module, database) for _ in range(READER_COUNT)]
                self._writer = KuzuWriter(session)
            except BaseException:
                database.close()
                raise
        self._database, self._rows_written = database, 0
        for reader in readers:
            self._reader_connections.put(reader)

    def _close_database(self) -> None:
        """Close everything after the last reader; later readers wait."""
        sessions = [self._reader_connections.get() for _ in range(READER_COUNT)]
        writer, database = self._writer, self._database
        self._writer = self._database = None
        for session in sessions:
            if session is not None:
                session.close()
        if writer is not None:
            writer.connection.close()
            database.close()

    def _release_readers(self) -> None:
        """Make waiting readers fail, because the database is not open."""
        for _ in range(READER_COUNT):
            self._reader_connections.put(None)

    def _close(self) -> None:
        was_open = self._writer is not None
        self._close_database()
        self._release_readers()
        if was_open:
            kuzu_file.write_checksum(self._file)

    def _reopen_database(self) -> None:
        """Close and open the database, so that the library frees memory; the next write retries after a failure."""
        if not self._file.exists():  # the library would create an empty one
            raise CorruptProjection(f"The graph in {self._folder} is gone.")
        if self._writer is not None:
            self._checkpoint()
        try:
            self._close_database()
            self._open_database()
        except BaseException:
            self._release_readers()
            raise
        trim_heap()

    def _replace_all(self, nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> None:
        fresh = self._file.with_suffix(".fresh")
        self._remove_files(fresh)
        build_database(self._module, fresh, self._buffer_pool, (nodes, edges))
        try:
            self._close_database()
            self._remove_files(self._file, but_file=True)
            fresh.replace(self._file)
            self._open_database()
        except BaseException:
            self._release_readers()
            raise

    def _remove_files(self, file: Path, *, but_file: bool = False) -> None:
        for found in self._folder.glob(f"{file.name}*"):
            if not (but_file and found == file):
                found.unlink()
