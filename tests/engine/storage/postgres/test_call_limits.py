"""Calls of several processes that one limit counts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from typing import Any

import psycopg
import pytest

from engine.clock import SYSTEM_CLOCK
from engine.errors import DatabaseUnreachable
from engine.scheduling.processes import CallLimits
from engine.scheduling.supervisor import Supervisor
from engine.storage.postgres import call_limits
from engine.storage.postgres.call_limits import SharedCallLimits
from engine.storage.postgres.process_registry import ProcessRegistry


@pytest.fixture
async def both(postgres_url: str) -> AsyncIterator[list[CallLimits]]:
    """The limits of two processes."""
    async with AsyncExitStack() as stack:
        stack.push_async_callback((supervisor := Supervisor(SYSTEM_CLOCK)).stop)
        opened = [
            await stack.enter_async_context(ProcessRegistry.open(postgres_url, supervisor, SYSTEM_CLOCK))
            for _ in range(2)
        ]
        yield [each.call_limits for each in opened if each.call_limits is not None]


async def test_no_more_than_the_limit_within_any_span(both: list[CallLimits]) -> None:
    loop, turns = asyncio.get_running_loop(), list[tuple[float, float]]()

    async def call(limits: CallLimits) -> None:
        while loop.time() < end:
            began = loop.time()
            if wait := await limits.take_turn("a", 4, 0.2):
                await asyncio.sleep(wait)
            else:
                turns.append((began, loop.time()))

    end = loop.time() + 0.9
    await asyncio.gather(*(call(limit) for limit in both * 3))
    assert 5 <= len(turns) <= 4 * (1 + (loop.time() - end + 0.9) / 0.2)
    turns.sort()
    for first in range(len(turns) - 4):
        five = turns[first : first + 5]
        assert max(ended for _, ended in five) - five[0][0] >= 0.199


async def test_a_refused_call_is_not_counted_and_learns_how_long_to_wait(both: list[CallLimits]) -> None:
    here, there = both
    assert await here.take_turn("a", 1, 60.0) == 0
    assert all([50 < await there.take_turn("a", 1, 60.0) <= 60 for _ in range(3)])
    assert await there.take_turn("b", 1, 60.0) == 0
    assert await here.take_turn("c", 1, 0.2) == 0
    await asyncio.sleep(await there.take_turn("c", 1, 0.2))
    assert await there.take_turn("c", 1, 0.2) == 0


async def test_a_pause_holds_for_all_and_is_never_shortened(both: list[CallLimits]) -> None:
    here, there = both
    assert await there.find_pause("a") == 0
    await here.pause("a", 60)
    await there.pause("a", 1)
    assert 59 < await there.find_pause("a") <= 60
    assert 59 < await there.take_turn("a", 5, 1.0) <= 60
    await here.take_turn("b", 5, 1.0)
    assert await there.find_pause("b") == 0


async def test_windows_that_nobody_uses_are_deleted_at_a_start(both: list[CallLimits], postgres_url: str) -> None:
    for name in ("old", "new"):
        await both[0].take_turn(name, 5, 1.0)
    with psycopg.connect(postgres_url, options="-c search_path=threadlore_process") as admin:
        admin.execute("UPDATE call_window SET calls = ARRAY[now() - interval '2 days'] WHERE name = 'old'")
        admin.commit()
        async with ProcessRegistry.open(postgres_url, supervisor := Supervisor(SYSTEM_CLOCK), SYSTEM_CLOCK):
            assert admin.execute("SELECT name FROM call_window").fetchall() == [("new",)]
        await supervisor.stop()


async def test_a_clock_that_was_set_back_holds_up_no_calls(both: list[CallLimits], postgres_url: str) -> None:
    for _ in range(2):
        await both[0].take_turn("a", 2, 60.0)
    with psycopg.connect(postgres_url, options="-c search_path=threadlore_process") as admin:
        admin.execute("UPDATE call_window SET calls = ARRAY(SELECT unnest(calls) + interval '1 hour')")
    turns = [await both[1].take_turn("a", 2, 60.0) for _ in range(3)]
    assert turns[:2] == [0, 0]
    assert 50 < turns[2] <= 60


async def test_a_database_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang(_: str, __: tuple[Any, ...]) -> Sequence[tuple[Any, ...]]:
        await asyncio.sleep(60)
        return []

    monkeypatch.setattr(call_limits, "ANSWER_TIMEOUT", 0.01)
    with pytest.raises(DatabaseUnreachable):
        await SharedCallLimits(hang).take_turn("a", 1, 1.0)
