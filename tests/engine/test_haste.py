from __future__ import annotations

import asyncio
import time

import pytest

from engine import haste
from engine.haste import Haste, Load


@pytest.mark.parametrize(
    ("taken", "load"), [(0, Load.NONE), (1, Load.SOME), (63, Load.SOME), (64, Load.FULL), (65, Load.FULL)]
)
def test_a_batch_is_full_when_it_has_as_many_as_it_may(taken: int, load: Load) -> None:
    assert Load.of(taken, 64) is load


async def test_after_a_small_batch_more_comes_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haste, "PACE", 0.2)
    since = time.monotonic()
    await Haste().let_gather(Load.SOME, since)
    assert time.monotonic() - since >= 0.19


async def test_after_a_full_batch_the_next_one_begins_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haste, "PACE", 60.0)
    async with asyncio.timeout(5):
        await Haste().let_gather(Load.FULL, time.monotonic())


async def test_a_batch_that_took_its_time_is_followed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haste, "PACE", 60.0)
    async with asyncio.timeout(5):
        await Haste().let_gather(Load.SOME, time.monotonic() - 61)


async def test_nothing_is_waited_for_once_somebody_waits_for_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haste, "PACE", 60.0)
    hurry = Haste()
    gathering = asyncio.create_task(hurry.let_gather(Load.SOME, time.monotonic()))
    await asyncio.sleep(0)
    assert not gathering.done()
    async with asyncio.timeout(5):
        with hurry.wanted():
            assert hurry.hurried
            await gathering
            await hurry.let_gather(Load.SOME, time.monotonic())
    assert not hurry.hurried


async def test_while_one_of_two_still_waits_there_is_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haste, "PACE", 60.0)
    hurry = Haste()
    with hurry.wanted():
        with hurry.wanted():
            pass
        async with asyncio.timeout(5):
            await hurry.let_gather(Load.SOME, time.monotonic())
