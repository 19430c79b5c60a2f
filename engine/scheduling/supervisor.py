"""Supervise background tasks: log, count and restart what fails, and keep failures visible until they are over."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from engine.errors import EngineError
from engine.scheduling.tasks import end, running_task

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence

log = structlog.get_logger(__name__)

Result = TypeVar("Result")

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # seconds before a restart; doubled with each failure in a row
STEADY = 60.0  # seconds without another failure after which a task counts as healthy again
EXITS: tuple[type[BaseException], ...] = (asyncio.CancelledError, KeyboardInterrupt, SystemExit, GeneratorExit)
LOOP = "event loop"


def backoff(tries: int, first: float, longest: float) -> float:
    """Seconds to wait after so many failures in a row: `first` after one, then doubled up to `longest`."""
    return float(min(first * 2 ** min(max(tries - 1, 0), 64), longest))


def ends_task(error: BaseException, task: asyncio.Task[Any] | None) -> bool:
    """Whether an error that was raised within `task` ends the task or the program.

    A CancelledError is a failure like any other if nobody has cancelled the task: it comes from a library, or from
    another task that was awaited. A GeneratorExit is one if the task itself runs: a coroutine is closed from outside.
    """
    if isinstance(error, asyncio.CancelledError):
        return task is None or task.cancelling() > 0
    if isinstance(error, GeneratorExit):
        return task is None or task is not running_task()
    return isinstance(error, EXITS)


def reason(error: BaseException) -> str:
    """An error in words for status and health pages; of unforeseen ones only the type, since they may quote texts."""
    return str(error) if isinstance(error, EngineError) else type(error).__name__


@dataclass(frozen=True, slots=True)
class TaskReport:
    """State of one background task. `failures` counts all since the start; `error` is the last one in words."""

    name: str
    failures: int
    failing: bool
    error: str

    def __str__(self) -> str:
        return f"The background task “{self.name}” is failing and is tried again: {self.error.rstrip('.')}."


@dataclass(slots=True)
class _Record:
    """Failures of one task name."""

    failures: int = 0
    in_a_row: int = 0
    failed_at: float = 0.0
    waiting: int = 0
    error: str = ""


class Supervisor:
    """Runs background tasks of one program. A task that fails is logged, counted and started again after a while.

    `clock` gives seconds. Names are shown to operators and label metrics: they are few and hold no ids.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        first_wait: float | None = None,
        longest_wait: float | None = None,
    ) -> None:
        self._clock = clock
        self._first_wait = FIRST_WAIT if first_wait is None else first_wait
        self._longest_wait = LONGEST_WAIT if longest_wait is None else longest_wait
        self._records: dict[str, _Record] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._observed: list[Callable[[], Sequence[str]]] = []

    def run(
        self, name: str, work: Callable[[], Awaitable[object]], *, fatal: tuple[type[BaseException], ...] = ()
    ) -> asyncio.Task[None]:
        """Run `work` until it returns; whenever it raises, run it again after a back-off.

        What is `fatal` is raised to whoever awaits the task, and not tried again. End the task by cancelling it.
        """
        self._records.setdefault(name, _Record())
        return self._started(name, self._repeat(name, work, fatal))

    def spawn(self, name: str, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Run `work` once. A failure is logged and counted, whether or not somebody awaits the task."""
        self._records.setdefault(name, _Record())
        task = self._started(name, work)
        task.add_done_callback(lambda ended: self._spawned(name, ended))
        return task

    def failed(self, name: str, error: BaseException) -> int:
        """Record a failure; gives the number of failures in a row."""
        record = self._records.setdefault(name, _Record())
        if self._clock() - record.failed_at > STEADY + self._longest_wait:
            record.in_a_row = 0
        record.failures += 1
        record.in_a_row += 1
        record.failed_at = self._clock()
        record.error = reason(error)
        if isinstance(error, EngineError):
            log.warning("task_failed", task=name, error=record.error, hint=error.hint, tries=record.in_a_row)
        else:
            log.error("task_failed", task=name, error=record.error, tries=record.in_a_row, exc_info=error)
        return record.in_a_row

    def succeeded(self, name: str) -> None:
        """Record that a task does its work (again)."""
        self._records.setdefault(name, _Record()).in_a_row = 0

    def reports(self) -> list[TaskReport]:
        """The state of all tasks that were ever started, by name."""
        return [
            TaskReport(name, record.failures, self._failing(record), record.error)
            for name, record in sorted(self._records.items())
        ]

    def observe(self, source: Callable[[], Sequence[str]]) -> None:
        """Let complaints include the sentences that `source` gives whenever it is asked."""
        self._observed.append(source)

    def complaints(self) -> list[str]:
        """One sentence for each task that is failing at the moment, and those of what is observed."""
        failing = [str(report) for report in self.reports() if report.failing]
        return failing + [sentence for source in self._observed for sentence in source()]

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Record failures in `loop` that nobody awaits: of libraries' own tasks and of callbacks."""
        loop.set_exception_handler(lambda _, context: self.failed(LOOP, context.get("exception") or _Unnamed()))

    async def stop(self) -> None:
        """Cancel all tasks that are left, and wait until they have ended."""
        await end(*self._tasks)

    def _started(self, name: str, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _repeat(
        self, name: str, work: Callable[[], Awaitable[object]], fatal: tuple[type[BaseException], ...]
    ) -> None:
        record, task = self._records[name], running_task()
        while True:
            try:
                await work()
            except BaseException as error:  # native libraries panic with what is no Exception
                if isinstance(error, fatal) or ends_task(error, task):
                    raise
                tries = self.failed(name, error)
            else:
                self.succeeded(name)
                return
            record.waiting += 1
            try:
                await asyncio.sleep(backoff(tries, self._first_wait, self._longest_wait))
            finally:
                record.waiting -= 1

    def _spawned(self, name: str, task: asyncio.Task[Any]) -> None:
        if task.cancelled():
            if not task.cancelling():
                self.failed(name, asyncio.CancelledError())
        elif (error := task.exception()) is None:
            self.succeeded(name)
        else:
            self.failed(name, error)

    def _failing(self, record: _Record) -> bool:
        if not record.in_a_row:
            return False
        return record.waiting > 0 or self._clock() - record.failed_at < STEADY


class _Unnamed(Exception):
    """A complaint of the event loop that names no exception."""
