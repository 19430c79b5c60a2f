from __future__ import annotations

import asyncio
import time

import pytest

from engine.scheduling.batch_gate import BatchGate, NextStep, WaitTarget

LONG = 60.0


@pytest.mark.parametrize(
    ("taken", "then"),
    [(0, NextStep.IDLE), (1, NextStep.GATHER), (63, NextStep.GATHER), (64, NextStep.CONTINUE), (65, NextStep.CONTINUE)],
)
def test_a_full_batch_has_more_behind_it(taken: int, then: NextStep) -> None:
    assert NextStep.after_batch(taken, 64) is then


async def test_more_comes_together_until_its_time_is_over() -> None:
    since = time.monotonic()
    await BatchGate().wait_for_more(since + 0.2)
    assert time.monotonic() - since >= 0.19


async def test_a_batch_that_took_its_time_is_followed_at_once() -> None:
    async with asyncio.timeout(5):
        await BatchGate().wait_for_more(time.monotonic() - 1)


async def test_nothing_is_waited_for_once_somebody_waits_for_the_end() -> None:
    haste = BatchGate()
    gathering = asyncio.create_task(haste.wait_for_more(time.monotonic() + LONG))
    await asyncio.sleep(0)
    assert not gathering.done()
    async with asyncio.timeout(5):
        with haste.register_waiter(WaitTarget.EVERYTHING):
            with haste.register_waiter(WaitTarget.EVERYTHING):
                pass
            assert haste.has_waiter(WaitTarget.EVERYTHING)
            await gathering
            await haste.wait_for_more(time.monotonic() + LONG)
    assert not haste.has_waiter(WaitTarget.EVERYTHING)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(haste.wait_for_more(time.monotonic() + LONG), 0.01)


async def test_while_more_is_read_who_waits_for_the_end_lets_it_come_together() -> None:
    haste = BatchGate()
    haste.set_extracting(True)
    with haste.register_waiter(WaitTarget.EVERYTHING):
        gathering = asyncio.create_task(haste.wait_for_more(time.monotonic() + LONG))
        await asyncio.sleep(0.01)
        assert not gathering.done()
        haste.set_extracting(False)
        await asyncio.wait_for(gathering, 5)


async def test_who_waits_for_what_is_there_already_is_not_kept_by_what_is_read() -> None:
    haste = BatchGate()
    haste.set_extracting(True)
    with haste.register_waiter(WaitTarget.PRESENT):
        with haste.register_waiter(WaitTarget.PRESENT):
            pass
        assert not haste.has_waiter(WaitTarget.EVERYTHING)
        await asyncio.wait_for(haste.wait_for_more(time.monotonic() + LONG), 5)
