"""Find the date that a file states about itself in its name or first lines (pure)."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import TYPE_CHECKING

from engine.text.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Iterable

# Only the first lines of a document are searched, and only the beginning of long lines.
HEAD_LINES, LINE_LENGTH = 8, 160
# A line with more words next to its date is a sentence that mentions a date; a first line may be a long heading.
OTHER_WORDS, OTHER_HEADING_WORDS = 3, 12
FIRST_YEAR, LAST_YEAR = 1900, 2199
CLOCK_TOLERANCE = timedelta(days=1)
MAX_AGE = timedelta(days=300)  # of a day without a year; one that would be longer ago is rather to come
LEAP_YEAR = 2024  # has every day

_MONTHS = {
    name: month
    for month, names in enumerate(
        (
            "january jan januar janvier enero janeiro",
            "february feb februar février febrero fevereiro",
            "march mar märz maerz mars marzo março",
            "april apr avril abril",
            "may mai mayo maio",
            "june jun juni juin junio junho",
            "july jul juli juillet julio julho",
            "august aug août agosto",
            "september sep sept septembre septiembre setembro",
            "october oct oktober okt octobre octubre outubro",
            "november nov novembre noviembre novembro",
            "december dec dezember dez décembre diciembre dezembro",
        ),
        1,
    )
    for name in names.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE = compile_late(
    r"(?<!\d)(?<!\d[-.])(?P<iso_year>\d{4})(?P<sep>[-_./]?)(?P<iso_month>[01]\d)(?P=sep)(?P<iso_day>[0-3]\d)(?![\d-])"
    r"|(?<![\d.])(?P<dotted_day>\d{1,2})\.(?P<dotted_month>\d{1,2})\.(?P<dotted_year>\d{4})(?!\d)"
    rf"|(?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.|er)?[ _-](?:(?:of|de)[ _-])?(?P<month>{_MONTH})\b\.?,?[ _-]"
    r"(?:de[ _-])?(?P<year>\d{4})(?!\d)"
    rf"|\b(?P<us_month>{_MONTH})\b\.?[ _-](?P<us_day>\d{{1,2}})(?:st|nd|rd|th)?,?[ _-](?P<us_year>\d{{4}})(?!\d)"
    r"|(?<!\d)(?P<ja_year>\d{4})年 ?(?P<ja_month>\d{1,2})月 ?(?P<ja_day>\d{1,2})日",
    re.IGNORECASE,
)
_LONG_MONTH = "|".join(sorted((name for name in _MONTHS if len(name) > 3 or name in {"may", "mai"}), key=len)[::-1])
_DAY = compile_late(
    rf"(?<![\d.:])(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.|er)?[ _-](?:(?:of|de)[ _-])?(?P<month>{_LONG_MONTH})\b"
    rf"(?!\.?,?[ _-](?:de[ _-])?\d)"
    rf"|(?<!\d )(?<!\d-)\b(?P<us_month>{_LONG_MONTH})[ _-](?P<us_day>\d{{1,2}})(?:st|nd|rd|th)?\b"
    r"(?!,?[ _.:-]?\d)|(?<![\w.:])(?P<dotted_day>\d{1,2})\.(?P<dotted_month>\d{1,2})\.(?!\d)"
    r"|(?<![\d年])(?P<ja_month>\d{1,2})月 ?(?P<ja_day>\d{1,2})日",
    re.IGNORECASE,
)
# What is named after the day on which people met; another text may name a day that is still to come.
_MEETING = compile_late(
    r"\b(?:minutes|(?:meeting|call|board|council|team|staff|planning|session|project)s?(?: notes)?|notes (?:of|from)"
    r"|jour fixe|stand-?up|retro(?:spective)?|weekly|\w*protokoll|niederschrift|\w*sitzung|besprechung|treffen"
    r"|acta|reunión|junta|compte[- ]rendu|procès[- ]verbal|réunion|ata|reunião)\b|議事録|会議|打ち合わせ|定例",
    re.IGNORECASE,
)
_LABEL = compile_late(
    r"\b(?:date|dated|updated|modified|changed|revised|published|posted|issued|written|created|as of|as at"
    r"|edition of|version of|minutes of|meeting of|datum|stand|vom|fecha|actualizado|fait le)\b[^\w\n]{0,8}"
    r"(?:(?:on|the|am|el|le|mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\b[, ]{0,3}){0,2}\Z",
    re.IGNORECASE,
)
_TERM = compile_late(
    r"\b(?:until|till|before|by|from|since|after|due|deadline|expires?|valid|between|to|on|bis|ab|seit|hasta|desde)\b"
    r"\W{0,3}\Z",
    re.IGNORECASE,
)
_WORD = compile_late(r"[^\W\d_]{2,}")

# Default times that programs write if they know none: ReportLab, the template of python-docx.
_DEFAULT_TIMES = frozenset({datetime(2000, 1, 1, tzinfo=UTC), datetime(2013, 12, 23, 23, 15, tzinfo=UTC)})
# The first days of Unix time and of ZIP archives, in any time zone.
_FIRST_DAYS = frozenset({date(1969, 12, 31), date(1970, 1, 1), date(1979, 12, 31), date(1980, 1, 1)})


def find_stated_date(name: str, text: str) -> datetime | None:
    """The date in a file's name, else the one stated in its first lines; midnight UTC.

    A line states the document's date after a label ("Updated: …"), in the first line ("Minutes of 12 May 2026"), or on
    its own. A date that begins or ends a period does not count.
    """
    lines = islice(
        (line.strip()[:LINE_LENGTH] for line in text.split("\n", 4 * HEAD_LINES) if line.strip()), HEAD_LINES
    )
    named = [day for day, *_ in _find_dates(name.replace("_", "-"))]
    candidates = named[:1] + [
        day for number, line in enumerate(lines) if (day := _find_line_date(line, first=number == 0))
    ]
    return candidates[0] if candidates else None


def find_stated_day(name: str, text: str) -> tuple[int, int] | None:
    """The month and day without a year in the name or the first line of what tells of a meeting: "Minutes, 12 May"."""
    first = next((line.strip()[:LINE_LENGTH] for line in text.split("\n") if line.strip()), "")
    for line in (name.replace("_", "-"), first):
        found = list(_DAY.finditer(line))
        if len(found) == 1 and _MEETING.search(line.replace("-", " ")) and not _TERM.search(line[: found[0].start()]):
            return _read_day(found[0])
    return None


def find_heading_date(path: Iterable[str]) -> datetime | None:
    """The date that the headings above a section state, the nearest first: "Notes of the board › 12 May 2026"."""
    return next((day for heading in reversed([*path]) if (day := _find_line_date(heading, first=False))), None)


def parse_date(text: str) -> datetime | None:
    """Parse a date and time from metadata: ISO 8601 or the e-mail format; UTC without a time zone."""
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            time = parse(text.strip().strip("\"'"))
            return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            continue
    return None


def is_default_time(time: datetime) -> bool:
    """Whether this is the default time of a program that knew none."""
    return time in _DEFAULT_TIMES or time.date() in _FIRST_DAYS


def first_stated(times: Iterable[datetime | None]) -> datetime | None:
    """The first time that is no default of a program."""
    return next((time for time in times if time and not is_default_time(time)), None)


def _find_line_date(line: str, *, first: bool) -> datetime | None:
    """The date of a line that states the document's date, None for any other line."""
    dates = _find_dates(line)
    if len(dates) != 1:
        return None
    day, start, stop = dates[0]
    before = line[:start]
    if _LABEL.search(before[-60:]):
        return day
    if _TERM.search(before[-20:]):
        return None
    other_words = len(_WORD.findall(before)) + len(_WORD.findall(line[stop:]))
    return day if other_words <= (OTHER_HEADING_WORDS if first else OTHER_WORDS) else None


