"""Score every clause of a question against every sentence of its sources, with two batches of embeddings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.llm.offline import question as question_analysis
from engine.llm.offline import scoring
from engine.llm.offline.candidates import build_candidates
from engine.llm.offline.text.words import is_generic, is_stop_word, split_words, stem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.llm.base import Embedder
    from engine.llm.offline.candidates import Candidate
    from engine.llm.offline.scoring import ClauseScores, Term
    from engine.models import Source
    from engine.usage import UsageMeter

# Maximum number of embedded sentences; the best of them are searched for synonyms of the question's words.
MAX_CANDIDATES = 96
VOCABULARY_SENTENCES = 32
MAX_VOCABULARY = 400
_MIN_WORD_LENGTH = 3

# Weights of: the sentence together with the one before it; the question as a whole.
_WITH_PREVIOUS_SHARE = 0.92
_PREVIOUS_SHARE = 0.6
_WHOLE_QUESTION_SHARE = 0.85


@dataclass(frozen=True, slots=True)
class RankedSentences:
    """All sentences, the positions of the embedded ones, and the scores of each clause for these."""

    candidates: tuple[Candidate, ...]
    positions: tuple[int, ...]
    clauses: tuple[ClauseScores, ...]


async def rank_sentences(
    question: str, sources: Sequence[Source], embedder: Embedder, meter: UsageMeter
) -> RankedSentences:
    """Score the sources; errors of the embedder are raised."""
    candidates = build_candidates(sources)
    parts = question_analysis.split_clauses(question)
    counted = scoring.count_stems(candidates)
    about = [scoring.build_terms(part, counted, len(candidates)) for part in parts]
    words = {term.stem: term for clause in about for term in clause}
    chosen = select_candidates(candidates, list(words.values()))
    vectors = await embedder.embed([question, *parts, *(candidates[at].attributed_text for at in chosen)], meter)
    similar = _clause_similarities(
        vectors[0], vectors[1 : len(parts) + 1], vectors[len(parts) + 1 :], _previous_positions(candidates, chosen)
    )
    looked_at = [candidates[at] for at in chosen]
    best = [looked_at[at] for at in _most_promising(similar, looked_at, words)]
    synonyms = await _find_synonyms(list(words.values()), best, embedder, meter)
    weighed = [
        scoring.score_clause(part, clause, looked_at, near, synonyms)
        for part, clause, near in zip(parts, about, similar, strict=True)
    ]
    return RankedSentences(tuple(candidates), tuple(chosen), tuple(weighed))


def select_candidates(candidates: Sequence[Candidate], words: Sequence[Term]) -> list[int]:
    """Positions of the sentences to embed, in order: those that share words with the question, then the first ones."""

    def shared(candidate: Candidate) -> float:
        around = candidate.context_stems | candidate.heading_stems
        here = sum(term.weight for term in words if term.stem in candidate.stems)
        return here + scoring.CONTEXT_SHARE * sum(
            term.weight for term in words if term.stem in around - candidate.stems
        )

    ranked = sorted(range(len(candidates)), key=lambda at: (-shared(candidates[at]), at))
    return sorted(ranked[:MAX_CANDIDATES])


def _previous_positions(candidates: Sequence[Candidate], chosen: Sequence[int]) -> list[int]:
    """For each chosen sentence the index of the one before it; -1 if that is not chosen."""
    places = {at: place for place, at in enumerate(chosen)}
    return [places.get(candidates[at].preceding[-1], -1) if candidates[at].preceding else -1 for at in chosen]


def _clause_similarities(
    whole: np.ndarray, parts: np.ndarray, sentences: np.ndarray, befores: Sequence[int]
) -> list[np.ndarray]:
    """For each clause the cosines with the sentences, alone or after the one before."""
    linked = np.array([place >= 0 for place in befores])
    after = (
        sentences + _PREVIOUS_SHARE * sentences[np.array(befores, dtype=int)] * linked[:, None]
        if len(befores)
        else sentences
    )
    after = after / np.maximum(np.linalg.norm(after, axis=1, keepdims=True), 1e-9)
    wholly = _WHOLE_QUESTION_SHARE * (sentences @ whole)
    return [np.maximum(np.maximum(sentences @ part, _WITH_PREVIOUS_SHARE * (after @ part)), wholly) for part in parts]


def _most_promising(
    similar: Sequence[np.ndarray], looked_at: Sequence[Candidate], words: Mapping[str, Term]
) -> list[int]:
    """Positions of the most promising sentences, before synonyms of the terms are known."""
    total = sum(term.weight for term in words.values()) or 1.0
    coverage = (
        sum(term.weight for key, term in words.items() if key in one.stems | one.context_stems) for one in looked_at
    )
    scores = np.array([each / total for each in coverage]) + np.max(np.array(similar), axis=0)
    return [int(at) for at in np.argsort(-scores, kind="stable")[:VOCABULARY_SENTENCES]]


async def _find_synonyms(
    words: Sequence[Term], best: Sequence[Candidate], embedder: Embedder, meter: UsageMeter
) -> dict[str, dict[str, float]]:
    """Words of the best sentences that mean nearly the same as a term. Names have no synonyms."""
    targets = [term for term in words if not term.is_name and not is_generic(term.word)]
    vocabulary = _build_vocabulary(best)
    if not targets or not vocabulary:
        return {}
    vectors = await embedder.embed([*(term.word for term in targets), *vocabulary.values()], meter)
    cosines = vectors[: len(targets)] @ vectors[len(targets) :].T
    keys = list(vocabulary)
    return {
        term.stem: {
            key: share for key, cosine in zip(keys, row, strict=True) if (share := scoring.synonym_share(float(cosine)))
        }
        for term, row in zip(targets, cosines, strict=True)
    }


def _build_vocabulary(best: Sequence[Candidate]) -> dict[str, str]:
    """The content words, by stem."""
    found: dict[str, str] = {}
    for candidate in best:
        for at, word in enumerate(split_words(candidate.text)):
            if (
                (word.islower() or not at)
                and len(word) >= _MIN_WORD_LENGTH
                and not is_stop_word(word)
                and len(found) < MAX_VOCABULARY
            ):
                found.setdefault(stem(word), word)
    return found
