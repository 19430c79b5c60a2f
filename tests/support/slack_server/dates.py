"""Dates in messages, shown as Slack shows them; the reader is in UTC."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

TOKEN = re.compile(r"\{(\w+)\}")
NEAR = {0: "today", 1: "yesterday", -1: "tomorrow"}
TIMES = {"time": "%-I:%M %p", "time_secs": "%-I:%M:%S %p", "date_num": "%Y-%m-%d"}


def shown_date(timestamp: object, form: str, fallback: str, now: float) -> str:
    """The format with its tokens filled in; the fallback if the time or a token is none that Slack knows."""
    try:
        time = datetime.fromtimestamp(int(str(timestamp)), UTC)
        today = datetime.fromtimestamp(now, UTC).date()
        return TOKEN.sub(lambda found: _filled(found[1], time, today), form)
    except (ValueError, OverflowError, OSError, KeyError):
        return fallback


def _filled(token: str, time: datetime, today: date) -> str:
    """One token. Raises KeyError if there is no such token."""
    if token in TIMES:
        return time.strftime(TIMES[token])
    near = NEAR.get((today - time.date()).days)
    if token.endswith("_pretty") and near:
        return near
    return _DATES[token.removesuffix("_pretty")](time)


def _ordinal(day: int) -> str:
    return f"{day}{'th' if 10 < day < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


_DATES = {
    "date": lambda time: f"{time:%B} {_ordinal(time.day)}, {time.year}",
    "date_short": lambda time: f"{time:%b} {time.day}, {time.year}",
    "date_long": lambda time: f"{time:%A, %B} {_ordinal(time.day)}, {time.year}",
}
