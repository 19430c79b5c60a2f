"""Times as people give them in a chat. Pure; everything is UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta

from bot.platform.models import utc
from engine.errors import BadQuestion

_AGO = re.compile(r"(\d{1,4}) ?(m|mins?|minutes?|h|hours?|d|days?|w|weeks?)(?: ago)?")
_LENGTHS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
HINT = "Say 90m, 2h, 3 days, today, yesterday, monday, 2026-05-12 or 2026-05-12 09:30 (UTC)."


def since(words: str, now: datetime) -> datetime:
    """The instant that is meant; a day means its beginning. Raises BadQuestion."""
    text = " ".join(words.casefold().split()).removeprefix("since ").removeprefix("last ")
    found = _ago(text, now) or _day(text, now) or _given(text)
    if found is None:
        raise BadQuestion(f"“{words}” is no time that I know.", hint=HINT)
    if found > now:
        raise BadQuestion(f"{utc(found)} is still to come.", hint=HINT)
    return found


def ago(instant: datetime, now: datetime) -> str:
    """How long ago it was, roughly."""
    seconds = max(0.0, (now - instant).total_seconds())
    for name, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            number = int(seconds // length)
            return f"{number:,} {name}{'' if number == 1 else 's'} ago"
    return "just now"


def _ago(text: str, now: datetime) -> datetime | None:
    text = f"1 {text}" if text in {"hour", "day", "week"} else text
    match = _AGO.fullmatch(text)
    return now - int(match[1]) * _LENGTHS[match[2][0]] if match else None


def _day(text: str, now: datetime) -> datetime | None:
    today = datetime.combine(now.astimezone(UTC).date(), time.min, UTC)
    if text in {"today", "yesterday"}:
        return today - timedelta(days=text == "yesterday")
    if text in _DAYS:
        return today - timedelta(days=(today.weekday() - _DAYS.index(text)) % 7)
    return None


def _given(text: str) -> datetime | None:
    try:
        given = datetime.fromisoformat(text.upper().removesuffix(" UTC"))
        return given.astimezone(UTC) if given.tzinfo else given.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
