"""Show a number as a number format of a spreadsheet does: 12.5%, 1,250.50 €, 30:15, 4 March 2031. Pure.

Formats are codes such as `#,##0.00 [$€-407]`: sections for positive, negative and zero numbers and for text, with
placeholders of digits, letters of dates and literal text (ECMA-376, part 1, 18.8.31).
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

BUILT_IN = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    12: "# ?/?",
    13: "# ??/??",
    14: "yyyy-mm-dd",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "yyyy-mm-dd h:mm",
    37: "#,##0 ;(#,##0)",
    38: "#,##0 ;(#,##0)",
    39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)",
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "##0.0E+0",
    49: "@",
    5: "$#,##0",
    6: "$#,##0",
    7: "$#,##0.00",
    8: "$#,##0.00",
    41: "#,##0",
    42: "$#,##0",
    43: "#,##0.00",
    44: "$#,##0.00",
}
_TOKEN = re.compile(
    r'"([^"]*)"|\\(.)|_.|\*.|\[\$([^\[\]-]*)(?:-[^\[\]]*)?\]|(\[(?:h+|m+|s+)\])|\[[^\[\]]*\]'
    r"|(AM/PM|A/P|am/pm|a/p|上午/下午)|(General|Standard)|(E[+-])|([ymdhs]+(?:\.0+(?=$|[^#0?]))?)|([#0?]+)|(.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)\]")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_EPOCH = datetime(1899, 12, 30, tzinfo=UTC)
_FIRST_DATE, _LAST_DATE = 0, 2_958_465
_MAX_CODE = 500
_SECONDS = 86_400


class FormatToken(NamedTuple):
    """A piece of a format: literal text, a date or duration, digits, an exponent, or the number as it is."""

    kind: str
    text: str


_TEXT = FormatToken("other", "@")  # in a section for text


@lru_cache(maxsize=4096)
def split_code(code: str) -> tuple[tuple[FormatToken, ...], ...]:
    """The sections of a number format (for positive, negative and zero values), each as its tokens."""
    sections: list[list[FormatToken]] = [[]]
    for found in _TOKEN.finditer(code[:_MAX_CODE]):
        quoted, escaped, currency, elapsed, noon, general, exponent, date, digits, other = found.groups()
        if other == ";":
            sections.append([])
        elif (token := _build_token(found[0], quoted, escaped, currency, other)) is not None:
            sections[-1].append(token)
        elif elapsed or noon or date:
            sections[-1].append(FormatToken("elapsed" if elapsed else "noon" if noon else "date", found[0].lower()))
        elif general or exponent or digits:
            sections[-1].append(FormatToken("general" if general else "exponent" if exponent else "digits", found[0]))
    return tuple(tuple(section) for section in sections)


def _build_token(
    whole: str, quoted: str | None, escaped: str | None, currency: str | None, other: str | None
) -> FormatToken | None:
    literal = next((text for text in (quoted, escaped, currency) if text is not None), None)
    if literal is not None:
        return FormatToken("literal", literal)
    if whole.startswith("_"):
        return FormatToken("literal", " ")
    return FormatToken("other", other) if other else None


def format_number(value: float, code: str) -> str:
    """The number as the format shows it; as it is if the format is unknown."""
    if not code or not math.isfinite(value):
        return plain_number(value)
    section, shown = _choose_section(value, code)
    if not section:
        return plain_number(value)
    if any(token.kind in {"date", "elapsed"} for token in section):
        return _format_date(shown, section)
    kinds = {token.kind for token in section}
    if "general" in kinds or not kinds & {"digits", "exponent"}:
        number = plain_number(shown) if "general" in kinds else ""
        return _join(number if token.kind == "general" else token.text for token in section if token.text != "@") or (
            plain_number(value) if "general" in kinds else ""
        )
    return _format_digits(shown, section)


def plain_number(value: float) -> str:
    """A number without a format: whole numbers without a fraction."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:.10g}" if value != int(value) or abs(value) >= 1e15 else str(int(value))


