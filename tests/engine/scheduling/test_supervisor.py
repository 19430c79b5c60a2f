from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from engine.errors import StoreError
from engine.scheduling.supervisor import EVENT_LOOP_TASK, HEALTHY_AFTER_SECONDS, Supervisor, backoff_seconds
from tests.support.clock import ManualClock
from tests.support.engine_fixture import Panic
from tests.support.patience import PATIENCE


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def supervisor(clock: ManualClock) -> AsyncIterator[Supervisor]:
    """A supervisor that restarts tasks at once."""
    made = Supervisor(clock, first_wait=0.0, longest_wait=0.0)
    yield made
    await made.stop()


@dataclass
class Work:
    """A task that fails so many times with an error, then waits for `gate`."""

    error: BaseException
    failures: int = 1
    runs: int = 0

    def __post_init__(self) -> None:
        self.gate = asyncio.Event()

    async def __call__(self) -> None:
        self.runs += 1
        if self.runs <= self.failures:
            raise self.error
        await self.gate.wait()


def failures(supervisor: Supervisor) -> list[tuple[str, int]]:
    return [(report.name, report.failures) for report in supervisor.list_reports()]


def test_the_wait_doubles_up_to_the_longest() -> None:
    assert [backoff_seconds(tries, 1.0, 60.0) for tries in (0, 1, 2, 3, 7, 10_000)] == [1.0, 1.0, 2.0, 4.0, 60.0, 60.0]


@pytest.mark.parametrize(
    "error", [KeyError("a bug"), ConnectionResetError(), StoreError("locked"), Panic(), asyncio.CancelledError()]
)
async def test_a_task_that_fails_is_counted_and_started_again(supervisor: Supervisor, error: BaseException) -> None:
    work = Work(error, failures=3)
    work.gate.set()
    await asyncio.wait_for(supervisor.run("work", work), PATIENCE)
    [report] = supervisor.list_reports()
    assert (work.runs, report.name, report.failures, report.is_failing) == (4, "work", 3, False)


async def test_a_failing_task_is_a_problem_until_it_works_for_a_while(
    supervisor: Supervisor, clock: ManualClock
) -> None:
    task = supervisor.run("embed", Work(StoreError("The disk is full.")))
    await asyncio.sleep(0.01)
    assert supervisor.list_problems() == [
        "The background task “embed” is failing and will be retried: The disk is full."
    ]
    clock.advance(HEALTHY_AFTER_SECONDS + 1)
    await asyncio.sleep(0.01)
    assert supervisor.list_problems() == []
    await supervisor.stop()
    assert task.cancelled()


async def test_a_task_that_waits_for_its_restart_is_failing_and_its_bug_is_named_without_its_text(
    clock: ManualClock,
) -> None:
    supervisor = Supervisor(clock, first_wait=60.0)
    supervisor.run("work", Work(KeyError("text of a user")))
    await asyncio.sleep(0.01)
    clock.advance(10 * HEALTHY_AFTER_SECONDS)
    [problem] = supervisor.list_problems()
    assert "KeyError" in problem
    assert "user" not in problem
    await supervisor.stop()


async def test_a_fatal_error_is_raised_and_not_tried_again(supervisor: Supervisor) -> None:
    work = Work(PermissionError("bad token"))
    with pytest.raises(PermissionError):
        await supervisor.run("adapter", work, fatal=(PermissionError,))
    assert work.runs == 1


@pytest.mark.parametrize("error", [KeyError("a bug"), asyncio.CancelledError()])
async def test_a_task_that_runs_once_is_counted_if_it_fails(supervisor: Supervisor, error: BaseException) -> None:
    supervisor.spawn("sign", Work(error)())
    waiting = supervisor.spawn("wait", asyncio.sleep(60))
    await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.sleep(0.01)
    assert failures(supervisor) == [("sign", 1), ("wait", 0)]
    assert supervisor.list_reports()[0].is_failing


async def test_a_task_that_is_cancelled_with_its_own_calls_is_not_started_again(supervisor: Supervisor) -> None:
    runs = 0

    async def work() -> None:
        nonlocal runs
        runs += 1
        await asyncio.gather(asyncio.sleep(60), asyncio.sleep(60))

    task = supervisor.run("work", work)
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait({task})
    assert (task.cancelled(), runs) == (True, 1)


@pytest.mark.long
async def test_failures_that_nobody_awaits_in_a_librarys_own_tasks_are_counted(supervisor: Supervisor) -> None:
    loop = asyncio.get_running_loop()
    supervisor.watch_loop(loop)
    task = asyncio.ensure_future(Work(KeyError("a bug"))())
    await asyncio.sleep(0.01)
    del task
    gc.collect()
    loop.call_soon(lambda: 1 / 0)
    await asyncio.sleep(0.01)
    assert failures(supervisor) == [(EVENT_LOOP_TASK, 2)]


async def test_stopping_waits_until_tasks_have_ended(supervisor: Supervisor) -> None:
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.set()

    supervisor.run("work", work)
    await asyncio.sleep(0)
    await supervisor.stop()
    assert ended.is_set()
