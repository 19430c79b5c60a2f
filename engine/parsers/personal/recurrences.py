"""Say in words how often an event takes place, as its rule states it. Pure."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_UNITS = {
    "YEARLY": "year",
    "MONTHLY": "month",
    "WEEKLY": "week",
    "DAILY": "day",
    "HOURLY": "hour",
    "MINUTELY": "minute",
    "SECONDLY": "second",
}
_DAYS = {
    "MO": "Monday",
    "TU": "Tuesday",
    "WE": "Wednesday",
    "TH": "Thursday",
    "FR": "Friday",
    "SA": "Saturday",
    "SU": "Sunday",
}
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", -1: "last", -2: "second to last"}
_DAY = re.compile(r"([+-]?\d{1,2})?([A-Z]{2})")
_STATED = frozenset({"FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "BYMONTH", "COUNT", "UNTIL", "WKST"})
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z)?)?")
_DURATION = re.compile(r"([+-])?P(?:(\d{1,5})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,8})S)?)?")


def parse_time(value: str) -> date | datetime | None:
    """A day, or a time, which is UTC if the value says so and local otherwise; None if it is neither."""
    match = _TIME.match(value.strip())
    if not match:
        return None
    year, month, day, hour, minute, _, zone = match.groups()
    try:
        if hour is None:
            return date(int(year), int(month), int(day))
        return datetime(int(year), int(month), int(day), int(hour), int(minute), tzinfo=UTC if zone else None)
    except ValueError:
        return None


def parse_duration(value: str) -> timedelta | None:
    """The length that P1DT2H30M states, None if it states none."""
    match = _DURATION.fullmatch(value.strip().upper())
    if not match or not any(match.groups()[1:]):
        return None
    weeks, days, hours, minutes, seconds = (int(group or 0) for group in match.groups()[1:])
    length = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    return -length if match[1] == "-" else length


def format_day(day: date) -> str:
    """A day as "Tuesday, 4 March 2031"."""
    weekday = list(_DAYS.values())[day.weekday()]
    return f"{weekday}, {day.day} {_MONTHS[day.month - 1]} {day.year}"


def describe_rule(value: str) -> str:
    """A rule as "every 2 weeks on Monday and Friday until Monday, 30 June 2031"; what has no words stays as stated."""
    rule = {key.upper().strip(): text.strip() for part in value.split(";") for key, _, text in [part.partition("=")]}
    unit = _UNITS.get(rule.get("FREQ", "").upper())
    if unit is None:
        return f"by the rule {value}" if value.strip() else ""
    interval = rule.get("INTERVAL", "1")
    words = [f"every {unit}" if interval in {"1", ""} else f"every {interval} {unit}s", *_describe_days(rule)]
    if count := rule.get("COUNT", ""):
        words.append("once" if count == "1" else f"{count} times")
    if until := parse_time(rule.get("UNTIL", "")):
        words.append(f"until {format_day(until)}")
    rest = [f"{key}={text}" for key, text in rule.items() if key and key not in _STATED]
    return " ".join([*words, *([f"({', '.join(rest)})"] if rest else [])])


def join_words(words: list[str]) -> str:
    """The words as "a, b and c"."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""


def _describe_days(rule: Mapping[str, str]) -> list[str]:
    words = []
    if days := [_describe_day(part) for part in rule.get("BYDAY", "").upper().split(",") if part.strip()]:
        words.append(f"on {join_words(days)}")
    if dates := [_describe_date(part) for part in rule.get("BYMONTHDAY", "").split(",") if part.strip()]:
        words.append(f"on {join_words(dates)}")
    if months := [_describe_month(part) for part in rule.get("BYMONTH", "").split(",") if part.strip()]:
        words.append(f"in {join_words(months)}")
    return words


def _describe_day(value: str) -> str:
    match = _DAY.fullmatch(value.strip())
    if not match or match[2] not in _DAYS:
        return value.strip()
    day = _DAYS[match[2]]
    return f"the {_ORDINALS.get(int(match[1]), f'{int(match[1])}th')} {day}" if match[1] else day


def _describe_date(value: str) -> str:
    text = value.strip()
    if text.startswith("-"):
        return "the last day of the month" if text == "-1" else f"day {text} from the end of the month"
    return f"day {text} of the month"


def _describe_month(value: str) -> str:
    text = value.strip()
    return _MONTHS[int(text) - 1] if text.isdecimal() and 1 <= int(text) <= len(_MONTHS) else text