def _choose_section(value: float, code: str) -> tuple[tuple[FormatToken, ...], float]:
    """The section for a number, and the number without its sign if the section shows that itself."""
    sections = split_code(code)
    if len(sections) < 4 and _TEXT in sections[-1]:
        sections = sections[:-1] or ((),)
    if conditions := _CONDITION.findall(code):
        for at, (sign, bound) in enumerate(conditions[: len(sections)]):
            if _holds(value, sign, float(bound)):
                return sections[at], value
        return sections[min(len(conditions), len(sections) - 1)], value
    if value < 0 and len(sections) > 1:
        return sections[1], -value
    if value == 0 and len(sections) > 2:
        return sections[2], value
    return sections[0], value


def _holds(value: float, sign: str, bound: float) -> bool:
    return {
        "<": value < bound,
        ">": value > bound,
        "<=": value <= bound,
        ">=": value >= bound,
        "=": value == bound,
        "<>": value != bound,
    }[sign]


def _join(pieces: Iterable[str]) -> str:
    return " ".join("".join(pieces).split())


def _format_digits(value: float, section: tuple[FormatToken, ...]) -> str:
    """A number with digits: thousands, a fraction of decimals or of whole numbers, percent, an exponent."""
    texts = [token.text for token in section]
    slash = next((at for at, each in enumerate(section) if each == FormatToken("other", "/")), 0)
    if slash and section[slash - 1].kind == "digits":
        return _format_fraction(value, section, slash)
    places = [at for at, each in enumerate(section) if each.kind == "digits"]
    first, last = places[0], places[-1]
    percent = sum(token == FormatToken("other", "%") for token in section)
    inner = "".join(texts[first : last + 1])
    point = inner.find(".")
    thousands = "," in (inner if point < 0 else inner[:point])
    scale = len(_trailing_commas(section, last))
    number = Decimal(repr(value)).scaleb(2 * percent - 3 * scale)
    exponent = next((at for at, each in enumerate(section) if each.kind == "exponent"), 0)
    if exponent:
        decimals = sum(map(len, texts[first + 2 : exponent])) if texts[first + 1] == "." else 0
        mantissa, _, power = f"{number:.{decimals}E}".partition("E")
        shown, end = f"{mantissa}E{power[0]}{power[1:].rjust(len(texts[last]), '0')}", last
    else:
        whole, _, fraction = inner.partition(".")
        shown, end = _fixed(number, whole, fraction, thousands=thousands), last + scale
    sign = "-" if shown.startswith("-") else ""
    return _join([sign, *_shown(section[:first]), shown.lstrip("-"), *_shown(section[end + 1 :])])


def _trailing_commas(section: tuple[FormatToken, ...], last: int) -> list[FormatToken]:
    commas: list[FormatToken] = []
    for token in section[last + 1 :]:
        if token != FormatToken("other", ","):
            break
        commas.append(token)
    return commas


def _shown(tokens: tuple[FormatToken, ...]) -> list[str]:
    return [token.text for token in tokens if token.kind in {"literal", "other"} and token.text != "@"]


def _fixed(number: Decimal, whole: str, fraction: str, *, thousands: bool) -> str:
    decimals = sum(character in "0#?" for character in fraction)
    try:
        rounded = number.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    except InvalidOperation:
        return str(number)
    text = f"{abs(rounded):,f}" if thousands else f"{abs(rounded):f}"
    left, _, right = text.partition(".")
    least = sum(character == "0" for character in fraction)
    while len(right) > least and right.endswith("0"):
        right = right[:-1]
    digits = sum(character == "0" for character in whole)
    left = "" if left == "0" and not digits else left.rjust(digits, "0") if not thousands else left
    return f"{'-' if rounded < 0 else ''}{left}{'.' + right if right else ''}"


