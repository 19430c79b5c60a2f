"""Find the sentence that answers a question about something that another sentence identifies. Pure.

"Who is the contact of the supplier that replaced Elmo?": one sentence says that Voltkern replaced Elmo, another one who
the contact at Voltkern is. A rare word of the first one, which the question does not have, leads to the second.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.llm.offline.questions.analysis import has_answer_type
from engine.llm.offline.quoting.links import list_links
from engine.llm.offline.words import split_words, stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.offline.candidates import Candidate
    from engine.llm.offline.ranking import ClauseScores

_WHERE_IS = re.compile(r"\W{0,9}where (?:is|are|was|were)\b", re.IGNORECASE)
_IS_IN = re.compile(
    r"\b(?:is|are|was|were|lives?|sits?|stands?|hangs?|lies|located) (?:in|at|on|near)\b", re.IGNORECASE
)
MIN_MISSING = 0.15  # the share of a question's words that the first sentence lacks
MIN_ADDED = 0.35  # of these, in the second sentence
MIN_SIMILARITY = 0.17
NEARBY_LOSS = 0.2


def find_bridge(first: int, clause: ClauseScores, candidates: Sequence[Candidate]) -> int | None:
    """The sentence that says of something in the first one what the question asks; None if there is none."""
    lacks = clause.weights * (clause.own[first] == 0)
    missing = float(lacks.sum())
    if missing < MIN_MISSING:
        return None
    links = list_links(first, clause, candidates)
    best, found = 0.0, None
    for at, candidate in enumerate(candidates):
        if at == first or candidate.is_question or candidate.is_title or clause.similarity[at] < MIN_SIMILARITY:
            continue
        added = float((clause.own[at] > 0) @ lacks) / missing
        linked = 0.0 if links.isdisjoint(candidate.stems) else 1.0
        linked = linked or (0.0 if links.isdisjoint(candidate.nearby_stems) else 1.0 - NEARBY_LOSS)
        fits = has_answer_type(candidate.text, clause.answer_type, clause.counted_stems)
        answers = fits or (fits is None and clause.answer_type == "any")
        added = max(added, MIN_ADDED) if _is_located(candidate, links, clause) else added
        if added >= MIN_ADDED and linked and (answers or _identifies(first, at, clause, candidates)):
            value = added + linked + float(clause.similarity[at])
            if value > best:
                best, found = value, at
    return found


def _is_located(candidate: Candidate, links: frozenset[str], clause: ClauseScores) -> bool:
    """Whether a sentence says of something that leads on where it is, and a clause asks where something is."""
    if not _WHERE_IS.match(clause.text) or (found := _IS_IN.search(candidate.text)) is None:
        return False
    return not links.isdisjoint(map(stem, split_words(candidate.text[: found.start()])))


def _identifies(first: int, at: int, clause: ClauseScores, candidates: Sequence[Candidate]) -> bool:
    """Whether the first sentence has the answer, and the other one a name of the question that it lacks."""
    if not has_answer_type(candidates[first].text, clause.answer_type, clause.counted_stems):
        return False
    names = [place for place, term in enumerate(clause.terms) if term.is_name]
    return any(clause.own[first][place] == 0 and clause.own[at][place] > 0 for place in names)
