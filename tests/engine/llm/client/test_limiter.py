from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engine.errors import ModelTimeout
from engine.llm.client import limiter
from engine.llm.client.limiter import PrioritySemaphore
from engine.llm.client.thinking_time import ThinkingTime
from tests.support.clock import ManualClock
from tests.support.patience import PATIENCE

QUESTION, SUMMARY, EXTRACTION = 0, 1, 2  # ranks


class Queue:
    """Workers that record when they enter, and stay until they are released."""

    def __init__(self, semaphore: PrioritySemaphore) -> None:
        self.semaphore = semaphore
        self.entered: list[str] = []
        self.released: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def add(self, rank: int, *names: str) -> None:
        for name in names:
            self.released[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._work(name, rank))
            await let_others_run()

    async def release(self, *names: str) -> None:
        for name in names:
            self.released[name].set()
            await self.tasks[name]
            await let_others_run()

    async def cancel(self, name: str) -> None:
        self.tasks[name].cancel()
        await let_others_run()

    async def _work(self, name: str, rank: int) -> None:
        async with self.semaphore.acquire(rank):
            self.entered.append(name)
            await self.released[name].wait()


async def let_others_run() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


# "name@rank" waits for a slot, "-name" releases its slot, "!name" is cancelled.
@pytest.mark.parametrize(
    ("limits", "steps", "entered"),
    [
        pytest.param({}, "a@2 b@2 c@1 d@0 e@0 -a -d -e -c", "a d e c b", id="urgent work before earlier work"),
        pytest.param({"limit": 2}, "a@0 b@0 c@0 d@0", "a b", id="no more than the limit at once"),
        pytest.param({"limit": 2}, "a@0 b@0 c@0 d@0 -b", "a b c", id="one enters when another leaves"),
        pytest.param({"limit": 2, "reserved": 1}, "a@2 b@2", "a", id="a reserved slot waits for a question"),
        pytest.param({"limit": 2, "reserved": 1}, "a@2 b@2 q@0 -a", "a q b", id="a question takes the reserved slot"),
        pytest.param({"reserved": 1}, "a@2", "a", id="a single slot is never reserved"),
        pytest.param({}, "a@1 b@1 c@1 !b -a", "a c", id="a cancelled waiter takes no slot"),
        pytest.param({"limit": 2, "question_gap": 1.0}, "q@0 a@2 -q r@0", "q r", id="a gap between two questions"),
    ],
)
async def test_slots_are_given_by_rank(limits: dict[str, Any], steps: str, entered: str) -> None:
    queue = Queue(PrioritySemaphore(**{"limit": 1, **limits}))
    for step in steps.split():
        name, _, rank = step.lstrip("-!").partition("@")
        if rank:
            await queue.add(int(rank), name)
        elif step.startswith("-"):
            await queue.release(name)
        else:
            await queue.cancel(name)
    assert " ".join(queue.entered) == entered


async def test_a_waiter_admitted_and_cancelled_at_once_releases_its_slot() -> None:
    queue = Queue(PrioritySemaphore(1))
    await queue.add(SUMMARY, "running", "unlucky", "next")
    queue.released["running"].set()
    await queue.tasks["running"]
    await queue.cancel("unlucky")
    assert "next" in queue.entered
    await queue.release("next")
    await queue.add(SUMMARY, "after")
    assert queue.entered[-1] == "after"


async def test_a_failure_inside_releases_the_slot() -> None:
    semaphore = PrioritySemaphore(1)
    with pytest.raises(KeyError):
        async with semaphore.acquire(QUESTION):
            raise KeyError
    async with asyncio.timeout(PATIENCE), semaphore.acquire(QUESTION):
        pass


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="0"):
        PrioritySemaphore(0)


async def test_background_work_has_its_turn_however_many_questions_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiter, "MAX_BACKGROUND_DELAY", 0.05)
    queue, number = Queue(PrioritySemaphore(3, question_gap=0.04)), 0
    await queue.add(EXTRACTION, "extraction")
    async with asyncio.timeout(PATIENCE):
        while number < 10 or "more" not in queue.entered:
            number += 1
            await queue.add(QUESTION, f"question {number}")
            await queue.release(f"question {number}")
            if number == 1:
                await queue.add(EXTRACTION, "more")
            await asyncio.sleep(0.01)


def test_background_work_starts_although_the_loop_of_the_question_ended() -> None:
    semaphore = PrioritySemaphore(1, question_gap=0.05)

    async def hold(rank: int) -> None:
        async with asyncio.timeout(PATIENCE), semaphore.acquire(rank):
            pass

    asyncio.run(hold(QUESTION))
    asyncio.run(hold(SUMMARY))


async def test_replies_to_background_work_wait_for_the_next_call_of_a_question() -> None:
    semaphore, loop = PrioritySemaphore(2, question_gap=0.2), asyncio.get_running_loop()
    await semaphore.give_way(EXTRACTION)
    async with semaphore.acquire(QUESTION):
        since = loop.time()
    question = asyncio.create_task(semaphore.give_way(QUESTION))
    await let_others_run()
    assert question.done()
    await semaphore.give_way(EXTRACTION)
    assert loop.time() - since >= 0.19


def test_thinking_is_measured_by_the_clock_and_ends_with_text() -> None:
    clock = ManualClock()
    thinking = ThinkingTime("fake/model", 10.0, clock)
    thinking.record_thought()
    clock.advance(6.0)
    thinking.record_text()
    clock.advance(100.0)
    thinking.record_thought()
    clock.advance(3.9)
    thinking.record_thought()
    clock.advance(0.2)
    with pytest.raises(ModelTimeout):
        thinking.record_thought()
