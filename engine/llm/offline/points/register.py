"""List decisions and tasks with who, until when, and what replaced them. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from engine.llm.offline.candidates import build_candidates
from engine.llm.offline.points.settled import is_settled, list_settled
from engine.llm.offline.points.tasks import find_owner, is_task, list_people
from engine.llm.offline.supersession.clauses import parse_text
from engine.llm.offline.supersession.relation import says_change
from engine.llm.offline.supersession.sources import MAX_STATEMENTS, find_replaced
from engine.llm.offline.supersession.values import find_values

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from engine.llm.offline.candidates import Candidate
    from engine.models import Source

EntryKind = Literal["decision", "task"]
# What comes before the day by which something is to be done.
_BY = re.compile(
    r"\b(?:by|until|before|due|not later than|bis|vor|spätestens|avant|d['’]ici|jusqu['’]à|antes del?|hasta|para el|"
    r"até|antes d[eoa])(?: (?:the|zum|am|le|el|o|dem))?:? ?\Z|\bdue(?: date)?:? ?\Z",
    re.IGNORECASE,
)
_BY_AFTER = re.compile(r"(?:まで|迄)")
_OWNER = re.compile(
    r"\b(?:owner|responsible|assigned to|verantwortlich|zuständig|responsable|responsável|encargad[oa])"
    r"\s{0,2}[:=]\s{0,2}"
    r"@?(?P<who>[^\W\d_][\w’'-]{1,40}(?: [A-ZÀ-Þ][\w’'-]{1,40})?)|担当\s{0,2}[:：]\s{0,2}(?P<ja>\w{1,20})",
    re.IGNORECASE,
)
_PLAN = re.compile(
    r"\b(?:maybe|perhaps|might|could|would|should|if|unless|vielleicht|wenn|falls|sollte|könnte|peut-être|si|quizás?|"
    r"tal vez|talvez|se|sauf)\b|かも|もし",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A decision or a task as it was said. `who`: does it, or said what was decided; `due`: the words of a day.

    `replaced_by`: the source that replaces it, with its words.
    """

    kind: EntryKind
    text: str
    who: str
    due: str
    source: Source
    replaced_by: Source | None = None
    newer_text: str = ""


def list_entries(sources: Sequence[Source]) -> list[Entry]:
    """The decisions and tasks among sources, the oldest first; those without a time come first."""
    candidates = build_candidates(sorted(sources, key=lambda each: str(each.time or "")))
    people = list_people(candidates)
    found = {at: each for at, one in enumerate(candidates) if (each := _build_entry(one, people)) is not None}
    replaced = _find_replaced(candidates, found.keys())
    return [_mark(each, candidates, replaced.get(at)) for at, each in found.items()]


def _build_entry(one: Candidate, people: Collection[str]) -> Entry | None:
    if one.is_title:
        return None
    if settled := list_settled(one):
        text = " ".join(settled)
        return Entry("decision", text, _find_named_owner(text) or one.speaker, _find_due(text), one.source)
    if is_task(one, people) and not _PLAN.search(one.text) and not is_settled(one):
        owner = _find_named_owner(one.text) or find_owner(one)
        return Entry("task", one.text, owner, _find_due(one.text), one.source)
    return None


def _find_named_owner(text: str) -> str:
    found = _OWNER.search(text)
    return (found["who"] or found["ja"]) if found else ""


def _find_due(text: str) -> str:
    """The words of the day by which something is to be done; of several the first."""
    for value in find_values(text):
        is_end = _BY.search(text[: value.start]) or _BY_AFTER.match(text, value.stop)
        if value.kind == "date" and is_end:
            return text[value.start : value.stop].strip()
    return ""


def _find_replaced(candidates: Sequence[Candidate], entries: Collection[int]) -> Mapping[int, int]:
    """The positions of entries that hold no longer, each with that of the one that replaces it.

    Compared are entries and statements of a change; of many, those of each run of MAX_STATEMENTS with each other.
    """
    places = [at for at, one in enumerate(candidates) if at in entries or says_change(parse_text(one.text))]
    if len(candidates) <= MAX_STATEMENTS:
        places = list(range(len(candidates)))
    found = dict[int, int]()
    step = MAX_STATEMENTS // 2
    for first in range(0, max(1, len(places) - step), step):
        part = places[first : first + MAX_STATEMENTS]
        for old, new in find_replaced([_detached(candidates[at]) for at in part]).items():
            found[part[old]] = part[new]
    return {old: new for old, new in found.items() if old in entries}


def _detached(one: Candidate) -> Candidate:
    """A candidate without positions of others, which differ in a part of them."""
    return replace(one, preceding=())


def _mark(entry: Entry, candidates: Sequence[Candidate], newer: int | None) -> Entry:
    if newer is None:
        return entry
    return replace(entry, replaced_by=candidates[newer].source, newer_text=candidates[newer].text)
