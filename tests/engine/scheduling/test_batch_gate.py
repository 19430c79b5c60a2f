from __future__ import annotations

import asyncio
import time

import pytest

from engine.scheduling.batch_gate import Haste, Then, Wish

LONG = 60.0


@pytest.mark.parametrize(
    ("taken", "then"), [(0, Then.REST), (1, Then.GATHER), (63, Then.GATHER), (64, Then.GO_ON), (65, Then.GO_ON)]
)
def test_a_full_batch_has_more_behind_it(taken: int, then: Then) -> None:
    assert Then.after(taken, 64) is then


async def test_more_comes_together_until_its_time_is_over() -> None:
    since = time.monotonic()
    await Haste().let_gather(since + 0.2)
    assert time.monotonic() - since >= 0.19


async def test_a_batch_that_took_its_time_is_followed_at_once() -> None:
    async with asyncio.timeout(5):
        await Haste().let_gather(time.monotonic() - 1)


async def test_nothing_is_waited_for_once_somebody_waits_for_the_end() -> None:
    haste = Haste()
    gathering = asyncio.create_task(haste.let_gather(time.monotonic() + LONG))
    await asyncio.sleep(0)
    assert not gathering.done()
    async with asyncio.timeout(5):
        with haste.waiting(Wish.END):
            with haste.waiting(Wish.END):
                pass
            assert haste.wanted(Wish.END)
            await gathering
            await haste.let_gather(time.monotonic() + LONG)
    assert not haste.wanted(Wish.END)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(haste.let_gather(time.monotonic() + LONG), 0.01)


async def test_while_more_is_read_who_waits_for_the_end_lets_it_come_together() -> None:
    haste = Haste()
    haste.reads(True)
    with haste.waiting(Wish.END):
        gathering = asyncio.create_task(haste.let_gather(time.monotonic() + LONG))
        await asyncio.sleep(0.01)
        assert not gathering.done()
        haste.reads(False)
        await asyncio.wait_for(gathering, 5)


async def test_who_waits_for_what_is_there_already_is_not_kept_by_what_is_read() -> None:
    haste = Haste()
    haste.reads(True)
    with haste.waiting(Wish.NOW):
        with haste.waiting(Wish.NOW):
            pass
        assert not haste.wanted(Wish.END)
        await asyncio.wait_for(haste.let_gather(time.monotonic() + LONG), 5)
