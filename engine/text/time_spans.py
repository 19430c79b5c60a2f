"""Parse time spans in questions: "since Monday", "last week", "3 days ago", "in May", "2026-05-12". Pure.

Days begin at midnight in the time zone of `now`: that of the person who asks. The results are in UTC.
"""

from __future__ import annotations

from calendar import isleap, monthrange
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING

from engine.text.languages.distances import read_count, translate_ago
from engine.text.overview_words import GERMAN
from engine.text.word_lists import index_words, split_phrases, word_set

if TYPE_CHECKING:
    from collections.abc import Sequence


WEEKDAYS = index_words(
    "monday/mon tuesday/tue wednesday/wed thursday/thu friday/fri saturday/sat sunday/sun",
    "montag dienstag mittwoch donnerstag freitag samstag/sonnabend sonntag",
    "lunes martes miércoles jueves viernes sábado domingo",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "月曜/月曜日 火曜/火曜日 水曜/水曜日 木曜/木曜日 金曜/金曜日 土曜/土曜日 日曜/日曜日",
    "segunda/segunda-feira terça/terça-feira quarta/quarta-feira quinta/quinta-feira sexta/sexta-feira sábado domingo",
)
MONTHS = index_words(
    "january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sep october/oct"
    " november/nov december/dec",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
)
_DAYS_BACK = {
    **dict.fromkeys(("today", "heute", "hoy", "aujourd'hui", "hoje", "tonight", "今日", "本日"), 0),
    **dict.fromkeys(("yesterday", "gestern", "ayer", "hier", "ontem", "昨日"), 1),
    **dict.fromkeys(("day-before-yesterday", "vorgestern", "anteayer", "avant-hier", "anteontem", "一昨日"), 2),
}
_UNITS = {
    **dict.fromkeys(("hour", "hours", "stunde", "stunden", "hora", "horas", "heure", "heures"), timedelta(hours=1)),
    **dict.fromkeys(
        ("day", "days", "tag", "tage", "tagen", "día", "días", "dia", "dias", "jour", "jours"), timedelta(days=1)
    ),
    **dict.fromkeys(
        ("week", "weeks", "woche", "wochen", "semana", "semanas", "semaine", "semaines"), timedelta(weeks=1)
    ),
    **dict.fromkeys(
        ("month", "months", "monat", "monate", "monaten", "mes", "meses", "mois", "mês"), timedelta(days=30)
    ),
    **dict.fromkeys(
        ("year", "years", "jahr", "jahre", "jahren", "año", "años", "année", "an", "ans", "ano", "anos"),
        timedelta(days=365),
    ),
}
_AGO = word_set("ago atrás")
# In Spanish and Portuguese also with `_AGO` behind it: "há 3 dias atrás".
_BEFORE_AGO = (("vor",), ("hace",), ("há",), ("faz",), ("il", "y", "a"))
_SINCE_AGO = (("seit",), ("depuis",))  # "seit drei Tagen": until now
_TWO_DAYS_BACK = split_phrases("day before yesterday, antes de ayer, antes de ontem")
# One word for a week, month or year, which other languages name by two.
_UNSPACED = {
    "先週": ("last", "week"),
    "先月": ("last", "month"),
    "去年": ("last", "year"),
    "昨年": ("last", "year"),
    "今週": ("this", "week"),
    "今月": ("this", "month"),
    "今年": ("this", "year"),
}
_LAST = word_set(
    "last past letzte letzten letzter letztes vergangene vergangenen vorige vorigen última último últimas últimos"
)
_BEFORE = word_set("pasada pasado dernière dernier passada passado")
_THIS = word_set("this diese diesen dieser dieses esta este cette ce cet nesta neste")
_SINCE = word_set("since seit desde depuis from ab after nach")
_UNTIL = word_set("until till to bis hasta")
_PRECEDING = word_set("before antes avant vor")  # "before Monday", "antes del lunes"
_AROUND = word_set("in on during im am en el la le of the der die den du em na no")
_LEADING = _AROUND | _SINCE | word_set("dem les o a os as")  # before a time that is all there is
# Between a word such as "since" and its time.
_BETWEEN = _AROUND | word_set("dem les de del do da du d")
_OF = word_set("de of d")  # between a day, its month and its year
_WEEKEND = word_set("weekend wochenende week-end")
_PARTS = word_set(
    "morning afternoon evening morgen vormittag nachmittag abend mañana matin après-midi soir manhã tarde noite"
)
_WEEK, _MONTH, _DAY = timedelta(weeks=1), timedelta(days=30), timedelta(days=1)
_LEAP_YEARS = 8  # within which every day of a year exists once
_SHORT = 4  # digits of a year
_MOST_AGO = timedelta(days=365_000)


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
    """The time span in the lower-case words of a question, and the remaining words; days are those of `now`'s zone."""
    today = datetime.combine(now.date(), time.min, now.tzinfo)
    rest, since, until = list[str](), None, None
    at = 0
    while at < len(words):
        length, found = _parse_period(words[at : at + 5], today, now)
        if found is None or (words[at] == "hier" and not GERMAN.isdisjoint(words)):
            rest += words[at : at + max(1, length)]
            at += max(1, length)
            continue
        first, last = found
        before = _pop_bound_word(rest)
        if before in _PRECEDING:
            until = _precede(first)
        elif before in _UNTIL:
            until = last
        elif before in _SINCE:
            since, until = first, None
        else:
            since, until = since or first, last
        at += length
    return _make_span(since, until, now), rest


