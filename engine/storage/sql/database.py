"""A SQL database: group commits and snapshots, and topics, whose methods run on it or on a connection.

On a database, each public method is awaited, and runs in a snapshot or a transaction of its own. On a connection,
inside a bigger transaction, it is called. `Class.method` is a SQL function: its first parameter is the connection.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial, wraps
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, overload

from engine.errors import EngineClosed, StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence
    from contextlib import AbstractAsyncContextManager

    from engine.storage.sql.connection import Connection, StreamingConnection, Work


Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")
Place_co = TypeVar("Place_co", bound="Connection | SqlDatabase", covariant=True)


class SqlDatabase(ABC):
    """Runs SQL functions, each in a snapshot or a transaction of its own. Waiting writes share a commit.

    `name`: how messages call the database.
    """

    waited_seconds = 0.0  # of reads for a connection, in all
    name: str
    _commits: GroupCommit

    def check_open(self) -> None:
        """Raise EngineClosed once the database is closed, or about to be."""
        if self._commits.is_closing:
            raise EngineClosed(f"The {self.name} is closed.")

    def check_writable(self) -> None:  # noqa: B027 - most databases can be written
        """Raise the error that says why nothing can be written, if so."""

    async def write(
        self,
        work: Callable[Concatenate[Connection, Arguments], Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run `work` in a transaction; return when it is durable. It may run again after a rollback."""
        self.check_open()
        self.check_writable()
        result: Result = await self._commits.submit(lambda db: work(db, *args, **kwargs))
        return result

    @abstractmethod
    async def read(
        self,
        work: Callable[Concatenate[Connection, Arguments], Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run `work` in a consistent snapshot."""

    @abstractmethod
    def stream_connection(self) -> AbstractAsyncContextManager[StreamingConnection]:
        """A connection of its own that reads as of one moment, for slow consumers of many rows."""

    @abstractmethod
    def abandon(self) -> None:
        """Make all calls fail from now on: other processes may have taken over the work of this one."""

    @abstractmethod
    async def close(self) -> None:
        """Finish waiting writes, and release the connections."""


class Topic(Generic[Place_co]):
    """What is read and written of one topic, on a connection or on a database."""

    db: Connection
    database: SqlDatabase | None = None

    def __init__(self, place: Place_co) -> None:
        if isinstance(place, SqlDatabase):
            self.database = place
        else:
            self.db = place


class TopicMethod(Generic[Arguments, Result]):
    """A method that a database runs in a transaction of its own, and a connection in the present one."""

    def __init__(
        self, function: Callable[Concatenate[Any, Arguments], Result], access: Literal["read", "write"]
    ) -> None:
        self._function = function
        self._access = access
        self._works = dict[Any, Any]()  # the function of a connection for each class

    @overload
    def __get__(self, topic: None, owner: type) -> Callable[Concatenate[Connection, Arguments], Result]: ...
    @overload
    def __get__(
        self, topic: Topic[SqlDatabase], owner: object = None
    ) -> Callable[Arguments, Coroutine[Any, Any, Result]]: ...
    @overload
    def __get__(self, topic: Topic[Any], owner: object = None) -> Callable[Arguments, Result]: ...
    def __get__(self, topic: Topic[Any] | None, owner: Any = None) -> Any:
        if topic is not None and topic.database is None:
            return MethodType(self._function, topic)
        work = self._works.get(owner) or self._works.setdefault(owner, self._bind(owner))
        return work if topic is None else partial(getattr(topic.database, self._access), work)

    def _bind(self, owner: Callable[[Connection], object]) -> Callable[Concatenate[Connection, Arguments], Result]:
        @wraps(self._function)
        def work(db: Connection, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            return self._function(owner(db), *args, **kwargs)

        return work


def reading(function: Callable[Concatenate[Any, Arguments], Result]) -> TopicMethod[Arguments, Result]:
    """A method that reads: on a database, in a snapshot of its own."""
    return TopicMethod(function, "read")


def writing(function: Callable[Concatenate[Any, Arguments], Result]) -> TopicMethod[Arguments, Result]:
    """A method that writes: on a database, in a transaction of its own, durable when it returns."""
    return TopicMethod(function, "write")


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
