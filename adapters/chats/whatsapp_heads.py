"""The head of a message in a chat that WhatsApp exported, with its time in the language of the phone. Pure.

Dates may be in any order, in other digits, in the Buddhist or the Persian calendar, and halves of a day in words. Times
have no zone and count as UTC.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# Marks of direction, and kinds of spaces.
MARKS = str.maketrans({"\u202f": " ", "\u00a0": " "} | dict.fromkeys("\u200e\u200f\u061c\u202a\u202b\u202c\ufeff"))
_DATE = r"\d{1,4} ?[./-] ?\d{1,2} ?[./-] ?\d{1,4}\.?(?: г\.?| ?年)?|\d{4} ?[年년] ?\d{1,2} ?[月월] ?\d{1,2} ?[日일]"
_TIME = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?"
_WORD = r"[^\W\d_][^\d\[\]:,/-]{0,11}"
_END = r"(?:\] ?| ?[-\u2013] |, )(?P<rest>.*)"
_HEADS = tuple(
    re.compile(form, re.DOTALL)
    for form in (
        rf"\[?(?P<date>{_DATE})[,،]? ?(?P<before>(?:{_WORD} ?)?)(?P<time>{_TIME})(?P<after>(?: ?{_WORD})?){_END}",
        rf"\[?(?P<time>{_TIME})(?P<before>)(?P<after>(?: ?{_WORD})?)[,،]? (?P<date>{_DATE}){_END}",
    )
)
_MORNING = {
    *("am", "de", "dop", "fm", "fh", "ap", "sa", "öö", "오전", "午前", "上午", "凌晨", "早上", "清晨", "ص", "قظ"),
    *("पूर्वाह्न", "πμ", "ก่อนเที่ยง"),
}
_EVENING = {
    *("pm", "du", "odp", "em", "gs", "ip", "ch", "ös", "오후", "午後", "下午", "中午", "晚上", "傍晚", "م", "بظ"),
    *("अपराह्न", "μμ", "หลังเที่ยง"),
}
_SEPARATORS = re.compile(r"[.\s]+")
_NUMBER = re.compile(r"\d+")
_COMMA_END = re.compile(r"[월일년月日年]")
YEAR_DIGITS, LAST_DAY, LAST_MONTH, NOON = 4, 31, 12, 12
BUDDHIST_OFFSET, BUDDHIST_YEARS, PERSIAN_YEARS = 543, range(2500, 2700), range(1350, 1425)
SAMPLE_LINES = 2000


def match_head(line: str) -> re.Match[str] | None:
    """The head of a message, with what follows in `rest`; None for another line, which continues a message.

    `line` is translated by MARKS.
    """
    digits = line if line.isascii() else "".join(map(_to_ascii_digit, line[:80])) + line[80:]
    found = next(filter(None, (form.fullmatch(digits) for form in _HEADS)), None)
    if found is None or not _is_plausible(found):
        return None
    return found


def rest_of(line: str, head: re.Match[str]) -> str:
    """What follows the head, with the digits that the line has."""
    return line[head.start("rest") :]


def find_order(lines: Iterable[str]) -> str:
    """The order of day, month and year in the heads of messages, such as "dmy"; "" if there are no heads."""
    dates, halves = [], set[str]()
    for _, line in zip(range(SAMPLE_LINES), lines, strict=False):
        if head := match_head(line.translate(MARKS).rstrip("\r\n")):
            dates.append(_NUMBER.findall(head["date"]))
            halves.add((head["after"] or "").strip())
    if not dates:
        return ""
    fits = {order: [date for date in dates if _fits(date, order)] for order in ("dmy", "mdy", "ymd")}
    return min(
        fits,
        key=lambda order: (
            -len(fits[order]),
            _count_backward_steps(fits[order], order),
            (order == "mdy") != bool(halves & {"AM", "PM"}),
        ),
    )


def parse_head(head: re.Match[str], order: str) -> datetime | None:
    """The time of a head; None if there is no such time."""
    numbers = dict(zip(order, map(int, _NUMBER.findall(head["date"])), strict=True))
    hour, minute, *rest = map(int, _NUMBER.findall(head["time"]))
    if (half := _find_half(head)) is not None:
        hour = hour % NOON + half
    year = numbers["y"] + (2000 if numbers["y"] < 100 else 0)
    try:
        day = _to_date(year, numbers["m"], numbers["d"])
        return datetime(day.year, day.month, day.day, hour, minute, rest[0] if rest else 0, tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _is_plausible(head: re.Match[str]) -> bool:
    """Whether a comma ends the head only where it does so: after a date in Korean or Japanese, or a half of a day."""
    end = head.string[max(head.end("time"), head.end("date"), head.end("after")) : head.start("rest")]
    return not end.startswith(",") or bool(_COMMA_END.search(head["date"])) or _find_half(head) is not None


def _find_half(head: re.Match[str]) -> int | None:
    """The hours before a half of a day; None if no word says which one it is."""
    for group in ("before", "after"):
        word = _SEPARATORS.sub("", head[group] or "").casefold()
        if word in _EVENING:
            return NOON
        if word in _MORNING:
            return 0
    return None


def _to_ascii_digit(character: str) -> str:
    number = unicodedata.decimal(character, None)
    return character if number is None else str(number)


def _fits(numbers: list[str], order: str) -> bool:
    """Whether the numbers of a date may be in this order; other dates are those of texts that people copied."""
    day, month, year = (numbers[order.index(part)] for part in "dmy")
    is_year = len(year) == YEAR_DIGITS or (order != "ymd" and len(year) == 2)
    return is_year and max(len(day), len(month)) < 3 and int(month) <= LAST_MONTH and int(day) <= LAST_DAY


def _count_backward_steps(dates: Iterable[list[str]], order: str) -> int:
    """How often a date is before that of the line above: messages are in the order of their times."""
    keys = [[int(row[order.index(part)]) for part in "ymd"] for row in dates]
    return sum(after < before for before, after in pairwise(keys))


def _to_date(year: int, month: int, day: int) -> date:
    """A date in this calendar. Raises ValueError for a day that does not exist."""
    if year in BUDDHIST_YEARS:
        return date(year - BUDDHIST_OFFSET, month, day)
    if year in PERSIAN_YEARS:
        return _from_persian(year, month, day)
    return date(year, month, day)


def _from_persian(year: int, month: int, day: int) -> date:
    """A date of the Persian calendar, by its cycle of 33 years, which holds for PERSIAN_YEARS. Raises ValueError."""
    first_months, long_days = 6, 31
    if not (1 <= month <= LAST_MONTH and 1 <= day <= long_days):
        raise ValueError(f"{year}-{month}-{day} is no date.")
    leap_days = sum(number % 33 in {1, 5, 9, 13, 17, 22, 26, 30} for number in range(PERSIAN_YEARS.start, year))
    before = (month - 1) * 30 + min(month - 1, first_months)
    return date(1971, 3, 21) + timedelta(days=(year - PERSIAN_YEARS.start) * 365 + leap_days + before + day - 1)
