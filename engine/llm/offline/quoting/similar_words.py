"""Find words of sentences that mean the same as words of a question, by the vectors of the words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.llm.offline.words import content_words, is_generic, stem, word_family
from engine.text.word_lists import CONTRASTING_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.llm.checked_embedder import CheckedEmbedder
    from engine.llm.offline.candidates import Candidate
    from engine.llm.offline.ranking import ClauseScores
    from engine.usage import UsageMeter

# The similarity from which two words mean the same, on the scale of words of the embedder: guests and visitors 0.50,
# elevator and lift 0.51; billing and shipping 0.20, payroll and billing 0.36.
MIN_WORD_SIMILARITY = 0.477
MAX_SENTENCES, MAX_WORDS = 4, 28  # whose words are compared, and words: each costs a millisecond
MIN_WORD_LENGTH = 3


async def find_similar_words(
    clauses: Sequence[ClauseScores], candidates: Sequence[Candidate], embedder: CheckedEmbedder, meter: UsageMeter
) -> Mapping[str, frozenset[str]]:
    """For words of the question that no good sentence has, by their stems: the stems of words in these like them."""
    asked, found = dict[str, str](), dict[str, str]()
    for clause in clauses:
        best = [int(at) for at in np.argsort(-clause.score, kind="stable")[:MAX_SENTENCES]]
        missing = {
            term.stem: term.word
            for place, term in enumerate(clause.terms)
            if not term.is_name and _is_comparable(term.word) and not clause.own[best, place].any()
        }
        if missing:
            asked |= missing
            found |= {stem(word): word for at in best for word in _list_common(candidates[at].text)}
    words = {key: word for key, word in found.items() if key not in asked and _is_comparable(word)}
    if not asked or not words:
        return {}
    kept = dict(list(words.items())[: max(0, MAX_WORDS - len(asked))])
    return await _compare_words(asked, kept, embedder, meter)


def _list_common(text: str) -> list[str]:
    """The content words of a sentence that are no names: a capital within it marks one, as in the question."""
    return [word for word in content_words(text) if not word[0].isupper() or text.startswith(word)]


async def _compare_words(
    asked: Mapping[str, str], found: Mapping[str, str], embedder: CheckedEmbedder, meter: UsageMeter
) -> Mapping[str, frozenset[str]]:
    words = [word.lower() for word in (*asked.values(), *found.values())]
    vectors, scale = await embedder.embed_words(words, meter)
    similarities = scale.similarities(vectors[: len(asked)] @ vectors[len(asked) :].T)
    alike = {
        key: frozenset(other for other, value in zip(found, row, strict=True) if value >= MIN_WORD_SIMILARITY)
        for key, row in zip(asked, similarities, strict=True)
    }
    return {key: others for key, others in alike.items() if others}


def _is_comparable(word: str) -> bool:
    """Whether it has a meaning of its own that others may share, and is not one of a series of opposites."""
    plain = len(word) >= MIN_WORD_LENGTH and word.isalpha() and not is_generic(word)
    return plain and word.casefold() not in CONTRASTING_WORDS and word_family(stem(word)) not in CONTRASTING_WORDS
