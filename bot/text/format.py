"""Format numbers, instants and spans of time for a sentence, and parse the times that people write. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta

from engine.errors import InvalidQuestion

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_AGO = re.compile(r"(\d{1,4}) ?(m|mins?|minutes?|h|hours?|d|days?|w|weeks?)(?: ago)?")
_UNIT_LENGTHS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
TIME_HINT = "Use 90m, 2h, 3 days, today, yesterday, monday, 2026-05-12 or 2026-05-12 09:30 (UTC)."


def pluralize(number: int, name: str) -> str:
    """A number and its noun, in the plural unless it is 1."""
    many = f"{name[:-1]}ies" if name.endswith("y") and name[-2] not in "aeiou" else f"{name}s"
    return f"{number:,} {name if number == 1 else many}"


def format_utc(instant: datetime) -> str:
    """Format an instant, to the minute, in UTC."""
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def format_day(instant: datetime) -> str:
    """Format the day of an instant in UTC: May 3, 2026."""
    day = instant.astimezone(UTC)
    return f"{day:%B} {day.day}, {day.year}"


def parse_since(words: str, now: datetime) -> datetime:
    """Parse a past time; a day means its start. Raises InvalidQuestion."""
    text = " ".join(words.casefold().split()).removeprefix("since ").removeprefix("last ")
    found = _parse_ago(text, now) or _parse_day(text, now) or _parse_iso_time(text)
    if found is None:
        raise InvalidQuestion(f"“{words}” is not a time that I understand.", hint=TIME_HINT)
    if found > now:
        raise InvalidQuestion(f"{format_utc(found)} is in the future.", hint=TIME_HINT)
    return found


def format_ago(instant: datetime, now: datetime) -> str:
    """Format the age of an instant in its largest unit."""
    seconds = max(0.0, (now - instant).total_seconds())
    for name, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            number = int(seconds // length)
            return f"{pluralize(number, name)} ago"
    return "just now"


def _parse_ago(text: str, now: datetime) -> datetime | None:
    text = f"1 {text}" if text in {"hour", "day", "week"} else text
    match = _AGO.fullmatch(text)
    return now - int(match[1]) * _UNIT_LENGTHS[match[2][0]] if match else None


def _parse_day(text: str, now: datetime) -> datetime | None:
    today = datetime.combine(now.astimezone(UTC).date(), time.min, UTC)
    if text in {"today", "yesterday"}:
        return today - timedelta(days=text == "yesterday")
    if text in _WEEKDAYS:
        return today - timedelta(days=(today.weekday() - _WEEKDAYS.index(text)) % 7)
    return None


def _parse_iso_time(text: str) -> datetime | None:
    try:
        given = datetime.fromisoformat(text.upper().removesuffix(" UTC"))
        return given.astimezone(UTC) if given.tzinfo else given.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
