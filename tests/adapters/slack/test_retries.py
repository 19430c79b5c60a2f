from __future__ import annotations

import asyncio

import pytest

from adapters.slack.retries import RateLimits
from bot.platform.sliding_window import SlidingWindow


class Time:
    """A clock that advances when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


def test_no_more_than_the_limit_within_any_span() -> None:
    time = Time()
    window = SlidingWindow(20, 60.0, time, time.sleep)
    calls = []
    for _ in range(400):
        calls += [time.now] if window.try_acquire() else []
        time.now += 1.0
    assert all(sum(start <= at < start + 60.0 for at in calls) <= 20 for start in calls)
    assert len(calls) >= 120


@pytest.mark.parametrize(
    ("now", "within", "acquired", "later"),
    [(0.0, None, True, 60.0), (0.0, 2.0, False, 0.0), (58.5, 2.0, True, 60.0)],
    ids=["waits for its turn", "gives up at once if no turn comes in time", "waits for a turn in time"],
)
async def test_a_call_over_the_limit(now: float, within: float | None, later: float, *, acquired: bool) -> None:
    time = Time()
    window = SlidingWindow(1, 60.0, time, time.sleep)
    assert window.try_acquire()
    assert not window.try_acquire()
    time.now = now
    assert await window.acquire(within=within) is acquired
    assert time.now == pytest.approx(later, abs=0.1)


async def test_a_blocked_window_opens_after_the_time_that_slack_asked_for() -> None:
    time = Time()
    window = SlidingWindow(5, 1.0, time, time.sleep)
    window.block(30.0)
    assert not window.try_acquire()
    await window.acquire()
    assert time.now >= 30.0


def test_a_workspace_has_twenty_starts_and_a_hundred_appends_a_minute() -> None:
    time = Time()
    limits = RateLimits(time, time.sleep)
    starts = appends = 0
    for _ in range(600):
        starts += limits.starts.try_acquire()
        appends += limits.appends.try_acquire()
        time.now += 0.1
    assert starts == 20
    assert 90 <= appends <= 100


def test_posts_are_limited_for_each_channel() -> None:
    limits = RateLimits()
    assert [limits.posts(channel).try_acquire() for channel in ("C1", "C1", "C2")] == [True, False, True]
