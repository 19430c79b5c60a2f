from __future__ import annotations

import asyncio

from adapters.slack.api.rate_limits import RateLimits, SlidingWindow


class Time:
    """A clock that moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


def window(limit: int, span: float) -> tuple[SlidingWindow, Time]:
    time = Time()
    return SlidingWindow(limit, span, time, time.sleep), time


def test_no_more_than_the_limit_within_any_span() -> None:
    turns, time = window(20, 60.0)
    taken = []
    for _ in range(400):
        if turns.try_acquire():
            taken.append(time.now)
        time.now += 1.0
    assert all(sum(start <= at < start + 60.0 for at in taken) <= 20 for start in taken)
    assert len(taken) >= 120


async def test_whoever_waits_gets_his_turn() -> None:
    turns, time = window(1, 10.0)
    assert turns.try_acquire()
    assert not turns.try_acquire()
    assert await turns.acquire()
    assert time.now >= 10.0


async def test_who_cannot_have_a_turn_in_time_is_told_so_at_once() -> None:
    turns, time = window(1, 60.0)
    turns.try_acquire()
    assert not await turns.acquire(within=2.0)
    assert time.now == 0.0


async def test_who_can_have_it_in_time_waits_for_it() -> None:
    turns, time = window(1, 60.0)
    turns.try_acquire()
    time.now = 58.5
    assert await turns.acquire(within=2.0)
    assert time.now >= 60.0


async def test_a_closed_window_opens_after_as_long_as_the_platform_asked() -> None:
    turns, time = window(5, 1.0)
    turns.block(30.0)
    assert not turns.try_acquire()
    await turns.acquire()
    assert time.now >= 30.0


def test_a_workspace_has_twenty_starts_and_a_hundred_appends_a_minute() -> None:
    time = Time()
    pace = RateLimits(time, time.sleep)
    starts = appends = 0
    for _ in range(600):
        starts += pace.starts.try_acquire()
        appends += pace.appends.try_acquire()
        time.now += 0.1
    assert starts == 20
    assert 90 <= appends <= 100


def test_channels_are_posted_to_independently() -> None:
    pace = RateLimits()
    assert pace.posts("C1").try_acquire()
    assert not pace.posts("C1").try_acquire()
    assert pace.posts("C2").try_acquire()
