"""Background maintenance of the stores: compaction, reindexing, verification and repair."""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from engine.errors import CorruptProjection, EngineError, ModelError, StoreError
from engine.ingest.language_count import count_periodically
from engine.ingest.rereading import check_readings, remove_people
from engine.ingest.worker import ERROR_WAIT_SECONDS
from engine.projection import verify as verifying
from engine.scheduling.supervisor import cancel_tasks, current_task, is_task_exit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from pathlib import Path

    from engine.ingest.worker import IngestWorker
    from engine.projection.projector import Projector
    from engine.projection.verify import VerificationReport
    from engine.runtime import Runtime
    from engine.storage.ledger.records import OrphanKeys

log = structlog.get_logger(__name__)

Result = TypeVar("Result")

COMPACTION_CHECK_SECONDS = 15.0
DISK_CHECK_SECONDS = 2.0
CATCH_UP_SECONDS = 15.0  # how long compaction waits for the worker to process changes, at most
CLOSED_HINT = "Compaction and reindexing resume after the next start."
RECREATE_INTERVAL_SECONDS = 3600.0  # if files break again within this time, a reindex does not help
CHANGING = "Texts are being embedded again for the languages that are set; until then the former vectors count, too."
REBUILDING = "Graph and vectors are being rebuilt; until then answers may miss something."
REINDEX_WAIT_SECONDS = 60.0  # how long a question waits for a reindex
REPORT_SECONDS = 10.0  # between two lines of the log


async def run_stages(*stages: Callable[[], Awaitable[None]]) -> list[BaseException]:
    """Run all stages even if some fail; returns their errors in order."""
    errors, task = list[BaseException](), current_task()
    for stage in stages:
        try:
            await stage()
        except BaseException as error:  # a panic of a native library is not an Exception
            if is_task_exit(error, task):
                raise
            errors.append(error)
    return errors


