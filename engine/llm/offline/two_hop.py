"""Find two sentences that answer only together: the first identifies a name, the second answers about it. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from engine.llm.offline.candidates import content_stems
from engine.llm.offline.entities import ExcerptFacts, find_entities
from engine.llm.offline.text.words import split_words, stem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engine.llm.offline.candidates import Candidate
    from engine.llm.offline.scoring import ClauseScores

MAX_FIRST_SENTENCES = 4
# Minimum share of the question that each of the two covers and the other does not.
_OWN_SHARE = 0.2
_SECOND_SHARE = 0.9

_SELF_REFERENCE = re.compile(r"\b(?:I|my|me|mine)\b")


def find_two_hop_pair(clause: ClauseScores, candidates: Sequence[Candidate]) -> tuple[int, int, float] | None:
    """The best pair, linked by a name that is not in the question, and their joint support."""
    weights = np.array([term.weight for term in clause.terms])
    total = float(weights.sum())
    if not total:
        return None
    found = [
        (*pair, _pair_support(clause, pair, weights / total))
        for pair in _candidate_pairs(clause, candidates, weights / total)
    ]
    return max(found, key=lambda each: each[2], default=None)


def _candidate_pairs(
    clause: ClauseScores, candidates: Sequence[Candidate], shares: np.ndarray
) -> Iterator[tuple[int, int]]:
    """Pairs of sentences that cover different parts of the question and share a new name."""
    question_stems = {term.stem for term in clause.terms}
    firsts = np.argsort(-(clause.coverage @ shares + clause.similarity), kind="stable")[:MAX_FIRST_SENTENCES]
    for first in map(int, firsts):
        keys = [key for key in _new_names(candidates[first]) if question_stems.isdisjoint(key)]
        more = np.maximum(clause.coverage - clause.coverage[first], 0) @ shares
        less = np.maximum(clause.coverage[first] - clause.coverage, 0) @ shares
        for second in map(int, np.flatnonzero((more >= _OWN_SHARE) & (less >= _OWN_SHARE))):
            if any(key <= content_stems(_attributed_text(candidates[second])) for key in keys):
                yield first, second


def _new_names(candidate: Candidate) -> list[frozenset[str]]:
    """The stems of each name that it says something about."""
    return [
        frozenset(map(stem, split_words(name.name)))
        for name in find_entities(_attributed_text(candidate), ExcerptFacts())
    ]


def _attributed_text(candidate: Candidate) -> str:
    """Its text, with the speaker only if the speaker refers to themselves."""
    return candidate.attributed_text if _SELF_REFERENCE.search(candidate.text) else candidate.text


def _pair_support(clause: ClauseScores, pair: tuple[int, int], shares: np.ndarray) -> float:
    """As the support of one sentence, for the joint coverage of the two."""
    first, second = pair
    covers = np.maximum(clause.coverage[first], _SECOND_SHARE * clause.coverage[second])
    rest = np.array([not term.is_name for term in clause.terms])
    whole = float(covers @ shares)
    own_share = float(covers[rest] @ shares[rest] / shares[rest].sum()) if rest.any() else whole
    lost = float(clause.focus_loss[second]) * float((1 - covers).max())
    return 0.5 * (whole + own_share + float(clause.similarity[[first, second]].mean())) - lost
