"""Find the values that a statement gives: dates, times, prices, numbers, versions and codes. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from engine.llm.offline.supersession import cues
from engine.llm.offline.words import is_stop_word
from engine.text.word_lists import word_set

_MONTHS = tuple(
    line.split()
    for line in """
    january jan januar janvier enero janeiro
    february feb februar février fevrier febrero fevereiro
    march mar märz maerz mars marzo março
    april apr avril abril
    may mai mayo maio
    june jun juni juin junio junho
    july jul juli juillet julio julho
    august aug août aout agosto
    september sep sept septembre septiembre setembro
    october oct oktober okt octobre octubre outubro
    november nov novembre noviembre novembro
    december dec dezember dez décembre decembre diciembre dezembro
    """.strip().splitlines()
)
_WEEKDAYS = tuple(
    line.split()
    for line in """
    monday montag lundi lunes segunda 月曜
    tuesday dienstag mardi martes terça 火曜
    wednesday mittwoch mercredi miércoles quarta 水曜
    thursday donnerstag jeudi jueves quinta 木曜
    friday freitag vendredi viernes sexta 金曜
    saturday samstag samedi sábado 土曜
    sunday sonntag dimanche domingo 日曜
    """.strip().splitlines()
)
_MONTH_NUMBERS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}
_WEEKDAY_NUMBERS = {name: number for number, names in enumerate(_WEEKDAYS) for name in names}
CALENDAR_NAMES = frozenset(_MONTH_NUMBERS) | frozenset(_WEEKDAY_NUMBERS)
_NUMBER_WORDS = {
    word: str(number)
    for number, line in enumerate(
        """
        two zwei deux dos dois duas
        three drei trois tres três
        four vier quatre cuatro quatro
        five fünf cinq cinco
        six sechs seis
        seven sieben sept siete sete
        eight acht huit ocho oito
        nine neun neuf nueve nove
        ten zehn dix diez dez
        """.strip().splitlines(),
        2,
    )
    for word in line.split()
    if word not in _MONTH_NUMBERS
}
_MONTH = "|".join(sorted(_MONTH_NUMBERS, key=len, reverse=True))
_LATIN_WEEKDAYS = "|".join(name for name in _WEEKDAY_NUMBERS if name.isalpha() and name[0] < "぀")
_CURRENCY = r"(?:€|\$|£|¥|円|euros?\b|eur\b|usd\b|dollars?\b|pounds?\b|francs?\b|chf\b|reais\b|pesos\b|cents?\b)"
_AMOUNT = r"\d{1,9}(?:[.,]\d{1,3}){0,3}"
_DAY = r"\d{1,2}(?:st|nd|rd|th|\.|er|º)?"
_PATTERNS = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("code", r"https?://[^\s<>]{1,200}|[\w.+-]{1,60}@[\w-]{1,60}(?:\.[\w-]{1,30}){1,4}"),
        ("code", r"\b[\w-]{1,40}(?:\.[\w-]{1,40}){0,3}\.(?:com|org|net|io|dev|example|test|internal|local)\b"),
        ("money", rf"[€$£¥]\s?{_AMOUNT}|{_AMOUNT}\s?{_CURRENCY}"),
        ("date", r"\b\d{4}-\d\d-\d\d\b"),
        ("date", rf"(?<![\w.])(?P<day>{_DAY})\s+(?:de\s|of\s)?\s?(?P<month>{_MONTH})\b"),
        ("date", rf"\b(?P<month>{_MONTH})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?![.:]\d)"),
        ("date", r"(?<![\d.])(?P<day>\d{1,2})\.(?P<number>\d{1,2})\.(?:\d{4}|\d\d)(?!\d)"),
        ("date", r"\b(?:am|den|dem|vom|bis|zum|ab|der|auf den|statt)\s(?P<day>\d{1,2})\.(?P<number>\d{1,2})\.(?!\d)"),
        ("date", r"(?P<number>\d{1,2})月(?P<day>\d{1,2})日|(?<!月)(?<!\d)\d{1,2}日"),
        (
            "date",
            r"\b(?:the|am|el|le|dia|día|den|zum|to|vom)\s\d{1,2}(?:st|nd|rd|th|\.)(?!\d)|\b\d{1,2}(?:st|nd|rd|th)\b",
        ),
        ("date", r"\b(?:le|el día|dia)\s\d{1,2}\b(?!\s?[:h€%])"),
        ("date", rf"\b(?:{_LATIN_WEEKDAYS})(?:-feira|s)?\b|[月火水木金土日]曜日?"),
        (
            "date",
            (
                rf"\b(?:in|im|en|em|by|until|to|auf|bis|au|para|from|since|ab|seit|depuis|desde)\s(?P<month>{_MONTH})\b|"
                rf"\bQ[1-4]\b|\b(?:week|KW)\s\d{{1,2}}\b"
            ),
        ),
        (
            "time",
            r"\b\d{1,2}:\d\d(?:\s?[ap]\.?m\b\.?)?|\b\d{1,2}(?:\.\d\d)?\s?(?:uhr\b|[ap]m\b|[ap]\.m\.|heures\b|horas\b)",
        ),
        (
            "time",
            (
                r"\b\d{1,2}\s?h(?:\d\d)?\b|\d{1,2}時(?:半|\d{1,2}分)?|\b(?:noon|midday|midnight|mittags|midi|minuit|"
                r"mediodía)\b"
            ),
        ),
        (
            "version",
            (
                r"\bv\.?\s?\d+(?:\.\d+){0,4}\b|\b\d+(?:\.\d+){2,4}\b|(?:\bversion|\bversión|\bversão|"
                r"バージョン)\s?\d+(?:\.\d+){0,4}"
            ),
        ),
        (
            "time",
            (
                r"\b(?:at|um|a las|às|à|gegen)\s\d{1,2}(?=\s*(?:$|[.,;!)]|\b(?:on|in|instead|statt|now|am|im|en|o|from|"
                r"until|"
                r"since|every|each|ab|bis|à|de)\b))"
            ),
        ),
        ("code", r"(?<!\w)#[\w-]{1,80}|\b(?=[A-Z]{1,5}-?\d)(?-i:[A-Z]{1,5}-?\d[\w-]{0,20})\b"),
        ("number", r"(?<![A-Za-z0-9_.,])\d{1,9}(?:[.,]\d{1,3}){0,3}\s?%?(?![\w.]\d)"),
        ("number", rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b"),
    )
)
_RANGE = re.compile(r"\A\s{0,2}(?:-|–|—|to|until|bis|à|au|al?|até|〜|～|から)\s{0,2}\Z", re.IGNORECASE)
_UNIT = re.compile(r"\s?-?([^\W\d_]{1,30})")
_DIGITS = re.compile(r"\d+")
_NO_UNITS = word_set("and or in on at for to per is are und oder et ou y e o the a as der die das im am per por para")


class Value(NamedTuple):
    """A value at `start:stop` of a text; equal values have equal kinds and forms. A number has a unit, if any."""

    kind: str
    form: str
    start: int
    stop: int
    unit: str = ""


@lru_cache(maxsize=8192)
def find_values(text: str) -> tuple[Value, ...]:
    """The values of a text in order; two of a kind with a dash or "to" between them are one, a range."""
    found: list[Value] = []
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if all(match.end() <= value.start or match.start() >= value.stop for value in found):
                found.append(_build_value(kind, match, text))
    return tuple(_join_ranges(sorted(found, key=lambda each: each.start), text))


def _build_value(kind: str, match: re.Match[str], text: str) -> Value:
    raw = match[0].casefold()
    if kind == "date":
        return Value(kind, _date_form(match, raw), match.start(), match.end())
    if kind == "time":
        return Value(kind, _time_form(raw), match.start(), match.end())
    if kind in {"money", "version"}:
        return Value(kind, ".".join(_DIGITS.findall(raw)), match.start(), match.end())
    if kind == "number":
        unit = _UNIT.match(text, match.end())
        name = unit[1].casefold() if unit and _is_unit(unit[1]) else ""
        return Value(kind, _NUMBER_WORDS.get(raw, raw), match.start(), match.end(), "%" if "%" in raw else name[:5])
    return Value(kind, raw, match.start(), match.end())


def _is_unit(word: str) -> bool:
    folded = word.casefold()
    return not (is_stop_word(word) or folded in _NO_UNITS or folded in cues.LIGHT_WORDS or cues.CHANGE.fullmatch(word))


def _date_form(match: re.Match[str], raw: str) -> str:
    parts = match.groupdict()
    day = "".join(_DIGITS.findall(parts.get("day") or "")).lstrip("0")
    month = _MONTH_NUMBERS.get((parts.get("month") or "").casefold()) or int(parts.get("number") or 0)
    if month:
        return f"{month}/{day}"
    if raw[:4].isdigit() and raw.count("-") == 2:
        return f"{int(raw[5:7])}/{int(raw[8:10])}"
    weekday = next((number for name, number in _WEEKDAY_NUMBERS.items() if raw.startswith(name)), None)
    if weekday is not None:
        return f"weekday {weekday}"
    return f"/{''.join(_DIGITS.findall(raw))}" if raw[:1] not in "qwk" else raw


def _time_form(raw: str) -> str:
    numbers = [int(digits) for digits in _DIGITS.findall(raw)[:2]]
    if not numbers:
        return "0:0" if raw in {"midnight", "minuit"} else "12:0"
    hour, minute = numbers[0], numbers[1] if len(numbers) > 1 else 30 if raw.endswith("半") else 0
    is_afternoon = "pm" in raw or "p.m" in raw
    return f"{hour + 12 if is_afternoon and hour < 12 else hour}:{minute}"


def _join_ranges(values: list[Value], text: str) -> list[Value]:
    joined: list[Value] = []
    for value in values:
        last = joined[-1] if joined else None
        alike = last is not None and last.kind in {value.kind, "number"} and value.kind != "code"
        if last is not None and alike and _RANGE.match(text[last.stop : value.start]) and not _is_change(text, last):
            joined[-1] = Value(value.kind, f"{last.form}–{value.form}", last.start, value.stop, value.unit)
        else:
            joined.append(value)
    return joined


_BEFORE_CHANGE = re.compile(
    r"\b(?:mov\w+|chang\w+|rais\w+|increas\w+|lower\w+|drop\w+|postpon\w+|shift\w+|went|goes|bump\w*|upgrad\w+|"
    r"switch\w+|"
    r"reduc\w+|reschedul\w+|verschoben|verlegt|erhöht|gesenkt|steigt|sinkt|report\w+|déplac\w+|pass\w+|augment\w+|"
    r"cambi\w+|aplaz\w+|sub\w+|baj\w+|mud\w+|adiad\w+)\b[^.;]{0,40}\Z",
    re.IGNORECASE,
)


def _is_change(text: str, first: Value) -> bool:
    """Whether a value and the next one are the former and the new one, not the ends of a range."""
    return bool(_BEFORE_CHANGE.search(text[max(0, first.start - 60) : first.start]))