def _find_dates(text: str) -> list[tuple[datetime, int, int]]:
    """All full, valid dates of a text with their start and end offsets."""
    dates = []
    for match in _DATE.finditer(text):
        part = match.groupdict()
        year = part["iso_year"] or part["dotted_year"] or part["year"] or part["us_year"] or part["ja_year"]
        month = part["iso_month"] or part["dotted_month"] or part["ja_month"]
        day = part["iso_day"] or part["dotted_day"] or part["day"] or part["us_day"] or part["ja_day"]
        try:
            stated = datetime(int(year), int(month or _find_month(match)), int(day), tzinfo=UTC)
        except ValueError:
            continue
        if FIRST_YEAR <= stated.year <= LAST_YEAR:
            dates.append((stated, match.start(), match.end()))
    return dates


def _find_month(match: re.Match[str]) -> int:
    return _MONTHS[(match["month"] or match["us_month"]).lower()]


def _read_day(match: re.Match[str]) -> tuple[int, int] | None:
    """The month and day of a match, if there is such a day."""
    month = int(match["dotted_month"] or match["ja_month"] or _find_month(match))
    day = int(match["dotted_day"] or match["ja_day"] or match["day"] or match["us_day"])
    try:
        return (date(LEAP_YEAR, month, day).month, day)
    except ValueError:
        return None


def plausible_time(stated: datetime | None, now: datetime, day: tuple[int, int] | None = None) -> datetime | None:
    """The date that a file states, None if it is in the future; without one the latest `day`, unless long ago."""
    if stated is not None or day is None:
        return stated if stated and stated <= now + CLOCK_TOLERANCE else None
    for year in (now.year + 1, now.year, now.year - 1):
        try:
            latest = datetime(year, *day, tzinfo=UTC)
        except ValueError:
            continue
        if latest <= now + CLOCK_TOLERANCE:
            return latest if now - latest <= MAX_AGE else None
    return None
