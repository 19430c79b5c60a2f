"""Format numbers, instants and spans of time for a sentence, and parse the times that people write. Pure."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from babel.dates import format_date
from babel.lists import format_list as babel_format_list
from babel.numbers import format_decimal

from bot.i18n import N_, get_language, gettext, ngettext
from engine.errors import InvalidQuestion
from engine.text.time_spans import parse_only_period

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, tzinfo


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Exactly so long ago; "3 days ago" is a day.
_AGO = re.compile(r"(\d{1,4}) ?(?:(m|mins?|minutes?)(?: ago)?|(h|hours?|d|days?|w|weeks?))")
_UNIT_LENGTHS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
TIME_HINT = N_(
    "Use 90m, 2h, 3 days, today, yesterday, monday, last week (from its Monday), 2026-05-12 or 2026-05-12 09:30."
)


def pluralize(number: int, singular: str, plural: str = "") -> str:
    """A number with its noun in the active language: `pluralize(2, "{count} file", "{count} files")`."""
    if not plural:
        many = f"{singular[:-1]}ies" if singular.endswith("y") and singular[-2] not in "aeiou" else f"{singular}s"
        return f"{format_number(number)} {singular if number == 1 else many}"
    return ngettext(singular, plural, number).format(count=format_number(number))


def format_number(number: int) -> str:
    """A number with the separators of the active language: 1,234 or 1.234."""
    return str(format_decimal(number, locale=get_language()))


def format_list(parts: Sequence[str]) -> str:
    """Parts of a sentence, joined as the active language does: “a, b and c”."""
    return str(babel_format_list(parts, locale=get_language()))


def format_minutes(seconds: float) -> str:
    """A span of time in whole minutes, not less than it is."""
    return pluralize(max(1, math.ceil(seconds / 60)), "{count} minute", "{count} minutes")


def round_figure(number: int) -> int:
    """A number with two digits that count: an estimate is no more exact."""
    digits = max(len(str(number)) - 2, 0)
    return round(number, -digits)


def format_duration(seconds: float) -> str:
    """A span of time in minutes, or in hours if they are many."""
    minutes = max(1, round(seconds / 60))
    if minutes < 90:
        return pluralize(minutes, "{count} minute", "{count} minutes")
    return pluralize(round(minutes / 60), "{count} hour", "{count} hours")


def format_utc(instant: datetime) -> str:
    """Format an instant, to the minute, in UTC."""
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def format_local(instant: datetime, zone: tzinfo) -> str:
    """Format an instant, to the minute, in a time zone, with its name."""
    return f"{instant.astimezone(zone):%Y-%m-%d %H:%M} {zone}"


def find_zone_or_utc(name: str) -> tzinfo:
    """The time zone with an IANA name; UTC for an empty name, or one that is none."""
    try:
        return ZoneInfo(name) if name else UTC
    except (ValueError, KeyError, OSError):
        return UTC


def format_day(instant: datetime) -> str:
    """Format the day of an instant in UTC, as the active language writes it: May 3, 2026."""
    return format_date_long(instant.astimezone(UTC).date())


def format_date_long(day: date) -> str:
    """Format a day as the active language writes it: May 3, 2026."""
    return str(format_date(day, format="long", locale=get_language()))


def parse_since(words: str, now: datetime) -> datetime:
    """Parse a past time, in UTC; a day means its start in the time zone of `now`. Raises InvalidQuestion."""
    text = " ".join(words.casefold().split()).removeprefix("since ")
    found = _parse_iso_time(text, now) or _parse_named(text, now) or _parse_ago(text.removeprefix("last "), now)
    if found is None:
        raise InvalidQuestion(
            gettext("“{words}” is not a time that I understand.").format(words=words), hint=gettext(TIME_HINT)
        )
    if found > now.astimezone(UTC):
        zone = now.tzinfo or UTC
        raise InvalidQuestion(
            gettext("{time} is in the future.").format(time=format_local(found, zone)), hint=gettext(TIME_HINT)
        )
    return found.astimezone(UTC)


def format_ago(instant: datetime, now: datetime) -> str:
    """Format the age of an instant in its largest unit."""
    seconds = max(0.0, (now - instant).total_seconds())
    if seconds >= 86400:
        return pluralize(int(seconds // 86400), "{count} day ago", "{count} days ago")
    if seconds >= 3600:
        return pluralize(int(seconds // 3600), "{count} hour ago", "{count} hours ago")
    if seconds >= 60:
        return pluralize(int(seconds // 60), "{count} minute ago", "{count} minutes ago")
    return gettext("just now")


def _parse_ago(text: str, now: datetime) -> datetime | None:
    text = f"1 {text}" if text in {"hour", "day", "week"} else text
    match = _AGO.fullmatch(text)
    return now.astimezone(UTC) - int(match[1]) * _UNIT_LENGTHS[(match[2] or match[3])[0]] if match else None


def _parse_named(text: str, now: datetime) -> datetime | None:
    """The start of the one time that words name, as those of a question do: "yesterday", "letzte Woche", "12 mai"."""
    named = None if ":" in text or _AGO.fullmatch(text) else parse_only_period(text.split(), now)
    try:
        return named[0].astimezone(UTC) if named else None
    except OverflowError:  # the first day of the calendar, east of UTC
        return None


def _parse_iso_time(text: str, now: datetime) -> datetime | None:
    try:
        zone = UTC if text.endswith(" utc") else now.tzinfo
        given = datetime.fromisoformat(text.upper().removesuffix(" UTC"))
        return (given if given.tzinfo else given.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
