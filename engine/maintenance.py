"""Upkeep of the stores: compaction, rebuilding, verifying and repairing."""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from engine.errors import BrokenProjection, EngineError, LanguageError, StoreError
from engine.ingest.worker import TROUBLE_WAIT
from engine.projection import verify as verifying
from engine.scheduling.supervisor import ends_task
from engine.scheduling.tasks import end, running_task
from engine.storage.ledger import cache
from engine.storage.ledger.queries import stats
from engine.storage.ledger.work import orphans, stale_keys
from engine.storage.ledger.work import work_queue as work

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from engine.ingest.worker import Worker
    from engine.projection.projector import Projector
    from engine.projection.verify import Report
    from engine.runtime import Runtime
    from engine.storage.ledger.work.orphans import Orphans

log = structlog.get_logger(__name__)

Result = TypeVar("Result")

LOOK_EVERY = 15.0  # seconds
CATCH_UP = 15.0  # seconds that compaction lets the worker have for what changed, at most
CLOSED = "Removed bytes leave the files, and a rebuild goes on, after the next start."
RECREATE_EVERY = 3600.0  # seconds; what breaks again within them has a cause that a rebuild does not mend
PATIENCE = 60.0  # seconds that a question waits for a rebuild


async def failures(*stages: Callable[[], Awaitable[None]]) -> list[BaseException]:
    """Run each stage, whatever became of those before it; gives what they raised, in order."""
    found, task = list[BaseException](), running_task()
    for stage in stages:
        try:
            await stage()
        except BaseException as error:  # a panic of a native library is no Exception
            if ends_task(error, task):
                raise
            found.append(error)
    return found


