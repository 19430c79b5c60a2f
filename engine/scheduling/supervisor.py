"""Tasks with an owner, and background tasks under supervision: logged, counted, restarted, reported until over."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from engine.errors import EngineError, NothingGiven

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence

    from engine.clock import Clock


log = structlog.get_logger(__name__)

Result = TypeVar("Result")

FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 1.0, 60.0  # seconds before a restart; doubled with each consecutive failure
HEALTHY_AFTER_SECONDS = 60.0  # seconds without a failure after which a task counts as healthy again
EXIT_ERRORS: tuple[type[BaseException], ...] = (asyncio.CancelledError, KeyboardInterrupt, SystemExit, GeneratorExit)
EVENT_LOOP_TASK = "event loop"

_MAX_DOUBLINGS = 64


def current_task() -> asyncio.Task[Any] | None:
    """The task that runs this code; None outside of an event loop."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


@asynccontextmanager
async def child_task(work: Coroutine[Any, Any, Result], name: str | None = None) -> AsyncIterator[asyncio.Task[Result]]:
    """Run `work` alongside the block, then cancel and await it; a failure before that is raised.

    Such a failure does not replace an exception of the block itself.
    """
    task = asyncio.create_task(work, name=name)
    try:
        yield task
    except BaseException:
        await cancel_tasks(task)
        raise
    if task.done() and not task.cancelled():
        task.result()
    await cancel_tasks(task)


