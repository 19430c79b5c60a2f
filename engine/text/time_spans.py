"""Parse time spans in questions: "since Monday", "last week", "in May", "2026-05-12". Pure; times are UTC."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING

from engine.text.word_lists import word_set

if TYPE_CHECKING:
    from collections.abc import Sequence


def _index_words(*rows: str) -> dict[str, int]:
    return {word: number for row in rows for number, words in enumerate(row.split()) for word in words.split("/")}


_WEEKDAYS = _index_words(
    "monday/mon tuesday/tue wednesday/wed thursday/thu friday/fri saturday/sat sunday/sun",
    "montag dienstag mittwoch donnerstag freitag samstag/sonnabend sonntag",
    "lunes martes miércoles jueves viernes sábado domingo",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
)
_MONTHS = _index_words(
    "january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sep october/oct"
    " november/nov december/dec",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
)
_DAYS_BACK = {
    **dict.fromkeys(("today", "heute", "hoy", "aujourd'hui"), 0),
    **dict.fromkeys(("yesterday", "gestern", "ayer", "hier"), 1),
}
_UNITS = {
    **dict.fromkeys(("hour", "hours", "stunde", "stunden", "hora", "horas", "heure", "heures"), timedelta(hours=1)),
    **dict.fromkeys(("day", "days", "tag", "tage", "tagen", "día", "días", "jour", "jours"), timedelta(days=1)),
    **dict.fromkeys(
        ("week", "weeks", "woche", "wochen", "semana", "semanas", "semaine", "semaines"), timedelta(weeks=1)
    ),
    **dict.fromkeys(("month", "months", "monat", "monate", "monaten", "mes", "meses", "mois"), timedelta(days=30)),
}
_LAST = word_set("last past letzte letzten letzter vergangene vergangenen última último últimas últimos")
_BEFORE = word_set("pasada pasado dernière dernier")
_THIS = word_set("this diese diesen dieser dieses esta este cette ce")
_SINCE = word_set("since seit desde depuis from ab after nach")
_UNTIL = word_set("until till to bis hasta")
_AROUND = word_set("in on during im am en el la le of the der die den du")
_WEEK = timedelta(weeks=1)
_SHORT = 4  # digits of a year


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A span between two times, both included; None for an open end."""

    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_bounded(self) -> bool:
        """Whether either end is set."""
        return self.since is not None or self.until is not None


def parse_time_span(words: Sequence[str], now: datetime) -> tuple[TimeSpan, list[str]]:
    """The time span in the lower-case words of a question, and the remaining words."""
    today = datetime.combine(now.astimezone(UTC).date(), time.min, UTC)
    rest, since, until = list[str](), None, None
    at = 0
    while at < len(words):
        length, found = _parse_period(words[at : at + 3], today, now)
        if found is None:
            rest.append(words[at])
            at += 1
            continue
        first, last = found
        before = _pop_bound_word(rest)
        if before in _UNTIL:
            until = last
        elif before in _SINCE:
            since, until = first, None
        else:
            since, until = since or first, last
        at += length
    return TimeSpan(since, until if until is None or until < now else None), rest


def _pop_bound_word(rest: list[str]) -> str:
    """Remove the words before a time, such as "since the"; returns the one that bounds it, such as "since"."""
    while rest and rest[-1] in _AROUND | {"dem", "den", "les"} and len(rest) > 1 and rest[-2] in _SINCE | _UNTIL:
        rest.pop()
    if rest and rest[-1] in _SINCE | _UNTIL:
        return rest.pop()
    while rest and rest[-1] in _AROUND:
        rest.pop()
    return ""


def _parse_period(words: Sequence[str], today: datetime, now: datetime) -> tuple[int, tuple[datetime, datetime] | None]:
    """The number of words that name a time, and its first and last instant."""
    first, second, third = [*words[:3], "", "", ""][:3]
    if third in _UNITS and {first, second} & _LAST:
        number = first if second in _LAST else second
        if number.isdecimal():
            return 3, (now - min(int(number), 10_000) * _UNITS[third], now)
    if first in _LAST and second in _WEEKDAYS:
        return 2, _day_range(_latest_weekday(second, today))
    if first in _LAST | _THIS and second in _UNITS:
        return 2, _unit_range(second, today, now, last=first in _LAST)
    if first in _UNITS and second in _BEFORE:
        return 2, _unit_range(first, today, now, last=True)
    day = _parse_day(first, today)
    return (1, _day_range(day)) if day else _parse_month(first, second, third, today)


def _parse_day(word: str, today: datetime) -> datetime | None:
    """The day of a word like "yesterday" or "monday", or of a date."""
    if word in _DAYS_BACK:
        return today - timedelta(days=_DAYS_BACK[word])
    return _latest_weekday(word, today) if word in _WEEKDAYS else _parse_date(word)


def _parse_date(word: str) -> datetime | None:
    try:
        return datetime.combine(datetime.fromisoformat(word).date(), time.min, UTC)
    except ValueError:
        return None


def _day_range(start: datetime) -> tuple[datetime, datetime]:
    return start, start + timedelta(days=1, microseconds=-1)


def _latest_weekday(word: str, today: datetime) -> datetime:
    """The latest such weekday, today included."""
    return today - timedelta(days=(today.weekday() - _WEEKDAYS[word]) % 7)


def _unit_range(word: str, today: datetime, now: datetime, *, last: bool) -> tuple[datetime, datetime]:
    """The current calendar week or month, or the previous one; for hours and days, the last one until now."""
    unit = _UNITS[word]
    if unit == _WEEK:
        start = today - timedelta(days=today.weekday())
        return (start - unit, start - timedelta(microseconds=1)) if last else (start, now)
    if unit > _WEEK:
        start = today.replace(day=1)
        before = (start - timedelta(days=1)).replace(day=1)
        return (before, start - timedelta(microseconds=1)) if last else (start, now)
    return now - unit, now


def _parse_month(first: str, second: str, third: str, today: datetime) -> tuple[int, tuple[datetime, datetime] | None]:
    """The number of words of a date such as "May 2026", "12 May", "May 12" or "12 May 2026", and its ends."""
    day, length = 0, 1
    name, year = first, second
    if first.isdecimal() and second in _MONTHS:
        day, name, year, length = int(first), second, third, 2
    elif first in _MONTHS and second.isdecimal() and len(second) < _SHORT:
        day, year, length = int(second), third, 2
    if name not in _MONTHS:
        return 0, None
    given = int(year) if year.isdecimal() and len(year) == _SHORT else 0
    month = _MONTHS[name] + 1
    try:
        start = datetime(given or today.year, month, day or 1, tzinfo=UTC)
    except ValueError:
        return 0, None
    if not given and start > today:
        start = start.replace(year=start.year - 1) if (month, day) != (2, 29) else start
    if day:
        return length + bool(given), _day_range(start)
    last = start.replace(day=monthrange(start.year, month)[1])
    return length + bool(given), (start, _day_range(last)[1])
