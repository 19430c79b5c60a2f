from __future__ import annotations

import asyncio
import gc

import pytest

from engine.errors import StoreError
from engine.scheduling.backoff import backoff_seconds
from engine.scheduling.supervisor import EVENT_LOOP_TASK, HEALTHY_AFTER_SECONDS, Supervisor


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Panic(BaseException):
    """What a native library raises when it panics."""


def quick(clock: Clock | None = None) -> Supervisor:
    return Supervisor(clock or Clock(), first_wait=0.0, longest_wait=0.0)


def test_the_wait_doubles_up_to_the_longest() -> None:
    assert [backoff_seconds(tries, 1.0, 60.0) for tries in (0, 1, 2, 3, 7, 10_000)] == [1.0, 1.0, 2.0, 4.0, 60.0, 60.0]


@pytest.mark.parametrize(
    "error", [KeyError("a bug"), ConnectionResetError(), StoreError("locked"), Panic(), asyncio.CancelledError()]
)
async def test_a_task_that_fails_is_counted_and_started_again(error: BaseException) -> None:
    supervisor, runs, done = quick(), 0, asyncio.Event()

    async def work() -> None:
        nonlocal runs
        runs += 1
        if runs < 4:
            raise error
        done.set()

    async with asyncio.timeout(10):
        await supervisor.run("work", work)
    assert done.is_set()
    [report] = supervisor.list_reports()
    assert (report.name, report.failures, report.is_failing) == ("work", 3, False)


async def test_a_failing_task_is_complained_of_until_it_works_again() -> None:
    clock = Clock()
    supervisor, gate, failed = Supervisor(clock, first_wait=0.0, longest_wait=0.0), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        if not failed.is_set():
            failed.set()
            raise StoreError("The disk is full.")
        await gate.wait()

    task = supervisor.run("embed", work)
    await failed.wait()
    await asyncio.sleep(0)
    assert supervisor.list_problems() == [
        "The background task “embed” is failing and will be retried: The disk is full."
    ]
    clock.now += HEALTHY_AFTER_SECONDS + 1
    await asyncio.sleep(0.01)
    assert supervisor.list_problems() == []
    await supervisor.stop()
    assert task.cancelled()


async def test_a_task_that_waits_for_its_restart_is_failing_however_long_that_takes() -> None:
    clock = Clock()
    supervisor = Supervisor(clock, first_wait=60.0)

    async def work() -> None:
        raise KeyError("text of somebody")

    supervisor.run("work", work)
    await asyncio.sleep(0.01)
    clock.now += 10 * HEALTHY_AFTER_SECONDS
    [complaint] = supervisor.list_problems()
    assert "KeyError" in complaint
    assert "somebody" not in complaint
    await supervisor.stop()


async def test_what_is_fatal_is_raised_and_not_tried_again() -> None:
    supervisor, runs = quick(), 0

    async def work() -> None:
        nonlocal runs
        runs += 1
        raise PermissionError("bad token")

    with pytest.raises(PermissionError):
        await supervisor.run("adapter", work, fatal=(PermissionError,))
    assert runs == 1


async def test_a_task_that_runs_once_and_fails_is_counted_though_nobody_awaits_it() -> None:
    supervisor = quick()

    async def work() -> None:
        raise KeyError("a bug")

    supervisor.spawn("sign", work())
    await asyncio.sleep(0.01)
    assert [(each.name, each.failures, each.is_failing) for each in supervisor.list_reports()] == [("sign", 1, True)]


async def test_a_task_that_runs_once_and_is_cancelled_by_nobody_is_counted() -> None:
    supervisor = quick()

    async def work() -> None:
        raise asyncio.CancelledError

    supervisor.spawn("sign", work())
    ended = supervisor.spawn("wait", asyncio.sleep(60))
    await asyncio.sleep(0.01)
    ended.cancel()
    await asyncio.sleep(0.01)
    assert [(each.name, each.failures) for each in supervisor.list_reports()] == [("sign", 1), ("wait", 0)]


async def test_a_task_that_was_cancelled_while_a_call_of_its_own_was_cancelled_too_is_not_started_again() -> None:
    supervisor, runs = quick(), 0

    async def work() -> None:
        nonlocal runs
        runs += 1
        await asyncio.gather(asyncio.sleep(60), asyncio.sleep(60))

    task = supervisor.run("work", work)
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert runs == 1


async def test_a_failure_that_nobody_awaits_in_a_librarys_own_task_is_counted() -> None:
    supervisor, loop = quick(), asyncio.get_running_loop()
    supervisor.watch_loop(loop)

    async def work() -> None:
        raise KeyError("a bug")

    task = asyncio.ensure_future(work())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    del task
    gc.collect()
    loop.call_soon(lambda: 1 / 0)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert [(each.name, each.failures) for each in supervisor.list_reports()] == [(EVENT_LOOP_TASK, 2)]


async def test_stopping_waits_until_tasks_have_ended() -> None:
    supervisor, ended = quick(), asyncio.Event()

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
