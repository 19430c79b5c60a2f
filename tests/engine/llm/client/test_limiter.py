from __future__ import annotations

import asyncio

import pytest

from engine.llm.client import limiter
from engine.llm.client.limiter import PrioritySemaphore


class Line:
    """Workers that note when they are let in, and stay until told to go."""

    def __init__(self, semaphore: PrioritySemaphore) -> None:
        self.semaphore = semaphore
        self.entered: list[str] = []
        self.leave: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def come(self, name: str, rank: int) -> None:
        self.leave[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._work(name, rank))
        await settle()

    async def go(self, name: str) -> None:
        self.leave[name].set()
        await self.tasks[name]
        await settle()

    async def _work(self, name: str, rank: int) -> None:
        async with self.semaphore.acquire(rank):
            self.entered.append(name)
            await self.leave[name].wait()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_the_urgent_enter_before_those_who_came_earlier() -> None:
    line = Line(PrioritySemaphore(1))
    for name, rank in (("running", 2), ("extraction", 2), ("summary", 1), ("question", 0), ("second question", 0)):
        await line.come(name, rank)
    assert line.entered == ["running"]
    for name in ("running", "question", "second question", "summary", "extraction"):
        await line.go(name)
    assert line.entered == ["running", "question", "second question", "summary", "extraction"]


async def test_no_more_than_the_limit_run_at_once() -> None:
    line = Line(PrioritySemaphore(2))
    for name in ("a", "b", "c", "d"):
        await line.come(name, 0)
    assert line.entered == ["a", "b"]
    await line.go("b")
    assert line.entered == ["a", "b", "c"]


async def test_a_reserved_place_waits_for_a_question() -> None:
    line = Line(PrioritySemaphore(2, reserved=1))
    await line.come("first", 2)
    await line.come("second", 2)
    assert line.entered == ["first"]
    await line.come("question", 0)
    assert line.entered == ["first", "question"]
    await line.go("first")
    assert line.entered == ["first", "question", "second"]


async def test_a_single_place_is_never_reserved_away() -> None:
    line = Line(PrioritySemaphore(1, reserved=1))
    await line.come("extraction", 2)
    assert line.entered == ["extraction"]


async def test_who_stops_waiting_takes_no_place() -> None:
    line = Line(PrioritySemaphore(1))
    for name in ("running", "impatient", "patient"):
        await line.come(name, 1)
    line.tasks["impatient"].cancel()
    await settle()
    await line.go("running")
    assert line.entered == ["running", "patient"]


async def test_who_is_let_in_and_cancelled_at_once_gives_the_place_back() -> None:
    line = Line(PrioritySemaphore(1))
    for name in ("running", "unlucky", "next"):
        await line.come(name, 1)
    line.leave["running"].set()
    await line.tasks["running"]
    line.tasks["unlucky"].cancel()
    await settle()
    assert "next" in line.entered
    await line.go("next")
    await line.come("after", 1)
    assert line.entered[-1] == "after"


async def test_a_failure_inside_gives_the_place_back() -> None:
    semaphore = PrioritySemaphore(1)
    with pytest.raises(KeyError):
        async with semaphore.acquire(0):
            raise KeyError
    async with asyncio.timeout(1), semaphore.acquire(0):
        pass


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="0"):
        PrioritySemaphore(0)


async def test_between_two_calls_of_a_question_nothing_of_the_background_begins() -> None:
    line = Line(PrioritySemaphore(2, question_gap=0.05))
    await line.come("condense", 0)
    await line.come("extraction", 2)
    await line.go("condense")
    await line.come("answer", 0)
    assert line.entered == ["condense", "answer"]
    async with asyncio.timeout(5):
        while "extraction" not in line.entered:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_however_many_questions_there_are_the_background_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiter, "MAX_BACKGROUND_DELAY", 0.05)
    line = Line(PrioritySemaphore(3, question_gap=0.04))
    await line.come("extraction", 2)
    async with asyncio.timeout(5):
        number = 0
        while number < 10 or "more" not in line.entered:
            number += 1
            await line.come(f"question {number}", 0)
            await line.go(f"question {number}")
            if number == 1:
                await line.come("more", 2)
            await asyncio.sleep(0.01)


def test_the_background_is_let_in_although_the_loop_of_the_question_ended() -> None:
    semaphore = PrioritySemaphore(1, question_gap=0.05)

    async def hold(rank: int) -> None:
        async with asyncio.timeout(5), semaphore.acquire(rank):
            pass

    asyncio.run(hold(limiter.FOREGROUND_RANK))
    asyncio.run(hold(1))
