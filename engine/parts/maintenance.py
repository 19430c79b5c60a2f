"""The maintenance of an engine: its stores, their state and their copies, and what it took."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.boundary import guard_public_methods
from engine.errors import StoreError
from engine.ingest.rereading import check_readings, describe_removal, remove_people
from engine.storage.disk_reserve import list_disk_problems
from engine.storage.sqlite.database import FileAccess

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from datetime import date
    from pathlib import Path
    from typing import Literal

    from engine.boundary import OpenState
    from engine.errors import EngineError
    from engine.ingest.worker import IngestWorker
    from engine.maintenance import StoreMaintenance
    from engine.models import Scope
    from engine.projection.verify import VerificationReport
    from engine.runtime import Runtime
    from engine.storage.ledger.records import (
        IndexingDay,
        IndexProblem,
        IndexStatus,
        OutdatedTexts,
        PeopleRemovalState,
    )
    from engine.usage import SpentBudget, UsageMeter

READ_ONLY = "The database takes no changes. Questions are answered; what is new waits until it takes them again."


@guard_public_methods
class EngineMaintenance:
    """What the administrator of an engine does and sees."""

    def __init__(
        self, state: OpenState, runtime: Runtime, worker: IngestWorker, store_maintenance: StoreMaintenance
    ) -> None:
        self._state = state
        self._runtime = runtime
        self._ledger = runtime.ledger
        self._worker = worker
        self._store_maintenance = store_maintenance

    async def get_status(self, scope: Scope) -> IndexStatus:
        """Counts of documents, entities, relations and pending work in the scope."""
        found = await self._ledger.stats.load_index_status(scope)
        problems = self._runtime.supervisor.list_problems()
        budget = self._runtime.indexing_budget
        await budget.refresh()
        spent = budget.describe_spent(scope.spaces) if found.unextracted else ""
        return replace(found, background=(*self._list_disk_problems(), *problems), spent_budget=spent)

    async def list_document_keys(self) -> list[str]:
        """The keys of the documents of all spaces."""
        return await self._ledger.erasures.list_document_keys()

    async def list_index_problems(self, scope: Scope) -> list[IndexProblem]:
        """What was not read of the documents in the scope, and why."""
        return await self._ledger.stats.list_problems(scope)

    async def count_incomplete(self) -> dict[str, int]:
        """The chunks of all spaces of which facts may be missing, by what the model gave instead."""
        return await self._ledger.stats.count_incomplete()

    async def count_outdated(self) -> int:
        """The chunks of all spaces whose facts another choice of extraction gave than today's."""
        return await self._ledger.readings.count_all()

    async def check_readings(self, seconds: float) -> None:
        """Compare what was read with today's choice of extraction, for so long at most; the rest is done later."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await check_readings(self._runtime)

    async def measure_outdated(self) -> OutdatedTexts:
        """What would be read again, of all spaces; it is compared with today's choice first."""
        await check_readings(self._runtime)
        return await self._ledger.readings.measure()

    async def reread_outdated(self) -> int:
        """Read again what another choice of extraction read, in the background; returns the number of chunks."""
        await check_readings(self._runtime)
        return await self._worker.wake_after(self._ledger.readings.queue())

    async def list_problems(self) -> list[str]:
        """Current failures of background work, for the administrator; covers all spaces."""
        blocked = [] if self.indexing_error is None else [f"Indexing is waiting: {self.indexing_error}"]
        failures = await self._ledger.work.list_failure_reasons()
        summaries = self._describe_failed_summaries(await self._ledger.profiles.count_failed_summaries())
        await self._runtime.indexing_budget.refresh()
        budgets = self._runtime.indexing_budget.list_problems()
        refusing = [READ_ONLY] if self._runtime.processes.is_read_only else []
        disk = self._list_disk_problems()
        running = [*self._runtime.supervisor.list_problems(), *describe_removal(await self.get_people_removal())]
        return [*refusing, *disk, *running, *blocked, *budgets, *failures, *summaries]

    async def list_spent_budgets(self) -> list[SpentBudget]:
        """The budgets of indexing that are used up, of all workspaces."""
        await self._runtime.indexing_budget.refresh()
        return self._runtime.indexing_budget.list_spent()

    def _describe_failed_summaries(self, count: int) -> list[str]:
        """What is told of names and pairs whose summaries failed; the reason is known if it is of this process."""
        reason = self._runtime.summary_failures.reason or "They failed before the last start."
        if count and self._runtime.summary_failures.waits_for_budget:
            return [f"Descriptions that wait for the indexing budget to be summarized: {count}."]
        return [f"Summaries that failed and are tried again later: {count}. {reason}"] if count else []

    async def get_people_removal(self) -> PeopleRemovalState:
        """How far the removal of stored facts about people is."""
        return await self._ledger.removed_people.load_state()

    async def list_obstacles(self) -> list[str]:
        """Why the data cannot be read now, for the administrator; a database server that hangs gives no answer."""
        try:
            await self._ledger.settings.get("reindexing")
        except StoreError as error:
            return [str(error)]
        return []

    @property
    def indexing_error(self) -> EngineError | None:
        """The error that currently blocks indexing, if any; indexing is retried."""
        return self._worker.indexing_error

    @property
    def extraction_failures(self) -> int:
        """Model calls for extraction that failed since the start."""
        return self._worker.extraction_failures

    @property
    def database_wait_seconds(self) -> float:
        """Seconds that reads of the ledger have waited for a connection since the start."""
        return self._ledger.waited_seconds

    async def count_given_up(self) -> int:
        """Documents, entities and relations of all spaces of which something was given up."""
        return await self._ledger.work.count_given_up()

    async def count_pending_documents(self) -> int:
        """Documents of all spaces that are not completely indexed yet."""
        return await self._ledger.work.count_pending_documents()

    async def count_stale(self) -> int:
        """Entries of the indexes of all spaces that are to be made or renewed."""
        return await self._ledger.stale_keys.count()

    async def retry(self, key: str = "") -> int:
        """Retry failed work of one document, or of all; returns the number of documents."""
        return await self._worker.wake_after(self._ledger.work.retry_documents(key))

    def check_room(self) -> None:
        """Raise DiskFull if the disk has no space for new documents."""
        self._runtime.reserve.check_room()

    def check_writable(self) -> None:
        """Raise DiskError if the disk of the data takes no writes, so that only questions are answered."""
        if (refusal := self._runtime.refusal) is not None:
            raise type(refusal)(str(refusal), hint=refusal.hint)

    @property
    def file_access(self) -> FileAccess:
        """How other databases in the data directory use its disk."""
        return FileAccess(self._runtime.reserve.release, self._runtime.refusal)

    def _list_disk_problems(self) -> list[str]:
        return list_disk_problems(self._runtime.reserve, self._runtime.refusal)

    async def record_usage(self, meter: UsageMeter) -> None:
        """Count the model calls of a caller that prepares documents."""
        if meter.items:
            await self._ledger.cache.add_usage(self._runtime.clock.now().date().isoformat(), meter.items)

    async def list_indexing_usage(self, since: date, *, space: str = "", prefix: str = "") -> list[IndexingDay]:
        """What indexing took on each day (UTC) since one: of a space, or of those whose names have a prefix."""
        return await self._ledger.stats.list_indexing_usage(space, prefix, since.isoformat())

    async def export(self, file_format: Literal["jsonl", "graphml"], scope: Scope) -> AsyncGenerator[str, None]:
        """Yield the lines of an export of the scope's spaces: everything as JSON Lines, or the graph as GraphML.

        A removal of facts about people is finished first.
        """
        if self._runtime.refusal is None:
            await remove_people(self._runtime, self._worker.wake)
        async with aclosing(self._ledger.export(file_format, scope)) as lines:
            async for line in lines:
                yield line

    async def backup(self, path: Path) -> str:
        """Copy the ledger as of one moment to a file; returns its checksum. All else can be rebuilt from it."""
        return await self._ledger.copy_to(path)

    async def compact(self) -> None:
        """Erase the bytes of deleted content from the files; this also runs periodically."""
        await self._store_maintenance.run_with_recovery(self._store_maintenance.compact)

    async def reindex(self) -> None:
        """Rebuild graph and vectors from the ledger; extraction and summaries are not repeated."""
        await self._store_maintenance.start_reindex()
        await self._wait_until_indexed()

    async def verify(self, *, repair: bool = False) -> VerificationReport:
        """Check the ledger, and graph and vectors against it; `repair` fixes differences. Raises CorruptLedger."""
        await self._ledger.check_integrity()
        await self._wait_until_indexed()
        return await self._store_maintenance.run_with_recovery(lambda: self._store_maintenance.verify(repair=repair))

    async def _wait_until_indexed(self) -> None:
        await self._store_maintenance.run_with_recovery(self._store_maintenance.wait_until_indexed)
