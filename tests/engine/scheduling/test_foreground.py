from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from engine.llm.client.limiter import FOREGROUND_RANK, embedding_rank
from engine.scheduling import foreground
from engine.scheduling.foreground import ForegroundPriority, iterate_cooperatively

if TYPE_CHECKING:
    import pytest


async def test_background_work_waits_until_nobody_is_waiting() -> None:
    kind, order = ForegroundPriority(), list[str]()

    async def background() -> None:
        await kind.yield_to_foreground()
        order.append("background")

    with kind.foreground_request():
        working = asyncio.create_task(background())
        await asyncio.sleep(0)
        order.append("answer")
    await working
    assert order == ["answer", "background"]


async def test_background_work_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreground, "MAX_YIELD_SECONDS", 0.01)
    kind = ForegroundPriority()
    with kind.foreground_request():
        async with asyncio.timeout(5):
            await kind.yield_to_foreground()


async def test_others_have_their_turn_during_a_long_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreground, "YIELD_INTERVAL_SECONDS", -1.0)
    order = list[str]()

    async def other() -> None:
        order.append("other")

    waiting = asyncio.create_task(other())
    async for item in iterate_cooperatively("ab"):
        order.append(item)
    await waiting
    assert order == ["a", "other", "b"]


async def test_work_that_is_ended_at_the_moment_in_which_it_may_go_on_ends() -> None:
    kind = ForegroundPriority()

    async def for_ever() -> None:
        while True:
            await kind.yield_to_foreground()
            await asyncio.sleep(1)

    with kind.foreground_request():
        working = asyncio.create_task(for_ever())
        await asyncio.sleep(0.01)
    working.cancel()
    _, left = await asyncio.wait({working}, timeout=5)
    assert not left


async def test_a_long_loop_steps_aside_for_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreground, "YIELD_INTERVAL_SECONDS", -1.0)
    kind, seen = ForegroundPriority(), list[str]()

    async def loop() -> None:
        async for item in iterate_cooperatively("abc", kind):
            seen.append(item)

    with kind.foreground_request():
        working = asyncio.create_task(loop())
        for _ in range(20):
            await asyncio.sleep(0)
        assert seen == ["a"]
    await working
    assert seen == ["a", "b", "c"]


async def test_many_questions_leave_the_background_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreground, "MAX_YIELD_SECONDS", 0.01)
    monkeypatch.setattr(foreground, "YIELD_PAUSE_SECONDS", 60.0)
    kind = ForegroundPriority()
    with kind.foreground_request():
        async with asyncio.timeout(5):
            for _ in range(1000):
                await kind.yield_to_foreground()


def test_a_question_is_recent_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = ForegroundPriority()
    assert not kind.is_recent
    with kind.foreground_request():
        assert kind.is_recent
    assert kind.is_recent
    monkeypatch.setattr(foreground, "RECENT_REQUEST_SECONDS", 0.0)
    assert not kind.is_recent


async def test_many_texts_are_urgent_only_while_somebody_waits_for_them() -> None:
    kind, ranks = ForegroundPriority(), list[int]()

    async def background() -> None:
        await kind.yield_to_foreground()
        ranks.append(embedding_rank(100))

    working = asyncio.create_task(background())
    with kind.foreground_request():
        with kind.foreground_request():
            assert embedding_rank(100) == FOREGROUND_RANK
        assert embedding_rank(100) == FOREGROUND_RANK
    await working
    assert embedding_rank(100) > FOREGROUND_RANK
    assert ranks == [FOREGROUND_RANK + 1]
