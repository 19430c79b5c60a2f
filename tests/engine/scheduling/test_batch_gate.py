from __future__ import annotations

import asyncio

import pytest

from engine.scheduling.foreground import BatchGate, NextStep, WaitTarget
from tests.support.patience import PATIENCE

LONG = 10 * PATIENCE


@pytest.mark.parametrize(
    ("count", "next_step"),
    [(0, NextStep.IDLE), (1, NextStep.GATHER), (63, NextStep.GATHER), (64, NextStep.CONTINUE), (65, NextStep.CONTINUE)],
)
def test_a_full_batch_has_more_behind_it(count: int, next_step: NextStep) -> None:
    assert NextStep.after_batch(count, 64) is next_step


async def test_more_comes_together_until_its_time_is_over() -> None:
    loop = asyncio.get_running_loop()
    since = loop.time()
    await BatchGate().wait_for_more(0.1)
    assert loop.time() - since >= 0.09
    await asyncio.wait_for(BatchGate().wait_for_more(-1), PATIENCE)


async def test_nothing_is_gathered_while_a_caller_waits_for_everything() -> None:
    gate = BatchGate()
    gathering = asyncio.create_task(gate.wait_for_more(LONG))
    await asyncio.sleep(0)
    assert not gathering.done()
    async with asyncio.timeout(PATIENCE):
        with gate.register_waiter(WaitTarget.EVERYTHING):
            with gate.register_waiter(WaitTarget.EVERYTHING):
                pass
            assert gate.has_waiter(WaitTarget.EVERYTHING)
            await gathering
            await gate.wait_for_more(LONG)
    assert not gate.has_waiter(WaitTarget.EVERYTHING)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(gate.wait_for_more(LONG), 0.01)


async def test_during_extraction_only_waiting_for_what_is_present_ends_gathering() -> None:
    gate = BatchGate()
    gate.set_extracting(True)
    with gate.register_waiter(WaitTarget.EVERYTHING):
        gathering = asyncio.create_task(gate.wait_for_more(LONG))
        await asyncio.sleep(0.01)
        assert not gathering.done()
        gate.set_extracting(False)
        await asyncio.wait_for(gathering, PATIENCE)
    gate.set_extracting(True)
    with gate.register_waiter(WaitTarget.PRESENT):
        assert not gate.has_waiter(WaitTarget.EVERYTHING)
        await asyncio.wait_for(gate.wait_for_more(LONG), PATIENCE)
