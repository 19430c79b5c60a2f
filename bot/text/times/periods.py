"""Periods that words name: a year, a month, a week, a day or another time. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta

from bot.text.format import parse_since
from engine.errors import InvalidQuestion
from engine.text.time_spans import find_ago, parse_only_period

MOMENT = timedelta(microseconds=1)
_MONTH = re.compile(r"(\d{4})(?:-(\d{2}))?")


def parse_period(value: str, now: datetime) -> tuple[datetime, datetime] | None:
    """The first and the last moment of a year, a month, a day or another time, in UTC; None if it is no time."""
    try:
        if match := _MONTH.fullmatch(value):
            year, month = int(match[1]), int(match[2] or 1)
            following = (year + 1, 1) if not match[2] or month == 12 else (year, month + 1)
            end = datetime(*following, 1, tzinfo=now.tzinfo).astimezone(UTC)
            return datetime(year, month, 1, tzinfo=now.tzinfo).astimezone(UTC), end - MOMENT
        words = value.casefold().split()
        named = None if value[:1].isdigit() and not find_ago(words, now) else parse_only_period(words, now)
        if named:
            return named[0].astimezone(UTC), named[1].astimezone(UTC)
        start = parse_since(value, now)
    except (ValueError, OverflowError, InvalidQuestion):
        return None
    local = start.astimezone(now.tzinfo)
    is_day = local.time() == time.min
    return start, (local + timedelta(days=1)).astimezone(UTC) - MOMENT if is_day else start
