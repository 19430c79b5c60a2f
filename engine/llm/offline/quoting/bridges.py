"""Find the sentence that answers a question about something that another sentence identifies. Pure.

"Who is the contact of the supplier that replaced Elmo?": one sentence says that Voltkern replaced Elmo, another one who
the contact at Voltkern is. A rare word of the first one, which the question does not have, leads to the second.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from engine.llm.offline.question import has_answer_type
from engine.llm.offline.words import is_generic, word_family

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.offline.candidates import Candidate
    from engine.llm.offline.ranking import ClauseScores

MIN_MISSING = 0.15  # the share of a question's words that the first sentence lacks
MIN_ADDED = 0.35  # of these, in the second sentence
MIN_SIMILARITY = 0.2
MAX_OCCURRENCES = 6  # sentences that have a word which leads on
NEARBY_LOSS = 0.2
MIN_STEM_LENGTH = 3


def find_bridge(first: int, clause: ClauseScores, candidates: Sequence[Candidate]) -> int | None:
    """The sentence that says of something in the first one what the question asks; None if there is none."""
    lacks = clause.weights * (clause.own[first] == 0)
    missing = float(lacks.sum())
    if missing < MIN_MISSING:
        return None
    links = _list_links(first, clause, candidates)
    best, found = 0.0, None
    for at, candidate in enumerate(candidates):
        if at == first or candidate.is_question or candidate.is_title or clause.similarity[at] < MIN_SIMILARITY:
            continue
        added = float((clause.own[at] > 0) @ lacks) / missing
        linked = 0.0 if links.isdisjoint(candidate.stems) else 1.0
        linked = linked or (0.0 if links.isdisjoint(candidate.nearby_stems) else 1.0 - NEARBY_LOSS)
        fits = has_answer_type(candidate.text, clause.answer_type, clause.counted_stems)
        if added >= MIN_ADDED and linked and (fits or (fits is None and clause.answer_type == "any")):
            value = added + linked + float(clause.similarity[at])
            if value > best:
                best, found = value, at
    return found


def _list_links(first: int, clause: ClauseScores, candidates: Sequence[Candidate]) -> frozenset[str]:
    """The rare words of the first sentence that the question does not have, by their stems."""
    asked = {word_family(term.stem) for term in clause.terms}
    counts = Counter(key for candidate in candidates for key in candidate.stems)
    return frozenset(
        key
        for key in candidates[first].stems
        if word_family(key) not in asked
        and len(key) >= MIN_STEM_LENGTH
        and key.isalpha()
        and counts[key] <= MAX_OCCURRENCES
        and not is_generic(key)
    )
