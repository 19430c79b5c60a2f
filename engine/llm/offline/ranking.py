"""A question against its sources: everything embedded in two batches, every clause weighed against every sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.llm.offline import question as asked
from engine.llm.offline import scoring
from engine.llm.offline.candidates import quotables
from engine.llm.offline.text.words import is_generic, is_stop, stem, tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.llm.base import Embedder
    from engine.llm.offline.candidates import Quotable
    from engine.llm.offline.scoring import Term, Weighed
    from engine.models import Source
    from engine.usage import Bill

# Sentences that are embedded; of these the best are searched for other words for what is asked.
CANDIDATES = 96
READ = 32
VOCABULARY = 400
_SHORTEST = 3

# Shares of: the sentence together with the one before it; the question as a whole.
_WITH_BEFORE = 0.92
_BEFORE = 0.6
_WHOLE = 0.85


@dataclass(frozen=True, slots=True)
class Study:
    """All sentences, the positions of those that were looked at, and each clause weighed against these."""

    quotables: tuple[Quotable, ...]
    places: tuple[int, ...]
    clauses: tuple[Weighed, ...]


async def study(question: str, sources: Sequence[Source], embedder: Embedder, bill: Bill) -> Study:
    """Weigh what the sources say; the embedder's errors pass."""
    every = quotables(sources)
    parts = asked.clauses(question)
    counted = scoring.counts(every)
    about = [scoring.terms(part, counted, len(every)) for part in parts]
    words = {term.stem: term for clause in about for term in clause}
    chosen = candidates(every, list(words.values()))
    vectors = await embedder.embed([question, *parts, *(every[at].shown for at in chosen)], bill)
    similar = _similar(vectors[0], vectors[1 : len(parts) + 1], vectors[len(parts) + 1 :], _befores(every, chosen))
    looked_at = [every[at] for at in chosen]
    best = [looked_at[at] for at in _best(similar, looked_at, words)]
    likes = await _likes(list(words.values()), best, embedder, bill)
    weighed = [
        scoring.weigh(part, clause, looked_at, near, likes)
        for part, clause, near in zip(parts, about, similar, strict=True)
    ]
    return Study(tuple(every), tuple(chosen), tuple(weighed))


def candidates(every: Sequence[Quotable], words: Sequence[Term]) -> list[int]:
    """The positions of those that are worth embedding, in order: who shares words with the question, then the first."""

    def shared(quotable: Quotable) -> float:
        around = quotable.near | quotable.head
        here = sum(term.weight for term in words if term.stem in quotable.words)
        return here + scoring.NEAR * sum(term.weight for term in words if term.stem in around - quotable.words)

    ranked = sorted(range(len(every)), key=lambda at: (-shared(every[at]), at))
    return sorted(ranked[:CANDIDATES])


def _befores(every: Sequence[Quotable], chosen: Sequence[int]) -> list[int]:
    """For each chosen one the place among them of the one before it; -1 if that is not there."""
    places = {at: place for place, at in enumerate(chosen)}
    return [places.get(every[at].before[-1], -1) if every[at].before else -1 for at in chosen]


def _similar(whole: np.ndarray, parts: np.ndarray, sentences: np.ndarray, befores: Sequence[int]) -> list[np.ndarray]:
    """For each clause the cosines with the sentences, alone or after the one before."""
    linked = np.array([place >= 0 for place in befores])
    after = (
        sentences + _BEFORE * sentences[np.array(befores, dtype=int)] * linked[:, None] if len(befores) else sentences
    )
    after = after / np.maximum(np.linalg.norm(after, axis=1, keepdims=True), 1e-9)
    wholly = _WHOLE * (sentences @ whole)
    return [np.maximum(np.maximum(sentences @ part, _WITH_BEFORE * (after @ part)), wholly) for part in parts]


def _best(similar: Sequence[np.ndarray], looked_at: Sequence[Quotable], words: Mapping[str, Term]) -> list[int]:
    """The positions of the most promising, before other words for the terms are known."""
    total = sum(term.weight for term in words.values()) or 1.0
    said = (sum(term.weight for key, term in words.items() if key in one.words | one.near) for one in looked_at)
    scores = np.array([each / total for each in said]) + np.max(np.array(similar), axis=0)
    return [int(at) for at in np.argsort(-scores, kind="stable")[:READ]]


async def _likes(
    words: Sequence[Term], best: Sequence[Quotable], embedder: Embedder, bill: Bill
) -> dict[str, dict[str, float]]:
    """Which words of the best sentences mean nearly what a term means. Names stand only for themselves."""
    wanted = [term for term in words if not term.name and not is_generic(term.word)]
    vocabulary = _vocabulary(best)
    if not wanted or not vocabulary:
        return {}
    vectors = await embedder.embed([*(term.word for term in wanted), *vocabulary.values()], bill)
    cosines = vectors[: len(wanted)] @ vectors[len(wanted) :].T
    keys = list(vocabulary)
    return {
        term.stem: {
            key: share for key, cosine in zip(keys, row, strict=True) if (share := scoring.alike(float(cosine)))
        }
        for term, row in zip(wanted, cosines, strict=True)
    }


def _vocabulary(best: Sequence[Quotable]) -> dict[str, str]:
    """The words that say something, by stem."""
    found: dict[str, str] = {}
    for quotable in best:
        for at, word in enumerate(tokens(quotable.text)):
            if (word.islower() or not at) and len(word) >= _SHORTEST and not is_stop(word) and len(found) < VOCABULARY:
                found.setdefault(stem(word), word)
    return found
