"""Rate limits by method and workspace: so many a minute, with bursts up to a minute's worth."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.support.slack_server.refusals import SlackError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.slack_server.clock import Clock

TIERS: Mapping[int, int] = {1: 1, 2: 20, 3: 50, 4: 100}


@dataclass(frozen=True, slots=True)
class RateSettings:
    """`minute`: methods that do not keep to their tier; `channel`: posts a second into one, with `channel_burst`.

    `burst` stretches every bucket beyond its minute's worth; `on` is False for tests of other things.
    """

    on: bool = True
    burst: float = 1.0
    minute: Mapping[str, int] = field(default_factory=dict)
    channel: float = 1.0
    channel_burst: int = 5


class RateBuckets:
    """One bucket for each method, and one for the posts of each channel."""

    def __init__(self, rates: RateSettings, clock: Clock) -> None:
        self.rates = rates
        self.clock = clock
        self.limited: list[str] = []
        self._left: dict[str, tuple[float, float]] = {}

    def count_call(self, method: str, minute: int) -> None:
        """One call of a method. Raises Refused with status 429."""
        minute = self.rates.minute.get(method, minute)
        self._count(method, minute / 60, minute * self.rates.burst)

    def count_post(self, channel: str) -> None:
        """One message into a channel."""
        self._count(f"post {channel}", self.rates.channel, self.rates.channel_burst * self.rates.burst)

    def _count(self, name: str, per_second: float, most: float) -> None:
        if not self.rates.on:
            return
        now = self.clock.now()
        left, then = self._left.get(name, (most, now))
        left = min(most, left + (now - then) * per_second)
        if left < 1:
            self._left[name] = (left, now)
            self.limited.append(name)
            raise rate_limited_error(max(1, math.ceil((1 - left) / per_second)))
        self._left[name] = (left - 1, now)


def rate_limited_error(seconds: int) -> SlackError:
    """Too many requests; come back in so many seconds."""
    refused = SlackError("ratelimited", status=429)
    refused.retry_after = seconds
    return refused