async def cancel_tasks(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks and wait until they have ended; their errors are dropped."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.gather(*tasks, return_exceptions=True)


async def gather_or_cancel(*works: Coroutine[Any, Any, Any]) -> list[Any]:
    """Run all concurrently. The first failure cancels the others, waits until they have ended, and is raised."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        await cancel_tasks(*tasks)
        raise


async def wait_for_completion(work: Awaitable[Result]) -> Result:
    """Await `work` to its end even if this task is cancelled; the cancellation is raised afterwards.

    For native calls, which continue in their threads: their resources must not be released before they end.
    """
    task, cancelled = asyncio.ensure_future(work), None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not task.cancelled():
            task.exception()  # the caller receives the cancellation, not this error
        raise cancelled
    return task.result()


def is_task_exit(error: BaseException, task: asyncio.Task[Any] | None) -> bool:
    """Whether an error raised within `task` ends the task or the program.

    A CancelledError is an ordinary failure if the task was not cancelled: it comes from a library or from another task
    that was awaited. So is a GeneratorExit while the task itself runs: a coroutine is closed from outside.
    """
    if isinstance(error, asyncio.CancelledError):
        return task is None or task.cancelling() > 0
    if isinstance(error, GeneratorExit):
        return task is None or task is not current_task()
    return isinstance(error, EXIT_ERRORS)


def describe_error(error: BaseException) -> str:
    """An error in words for status and health pages; only the type of unexpected ones, since they may quote texts."""
    if isinstance(error, NothingGiven):
        return f"nothing given: {error.outcome}"  # its message quotes a reply
    return (str(error) if isinstance(error, EngineError) else "") or type(error).__name__


@dataclass(frozen=True, slots=True)
class TaskReport:
    """State of one background task. `failures` counts all since the start; `error` is the last one in words."""

    name: str
    failures: int
    is_failing: bool
    error: str

    def __str__(self) -> str:
        return f"The background task “{self.name}” is failing and will be retried: {self.error.rstrip('.')}."


@dataclass(slots=True)
class _TaskRecord:
    """Failures of one task name."""

    failures: int = 0
    consecutive_failures: int = 0
    failed_at: float = 0.0
    waiting: int = 0
    error: str = ""


class Supervisor:
    """Runs the background tasks of a program. A failed task is logged, counted and restarted after a delay.

    Task names are shown to operators and label metrics: they are few and contain no ids.
    """

    def __init__(
        self,
        clock: Clock,
        first_wait: float | None = None,
        longest_wait: float | None = None,
    ) -> None:
        self._clock = clock
        self._first_wait = FIRST_RETRY_SECONDS if first_wait is None else first_wait
        self._longest_wait = MAX_RETRY_SECONDS if longest_wait is None else longest_wait
        self._records: dict[str, _TaskRecord] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._problem_sources: list[Callable[[], Sequence[str]]] = []

    def run(
        self, name: str, work: Callable[[], Awaitable[object]], *, fatal: tuple[type[BaseException], ...] = ()
    ) -> asyncio.Task[None]:
        """Run `work` until it returns; if it raises, run it again after a back-off.

        `fatal` errors are not retried but raised to the caller that awaits the task. Cancel the task to end it.
        """
        self._records.setdefault(name, _TaskRecord())
        return self._start_task(name, self._repeat(name, work, fatal))

    def spawn(self, name: str, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Run `work` once. A failure is logged and counted, even if the task is awaited."""
        self._records.setdefault(name, _TaskRecord())
        task = self._start_task(name, work)
        task.add_done_callback(lambda ended: self._record_result(name, ended))
        return task

    def record_failure(self, name: str, error: BaseException) -> int:
        """Record a failure; returns the number of consecutive failures."""
        record = self._records.setdefault(name, _TaskRecord())
        if self._clock.monotonic() - record.failed_at > HEALTHY_AFTER_SECONDS + self._longest_wait:
            record.consecutive_failures = 0
        record.failures += 1
        record.consecutive_failures += 1
        record.failed_at = self._clock.monotonic()
        record.error = describe_error(error)
        if isinstance(error, EngineError):
            log.warning(
                "scheduling.task_failed",
                task=name,
                error=record.error,
                hint=error.hint,
                attempts=record.consecutive_failures,
            )
        else:
            log.error(
                "scheduling.task_failed",
                task=name,
                error=record.error,
                attempts=record.consecutive_failures,
                exc_info=error,
            )
        return record.consecutive_failures

    def record_success(self, name: str) -> None:
        """Record that a task works (again)."""
        self._records.setdefault(name, _TaskRecord()).consecutive_failures = 0

    def list_reports(self) -> list[TaskReport]:
        """The state of all tasks that were ever started, by name."""
        return [
            TaskReport(name, record.failures, self._is_failing(record), record.error)
            for name, record in sorted(self._records.items())
        ]

    def add_problem_source(self, source: Callable[[], Sequence[str]]) -> None:
        """Add a callback whose sentences are included in `list_problems`."""
        self._problem_sources.append(source)

    def list_problems(self) -> list[str]:
        """One sentence per failing task, and the sentences of the added sources."""
        failing = [str(report) for report in self.list_reports() if report.is_failing]
        return failing + [sentence for source in self._problem_sources for sentence in source()]

    def watch_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        """Record failures in `loop` that no code awaits: of libraries' own tasks and of callbacks."""
        loop.set_exception_handler(
            lambda _, context: self.record_failure(EVENT_LOOP_TASK, context.get("exception") or _LoopError())
        )

    async def stop(self) -> None:
        """Cancel the remaining tasks and wait until they have ended."""
        await cancel_tasks(*self._tasks)

    def _start_task(self, name: str, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _repeat(
        self, name: str, work: Callable[[], Awaitable[object]], fatal: tuple[type[BaseException], ...]
    ) -> None:
        record, task = self._records[name], current_task()
        while True:
            try:
                await work()
            except BaseException as error:  # native libraries panic with a BaseException
                if isinstance(error, fatal) or is_task_exit(error, task):
                    raise
                tries = self.record_failure(name, error)
            else:
                self.record_success(name)
                return
            record.waiting += 1
            try:
                await asyncio.sleep(backoff_seconds(tries, self._first_wait, self._longest_wait))
            finally:
                record.waiting -= 1

    def _record_result(self, name: str, task: asyncio.Task[Any]) -> None:
        if task.cancelled():
            if not task.cancelling():
                self.record_failure(name, asyncio.CancelledError())
        elif (error := task.exception()) is None:
            self.record_success(name)
        else:
            self.record_failure(name, error)

    def _is_failing(self, record: _TaskRecord) -> bool:
        if not record.consecutive_failures:
            return False
        return record.waiting > 0 or self._clock.monotonic() - record.failed_at < HEALTHY_AFTER_SECONDS


class _LoopError(Exception):
    """An event loop error without an exception."""


def backoff_seconds(tries: int, first: float, longest: float) -> float:
    """Seconds to wait after this many consecutive failures: `first` after one, then doubled up to `longest`."""
    return float(min(first * 2 ** min(max(tries - 1, 0), _MAX_DOUBLINGS), longest))
