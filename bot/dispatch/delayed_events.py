"""Delay events until their next attempt, and record the outages that they wait for."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine import describe_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.store.event_queue import QueuedEvent


@dataclass(frozen=True, slots=True)
class _Outage:
    """A transient error of an event, and how often it happened in a row."""

    platform: str
    failures: int
    reason: str


class DelayedEvents:
    """Holds rows until they are due, then hands each to `release_row`. Lives on one event loop."""

    def __init__(self, release_row: Callable[[QueuedEvent], None]) -> None:
        self._release_row = release_row
        self._timers: dict[int, tuple[asyncio.TimerHandle, QueuedEvent]] = {}
        self._outages: dict[int, _Outage] = {}

    def add(self, delay: float, row: QueuedEvent) -> None:
        """Release a row after a number of seconds."""
        if delay <= 0:
            self._release_row(row)
            return
        self._timers[row.id] = (asyncio.get_running_loop().call_later(delay, self._release, row.id), row)

    def release_all(self) -> None:
        """Release every row now, in the order of arrival, and reset their delays."""
        self._outages = {id_: _Outage(each.platform, 0, each.reason) for id_, each in self._outages.items()}
        for id_ in sorted(self._timers):
            self._timers[id_][0].cancel()
            self._release(id_)

    def record_outage(self, id_: int, platform: str, error: Exception) -> int:
        """Record a transient error of an event; returns how often it happened in a row."""
        known = self._outages.get(id_)
        failures = (known.failures if known else 0) + 1
        self._outages[id_] = _Outage(platform, failures, describe_error(error))
        return failures

    def clear_outage(self, id_: int) -> None:
        """Record that an event was handled, with or without success."""
        self._outages.pop(id_, None)

    def describe_outages(self) -> list[str]:
        """For each platform, the number of events that wait for it and the last error."""
        counts, reasons = dict[str, int](), dict[str, str]()
        for each in self._outages.values():
            counts[each.platform] = counts.get(each.platform, 0) + 1
            reasons[each.platform] = each.reason
        return [
            f"Events of {platform} that failed and are being retried: {count}. {reasons[platform].rstrip('.')}."
            for platform, count in sorted(counts.items())
        ]

    def close(self) -> None:
        """Release no further rows."""
        for timer, _ in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _release(self, id_: int) -> None:
        _, row = self._timers.pop(id_)
        self._release_row(row)
