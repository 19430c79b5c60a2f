"""The transient errors of events that are being retried."""

from __future__ import annotations

from dataclasses import dataclass

from engine.scheduling.supervisor import describe_error


@dataclass(frozen=True, slots=True)
class _Outage:
    """A transient error of an event, and how often it happened in a row."""

    platform: str
    failures: int
    reason: str


class Outages:
    """The outages that events wait for, by the id of the event."""

    def __init__(self) -> None:
        self._outages: dict[int, _Outage] = {}

    def reset_failures(self) -> None:
        """Count the failures of each event from zero: what failed can be reached again."""
        self._outages = {id_: _Outage(each.platform, 0, each.reason) for id_, each in self._outages.items()}

    def record(self, id_: int, platform: str, error: Exception) -> int:
        """Record a transient error of an event; returns how often it happened in a row."""
        known = self._outages.get(id_)
        failures = (known.failures if known else 0) + 1
        self._outages[id_] = _Outage(platform, failures, describe_error(error))
        return failures

    def clear(self, id_: int) -> None:
        """Record that an event was handled, with or without success."""
        self._outages.pop(id_, None)

    def describe(self) -> list[str]:
        """For each platform, the number of events that wait for it and the last error."""
        counts, reasons = dict[str, int](), dict[str, str]()
        for outage in self._outages.values():
            counts[outage.platform] = counts.get(outage.platform, 0) + 1
            reasons[outage.platform] = outage.reason
        return [
            f"Events of {platform} that failed and are being retried: {count}. {reasons[platform].rstrip('.')}."
            for platform, count in sorted(counts.items())
        ]
