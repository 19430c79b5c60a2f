"""The life of a fact: the statements about a subject by time, and what repeats or replaces what. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from engine.llm.offline.candidates import build_candidates
from engine.llm.offline.supersession.clauses import parse_text
from engine.llm.offline.supersession.sources import find_replaced
from engine.llm.offline.words import content_stems

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.llm.offline.candidates import Candidate
    from engine.models import Source

StepKind = Literal["said", "repeated", "contradicted", "replaced"]
MAX_COMPARED = 160  # statements, the newest
MIN_REPEATED = 0.8  # of the words of both, for a statement to say an earlier one again
MIN_SUBJECT = 0.6  # of the words of a question, for a statement to be about it


@dataclass(frozen=True, slots=True)
class Step:
    """A statement in the life of a fact, of the source with this number.

    `kind`: what it does to the statements at the positions `earlier`, which it repeats, contradicts or replaces.
    `later`: the positions of those that replace it.
    """

    kind: StepKind
    number: int
    text: str
    speaker: str = ""
    earlier: tuple[int, ...] = ()
    later: tuple[int, ...] = ()


def list_steps(sources: Sequence[Source], subjects: Sequence[str]) -> list[Step]:
    """The statements of sources (by time) about any of the subjects, and what replaces these; the oldest first."""
    said = [one for source in sources for one in build_candidates([source]) if not (one.is_question or one.is_title)]
    said = said[-MAX_COMPARED:]
    replaced = find_replaced(said)
    wanted = _follow({at for at, one in enumerate(said) if is_about(one, subjects)}, replaced)
    places = {at: place for place, at in enumerate(sorted(wanted))}
    repeated = _find_repeated([at for at in places if at not in replaced.values()], said)
    return [_build_step(at, said, places, replaced, repeated) for at in places]


def is_about(one: Candidate, subjects: Sequence[str]) -> bool:
    """Whether a statement names a subject: all words of a name, most of those of a question."""
    for stems in map(content_stems, subjects):
        least = len(stems) if len(stems) < 3 else round(MIN_SUBJECT * len(stems))
        if stems and len(stems & one.stems) >= least:
            return True
    return False


def _follow(found: set[int], replaced: Mapping[int, int]) -> set[int]:
    """These statements, with all that replace them or that they replace."""
    while True:
        linked = {at for pair in replaced.items() if not found.isdisjoint(pair) for at in pair}
        if linked <= found:
            return found
        found |= linked


def _find_repeated(places: Sequence[int], said: Sequence[Candidate]) -> dict[int, int]:
    """The statements that say an earlier one again, by the first that says it."""
    found: dict[int, int] = {}
    for index, at in enumerate(places):
        first = next((old for old in places[:index] if old not in found and _says_again(said[at], said[old])), None)
        if first is not None:
            found[at] = first
    return found


def _says_again(new: Candidate, old: Candidate) -> bool:
    """Whether a statement says an earlier one again: with the same values, in almost the same words."""
    if new.source.number == old.source.number:
        return False
    one, other = parse_text(new.text), parse_text(old.text)
    every = one.stems | other.stems
    if not every or len(one.stems & other.stems) < MIN_REPEATED * len(every):
        return False
    values = [
        {(value.kind, value.form) for clause in parsed.clauses for value in clause.values} for parsed in (one, other)
    ]
    negated = [any(clause.negates or clause.cancels for clause in parsed.clauses) for parsed in (one, other)]
    return values[0] == values[1] and negated[0] == negated[1]


def _build_step(
    at: int,
    said: Sequence[Candidate],
    places: Mapping[int, int],
    replaced: Mapping[int, int],
    repeated: Mapping[int, int],
) -> Step:
    one = said[at]
    former = tuple(places[old] for old, new in sorted(replaced.items()) if new == at)
    later = (places[replaced[at]],) if at in replaced else ()
    kind: StepKind = "said"
    if former:
        kind = "contradicted" if parse_text(one.text).contradicts else "replaced"
    elif at in repeated:
        kind, former = "repeated", (places[repeated[at]],)
    return Step(kind, one.source.number, one.text, one.speaker or one.source.author, former, later)
