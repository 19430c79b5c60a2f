"""Tell whether a single quotation answers a clause, or several say it together about one thing. Pure.

Of "who owns the crane at pier 5?" one sentence may have the crane at pier 3, and another one a boat at pier 5: each
word is there, but nothing is said about what was asked.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

from engine.llm.offline.quoting.gaps import find_gaps
from engine.llm.offline.quoting.links import list_links
from engine.llm.offline.words import is_stop_word, split_words, stem, word_family

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.offline.candidates import Candidate
    from engine.llm.offline.ranking import ClauseScores

# What is asked for: "which host", "what is the timeout of", "where does she live".
_ASKED = re.compile(
    r"\b(?:which|what)\s+(?:(?:is|are|was|were)\s+(?:the|our|my|your)\s+)?(\w+)\b(?=\s+(?:of|for|does|do|did|is|are|was)\b)"
    r"|\bwho (?:is|are|was|were) (?:the|our|my|your) (?:\w+ ){0,2}?(\w+) (?=(?:of|for|at|in|on) )"
    r"|\bwhere (?:does|do|did) (?:[\w.-]+ ){1,4}(\w+)\W*\Z",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:and|or|both|each|between|compare|difference|versus|vs|und|oder|et|ou|y|o|e)\b|[,;]", re.IGNORECASE
)


def find_joint_gaps(positions: Sequence[int], clause: ClauseScores, candidates: Sequence[Candidate]) -> list[str]:
    """What the best quotation lacks, if none alone has what is asked about, and no two are about one thing."""
    places = [at for at in positions if clause.coverage[at].any()]
    if len(places) < 2 or _SEVERAL.search(clause.text):
        return []
    if any(_answers_alone(at, clause, candidates) for at in places):
        return []
    if any(_are_about_one(one, other, clause, candidates) for one, other in combinations(places, 2)):
        return []
    lacks = (find_gaps([at], clause, candidates) for at in places)
    return next((gaps for gaps in lacks if gaps), [])


def _answers_alone(at: int, clause: ClauseScores, candidates: Sequence[Candidate]) -> bool:
    one = candidates[at]
    asked = {stem(word) for pair in _ASKED.findall(clause.text) for word in pair if word and not is_stop_word(word)}
    said = {word_family(stem(word)) for word in split_words(one.text)} | set(map(word_family, one.stems))
    ways = ({key} | clause.alike.get(key, frozenset()) | clause.other_words.get(key, frozenset()) for key in asked)
    has_it = all(not said.isdisjoint(map(word_family, way)) for way in ways)
    return has_it and not find_gaps([at], clause, candidates)


def _are_about_one(one: int, other: int, clause: ClauseScores, candidates: Sequence[Candidate]) -> bool:
    """Whether two sentences lack nothing together, and share a word or stand in one source or conversation."""
    first, second = candidates[one], candidates[other]
    if find_gaps([one, other], clause, candidates):
        return False
    if first.source.document == second.source.document:
        return True
    links = list_links(one, clause, candidates)
    speakers = {stem(word) for candidate in (first, second) for word in split_words(candidate.speaker)}
    return not (links - speakers).isdisjoint(second.stems | second.nearby_stems)
