"""Timestamps in the database: microseconds since 1970, UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
EARLIEST, LATEST = datetime(1000, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)  # with room to add and subtract


def to_micros(time: datetime | None) -> int | None:
    """A time as microseconds; a time without a zone counts as UTC."""
    if time is None:
        return None
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - EPOCH) // MICROSECOND


def from_micros(value: int | None) -> datetime | None:
    """Microseconds as a time; EARLIEST or LATEST for a number beyond the calendar, which makes no row unreadable."""
    if value is None:
        return None
    try:
        return EPOCH + value * MICROSECOND
    except OverflowError:
        return LATEST if value > 0 else EARLIEST