def parse_leading_period(words: Sequence[str], now: datetime) -> tuple[int, tuple[datetime, datetime] | None]:
    """The number of lower-case words at the beginning that name a time, and its first and last instant.

    None of words that name no such time: of none, or of some that name a day that there is not.
    """
    return _parse_period(words[:5], datetime.combine(now.date(), time.min, now.tzinfo), now)


def parse_only_period(words: Sequence[str], now: datetime) -> tuple[datetime, datetime] | None:
    """The first and last instant of the one time that lower-case words name, such as "in May" or "the last week".

    None of words that name no time, more than one, or only an end, such as "until Friday".
    """
    for at, word in enumerate(words):
        length, found = parse_leading_period(words[at:], now)
        if length:
            return found if length == len(words) - at else None
        if word not in _LEADING:
            break
    return None


def _make_span(since: datetime | None, until: datetime | None, now: datetime) -> TimeSpan:
    """The span between two local times, in UTC; its end is open unless it is in the past."""
    since, until = since and _to_utc(since), until and _to_utc(until)
    return TimeSpan(since, until if until is None or until < now.astimezone(UTC) else None)


def _to_utc(instant: datetime) -> datetime:
    """The instant in UTC; where the calendar lacks it, as the first one of Auckland, the nearest that it has."""
    try:
        return instant.astimezone(UTC)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC) if instant.year == 1 else datetime.max.replace(tzinfo=UTC)


def _precede(instant: datetime) -> datetime:
    """The moment before a time, or the first one of the calendar."""
    return instant - timedelta(microseconds=1) if instant > datetime.min.replace(tzinfo=instant.tzinfo) else instant


def _pop_bound_word(rest: list[str]) -> str:
    """Remove the words before a time, such as "since the"; returns the one that bounds it, such as "since"."""
    at = len(rest)
    while at and rest[at - 1] in _BETWEEN:
        at -= 1
    if at and rest[at - 1] in _SINCE | _UNTIL | _PRECEDING:
        bound = rest[at - 1]
        del rest[at - 1 :]
        return bound
    while rest and rest[-1] in _AROUND:
        rest.pop()
    return ""


def find_ago(words: Sequence[str], now: datetime) -> tuple[int, datetime] | None:
    """The number of lower-case words at the beginning such as "three weeks ago", and the day or hour that they name.

    Of "a few weeks ago" the latest that is meant.
    """
    found = _read_ago(words, now.replace(minute=0, second=0, microsecond=0))
    return (found.length, found.latest) if found else None


@dataclass(frozen=True, slots=True)
class _Ago:
    """Words that name a time by its distance: their number, the same time so long ago, and the unit.

    `earliest` is before `latest` if the words are vague: "a few days ago".
    """

    length: int
    earliest: datetime
    latest: datetime
    unit: timedelta


