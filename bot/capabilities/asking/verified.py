"""Give the verified answer to a question to whoever may read all that it rests on, before a model is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.answers.review.lookup import VerifiedLookup, provenance_of
from bot.capabilities.results import AnswerEnd
from bot.platform.models import Location
from engine import Source

if TYPE_CHECKING:
    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.permissions.provenance import Provenance
    from bot.store import AnswerSource, VerifiedAnswer
    from engine import Question


@dataclass(frozen=True, slots=True)
class VerifiedResult:
    """A verified answer, its text, its end, and what it rests on."""

    answer: VerifiedAnswer
    text: str
    end: AnswerEnd
    provenance: Provenance


async def find_verified(deps: Deps, caller: Caller, question: Question) -> VerifiedResult | None:
    """The verified answer to the same question, for a person who may read all of it; None without one."""
    if caller.kind != "person":
        return None
    parts, subject = await deps.parts.open(), caller.subject
    lookup = VerifiedLookup(parts.store, parts.access.audience_of(subject), deps.engine)
    place, is_follow_up = Location(subject.platform, subject.workspace, ""), bool(question.history)
    found = await lookup.find(question, place, subject.person, is_follow_up=is_follow_up)
    if found is None:
        return None
    sources = tuple(to_source(source) for source in found.sources)
    end = AnswerEnd(sources, (), verified=await lookup.describe(found))
    return VerifiedResult(found, found.text, end, provenance_of(found))


def to_source(source: AnswerSource) -> Source:
    """A source that was shown below an answer, as one of a context; it has an excerpt of its text."""
    return Source(
        source.number,
        source.document,
        source.passage,
        source.title,
        "",
        source.link,
        "",
        source.time,
        source.excerpt,
        source.space,
        source.room,
        "",
    )
