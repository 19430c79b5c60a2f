"""Weigh conversations for a person who missed them: by decisions, open questions, and what is for them. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from engine.llm.offline.candidates import build_candidates
from engine.llm.offline.points.decisions import is_decision
from engine.llm.offline.points.named import build_name_test
from engine.llm.offline.points.open_questions import asks, is_open_question

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engine.llm.offline.candidates import Candidate
    from engine.models import Source

PointKind = Literal["asked", "mentioned", "decision", "question"]
_WEIGHTS: Mapping[PointKind, float] = {"asked": 12.0, "mentioned": 8.0, "decision": 5.0, "question": 3.0}
_OWN_WEIGHT = 4.0  # of a conversation in which the person wrote
_PERSON_WEIGHT, _MESSAGE_WEIGHT, _MAX_MESSAGES = 1.0, 0.2, 20


@dataclass(frozen=True, slots=True)
class WeighedConversation:
    """The messages of a conversation by time, or the passages of a file; `points`: what a message is, by its number."""

    document: str
    sources: tuple[Source, ...]
    weight: float
    points: Mapping[int, PointKind] = field(default_factory=dict)


def weigh_conversations(sources: Sequence[Source], person: str) -> list[WeighedConversation]:
    """The conversations and files of the sources, the weightiest first, of equal ones the newest.

    `person`: the name of whoever missed them, empty if it is not known.
    """
    points = _find_points(build_candidates(sources), person)
    groups: dict[str, list[Source]] = {}
    for source in sources:
        groups.setdefault(source.document, []).append(source)
    weighed = [_weigh(key, sorted(group, key=_order), points, person) for key, group in groups.items()]
    weighed.sort(key=lambda each: _order(each.sources[-1]), reverse=True)
    return sorted(weighed, key=lambda each: -each.weight)


def _weigh(key: str, said: Sequence[Source], points: Mapping[int, PointKind], person: str) -> WeighedConversation:
    own = {source.number: points[source.number] for source in said if source.number in points}
    people = {source.author for source in said}
    talk = _PERSON_WEIGHT * (len(people) - 1) + _MESSAGE_WEIGHT * min(len(said), _MAX_MESSAGES)
    weight = (
        talk + sum(_WEIGHTS[kind] for kind in set(own.values())) + _OWN_WEIGHT * (person in people and bool(person))
    )
    return WeighedConversation(key, tuple(said), weight, own)


def _find_points(candidates: Sequence[Candidate], person: str) -> dict[int, PointKind]:
    """What each message is, by the number of its source; the first that fits."""
    names_person = build_name_test(person)
    found = dict[int, PointKind]()
    for at, one in enumerate(candidates):
        kind = _classify(at, candidates, names_person, person) if one.speaker else None
        if kind is not None:
            found.setdefault(one.source.number, kind)
    return found


def _classify(
    at: int, candidates: Sequence[Candidate], names_person: Callable[[str], bool], person: str
) -> PointKind | None:
    one = candidates[at]
    if one.speaker != person and names_person(one.text):
        return "asked" if asks(one.text) else "mentioned"
    if is_decision(one):
        return "decision"
    return "question" if is_open_question(at, candidates) and one.speaker != person else None


def _order(source: Source) -> tuple[str, int]:
    return str(source.time or ""), source.number