@dataclass(slots=True)
class StoreMaintenance:
    """Compacts, reindexes, verifies and repairs the stores, periodically or on request."""

    runtime: Runtime
    projector: Projector
    worker: IngestWorker
    remove_leftovers: Callable[[], None]  # copies of data that ended processes left
    data_dir: Path
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _reindex_task: asyncio.Task[None] | None = None
    _reindex_error: EngineError | None = None
    _change_task: asyncio.Task[None] | None = None
    _running_jobs: set[asyncio.Task[None]] = field(default_factory=set)
    _recreate_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _recreated_at: float = -math.inf

    def start(self) -> None:
        """Start the background tasks."""
        run = self.runtime.supervisor.run
        self.runtime.supervisor.add_problem_source(self._describe_rebuilding)
        self._tasks = [
            run("compaction", self._compact_periodically),
            run("repair", self._recreate_when_corrupt),
            run("full-text update", partial(update_full_text, self.runtime)),
            run("extraction check", partial(check_readings, self.runtime)),
            run("removal of people", partial(remove_people, self.runtime, self.worker.wake)),
            run("language count", partial(count_periodically, self.runtime, self.data_dir)),
        ]
        if not self.runtime.options.database:
            self._tasks.append(run("disk space", self._watch_disk))

    def _describe_rebuilding(self) -> list[str]:
        is_changing = self._change_task is not None and not self._change_task.done()
        return [REBUILDING] * (self._reindex_task is not None) + [CHANGING] * is_changing

    async def stop(self) -> None:
        """Cancel all tasks and jobs."""
        rebuilding = [task for task in (self._reindex_task, self._change_task) if task is not None]
        await cancel_tasks(*self._tasks, *self._running_jobs, *rebuilding)

    async def compact(self) -> None:
        """Erase deleted bytes from all files, without model calls; continues if the caller is cancelled.

        If some files fail, the others are compacted all the same, and the first error is raised.
        """
        await self._run_shielded("compact files", self._compact())

    async def _compact(self) -> None:
        ledger, projector = self.runtime.ledger, self.projector
        async with self.runtime.processes.lease("compaction"):
            await self._catch_up()
            until = await ledger.settings.current_generation()
            found = await ledger.profiles.find_orphans()
            errors = await run_stages(
                partial(self._compact_ledger, found),
                partial(projector.remove_from_graph, found),
                partial(projector.remove_from_vectors, found),
                self._compact_graph,
                self.runtime.vectors.compact,
                partial(asyncio.to_thread, self.remove_leftovers),
            )
            if errors:
                raise errors[0]
            await ledger.settings.set("last_compaction", until)

    async def _compact_ledger(self, found: OrphanKeys) -> None:
        ledger = self.runtime.ledger
        await ledger.profiles.delete_orphans(found)
        await ledger.cache.delete_unused()
        await ledger.compact()

    async def _compact_graph(self) -> None:
        async with self.projector.graph_lock:
            await self.runtime.graph.compact()

    async def _catch_up(self) -> None:
        """Let the worker process pending changes first, for a short time and unless it is blocked.

        Profiles that are updated by then keep their summaries; the others have no description until they are updated.
        """
        seconds = min(CATCH_UP_SECONDS, self.runtime.options.compaction_delay / 4)
        with suppress(TimeoutError, EngineError):
            async with asyncio.timeout(seconds):
                await self._project_until(await self.runtime.ledger.settings.current_generation())

    async def _project_until(self, generation: int) -> None:
        """Return once every change up to this generation is projected; cooldowns are ended early."""
        ledger = self.runtime.ledger
        with self.worker.expedite():
            while (first := await ledger.stale_keys.find_first()) is not None and first <= generation:
                due = await ledger.stale_keys.find_first(held=False)
                if due is None or due > generation:
                    await self.projector.end_cooldown()
                    self.worker.wake()
                await self.worker.wait_for_progress()

    async def _run_shielded(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Run a job that continues if its caller is cancelled, until the engine is closed.

        Raises StoreError if the engine is closed before the job ends.
        """
        task = self.runtime.supervisor.spawn(name, work)
        self._running_jobs.add(task)
        task.add_done_callback(self._running_jobs.discard)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if task.cancelled() and not (caller and caller.cancelling()):
                raise StoreError("The engine was closed during the operation.", hint=CLOSED_HINT) from None
            raise

    async def start_reindex(self) -> None:
        """Clear graph and vectors and queue everything again; the graph is filled at the end, all at once."""
        await self._run_shielded("start reindex", self._start_reindex())

    async def _start_reindex(self) -> None:
        async with self.projector.suspend():
            self.projector.skip_graph = True
            await self.runtime.ledger.settings.set("reindexing", 1)
            try:
                await self.runtime.vectors.clear()
                await self.runtime.graph.replace_all([], [])
                self.worker.clear_errors()  # of the files that were removed
            finally:  # also if clearing failed; afterwards, because others write meanwhile
                await self.runtime.ledger.work.start_reindex()
                self.resume_reindex()
        self.worker.wake()

    def resume_reindex(self) -> None:
        """Finish a reindex once everything is indexed; several processes may."""
        if self._reindex_task is None:
            self._reindex_task = self.runtime.supervisor.run("reindex", self._finish_reindex)

    async def wait_until_indexed(self) -> None:
        """Return once everything is indexed and no reindex is running."""
        await self.worker.wait_until_indexed()
        if self._change_task is not None:
            await asyncio.wait({self._change_task})
        await self.wait_for_reindex()

    def resume_embedder_change(self) -> None:
        """Drop the vectors of the former embedder once all are made again; each process may."""
        self._change_task = self.runtime.supervisor.run("embedder change", self._finish_embedder_change)

    async def _finish_embedder_change(self) -> None:
        ledger = self.runtime.ledger
        until = (await ledger.embedders.load_places()).changed_at
        while (due := await ledger.stale_keys.find_first(held=False)) is not None and due <= until:
            await self.worker.wait_for_progress()
        await self._project_until(until)
        await self.runtime.finish_embedder_change()
        log.info("embedder_change.finished")

    async def run_with_recovery(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Run an operation; if graph or vectors are unreadable twice in a row, recreate them and run it again."""
        try:
            return await work()
        except CorruptProjection as error:
            log.warning("projection.read_failed", error=str(error))
        try:
            return await work()
        except CorruptProjection as error:
            await self.recreate_projections(error)
        return await work()

    async def recreate_projections(self, error: CorruptProjection) -> None:
        """Rebuild damaged projections and wait up to a minute. Raises the error if the last reindex was recent."""
        async with self._recreate_lock:
            if self._reindex_task is None:
                now = self.runtime.clock.monotonic()
                if now - self._recreated_at < RECREATE_INTERVAL_SECONDS:
                    raise error
                log.warning("projection.recreated", error=str(error))
                self._recreated_at = now
                await self.start_reindex()
                self.worker.clear_errors()
        try:
            async with asyncio.timeout(REINDEX_WAIT_SECONDS):
                await self.wait_for_reindex()
        except TimeoutError:
            raise CorruptProjection(str(error), hint="Graph and vectors are being rebuilt. Try again later.") from error

    async def _recreate_when_corrupt(self) -> None:
        """Recreate projections when the worker reports damage."""
        while True:
            error = await self.worker.corrupt_projections.get()
            try:
                await self.recreate_projections(error)
            except EngineError as failure:
                self.runtime.supervisor.record_failure("repair", failure)
            else:
                self.runtime.supervisor.record_success("repair")

    async def wait_for_reindex(self) -> None:
        """Return once no reindex is running; raises its current error, while the reindex keeps retrying."""
        while self._reindex_task is not None:
            if self._reindex_error is not None:
                raise self._reindex_error
            task = self._reindex_task
            await asyncio.wait([task], timeout=0.5)
            if task.cancelled():
                raise StoreError("The engine was closed during the operation.", hint=CLOSED_HINT)
            if task.done():
                task.result()

    async def _finish_reindex(self) -> None:
        while True:
            try:
                await self.worker.wait_until_indexed()
                await self._fill_graph()
            except (StoreError, ModelError) as error:
                log.warning("reindex.paused", error=str(error), hint=error.hint)
                self._reindex_error = error
                await asyncio.sleep(ERROR_WAIT_SECONDS)
            else:
                self._reindex_task = self._reindex_error = None
                return

    async def _fill_graph(self) -> None:
        ledger = self.runtime.ledger
        async with self.projector.suspend():
            nodes, edges = await ledger.stats.list_nodes(), await ledger.stats.list_edges()
            await self.runtime.graph.replace_all(nodes, edges)
            await ledger.work.finish_reindex()
            self.projector.skip_graph = False

    async def verify(self, *, repair: bool) -> VerificationReport:
        """Compare graph and vectors with the ledger; `repair` fixes the differences and waits until that is done."""
        async with self.projector.suspend():
            runtime = self.runtime
            report = await verifying.verify_projections(
                runtime.ledger, runtime.graph, runtime.vectors, runtime.embedder
            )
            if repair and not report.is_clean:
                await self._repair(report)
        if repair and not report.is_clean:
            self.worker.wake()
            await self.worker.wait_until_indexed()
        return report

    async def _repair(self, report: VerificationReport) -> None:
        ledger = self.runtime.ledger
        await self.runtime.graph.replace_all(await ledger.stats.list_nodes(), await ledger.stats.list_edges())
        for kind, table in verifying.TABLES_BY_KIND:
            ids = {difference.id for difference in report.differences if difference.kind == kind}
            if ids:
                await self.runtime.vectors.delete(table, ids)
        await ledger.work.requeue_keys([(difference.kind, difference.id) for difference in report.differences])

    async def _watch_disk(self) -> None:
        while True:
            await asyncio.to_thread(self.runtime.reserve.refresh)
            await asyncio.sleep(DISK_CHECK_SECONDS)

    async def _compact_periodically(self) -> None:
        """Compact after deletions, in one of all processes."""
        async with self.runtime.processes.lease("periodic compaction"):
            while True:
                await self._compact_when_needed()

    async def _compact_when_needed(self) -> None:
        options = self.runtime.options
        await asyncio.sleep(min(COMPACTION_CHECK_SECONDS, options.compaction_delay / 2))
        try:
            if await self.runtime.ledger.work.needs_compaction():
                await asyncio.sleep(options.compaction_delay / 2)
                await self.compact()
        except EngineError as error:
            if isinstance(error, CorruptProjection):
                self.worker.corrupt_projections.put_nowait(error)
            self.runtime.supervisor.record_failure("compaction", error)
        else:
            self.runtime.supervisor.record_success("compaction")


async def update_full_text(runtime: Runtime) -> None:
    """Index rows of an earlier version again, in one of all processes; each batch is durable."""
    full_text, clock = runtime.ledger.full_text, runtime.clock
    is_segmented = not await full_text.count_unsegmented()
    if is_segmented and not (await full_text.has_old_stems() and await full_text.stem_next_batch()):
        return
    async with runtime.processes.lease("full text"):
        reported = clock.monotonic()
        log.info("full_text.update_started", rows_left=await full_text.count_unsegmented())
        while await full_text.index_next_batch() or await full_text.stem_next_batch():
            await runtime.priority.yield_to_foreground()
            if clock.monotonic() - reported >= REPORT_SECONDS:
                reported = clock.monotonic()
                log.info("full_text.update_continues", rows_left=await full_text.count_unsegmented())
        log.info("full_text.update_finished")
