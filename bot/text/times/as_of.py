"""The day as of which a question is to be answered: "who leads it as of 3 May?", in six languages. Pure.

Only words that name a day, a month, a year or another time make such a question; "as of late" stays as it is. What
names a day that is to come, or that there is not, is refused: it would be answered as of today without a word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING

from bot.i18n import N_, gettext
from bot.text.format import format_date_long
from bot.text.times.periods import MOMENT, parse_period
from engine.errors import InvalidQuestion
from engine.text.patterns import compile_late
from engine.text.time_spans import find_ago, parse_leading_period

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

MAX_WORDS = 8  # of a time, such as "the 3rd of May 2026"
FUTURE = N_("I can only answer as of a day in the past, and {words} is still to come.")
NO_DAY = N_("I don't know the day “{words}”.")
HINT = N_("Write the day as in “as of 2026-05-03”.")

_ENGLISH = r"as (?:of|at)"
_MARKER = compile_late(
    rf"(?<![\w’'-])(?:(?P<en>{_ENGLISH}(?= ))"
    r"|(?P<de>(?-i:(?<!am )(?<!de[nmr] )(?<!De[nmr] )(?<!elle )(?<!uer )"
    r"(?:[Mm]it |[Zz]um |[Nn]ach )?Stand(?=[ :]))|per(?= \d{1,2}\.))"
    r"|(?P<fr>à la date|(?<!la )(?<!l['’])(?:état|situation)(?= (?:au|du|d['’])))"
    r"|(?P<es>a fecha(?= (?:del?|\d))|a d[ií]a(?= (?:del? )?\w))"
    r"|(?P<pt>[nà]a? data(?= d[eo]\b)|(?<!a )(?:situação|posição)(?= em ))"
    r")\s*:?\s*",
    re.IGNORECASE,
)
_JAPANESE_DAY = (
    r"(?P<words>(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})日|末)?|(?P<only>\d{4})年末?"
    r"|\d{4}[-/]\d{1,2}[-/]\d{1,2}|一昨日|おととい|昨日|今日|本日|明日|明後日|来週|来月|来年)"
)
_JAPANESE = compile_late(_JAPANESE_DAY + r"の?(?:時点|現在)(?:では|における|で|の|に)?、?")
_JAPANESE_DAYS = {"一昨日": 2, "おととい": 2, "昨日": 1, "今日": 0, "本日": 0}
_FILLER = compile_late(
    r"(?:the|end|beginning|of|on|vom|von|am|dem|den|des|der|ende|du|de|del|do|da|au|fin|fins|finales|final|fim|la|le|el"
    r"|o|a|em)$"
)
_TO_COME = compile_late(
    r"(?:tomorrow|morgen|übermorgen|demain|après-demain|mañana|amanhã"
    r"|(?:the )?next \w+|(?:nächste|kommende)[rnsm]? \w+|la semaine prochaine|l['’]an(?:née)? prochaine?"
    r"|(?:el |la |o |a )?próxim[oa] \w+|(?:la )?semana que (?:vem|viene))(?!\w)",
    re.IGNORECASE,
)
_ELIDED = compile_late(r"^d['’]")
_WORD = compile_late(r"\S+")
_ORDINAL = compile_late(r"(\d{1,2})(?:st|nd|rd|th|er|º|ª|\.)")
_NUMERIC = compile_late(r"(\d{1,2})([./])(\d{1,2})\2(\d{4})|(\d{4})/(\d{1,2})/(\d{1,2})")
_DATE = compile_late(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{4}")
_YEAR = compile_late(r"(?:19|20)\d\d")
_SENTENCE_END = compile_late(r"[^\W\d].*[.!?;,]$|[!?;,]$")
_BEFORE_YEAR = compile_late(r".*\d(?:st|nd|rd|th)?,")
_BEFORE_MARK = compile_late(r" +(?=[?!.,;:])")


@dataclass(frozen=True, slots=True, order=True)
class AsOf:
    """The end of a day in UTC, and the day where the person asking is."""

    until: datetime
    day: date


@dataclass(frozen=True, slots=True)
class _Typed:
    """A word of a time in lower case, without marks around it, and where it ends in the text."""

    word: str
    stop: int


def find_as_of(text: str, now: datetime) -> tuple[AsOf | None, str]:
    """The day that a question names, and the question without it. Raises InvalidQuestion for a day that cannot be."""
    for found in _JAPANESE.finditer(text):
        as_of = _limit(found["words"], _read_japanese(found, now), now)
        return as_of, (text[: found.start()] + text[found.end() :]).lstrip("、 ").strip()
    for found in _MARKER.finditer(text):
        if (read := _read(text, found.end(), now, is_english=bool(found["en"]))) is not None:
            as_of, stop = read
            return as_of, _join(text[: found.start()], text[stop:])
    return None, text


def parse_as_of(words: str, now: datetime) -> AsOf:
    """The day of an option: as in a question, or as other filters give times. Raises InvalidQuestion."""
    text = " ".join(words.split())
    if (period := parse_period(text, now)) is not None:
        return _limit(text, period, now)
    if text.endswith(("時点", "現在")) or _JAPANESE.fullmatch(f"{text}時点"):
        found, rest = find_as_of(text if text.endswith(("時点", "現在")) else f"{text}時点", now)
    else:
        read = _read(text, 0, now, is_english=True)
        found, rest = (read[0], text[read[1] :]) if read else (None, text)
    if found is None or rest.strip(" .,"):
        raise _refuse(NO_DAY, text)
    return found


def _read(text: str, at: int, now: datetime, *, is_english: bool) -> tuple[AsOf, int] | None:
    """The day that is named at a place of a text, and where its words end; None if there is none."""
    typed = list(_list_words(text, at, is_english=is_english))
    while True:
        if coming := _TO_COME.match(text, at):
            raise _refuse(FUTURE, coming[0])
        if not typed:
            return None
        words = [word.word for word in typed]
        if find_ago(words, now) or not _FILLER.match(words[0]):
            break
        at, typed = typed[0].stop + 1, typed[1:]
    length, period = _read_ago(words, now) or _read_number(words, now)
    if period is None:
        length, period = parse_leading_period(words, now) if not length else (length, None)
    if period is None and not length:
        return None
    shown = text[at : typed[length - 1].stop].strip()
    if period is None:
        raise _refuse(NO_DAY, shown)
    return _limit(shown, period, now), typed[length - 1].stop


def _read_ago(words: Sequence[str], now: datetime) -> tuple[int, tuple[datetime, datetime]] | None:
    """The number of words such as "two weeks ago", and the ends of that day."""
    if (found := find_ago(words, now)) is None:
        return None
    start = datetime.combine(found[1].date(), time.min, now.tzinfo)
    return found[0], (start, start + timedelta(days=1) - MOMENT)


def _read_number(words: Sequence[str], now: datetime) -> tuple[int, tuple[datetime, datetime] | None]:
    """The number of words that give a time in numbers, and its ends; None of words that name no such day."""
    first = words[0]
    if not first[:1].isdecimal():
        return 0, None
    if _DATE.fullmatch(first):
        return 1, _parse_date(first, now)
    if first.isdecimal() and not _YEAR.fullmatch(first):
        return 0, None
    period = parse_period(first, now)
    return int(period is not None), period


def _list_words(text: str, at: int, *, is_english: bool) -> Iterator[_Typed]:
    """The words from a place on, in lower case, up to the end of a sentence or MAX_WORDS."""
    for count, found in enumerate(_WORD.finditer(text, at)):
        raw = found[0]
        bare = raw.rstrip(".,;:?!)]»”\"'")
        word = _ELIDED.sub("", bare.casefold())
        if ordinal := _ORDINAL.fullmatch(raw.casefold().rstrip(",;:?!)")):
            word, bare = ordinal[1], raw.rstrip(",;:?!)")
        yield _Typed(_to_iso(word, is_english=is_english), found.start() + len(bare))
        if count + 1 >= MAX_WORDS or (_SENTENCE_END.search(raw) and not _BEFORE_YEAR.fullmatch(raw)):
            return


def _to_iso(word: str, *, is_english: bool) -> str:
    """A date of numbers as 2026-05-03; one that may be a day in two months is kept, and then refused."""
    found = _NUMERIC.fullmatch(word)
    if found is None:
        return word
    if found[5]:
        return f"{found[5]}-{int(found[6]):02}-{int(found[7]):02}"
    day, month = int(found[1]), int(found[3])
    if is_english and found[2] == "/" and day != month:
        if day <= 12 and month <= 12:
            return word
        day, month = max(day, month), min(day, month)
    return f"{found[4]}-{month:02}-{day:02}"


def _parse_date(word: str, now: datetime) -> tuple[datetime, datetime] | None:
    """The ends of a day, also of one that is to come; None if there is no such day."""
    try:
        start = datetime.combine(datetime.fromisoformat(word).date(), time.min, now.tzinfo)
        return start, start + timedelta(days=1) - MOMENT
    except (ValueError, OverflowError):
        return None


def _read_japanese(found: re.Match[str], now: datetime) -> tuple[datetime, datetime]:
    """The ends of the time that Japanese words name. Raises InvalidQuestion."""
    words, today = found["words"], datetime.combine(now.date(), time.min, now.tzinfo)
    if words in _JAPANESE_DAYS:
        start = today - timedelta(days=_JAPANESE_DAYS[words])
        return start, start + timedelta(days=1) - MOMENT
    if found["only"]:
        period = parse_period(str(int(found["only"])), now)
    elif found["month"]:
        period = _read_month(found, now)
    elif words[0].isdigit():
        period = _parse_date(_to_iso(words, is_english=False), now)
    else:
        raise _refuse(FUTURE, words)
    if period is None:
        raise _refuse(NO_DAY, words)
    return period


def _read_month(found: re.Match[str], now: datetime) -> tuple[datetime, datetime] | None:
    """The ends of a month, or of a day of it; without a year, the latest that has begun."""
    year, month, day = int(found["year"] or now.year), int(found["month"]), int(found["day"] or 0)
    if not found["year"] and (month, day or 1) > (now.month, now.day):
        year -= 1
    named = f"{year:04}-{month:02}"
    return _parse_date(f"{named}-{day:02}", now) if day else parse_period(named, now)


def _limit(words: str, period: tuple[datetime, datetime], now: datetime) -> AsOf:
    """The end of the last day of a period; today, if that is to come. Raises InvalidQuestion if all of it is."""
    first, last = (end.astimezone(now.tzinfo) for end in period)
    if first > now:
        raise _refuse(FUTURE, words)
    day = min(last.date(), now.date())
    following = datetime.combine(day + timedelta(days=1), time.min, now.tzinfo)
    return AsOf(following.astimezone(UTC) - MOMENT, day)


def _join(before: str, after: str) -> str:
    """The rest of a question around words that were taken out of it."""
    joined = " ".join(f"{before} {after}".split()).replace("( )", "")
    return _BEFORE_MARK.sub("", joined).lstrip(",;:. ").strip()


def _refuse(sentence: str, words: str) -> InvalidQuestion:
    return InvalidQuestion(gettext(sentence).format(words=words), hint=gettext(HINT))


def describe_as_of(day: date) -> str:
    """That an answer is given as of a day."""
    return gettext("As of {day}: what was written later is left out.").format(day=format_date_long(day))