def _format_fraction(value: float, section: tuple[FormatToken, ...], slash: int) -> str:
    """A number with a fraction of whole numbers: "2 1/4"."""
    after = section[slash + 1].text if slash + 1 < len(section) else "?"
    denominator = "".join(
        token.text for token in section[slash + 1 :] if token.text.isdigit() and token.text.strip("0")
    )
    has_whole = sum(token.kind == "digits" for token in section[:slash]) > 1
    magnitude = abs(value)
    whole = int(magnitude) if has_whole else 0
    if denominator:
        bottom = int(denominator)
        top = round((magnitude - whole) * bottom)
    else:
        found = Fraction(magnitude - whole).limit_denominator(10 ** min(len(after), 6) - 1)
        top, bottom = found.numerator, found.denominator
    if top >= bottom and has_whole:
        whole, top = whole + 1, 0
    part = f"{top}/{bottom}" if top or not has_whole else ""
    shown = " ".join(filter(None, (str(whole) if has_whole and (whole or not part) else "", part)))
    return f"-{shown}" if value < 0 else shown


def _format_date(value: float, section: tuple[FormatToken, ...]) -> str:
    """A serial number of days as a date, a time, or a duration."""
    if not _FIRST_DATE <= abs(value) <= _LAST_DATE:
        return plain_number(value)
    tokens = [token for token in section if token.kind != "digits" or token.text != "@"]
    has_fraction = any(token.kind == "date" and "." in token.text for token in tokens)
    seconds = round(abs(value) * _SECONDS, 3 if has_fraction else 0)
    moment = _EPOCH + timedelta(seconds=seconds)
    has_noon = any(token.kind == "noon" for token in tokens)
    pieces = ["-"] if value < 0 else []
    units = [
        token.text.strip("[]").partition(".")[0][:1] if token.kind in {"date", "elapsed"} else "" for token in tokens
    ]
    for at, each in enumerate(tokens):
        if each.kind == "elapsed":
            pieces.append(_elapsed(seconds, each.text.strip("[]")))
        elif each.kind == "noon":
            pieces.append("AM" if moment.hour < 12 else "PM")
        elif each.kind == "date":
            pieces.append(_date_part(moment, each.text, is_minute=_is_minute(units, at), has_noon=has_noon))
        elif each.text != "@":
            pieces.append(each.text)
    return _join(pieces)


def _is_minute(units: list[str], at: int) -> bool:
    """Whether an "m" stands for minutes: after hours or before seconds."""
    before = next((unit for unit in reversed(units[:at]) if unit), "")
    after = next((unit for unit in units[at + 1 :] if unit), "")
    return units[at] == "m" and (before == "h" or after == "s")


def _elapsed(seconds: float, unit: str) -> str:
    size = {"h": 3600, "m": 60, "s": 1}[unit[0]]
    return str(int(seconds // size)).rjust(len(unit), "0")


def _date_part(moment: datetime, text: str, *, is_minute: bool, has_noon: bool) -> str:
    unit, _, fraction = text.partition(".")
    hour = (moment.hour % 12 or 12) if has_noon else moment.hour
    long = len(unit)
    match unit[0]:
        case "y":
            return f"{moment.year:04}" if long > 2 else f"{moment.year % 100:02}"
        case "m" if is_minute:
            return f"{moment.minute:0{min(long, 2)}}"
        case "m":
            name = _MONTHS[moment.month - 1]
            return f"{moment.month:0{long}}" if long < 3 else name[:3] if long == 3 else name[:1] if long == 5 else name
        case "d":
            name = _DAYS[moment.weekday()]
            return f"{moment.day:0{long}}" if long < 3 else name[:3] if long == 3 else name
        case "h":
            return f"{hour:0{min(long, 2)}}"
        case _:
            part = f".{moment.microsecond:06}"[: 1 + len(fraction)] if fraction else ""
            return f"{moment.second:0{min(long, 2)}}{part}"
