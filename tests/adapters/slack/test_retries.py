from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import aiohttp
import pytest

from adapters.common.sliding_window import SlidingWindow
from adapters.slack.clients import ClientFactory, WorkspaceClients
from adapters.slack.retries import MethodPauses, RateLimits
from engine.clock import SYSTEM_CLOCK
from engine.errors import DatabaseUnreachable
from engine.scheduling.processes import CallLimits
from engine.scheduling.supervisor import Supervisor
from engine.storage.postgres.process_registry import ProcessRegistry
from tests.support.clock import ManualClock
from tests.support.patience import PATIENCE
from tests.support.slack_server import FakeSlack, Fault


async def test_no_more_than_the_limit_within_any_span() -> None:
    clock = ManualClock()
    window = SlidingWindow(20, 60.0, clock, clock.sleep)
    calls = []
    for _ in range(400):
        calls += [clock.monotonic()] if await window.try_acquire() else []
        clock.advance(1.0)
    assert all(sum(start <= at < start + 60.0 for at in calls) <= 20 for start in calls)
    assert len(calls) >= 120


@pytest.mark.parametrize(
    ("now", "within", "acquired", "later"),
    [(0.0, None, True, 60.0), (0.0, 2.0, False, 0.0), (58.5, 2.0, True, 60.0)],
    ids=["waits for its turn", "gives up at once if no turn comes in time", "waits for a turn in time"],
)
async def test_a_call_over_the_limit(now: float, within: float | None, later: float, *, acquired: bool) -> None:
    clock = ManualClock()
    window = SlidingWindow(1, 60.0, clock, clock.sleep)
    assert await window.try_acquire()
    assert not await window.try_acquire()
    clock.advance(now)
    assert await window.acquire(within=within) is acquired
    assert clock.monotonic() == pytest.approx(later, abs=0.1)


async def test_a_blocked_window_opens_after_the_time_that_slack_asked_for() -> None:
    clock = ManualClock()
    window = SlidingWindow(5, 1.0, clock, clock.sleep)
    window.block(30.0)
    assert not await window.try_acquire()
    await window.acquire()
    assert clock.monotonic() >= 30.0


async def test_a_workspace_has_twenty_starts_and_a_hundred_appends_a_minute() -> None:
    clock = ManualClock()
    limits = RateLimits(clock, sleep=clock.sleep)
    starts = appends = 0
    for _ in range(600):
        starts += await limits.starts.try_acquire()
        appends += await limits.appends.try_acquire()
        clock.advance(0.1)
    assert starts == 20
    assert 90 <= appends <= 100


async def test_posts_are_limited_for_each_channel() -> None:
    limits = RateLimits(SYSTEM_CLOCK)
    assert [await limits.posts(channel).try_acquire() for channel in ("C1", "C1", "C2")] == [True, False, True]


class LostLimits:
    """Limits in a database that does not answer."""

    async def take_turn(self, window: str, limit: int, span: float) -> float:
        raise DatabaseUnreachable(window)

    async def pause(self, window: str, seconds: float) -> None:
        raise DatabaseUnreachable(window)

    async def find_pause(self, window: str) -> float:
        raise DatabaseUnreachable(window)


async def test_without_the_database_only_reads_and_removals_go_on() -> None:
    clock = ManualClock()
    limits = RateLimits(clock, "T1", LostLimits(), clock.sleep)
    assert not await limits.updates.try_acquire()
    assert not await limits.starts.acquire(within=0.5)
    assert await limits.urgent.try_acquire()
    pauses = MethodPauses("T1", LostLimits(), SYSTEM_CLOCK)
    await pauses.add("users.info", 0.05)
    async with asyncio.timeout(PATIENCE):
        await pauses.wait("users.info")


async def test_processes_count_calls_and_waits_together(postgres_url: str, slack: FakeSlack) -> None:
    async with AsyncExitStack() as stack:
        stack.push_async_callback((supervisor := Supervisor(SYSTEM_CLOCK)).stop)
        session = await stack.enter_async_context(aiohttp.ClientSession())
        limits = [
            (await stack.enter_async_context(ProcessRegistry.open(postgres_url, supervisor, SYSTEM_CLOCK))).call_limits
            for _ in "ab"
        ]
        here, there = (RateLimits(SYSTEM_CLOCK, "T1", limit) for limit in limits)
        turns = [await each.starts.try_acquire() for _ in range(15) for each in (here, there)]
        assert sum(turns) == 20
        assert 50 < there.starts.wait_seconds <= 60
        assert await RateLimits(SYSTEM_CLOCK, "T2", limits[0]).starts.try_acquire()
        await here.stops.block_for_all(300.0)
        assert not await there.stops.try_acquire()
        assert there.stops.wait_seconds > 25

        def build(shared: CallLimits | None) -> WorkspaceClients:
            factory = ClientFactory(session, slack.base_url)
            return factory.build_set(slack.space.app.bot_token, MethodPauses("T1", shared, SYSTEM_CLOCK))

        ours, theirs = map(build, limits)
        slack.fail_next("users.list", Fault("ratelimited", seconds=1))
        began = SYSTEM_CLOCK.monotonic()
        waiting = asyncio.create_task(ours.idempotent.users_list())
        while not (waiting.done() or await MethodPauses("T1", limits[1], SYSTEM_CLOCK)._find("users.list") > 0):
            pass
        await theirs.history.auth_test()
        await theirs.history.users_list()
        assert SYSTEM_CLOCK.monotonic() - began >= 1
        await waiting
        assert [call.outcome for call in slack.calls_to("users.list")] == ["ratelimited", "ok", "ok"]
