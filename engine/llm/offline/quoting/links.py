"""Find the words that lead from one sentence to another one. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from engine.llm.offline.words import is_generic, split_words, stem, word_family

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.offline.candidates import Candidate
    from engine.llm.offline.ranking import ClauseScores

MAX_OCCURRENCES = 6  # sentences that have a word which leads on
MIN_STEM_LENGTH = 3


def list_links(first: int, clause: ClauseScores, candidates: Sequence[Candidate]) -> frozenset[str]:
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


def share_name(one: Candidate, other: Candidate) -> bool:
    """Whether both sentences have a word that both write like a name."""
    return not _find_names(one.text).isdisjoint(_find_names(other.text))


def _find_names(text: str) -> set[str]:
    return {stem(word) for word in split_words(text) if word[:1].isupper() and not is_generic(word)}
