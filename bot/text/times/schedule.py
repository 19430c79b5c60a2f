"""Schedules: daily or weekly at a local time. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from bot.i18n import N_, gettext
from engine.errors import InvalidQuestion

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SCHEDULE_HINT = N_("Write `daily 9:00` or `weekly monday 9:00`, perhaps with a time zone such as `Europe/Berlin`.")
DEFAULT_TIME = time(9, 0)
HALF_DAY = 12  # hours
_HALF_OF_DAY = re.compile(r"[ap]\.?m\.?", re.IGNORECASE)
_TIME = re.compile(r"([01]?\d|2[0-3])[:.]?([0-5]\d)?(?:([ap])\.?m\.?)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Every day, or every week on a `weekday` (0 is Monday), at a time in a time zone (an IANA name)."""

    at: time = DEFAULT_TIME
    weekday: int | None = None
    zone: str = "UTC"

    def __str__(self) -> str:
        day = "daily" if self.weekday is None else f"weekly {WEEKDAYS[self.weekday]}"
        return f"{day} {self.at:%H:%M} {self.zone}"

    def next_after(self, instant: datetime) -> datetime:
        """The first time after an instant, in UTC. A local time that a clock change skips is an hour later."""
        zone = ZoneInfo(self.zone)
        day = instant.astimezone(zone).date()
        while True:
            local = datetime.combine(day, self.at, zone)
            if self.weekday in {None, day.weekday()} and local > instant:
                return local.astimezone(UTC)
            day += timedelta(days=1)


def parse_schedule(text: str, zone: str = "UTC") -> Schedule:
    """Parse a schedule; `zone`: of one that names none. Raises InvalidQuestion."""
    words = text.split()
    period = words.pop(0).casefold() if words else ""
    weekday = None
    if period == "weekly":
        day = words.pop(0).casefold() if words and not words[0][:1].isdigit() and "/" not in words[0] else "monday"
        weekday = next((number for number, name in enumerate(WEEKDAYS) if len(day) > 2 and name.startswith(day)), None)
    if period not in {"daily", "weekly"} or (period == "weekly" and weekday is None):
        raise InvalidQuestion(
            gettext("“{text}” is not a schedule that I understand.").format(text=text), hint=SCHEDULE_HINT
        )
    at = DEFAULT_TIME
    if words and words[0][:1].isdigit():
        half = words.pop(1) if words[1:] and _HALF_OF_DAY.fullmatch(words[1]) else ""
        parsed = _parse_time(f"{words.pop(0)}{half}")
        if parsed is None:
            raise InvalidQuestion(
                gettext("“{text}” has no time that I understand.").format(text=text), hint=SCHEDULE_HINT
            )
        at = parsed
    if len(words) > 1:
        raise InvalidQuestion(
            gettext("“{text}” is not a schedule that I understand.").format(text=text), hint=SCHEDULE_HINT
        )
    return Schedule(at, weekday, find_zone(words[0]) if words else zone)


def _parse_time(text: str) -> time | None:
    """A time such as "9:30", "930", "9am" or "12:15p.m."; None for any other text."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    hour, minute = int(match[1]), int(match[2] or 0)
    if not match[3]:
        return time(hour, minute)
    if not 1 <= hour <= HALF_DAY:
        return None
    return time(hour % HALF_DAY + (HALF_DAY if match[3].casefold() == "p" else 0), minute)


def find_zone(name: str) -> str:
    """The IANA name of a time zone, in any case of letters. Raises InvalidQuestion."""
    found = _zones().get(name.casefold(), "")
    if not found:
        raise InvalidQuestion(
            gettext("I don't know the time zone “{name}”.").format(name=name),
            hint=gettext("Use a name such as Europe/Berlin."),
        )
    return found


@cache
def _zones() -> dict[str, str]:
    """The IANA names of all time zones by their small letters; to list them reads 600 files."""
    return {timezone.casefold(): timezone for timezone in available_timezones()}
