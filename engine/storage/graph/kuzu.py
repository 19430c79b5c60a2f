"""The graph projection in an embedded graph database: Kùzu, or its fork Ladybug."""

from __future__ import annotations

import asyncio
import queue
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from engine.data_dir import erase, make_folder
from engine.errors import BrokenProjection, StoreError
from engine.memory import give_back
from engine.scheduling.tasks import completed
from engine.storage.graph import kuzu_file
from engine.storage.graph.kuzu_connection import MODULES, SCHEMA, Module, Session, open_database
from engine.storage.graph.kuzu_queries import around, everything, lacks, many_gone
from engine.storage.graph.kuzu_writer import Writer
from engine.storage.library_errors import told_in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from engine.storage.graph.base import Edge, Node

Result = TypeVar("Result")

BUFFER_POOL = 256 << 20
READERS = 2
# The library keeps some 300 bytes of every row that it has written until the database is closed. To close it and open
# it anew takes 20 ms.
RENEW_AFTER = 40_000


class KuzuGraph:
    """Graph in the folder `path`, of which one process may have one at a time.

    Writes run in a thread of their own, reads in others with connections of their own.
    """

    def __init__(self, path: Path, module: Module, buffer_pool: int) -> None:
        self._module = module
        self._folder = path
        self._file = path / f"graph.{module}"
        self._buffer_pool = buffer_pool
        self._writing = ThreadPoolExecutor(1, "graph-writer")
        self._reading = ThreadPoolExecutor(READERS, "graph-reader")
        self._readers: queue.SimpleQueue[Session | None] = queue.SimpleQueue()
        self._database: Any = None
        self._writer: Writer | None = None
        self._written = 0
        self._closed = False

    @classmethod
    async def open(cls, path: Path, module: Module = "kuzu", buffer_pool: int = BUFFER_POOL) -> KuzuGraph:
        """The graph in the folder `path`, made if there is none; `buffer_pool` in bytes.

        Raises FolderInUse, DiskTrouble, or BrokenProjection if the files are torn or of another version or module;
        then `erase` and a new `load` help.
        """
        graph = cls(path, module, buffer_pool)
        try:
            await graph._in_writer(graph._start)
        except BaseException:
            graph._writing.shutdown(wait=False)
            graph._reading.shutdown(wait=False)
            raise
        return graph

    @staticmethod
    async def erase(path: Path) -> None:
        """Remove the files of a graph that is not open."""
        await completed(asyncio.to_thread(erase, path, ignore_errors=True))

    async def put(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        if nodes or edges:
            await self._in_writer(lambda: self._put(nodes, edges))

    async def drop(self, nodes: Collection[int], edges: Sequence[Edge]) -> None:
        if nodes or edges:
            await self._in_writer(lambda: self._ready(len(nodes) + len(edges)).drop(nodes, edges))

    async def around(self, nodes: Collection[int], spaces: Collection[int], limit: int) -> list[Edge]:
        ids, within = [int(node) for node in nodes], [int(space) for space in spaces]
        if not ids or not within or limit <= 0:  # the library refuses an empty list as a parameter
            return []
        return await self._in_reader(lambda session: around(session, ids, within, limit))

    async def load(self, nodes: Iterable[Node], edges: Iterable[Edge]) -> None:
        """Empty the graph and fill it anew; until all is there, the former graph stays and is read."""
        await self._in_writer(lambda: self._load(nodes, edges))

    async def everything(self) -> tuple[list[Node], list[Edge]]:
        return await self._in_reader(everything)

    async def lacks(self, nodes: Sequence[int], edges: Sequence[Edge]) -> bool:
        """Whether any of these nodes and edges is not there, as when the library lost its log or made a new file."""
        return await self._in_reader(lambda session: lacks(session, nodes, edges))

    async def compact(self) -> None:
        """Write the log back; load the graph anew once many of its rows are gone. Nobody may write meanwhile."""
        if await self._in_reader(many_gone):
            await self.load(*await self.everything())
        else:
            await self._in_writer(self._checkpoint)

    async def close(self) -> None:
        """Release the files. May be called twice."""
        if self._closed:
            return
        self._closed = True
        try:
            await asyncio.get_running_loop().run_in_executor(self._writing, self._guarded, self._end)
        finally:
            self._writing.shutdown()
            self._reading.shutdown()

    async def _in_writer(self, work: Callable[[], Result]) -> Result:
        self._must_be_open()
        return await asyncio.get_running_loop().run_in_executor(self._writing, self._guarded, work)

    async def _in_reader(self, work: Callable[[Session], Result]) -> Result:
        def read() -> Result:
            with self._lent() as session:
                return work(session)

        self._must_be_open()
        return await asyncio.get_running_loop().run_in_executor(self._reading, self._guarded, read)

    def _must_be_open(self) -> None:
        if self._closed:
            raise StoreError(f"The graph in {self._folder} is closed.")

    def _guarded(self, work: Callable[[], Result]) -> Result:
        with told_in_words(self._folder):
            return work()

    @contextmanager
    def _lent(self) -> Iterator[Session]:
        """A reader's session for as long as it is needed."""
        session = self._readers.get()
        try:
            if session is None:
                raise StoreError(f"The graph in {self._folder} is closed.")
            yield session
        finally:
            self._readers.put(session)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody reads while this is held: a checkpoint waits for readers, and fails while there always is one."""
        sessions = [self._readers.get() for _ in range(READERS)]
        try:
            yield
        finally:
            for session in sessions:
                self._readers.put(session)

    def _put(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        if many := self._ready(len(nodes) + len(edges)).put(nodes, edges):
            with self._alone():
                self._wield().copy(many)

    def _checkpoint(self) -> None:
        with self._alone():
            self._wield().session.run("CHECKPOINT")

    def _ready(self, rows: int) -> Writer:
        """The writer, for so many rows more; the database is opened anew first if it is time, or failed to be."""
        if self._writer is None or self._written >= RENEW_AFTER:
            self._renew()
        self._written += rows
        return self._wield()

    def _wield(self) -> Writer:
        if self._writer is None:
            raise StoreError(f"The graph in {self._folder} is closed.")
        return self._writer

    def _start(self) -> None:
        make_folder(self._folder)
        others = [name for name in MODULES if name != self._module and (self._folder / f"graph.{name}").exists()]
        if others:
            raise BrokenProjection(f"The graph in {self._folder} was made with {others[0]}, not with {self._module}.")
        with kuzu_file.opening(self._file):
            database = open_database(self._module, self._file, self._buffer_pool)
            try:
                session = Session(self._module, database)
                for statement in SCHEMA:
                    session.run(statement)
                readers = [Session(self._module, database) for _ in range(READERS)]
                self._writer = Writer(session)
            except BaseException:
                database.close()
                raise
        self._database, self._written = database, 0
        for reader in readers:
            self._readers.put(reader)

    def _stop(self) -> None:
        """Close everything once the last reader is done; readers that come later wait."""
        sessions = [self._readers.get() for _ in range(READERS)]
        writer, database = self._writer, self._database
        self._writer = self._database = None
        for session in sessions:
            if session is not None:
                session.close()
        if writer is not None:
            writer.session.close()
            database.close()

    def _turn_away(self) -> None:
        """Tell readers that there is nothing to read any more."""
        for _ in range(READERS):
            self._readers.put(None)

    def _end(self) -> None:
        was_open = self._writer is not None
        self._stop()
        self._turn_away()
        if was_open:
            kuzu_file.seal(self._file)

    def _renew(self) -> None:
        """Close and open the database, so that the library lets go of memory; what fails is tried by the next write."""
        if not self._file.exists():  # it would be made, and pass for a graph of nothing
            raise BrokenProjection(f"The graph in {self._folder} is gone.")
        if self._writer is not None:
            self._checkpoint()
        try:
            self._stop()
            self._start()
        except BaseException:
            self._turn_away()
            raise
        give_back()

    def _load(self, nodes: Iterable[Node], edges: Iterable[Edge]) -> None:
        fresh = self._file.with_suffix(".fresh")
        self._forget(fresh)
        fill(self._module, fresh, self._buffer_pool, (nodes, edges))
        try:
            self._stop()
            self._forget(self._file, but_file=True)
            fresh.replace(self._file)
            self._start()
        except BaseException:
            self._turn_away()
            raise

    def _forget(self, file: Path, *, but_file: bool = False) -> None:
        for found in self._folder.glob(f"{file.name}*"):
            if not (but_file and found == file):
                found.unlink()


def fill(module: Module, file: Path, buffer_pool: int, content: tuple[Iterable[Node], Iterable[Edge]]) -> None:
    """Make a new database of nodes and edges in `file` and close it. Raises RuntimeError."""
    nodes, edges = content
    ends = ((min(edge.source, edge.target), max(edge.source, edge.target), edge) for edge in edges)
    database = open_database(module, file, buffer_pool)
    session = Session(module, database)
    try:
        for statement in SCHEMA:
            session.run(statement)
        session.copy("Entity", [(node.id, node.space) for node in nodes])
        session.copy("RELATES", [(source, target, edge.id, float(edge.weight)) for source, target, edge in ends])
        session.run("CHECKPOINT")
    finally:
        session.close()
        database.close()
