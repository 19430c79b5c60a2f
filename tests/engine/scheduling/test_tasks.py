from __future__ import annotations

import asyncio

import pytest

from engine.scheduling.supervisor import child_task, gather_or_cancel, wait_for_completion


class Work:
    """Waits for a gate; `ended` is set once it has cleaned up."""

    def __init__(self, *, is_open: bool = False) -> None:
        self.gate, self.began, self.ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
        if is_open:
            self.gate.set()

    async def __call__(self) -> str:
        self.began.set()
        try:
            await self.gate.wait()
        finally:
            await asyncio.sleep(0)
            self.ended.set()
        return "done"


async def fail(after: Work | None = None) -> None:
    if after:
        await after.began.wait()
    raise KeyError("a bug")


async def test_a_child_has_ended_when_its_block_is_left() -> None:
    work = Work()

    async def block() -> None:
        async with child_task(work()):
            await fail(after=work)

    with pytest.raises(KeyError):
        await block()
    assert work.ended.is_set()


async def test_a_child_that_failed_unseen_fails_its_block() -> None:
    with pytest.raises(KeyError):
        async with child_task(fail()):
            await asyncio.sleep(0.01)


async def test_all_results_come_in_order_and_the_first_failure_ends_the_others() -> None:
    assert await gather_or_cancel(Work(is_open=True)(), asyncio.sleep(0, "slept")) == ["done", "slept"]
    work = Work()
    with pytest.raises(KeyError):
        await gather_or_cancel(work(), fail(after=work))
    assert work.ended.is_set()


async def test_native_work_ends_before_its_cancellation_is_raised() -> None:
    work = Work()
    task = asyncio.create_task(wait_for_completion(work()))
    await work.began.wait()
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0.01)
    assert not task.done()
    work.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert work.ended.is_set()


async def test_native_work_gives_its_result_or_its_error() -> None:
    assert await wait_for_completion(Work(is_open=True)()) == "done"
    with pytest.raises(KeyError):
        await wait_for_completion(fail())
