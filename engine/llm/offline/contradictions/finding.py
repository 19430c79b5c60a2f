"""Pair statements that disagree: one subject and attribute, two values, and neither replaced. Pure."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from engine.llm.offline.candidates import build_candidates
from engine.llm.offline.contradictions.assertions import Assertion, list_assertions
from engine.llm.offline.contradictions.values import exclude_each_other
from engine.llm.offline.supersession.clauses import Statement
from engine.llm.offline.supersession.relation import find_replacements

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.llm.offline.candidates import Candidate
    from engine.models import Source

MAX_APART = timedelta(days=90)  # of two statements; what is said later is about another time
MAX_APART_WEEKDAY = timedelta(days=6)  # of two that name a day of the week
MAX_ALIKE = 40  # statements of one subject that are compared with each other, the newest
MAX_REPLACING = 120  # statements with words of a subject of which one may replace another, the newest


@dataclass(frozen=True, slots=True)
class DisputedStatement:
    """A statement with its source. `value`: its words in which it differs; `question`: the others, with a gap."""

    source: Source
    text: str
    value: str
    question: str


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two statements that disagree, by time. `aspect`: the kind of value in which they differ, as in Slot."""

    older: DisputedStatement
    newer: DisputedStatement
    aspect: str


class _Said(NamedTuple):
    """An assertion of a statement, which stands at this position among all."""

    at: int
    what: Assertion


def find_contradictions(sources: Iterable[Source]) -> list[Contradiction]:
    """The contradictions among sources, the newest last.

    Of one subject, for each two channels the newest two statements that disagree: who may read only these finds the
    same ones as who may read more.
    """
    candidates = build_candidates(sorted(sources, key=lambda each: (str(each.time or ""), each.document, each.passage)))
    found: list[tuple[_Said, _Said]] = []
    for alike in _group(candidates).values():
        known = set[frozenset[str]]()
        for older, newer in _list_pairs(alike[-MAX_ALIKE:], candidates):
            rooms = frozenset(candidates[said.at].source.room for said in (older, newer))
            if rooms not in known and not _is_replaced(older, newer, candidates):
                known.add(rooms)
                found.append((older, newer))
    ordered = sorted(found, key=lambda pair: (pair[1].at, pair[0].at))
    return [_describe(older, newer, candidates) for older, newer in ordered]


def _group(candidates: Sequence[Candidate]) -> dict[tuple[frozenset[str], str], list[_Said]]:
    """The assertions by what they are about, and by the kind of their value."""
    groups = defaultdict[tuple[frozenset[str], str], list[_Said]](list)
    for at, one in enumerate(candidates):
        if one.is_question or one.is_title or one.is_item or one.source.time is None or "```" in one.source.text:
            continue  # besides code and what programs print
        for what in list_assertions(one.text):
            groups[what.subject, what.slot.kind].append(_Said(at, what))
    return {key: said for key, said in groups.items() if len(said) > 1}


def _list_pairs(alike: Sequence[_Said], candidates: Sequence[Candidate]) -> Iterable[tuple[_Said, _Said]]:
    """The pairs that disagree, those with the newest statements first."""
    for place in range(len(alike) - 1, 0, -1):
        for older in reversed(alike[:place]):
            if _disagree(older, alike[place], candidates):
                yield older, alike[place]


def _disagree(older: _Said, newer: _Said, candidates: Sequence[Candidate]) -> bool:
    """Whether two assertions about one subject cannot both hold."""
    one, other = candidates[older.at].source, candidates[newer.at].source
    if one.document == other.document and (not one.author or one.passage == other.passage):
        return False  # rows and parts of one file
    if one.time is None or other.time is None or other.time - one.time > MAX_APART:
        return False
    is_near = one.room == other.room
    if not is_near and newer.what.is_generic:
        return False  # "the release date": of what each channel is about
    if not exclude_each_other(older.what.slot, newer.what.slot):
        return False
    is_weekday = newer.what.slot.kind == "date" and newer.what.slot.form.startswith("weekday")
    return not is_weekday or newer.what.recurs or other.time - one.time <= MAX_APART_WEEKDAY


def _is_replaced(older: _Said, newer: _Said, candidates: Sequence[Candidate]) -> bool:
    """Whether one of the two holds no longer by what is known, or a later statement replaces either."""
    words = candidates[older.at].stems & candidates[newer.at].stems
    near = [at for at in range(older.at, len(candidates)) if not words.isdisjoint(candidates[at].stems)]
    near = sorted({*near[-MAX_REPLACING:], older.at, newer.at})
    replaced = find_replacements([_to_statement(candidates[at]) for at in near])
    return not {older.at, newer.at}.isdisjoint(near[place] for place in replaced)


def _to_statement(one: Candidate) -> Statement:
    source = one.source
    heading = "" if one.speaker else f"{source.title} {source.label}"
    return Statement(one.text, source.time, one.speaker, source.room, source.document, -1, heading)


def _describe(older: _Said, newer: _Said, candidates: Sequence[Candidate]) -> Contradiction:
    claims = [
        DisputedStatement(candidates[said.at].source, candidates[said.at].text, said.what.value, said.what.question)
        for said in (older, newer)
    ]
    return Contradiction(claims[0], claims[1], newer.what.slot.kind)
