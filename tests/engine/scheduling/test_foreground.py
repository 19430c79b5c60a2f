from __future__ import annotations

import asyncio

import pytest

from engine.llm.client.limiter import FOREGROUND_RANK, embedding_rank
from engine.scheduling import foreground
from engine.scheduling.foreground import ForegroundPriority, iterate_cooperatively
from tests.support.clock import ManualClock
from tests.support.patience import PATIENCE


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def priority(clock: ManualClock) -> ForegroundPriority:
    return ForegroundPriority(clock)


async def test_background_work_waits_for_requests_and_is_then_not_urgent(priority: ForegroundPriority) -> None:
    order = list[object]()

    async def background() -> None:
        await priority.yield_to_foreground()
        order.extend(["background", embedding_rank(100)])

    working = asyncio.create_task(background())
    with priority.foreground_request():
        await asyncio.sleep(0)
        with priority.foreground_request():
            assert embedding_rank(100) == FOREGROUND_RANK
        assert embedding_rank(100) == FOREGROUND_RANK
        order.append("answer")
    await working
    assert order == ["answer", "background", FOREGROUND_RANK + 1]
    assert embedding_rank(100) > FOREGROUND_RANK


async def test_background_work_waits_only_so_long(
    priority: ForegroundPriority, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreground, "MAX_YIELD_SECONDS", 0.01)
    with priority.foreground_request():
        async with asyncio.timeout(PATIENCE):
            for _ in range(1000):
                await priority.yield_to_foreground()
        clock.advance(foreground.YIELD_PAUSE_SECONDS)
        waiting = asyncio.create_task(priority.yield_to_foreground())
        await asyncio.sleep(0)
        assert not waiting.done()
    await waiting


async def test_a_long_loop_lets_other_tasks_run_and_waits_for_requests(
    priority: ForegroundPriority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreground, "YIELD_INTERVAL_SECONDS", -1.0)
    order = list[str]()

    async def loop(items: str, within: ForegroundPriority | None) -> None:
        async for item in iterate_cooperatively(items, within):
            order.append(item)

    await asyncio.gather(loop("ac", None), loop("bd", None))
    assert order == ["a", "b", "c", "d"]
    with priority.foreground_request():
        working = asyncio.create_task(loop("xyz", priority))
        for _ in range(20):
            await asyncio.sleep(0)
        assert order[4:] == ["x"]
    await working
    assert order[4:] == ["x", "y", "z"]


async def test_work_that_is_cancelled_at_the_moment_in_which_it_may_go_on_ends(priority: ForegroundPriority) -> None:
    async def work() -> None:
        while True:
            await priority.yield_to_foreground()
            await asyncio.sleep(1)

    with priority.foreground_request():
        working = asyncio.create_task(work())
        await asyncio.sleep(0.01)
    working.cancel()
    _, left = await asyncio.wait({working}, timeout=PATIENCE)
    assert not left


def test_a_request_is_recent_for_a_while(priority: ForegroundPriority, clock: ManualClock) -> None:
    assert not priority.is_recent
    with priority.foreground_request():
        clock.advance(2 * foreground.RECENT_REQUEST_SECONDS)
        assert priority.is_recent
    clock.advance(foreground.RECENT_REQUEST_SECONDS - 1)
    assert priority.is_recent
    clock.advance(1)
    assert not priority.is_recent
