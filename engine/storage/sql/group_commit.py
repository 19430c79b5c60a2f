"""Group commit: writes that wait together share a transaction; a failing one is repeated alone and fails alone."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from engine.storage.sql.connection import Work


@dataclass(slots=True)
class _WriteJob:
    work: Work
    done: asyncio.Future[Any]


class GroupCommit:
    """A queue of writes, and the loop that commits them.

    `run_transaction` gives the results of all works, which happen together or not at all. `label`: how messages call
    the database. `is_undone`: whether after an error they certainly did not happen; else no work is repeated.
    `is_of_server`: whether the error may meet any work, so that after two in a row the others are not tried.
    """

    def __init__(
        self,
        label: str,
        run_transaction: Callable[[Sequence[Work]], Awaitable[list[Any]]],
        translate_error: Callable[[BaseException], BaseException],
        *,
        is_undone: Callable[[BaseException], bool] = lambda _: True,
        is_of_server: Callable[[BaseException], bool] = lambda _: False,
    ) -> None:
        self._is_undone = is_undone
        self._is_of_server = is_of_server
        self._label = label
        self._run_transaction = run_transaction
        self._translate_error = translate_error
        self._jobs: asyncio.Queue[_WriteJob | None] = asyncio.Queue()
        self.is_closing = False

    async def submit(self, work: Work) -> Any:
        """Run a work in a transaction; returns its result when it is durable."""
        job = _WriteJob(work, asyncio.get_running_loop().create_future())
        self._jobs.put_nowait(job)
        return await job.done

    def close(self) -> None:
        """Let `run` return once all waiting writes are committed."""
        self.is_closing = True
        self._jobs.put_nowait(None)

    async def run(self, after_commit: Callable[[], Awaitable[None]] | None = None) -> None:
        """Commit writes until `close`. `after_commit` runs between transactions."""
        while not (self.is_closing and self._jobs.empty()):
            queued = [await self._jobs.get()]
            while not self._jobs.empty():
                queued.append(self._jobs.get_nowait())
            jobs = [job for job in queued if job is not None]
            try:
                await self._commit(jobs)
            except BaseException:
                failure = StoreError(f"Writing to the {self._label} failed; nothing of this was written.")
                for job in jobs:  # nothing else completes them
                    self._set_error(job, failure)
                raise
            if after_commit is not None:
                await after_commit()

    async def _commit(self, jobs: list[_WriteJob]) -> None:
        if not jobs or (error := await self._try(jobs)) is None:
            return
        if len(jobs) > 1 and self._is_undone(error):
            await self._commit_one_by_one(jobs)
            return
        for job in jobs:
            self._set_error(job, error)

    async def _commit_one_by_one(self, jobs: list[_WriteJob]) -> None:
        """Commit each job alone; the rest fails with it once the server has failed two in a row."""
        failed: Exception | None = None
        for place, job in enumerate(jobs):
            former, failed = failed, await self._try([job])
            if failed is None:
                continue
            self._set_error(job, failed)
            if former is not None and self._is_of_server(former) and self._is_of_server(failed):
                for other in jobs[place:]:
                    self._set_error(other, failed)
                return

    async def _try(self, jobs: list[_WriteJob]) -> Exception | None:
        """Commit jobs together; the error if that failed."""
        try:
            results = await self._run_transaction([job.work for job in jobs])
        except Exception as error:  # noqa: BLE001 - it is raised to the caller of the write
            return error
        for job, result in zip(jobs, results, strict=True):
            if not job.done.done():
                job.done.set_result(result)
        return None

    def _set_error(self, job: _WriteJob, error: Exception) -> None:
        if not job.done.done():
            job.done.set_exception(self._translate_error(error))