@dataclass(slots=True)
class Housekeeper:
    """Does what must be done now and then, beside the worker."""

    runtime: Runtime
    projector: Projector
    worker: Worker
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _rebuilding: asyncio.Task[None] | None = None
    _hindrance: EngineError | None = None
    _under_way: set[asyncio.Task[None]] = field(default_factory=set)
    _tidying: asyncio.Lock = field(default_factory=asyncio.Lock)
    _recreating: asyncio.Lock = field(default_factory=asyncio.Lock)
    _recreated: float = -math.inf

    def start(self) -> None:
        """Begin to look after the stores."""
        run = self.runtime.supervisor.run
        self._tasks = [run("compaction", self._look_after), run("repair", self._watch)]

    async def stop(self) -> None:
        """Let go at once."""
        await end(*self._tasks, *self._under_way)
        if self._rebuilding is not None:
            await end(self._rebuilding)

    async def compact(self) -> None:
        """Let removed bytes leave all files. Waits for no model, and goes on if the caller stops waiting.

        Raises what keeps some of the bytes in some of the files; the others have left theirs.
        """
        await self._owned("compact files", self._compact())

    async def _compact(self) -> None:
        ledger, projector = self.runtime.ledger, self.projector
        async with self._tidying:
            await self._catch_up()
            until = await ledger.read(work.generation)
            found = await ledger.read(orphans.orphans)
            errors = await failures(
                partial(self._compact_ledger, found),
                partial(projector.drop_from_graph, found),
                partial(projector.drop_from_vectors, found),
                self._compact_graph,
                self.runtime.vectors.compact,
            )
            if errors:
                raise errors[0]
            await ledger.write(work.set_setting, "compacted", until)

    async def _compact_ledger(self, found: Orphans) -> None:
        ledger = self.runtime.ledger
        await ledger.write(orphans.drop_profiles, found)
        await ledger.write(cache.drop_unused)
        await ledger.compact()

    async def _compact_graph(self) -> None:
        async with self.projector.graph_writing:
            await self.runtime.graph.compact()

    async def _catch_up(self) -> None:
        """Let the worker first project what has changed, as long as nothing hinders it, and not for long.

        What it made anew by then keeps its summaries; all else is blank until it can be made anew.
        """
        seconds = min(CATCH_UP, self.runtime.options.compact_after / 4)
        with suppress(TimeoutError, EngineError):
            async with asyncio.timeout(seconds):
                await self._project_until(await self.runtime.ledger.read(work.generation))

    async def _project_until(self, generation: int) -> None:
        """Return once every change up to this one is projected; what waits for a quiet period does not wait for it."""
        ledger = self.runtime.ledger
        with self.worker.urgent():
            while (first := await ledger.read(stale_keys.first_stale)) is not None and first <= generation:
                due = await ledger.read(stale_keys.first_stale, held=False)
                if due is None or due > generation:
                    await self.projector.end_quiet()
                    self.worker.wake()
                await self.worker.progress()

    async def _owned(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Do what must not be broken off because its caller stops waiting; ended with the engine.

        StoreError if the engine is closed meanwhile.
        """
        task = self.runtime.supervisor.spawn(name, work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            me = asyncio.current_task()
            if task.cancelled() and not (me and me.cancelling()):
                raise StoreError("The engine was closed meanwhile.", hint=CLOSED) from None
            raise

    async def begin_rebuild(self) -> None:
        """Empty both projections and mark everything; the graph is filled at the end, all at once."""
        await self._owned("begin to rebuild", self._begin_rebuild())

    async def _begin_rebuild(self) -> None:
        async with self.projector.still():
            self.projector.without_graph = True
            await self.runtime.ledger.write(work.begin_rebuild)
            try:
                await self.runtime.vectors.clear()
                await self.runtime.graph.load([], [])
            finally:  # also if they could not be emptied: all is put, and the graph is filled, once more
                if self._rebuilding is None:
                    self._rebuilding = self.runtime.supervisor.run("rebuild", self._end_rebuild)
        self.worker.wake()

    async def settled(self) -> None:
        """Return once everything is indexed, and no rebuild is under way."""
        await self.worker.settled()
        await self.rebuilt()

    async def mending(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """What the work gives; a projection that cannot be read, at a second look either, is recreated first."""
        try:
            return await work()
        except BrokenProjection as error:
            log.warning("projection_broken", error=str(error))
        try:
            return await work()
        except BrokenProjection as error:
            await self.recreate(error)
        return await work()

    async def recreate(self, error: BrokenProjection) -> None:
        """Make damaged projections anew, and wait for it a while. Raises the error if that helped only for a while."""
        async with self._recreating:
            if self._rebuilding is None:
                if time.monotonic() - self._recreated < RECREATE_EVERY:
                    raise error
                log.warning("projections_recreated", error=str(error))
                self._recreated = time.monotonic()
                await self.begin_rebuild()
                self.worker.recover()
        try:
            async with asyncio.timeout(PATIENCE):
                await self.rebuilt()
        except TimeoutError:
            raise BrokenProjection(str(error), hint="Graph and vectors are being rebuilt; ask again later.") from error

    async def _watch(self) -> None:
        """Recreate projections when the worker finds them broken."""
        while True:
            error = await self.worker.broken.get()
            try:
                await self.recreate(error)
            except EngineError as trouble:
                self.runtime.supervisor.failed("repair", trouble)
            else:
                self.runtime.supervisor.succeeded("repair")

    async def rebuilt(self) -> None:
        """Return once no rebuild is under way; raises what keeps it from ending, while it is tried again."""
        while self._rebuilding is not None:
            if self._hindrance is not None:
                raise self._hindrance
            task = self._rebuilding
            await asyncio.wait([task], timeout=0.5)
            if task.cancelled():
                raise StoreError("The engine was closed meanwhile.", hint=CLOSED)
            if task.done():
                task.result()

    async def _end_rebuild(self) -> None:
        while True:
            try:
                await self.worker.settled()
                await self._fill_graph()
            except (StoreError, LanguageError) as error:
                log.warning("rebuild_waits", error=str(error), hint=error.hint)
                self._hindrance = error
                await asyncio.sleep(TROUBLE_WAIT)
            else:
                self._rebuilding = self._hindrance = None
                return

    async def _fill_graph(self) -> None:
        ledger = self.runtime.ledger
        async with self.projector.still():
            nodes, edges = await ledger.read(stats.nodes), await ledger.read(stats.edges)
            await self.runtime.graph.load(nodes, edges)
            await ledger.write(work.end_rebuild)
            self.projector.without_graph = False

    async def verify(self, *, repair: bool) -> Report:
        """Compare both projections with the ledger; `repair` marks what differs, and waits until it is projected."""
        async with self.projector.still():
            report = await verifying.verify(self.runtime.ledger, self.runtime.graph, self.runtime.vectors)
            if repair and not report.clean:
                await self._repair(report)
        if repair and not report.clean:
            self.worker.wake()
            await self.worker.settled()
        return report

    async def _repair(self, report: Report) -> None:
        ledger = self.runtime.ledger
        await self.runtime.graph.load(await ledger.read(stats.nodes), await ledger.read(stats.edges))
        for kind, table in verifying.TABLES:
            ids = {each.id for each in report.differences if each.kind == kind}
            if ids:
                await self.runtime.vectors.drop(table, ids)
        await ledger.write(work.repair, [(each.kind, each.id) for each in report.differences])

    async def _look_after(self) -> None:
        options = self.runtime.options
        while True:
            await asyncio.sleep(min(LOOK_EVERY, options.compact_after / 2))
            try:
                if await self.runtime.ledger.read(work.removed_since_compaction):
                    await asyncio.sleep(options.compact_after / 2)
                    await self.compact()
            except EngineError as error:
                if isinstance(error, BrokenProjection):
                    self.worker.broken.put_nowait(error)
                self.runtime.supervisor.failed("compaction", error)
            else:
                self.runtime.supervisor.succeeded("compaction")
