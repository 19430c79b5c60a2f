"""Platforms are connected for as long as it takes: what may pass is tried again, and one leaves the other alone."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot.errors import PlatformError, SetupError
from bot.server import PlatformConnection, _run_until_stopped
from engine.scheduling.supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import Sequence


class Adapter:
    """Fails as it is told to, one failure an attempt; then it runs until told to stop."""

    def __init__(self, stop: asyncio.Event, *failures: Exception) -> None:
        self.stop = stop
        self.failures = list(failures)
        self.tries = 0
        self.up = asyncio.Event()

    async def __call__(self) -> None:
        self.tries += 1
        if self.failures:
            raise self.failures.pop(0)
        self.up.set()
        await self.stop.wait()


async def served(adapters: Sequence[Adapter], stop: asyncio.Event, wait: float = 0.001) -> None:
    """Run them all as the program does."""
    supervisor = Supervisor(first_wait=wait, longest_wait=wait)
    each = [PlatformConnection(f"p{number}", adapter, stop) for number, adapter in enumerate(adapters)]
    try:
        await _run_until_stopped({one.start(supervisor): one for one in each}, stop)
    finally:
        await supervisor.stop()


@pytest.mark.parametrize(
    "failure",
    [
        PlatformError("Slack was not reached."),
        AttributeError("'NoneType' object has no attribute 'sequence'"),
        KeyError("author"),
        OSError("Name or service not known"),
        ValueError("not JSON"),
    ],
)
async def test_what_may_pass_is_tried_again(failure: Exception) -> None:
    stop = asyncio.Event()
    adapter = Adapter(stop, *[failure] * 5)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(served([adapter], stop))
        await adapter.up.wait()
        assert adapter.tries == 6
        stop.set()


async def test_what_only_a_person_can_change_ends_it() -> None:
    stop = asyncio.Event()
    adapter = Adapter(stop, PlatformError("No."), SetupError("Slack does not accept the token."))
    async with asyncio.timeout(5):
        with pytest.raises(SetupError, match="does not accept"):
            await served([adapter], stop)
    assert adapter.tries == 2


async def test_one_that_ends_leaves_the_other_alone() -> None:
    stop = asyncio.Event()
    bad, good = Adapter(stop, SetupError("No.")), Adapter(stop, *[PlatformError("Later.")] * 3)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        serving = group.create_task(served([bad, good], stop))
        await good.up.wait()
        assert (bad.tries, serving.done()) == (1, False)
        stop.set()


async def test_nobody_waits_for_the_next_attempt_when_told_to_stop() -> None:
    stop = asyncio.Event()
    lost, up = Adapter(stop, PlatformError("Later.")), Adapter(stop)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(served([lost, up], stop, wait=1000.0))
        await up.up.wait()
        stop.set()
    assert lost.tries == 1


async def test_a_failure_while_leaving_is_no_reason_to_begin_again() -> None:
    stop = asyncio.Event()

    class Clumsy(Adapter):
        async def __call__(self) -> None:
            await super().__call__()
            raise OSError("the socket was gone already")

    adapter = Clumsy(stop)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(served([adapter], stop, wait=1000.0))
        await adapter.up.wait()
        stop.set()
    assert adapter.tries == 1
