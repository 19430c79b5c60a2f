"""Search filters as options of a command, and values that complete them while they are typed. Pure."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from bot.i18n import N_, gettext
from bot.text.search_filters import parse_search_filters
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

SIGNS = {"in": "#", "from": "@"}  # of channels and people
HINTS = {
    "in": N_("Name a channel."),
    "from": N_("Name a person."),
    "has": N_("Only “file” works here."),
}
TIME_HINT = N_("For example 2026-05, 2026-05-12, yesterday or 7d.")
MONTHS = 12  # the last ones are suggested


def add_filters(question: str, options: Mapping[str, str], now: datetime) -> str:
    """Put the filters that are options of a command before its question. Raises InvalidQuestion for a bad value."""
    tokens = [_parse_option(name, value.strip(), now) for name, value in options.items() if value.strip()]
    return " ".join([*tokens, question])


def format_filter(name: str, value: str) -> str:
    """A filter as it stands in a question: `in:#roof`, `from:@"Ada Lovelace"`, `until:"last week"`."""
    sign = SIGNS.get(name, "")
    bare = value if value.startswith("<") else value.removeprefix(sign).replace('"', "")
    if bare.startswith("<"):
        return f"{name}:{bare}"
    is_word = bare.replace("-", "").replace("_", "").isalnum() if sign else " " not in bare
    quoted = bare if is_word else f'"{bare}"'
    return f"{name}:{sign}{quoted}"


def _parse_option(name: str, value: str, now: datetime) -> str:
    token = format_filter(name, value)
    parsed = parse_search_filters(token, now)
    is_one_word = " " not in token.partition('"')[0]
    if not (parsed.is_active and is_one_word) or parsed.text:
        raise InvalidQuestion(
            gettext("“{value}” is not a value of “{name}”.").format(value=value, name=name),
            hint=HINTS.get(name, TIME_HINT),
        )
    return token


def match_typed(names: Iterable[str], typed: str, limit: int) -> list[str]:
    """The names that contain what was typed, those that start with it first."""
    start = typed.strip().lstrip("#@").strip('"').casefold()
    found = [name for name in names if start in name.casefold()]
    return sorted(found, key=lambda each: (not each.casefold().startswith(start), each.casefold()))[:limit]


def suggest_times(typed: str, now: datetime) -> list[str]:
    """Days, spans, months and years that start with what was typed; if that is a time itself, it comes first."""
    today = now.date()
    months = [f"{month:%Y-%m}" for month in _last_months(today)]
    usual = ["today", "yesterday", "7d", "30d", *months, *(str(today.year - back) for back in range(3))]
    words = typed.strip()
    own = (
        [words]
        if words and words not in usual and parse_search_filters(format_filter("after", words), now).since
        else []
    )
    return own + [month for month in usual if month.startswith(words.casefold())]


def _last_months(today: date) -> list[date]:
    found = [today.replace(day=1)]
    while len(found) < MONTHS:
        found.append((found[-1] - timedelta(days=1)).replace(day=1))
    return found
