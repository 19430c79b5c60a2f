from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from engine.llm.client.limiter import URGENT, embedding_rank
from engine.scheduling import foreground
from engine.scheduling.foreground import Courtesy, in_turns

if TYPE_CHECKING:
    import pytest


async def test_background_work_waits_until_nobody_is_waiting() -> None:
    kind, order = Courtesy(), list[str]()

    async def background() -> None:
        await kind.after_you()
        order.append("background")

    with kind.asked():
        working = asyncio.create_task(background())
        await asyncio.sleep(0)
        order.append("answer")
    await working
    assert order == ["answer", "background"]


async def test_background_work_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreground, "LONGEST", 0.01)
    kind = Courtesy()
    with kind.asked():
        async with asyncio.timeout(5):
            await kind.after_you()


async def test_others_have_their_turn_during_a_long_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreground, "BREATH", -1.0)
    order = list[str]()

    async def other() -> None:
        order.append("other")

    waiting = asyncio.create_task(other())
    async for item in in_turns("ab"):
        order.append(item)
    await waiting
    assert order == ["a", "other", "b"]


async def test_work_that_is_ended_at_the_moment_in_which_it_may_go_on_ends() -> None:
    kind = Courtesy()

    async def for_ever() -> None:
        while True:
            await kind.after_you()
            await asyncio.sleep(1)

    with kind.asked():
        working = asyncio.create_task(for_ever())
        await asyncio.sleep(0.01)
    working.cancel()
    _, left = await asyncio.wait({working}, timeout=5)
    assert not left


async def test_a_long_loop_steps_aside_for_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreground, "BREATH", -1.0)
    kind, seen = Courtesy(), list[str]()

    async def loop() -> None:
        async for item in in_turns("abc", kind):
            seen.append(item)

    with kind.asked():
        working = asyncio.create_task(loop())
        for _ in range(20):
            await asyncio.sleep(0)
        assert seen == ["a"]
    await working
    assert seen == ["a", "b", "c"]


async def test_many_questions_leave_the_background_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreground, "LONGEST", 0.01)
    monkeypatch.setattr(foreground, "LEFT_ALONE", 60.0)
    kind = Courtesy()
    with kind.asked():
        async with asyncio.timeout(5):
            for _ in range(1000):
                await kind.after_you()


def test_a_question_is_recent_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = Courtesy()
    assert not kind.recent
    with kind.asked():
        assert kind.recent
    assert kind.recent
    monkeypatch.setattr(foreground, "RECENT", 0.0)
    assert not kind.recent


async def test_many_texts_are_urgent_only_while_somebody_waits_for_them() -> None:
    kind, ranks = Courtesy(), list[int]()

    async def background() -> None:
        await kind.after_you()
        ranks.append(embedding_rank(100))

    working = asyncio.create_task(background())
    with kind.asked():
        with kind.asked():
            assert embedding_rank(100) == URGENT
        assert embedding_rank(100) == URGENT
    await working
    assert embedding_rank(100) > URGENT
    assert ranks == [URGENT + 1]