def _read_ago(words: Sequence[str], now: datetime) -> _Ago | None:
    """The time that words name by its distance, such as "three weeks ago", "vor ein paar Tagen" or "3日前"."""
    if words and (translated := translate_ago(words[0])) != words[0]:
        found = _read_ago(translated.split(), now)
        return replace(found, length=1) if found else None
    before = next((phrase for phrase in (*_BEFORE_AGO, *_SINCE_AGO) if tuple(words[: len(phrase)]) == phrase), ())
    used, counts = read_count(words[len(before) :])
    at = len(before) + used
    unit, after = [*words[at : at + 2], "", ""][:2]
    if not counts or unit not in _UNITS or not (before or after in _AGO) or counts[1] > _MOST_AGO // _UNITS[unit]:
        return None
    latest, earliest = (_go_back_units(now, count, _UNITS[unit]) for count in counts)
    return _Ago(at + 1 + (after in _AGO), earliest, latest, _UNITS[unit])


def _go_back_units(now: datetime, count: int, unit: timedelta) -> datetime:
    """The time so many hours, days, weeks, months or years before; of a shorter month its last day."""
    if unit < _DAY:
        return _go_back(now, count * unit).astimezone(now.tzinfo)
    if unit <= _WEEK:
        return now - count * unit
    year, month = divmod(now.year * 12 + now.month - 1 - count * (1 if unit == _MONTH else 12), 12)
    return now.replace(year=year, month=month + 1, day=min(now.day, monthrange(year, month + 1)[1]))


def _parse_ago(words: Sequence[str], now: datetime) -> tuple[int, tuple[datetime, datetime]] | None:
    """The number of words such as "three weeks ago", and the ends of that hour, day, calendar week, month or year."""
    if tuple(words[:3]) in _TWO_DAYS_BACK:
        return 3, _day_range(_start_of_unit(now, _DAY) - 2 * _DAY)
    found = _read_ago(words, now)
    if found is None:
        return None
    start = _start_of_unit(found.earliest, found.unit)
    if tuple(words[:1]) in _SINCE_AGO:
        return found.length, (start, now)
    return found.length, (start, _end_of_unit(_start_of_unit(found.latest, found.unit), found.unit))


def _start_of_unit(instant: datetime, unit: timedelta) -> datetime:
    """The first moment of the hour, day, calendar week, month or year that contains a time."""
    start = instant.replace(minute=0, second=0, microsecond=0)
    if unit >= _DAY:
        start = start.replace(hour=0)
    if unit == _WEEK:
        return start - start.weekday() * _DAY
    if unit > _WEEK:
        return start.replace(day=1) if unit == _MONTH else start.replace(month=1, day=1)
    return start


def _end_of_unit(start: datetime, unit: timedelta) -> datetime:
    """The last moment of the hour, day, calendar week, month or year that begins at a time."""
    if unit < _DAY:
        return _go_back(start, -unit) - timedelta(microseconds=1)
    days = monthrange(start.year, start.month)[1] if unit == _MONTH else 366 if isleap(start.year) else 365
    return start + (unit if unit <= _WEEK else days * _DAY) - timedelta(microseconds=1)


def _parse_period(words: Sequence[str], today: datetime, now: datetime) -> tuple[int, tuple[datetime, datetime] | None]:
    """The number of words that name a time, and its first and last instant; None of words that name no such time."""
    first, second, third = [*words[:3], "", "", ""][:3]
    first = first.removeprefix("l'").removeprefix("l’")  # "l'année dernière"
    if third in _UNITS and {first, second} & _LAST:
        number = first if second in _LAST else second
        if number.isdecimal():
            return 3, (_go_back(now, min(int(number), 10_000) * _UNITS[third]), now)
    if first in _LAST and second in WEEKDAYS:
        return 2, _day_range(_latest_weekday(second, today - _DAY))
    word, unit = _UNSPACED.get(first) or ((second, first) if second in _BEFORE else (first, second))
    if unit in _UNITS and word in _BEFORE | _LAST | _THIS:
        return 1 + (first not in _UNSPACED), _unit_range(unit, today, now, last=word not in _THIS)
    if found := _parse_ago(words, now) or _parse_part_of_week(first, second, today):
        return found
    day = _parse_day(first, today)
    if day is None:
        return _parse_month(words, today)
    return 1 + (second in _PARTS), _day_range(day)


