"""Search filters in a question, `in:#roof from:@ada after:2026-05 has:file`, and those that are suggested. Pure.

A word that only looks like a filter stays part of the question: places and people need their sign, times must be times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

from bot.i18n import N_, gettext
from bot.text.times.as_of import find_as_of, parse_as_of
from bot.text.times.periods import MOMENT, parse_period
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine import Question


_FILTER = re.compile(
    r"(?<!\S)(in|from|after|since|before|until|as-of|has|filter):(<[^<>\s]{1,120}>|[#@]?\"[^\"]{1,80}\"|\S{1,80}?)([,;.!?]{0,9})(?!\S)",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"<#(\w+)(?:\|[^>]*)?>|#\"?([^\"]+)\"?")
_PERSON = re.compile(r"<@!?(\w+)(?:\|[^>]*)?>|@\"?([^\"]+)\"?")
_FIRST = datetime(1970, 1, 1, tzinfo=UTC)  # no message is older
FILTERED_OVERVIEW = "Summarize everything."  # the question, if there are only filters
UNKNOWN_ROOM, UNKNOWN_KIND = "?", "?"  # no message is in it, no document is of it
FILE_WORDS = frozenset({"file", "files", "attachment", "document"})
SIGNS = {"in": "#", "from": "@"}  # of channels and people
HINTS = {
    "in": N_("Name a channel."),
    "from": N_("Name a person."),
    "has": N_("Only “file” works here."),
}
TIME_HINT = N_("For example 2026-05, 2026-05-12, yesterday or 7d.")
MONTHS = 12  # the last ones are suggested


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """The filters of a question, and its other `text`.

    Channels and people are given by id or, as typed, by name. `since` and `until` are inclusive. `only_these`: other
    words of the question are no filters (`filter:none`). `as_of`: as in Filters.
    """

    text: str
    channel_ids: frozenset[str] = frozenset()
    channel_names: frozenset[str] = frozenset()
    person_ids: tuple[str, ...] = ()
    person_names: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    only_files: bool = False
    only_these: bool = False
    as_of: date | None = None

    @property
    def is_active(self) -> bool:
        """Whether there is any filter."""
        named = self.channel_ids or self.channel_names or self.person_ids or self.person_names
        return bool(named or self.since or self.until or self.only_files or self.only_these)


def parse_search_filters(text: str, now: datetime) -> SearchFilters:
    """Split a question into its filters and the rest. Days begin in the time zone of `now`; the times are in UTC.

    Raises InvalidQuestion for an answer as of a day that is to come, or that there is not.
    """
    channels, people = list[tuple[str, str]](), list[tuple[str, str]]()
    since, until, only_files, only_these, kept, at = None, None, False, False, list[str](), 0
    as_of, text = find_as_of(text, now)
    for found in _FILTER.finditer(text):
        name, value = found[1].casefold(), found[2]
        words = value.strip('"')  # of a time
        if name == "in" and (match := _CHANNEL.fullmatch(value)):
            channels.append((match[1] or "", match[2] or ""))
        elif name == "from" and (match := _PERSON.fullmatch(value)):
            people.append((match[1] or "", match[2] or ""))
        elif name == "has" and value.casefold() in FILE_WORDS:
            only_files = True
        elif name == "filter" and value.casefold() == "none":
            only_these = True
        elif name in {"after", "since"} and (period := parse_period(words, now)):
            since = max(since or period[0], period[0])
        elif name in {"before", "until"} and (period := parse_period(words, now)):
            end = max(period[0], _FIRST) - MOMENT if name == "before" else period[1]
            until = min(until or end, end)
        elif name == "as-of":
            given = parse_as_of(words, now)
            as_of = min(as_of or given, given)
        else:
            continue
        kept.append(text[at : found.start()])
        if "?" in found[3]:
            kept.append("?")
        at = found.end()
    return SearchFilters(
        " ".join("".join([*kept, text[at:]]).split()).replace(" ?", "?").lstrip("?") if kept else text,
        frozenset(_ids(channels)),
        frozenset(name.casefold() for name in _names(channels)),
        tuple(_ids(people)),
        tuple(_names(people)),
        since,
        min(filter(None, (until, as_of.until if as_of else None)), default=None),
        only_files,
        only_these,
        as_of.day if as_of else None,
    )


def narrow_question(
    question: Question, sought: SearchFilters, rooms: frozenset[str], people: Sequence[str] = ()
) -> Question:
    """A question narrowed by its filters: `rooms` are those of the channels that they name, `people` those they mean.

    A channel that is not known contains nothing, nor do filters that exclude each other.
    """
    within, named = question.filters, sought.channel_ids or sought.channel_names
    both = (rooms & within.rooms if within.rooms else rooms) or frozenset({UNKNOWN_ROOM})
    within = replace(
        within,
        rooms=both if named else within.rooms,
        since=max(filter(None, (within.since, sought.since)), default=None),
        until=min(filter(None, (within.until, sought.until)), default=None),
        kinds=_add_files_only(within.kinds) if sought.only_files else within.kinds,
        as_of=min(filter(None, (within.as_of, sought.as_of)), default=None),
    )
    overview = question.overview
    if overview is not None and within.is_active:
        overview = replace(overview, recent=False)
    writers = (*question.writers, *sought.person_names, *people)
    return replace(question, filters=within, writers=writers, overview=overview)


def asked_at(sought: SearchFilters, now: datetime) -> datetime:
    """The time from which "last week" counts in a question: as of a day, its end where the person asking is."""
    if sought.as_of is None:
        return now
    return min(now, datetime.combine(sought.as_of, time.max, now.tzinfo))


def limit_as_of(words: str, now: datetime) -> SearchFilters:
    """The filters of an option that says as of which day to answer; none for no words. Raises InvalidQuestion."""
    if not words.strip():
        return SearchFilters("")
    given = parse_as_of(words, now)
    return SearchFilters("", until=given.until, as_of=given.day)


def _add_files_only(kinds: frozenset[str]) -> frozenset[str]:
    return frozenset({"file"}) if not kinds or "file" in kinds else frozenset({UNKNOWN_KIND})


def require_names(sought: SearchFilters) -> None:
    """Raise InvalidQuestion for an id: where programs ask, no platform says whom or what it means."""
    if sought.person_ids:
        raise InvalidQuestion("A person is not found by their id here.", hint="Name the person as `from:@name`.")
    if sought.channel_ids:
        raise InvalidQuestion("A channel is not found by its id here.", hint="Name the channel as `in:#name`.")


def _ids(found: Iterable[tuple[str, str]]) -> Iterable[str]:
    return (id_ for id_, _ in found if id_)


def _names(found: Iterable[tuple[str, str]]) -> Iterable[str]:
    return (name for _, name in found if name)


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
