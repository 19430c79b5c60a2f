from __future__ import annotations

import asyncio
import time

import pytest

from engine.haste import Haste, Load


@pytest.mark.parametrize(
    ("taken", "load"), [(0, Load.NONE), (1, Load.SOME), (63, Load.SOME), (64, Load.FULL), (65, Load.FULL)]
)
def test_a_batch_is_full_when_it_has_as_many_as_it_may(taken: int, load: Load) -> None:
    assert Load.of(taken, 64) is load


async def test_after_a_small_batch_more_comes_together() -> None:
    since = time.monotonic()
    await Haste().let_gather(Load.SOME, since + 0.2)
    assert time.monotonic() - since >= 0.19


async def test_after_a_full_batch_the_next_one_begins_at_once() -> None:
    async with asyncio.timeout(5):
        await Haste().let_gather(Load.FULL, time.monotonic() + 60)


async def test_a_batch_that_took_its_time_is_followed_at_once() -> None:
    async with asyncio.timeout(5):
        await Haste().let_gather(Load.SOME, time.monotonic() - 1)


async def test_nothing_is_waited_for_once_somebody_waits_for_the_end() -> None:
    haste = Haste()
    gathering = asyncio.create_task(haste.let_gather(Load.SOME, time.monotonic() + 60))
    await asyncio.sleep(0)
    assert not gathering.done()
    async with asyncio.timeout(5):
        with haste.wanted():
            assert haste.hurried
            await gathering
            await haste.let_gather(Load.SOME, time.monotonic() + 60)
    assert not haste.hurried


async def test_while_one_of_two_still_waits_there_is_haste() -> None:
    haste = Haste()
    with haste.wanted():
        with haste.wanted():
            pass
        async with asyncio.timeout(5):
            await haste.let_gather(Load.SOME, time.monotonic() + 60)