def _parse_part_of_week(first: str, second: str, today: datetime) -> tuple[int, tuple[datetime, datetime]] | None:
    """The latest weekend, this one included; the day of "this morning" and "last night"."""
    if _WEEKEND & {first, second} and (first in _WEEKEND or first in _LAST | _THIS):
        is_now = today.weekday() >= WEEKDAYS["saturday"]
        saturday = _latest_weekday("saturday", today - 2 * _DAY if is_now and first in _LAST else today)
        return 1 + (second in _WEEKEND), (saturday, saturday + 2 * _DAY - timedelta(microseconds=1))
    if first in _THIS and second in _PARTS:
        return 2, _day_range(today)
    return (2, _day_range(today - _DAY)) if (first, second) == ("last", "night") else None


def _go_back(now: datetime, span: timedelta) -> datetime:
    """The instant that long before another, whatever clocks changed in between."""
    return now.astimezone(UTC) - span


def _parse_day(word: str, today: datetime) -> datetime | None:
    """The day of a word like "yesterday" or "monday", or of a date."""
    if word in _DAYS_BACK:
        return today - timedelta(days=_DAYS_BACK[word])
    return _latest_weekday(word, today) if word in WEEKDAYS else _parse_date(word, today)


def _parse_date(word: str, today: datetime) -> datetime | None:
    try:
        return datetime.combine(datetime.fromisoformat(word).date(), time.min, today.tzinfo)
    except ValueError:
        return None


def _day_range(start: datetime) -> tuple[datetime, datetime]:
    return start, start + timedelta(days=1, microseconds=-1)


def _latest_weekday(word: str, today: datetime) -> datetime:
    """The latest such weekday, today included."""
    return today - timedelta(days=(today.weekday() - WEEKDAYS[word]) % 7)


def _unit_range(word: str, today: datetime, now: datetime, *, last: bool) -> tuple[datetime, datetime]:
    """The current calendar week, month or year, or the previous one; for hours and days, the last one until now."""
    unit = _UNITS[word]
    if unit < _WEEK:
        return _go_back(now, unit), now
    if unit == _WEEK:
        start = today - timedelta(days=today.weekday())
        before = start - unit
    elif unit == _MONTH:
        start = today.replace(day=1)
        before = (start - _DAY).replace(day=1)
    else:
        start = today.replace(month=1, day=1)
        before = start.replace(year=start.year - 1)
    return (before, start - timedelta(microseconds=1)) if last else (start, now)


def _parse_month(words: Sequence[str], today: datetime) -> tuple[int, tuple[datetime, datetime] | None]:
    """The number of words of a date such as "May 2026", "12 May", "May 12" or "12 de mayo de 2026", and its ends.

    A day that does not exist in its year, such as 29 February 2026, is no time at all.
    """
    places = [at for at, word in enumerate(words) if at == 0 or word not in _OF]
    first, second, third = [*(words[at] for at in places[:3]), "", "", ""][:3]
    day, used = 0, 1
    name, year = first, second
    if first.isdecimal() and second in MONTHS:
        day, name, year, used = int(first), second, third, 2
    elif first in MONTHS and second.isdecimal() and len(second) < _SHORT:
        day, year, used = int(second), third, 2
    if name not in MONTHS:
        return 0, None
    given = int(year) if year.isdecimal() and len(year) == _SHORT else 0
    length = places[used - 1 + bool(given)] + 1
    start = _latest_date(MONTHS[name] + 1, day or 1, given, today)
    if start is None:
        return length, None
    last = start if day else start.replace(day=monthrange(start.year, start.month)[1])
    return length, (start, _day_range(last)[1])


def _latest_date(month: int, day: int, year: int, today: datetime) -> datetime | None:
    """The start of a day of a year; without one of the latest year in which there was such a day."""
    for tried in (year,) if year else range(today.year, today.year - _LEAP_YEARS - 1, -1):
        try:
            start = datetime(tried, month, day, tzinfo=today.tzinfo)
        except ValueError:
            continue
        if year or start <= today:
            return start
    return None
