"""Score how well a sentence supports an answer: similarity to the question and coverage of its words. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.llm.offline import question as question_analysis
from engine.llm.offline.text.words import content_words, is_common, is_generic, split_words, stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.llm.offline.candidates import Candidate

# Weight of a word with little meaning, or in brackets at the end of a question (a hint).
GENERIC_SHARE = 0.35
HINT_SHARE = 0.4
# How much a sentence covers a term that only its heading or the two sentences before it contain.
HEADING_SHARE = 0.8
CHANNEL_SHARE = 0.5  # the name of a channel is above all of its messages
CONTEXT_SHARE = 0.7
MAX_SYNONYM_SHARE = 0.8
# Cosine of two single words: unrelated at the first value, synonyms at the second.
UNRELATED_COSINE, SYNONYM_COSINE = 0.55, 0.9
RIGHT_TYPE_SCORE, WRONG_TYPE_SCORE = 0.1, -0.15
QUESTION_SCORE, TITLE_SCORE = -0.1, -0.15
RECENCY_SCORE = 0.08
FOCUS_LOSS = 0.25
NAME_LOSS, ID_LOSS = 0.35, 0.5

_HINTS = re.compile(r"\(([^()]*)\)[\s?.!]*$")


@dataclass(frozen=True, slots=True)
class Term:
    """A word that a question is about; a `name` only identifies a person or thing."""

    stem: str
    word: str
    weight: float
    is_name: bool

    @property
    def is_id(self) -> bool:
        """Whether it identifies exactly one thing: 17-B, v2."""
        return any(map(str.isdigit, self.word)) and any(map(str.isalpha, self.word))


@dataclass(frozen=True, slots=True)
class ClauseScores:
    """Scores of a clause for each sentence: `coverage` has shape (sentences, terms), the others (sentences,).

    `score` orders the sentences; `support` decides whether one answers at all; `focus_loss` is the deduction for not
    covering the focus of the question.
    """

    answer_type: question_analysis.AnswerType
    has_hint: bool
    terms: tuple[Term, ...]
    coverage: np.ndarray
    similarity: np.ndarray
    score: np.ndarray
    support: np.ndarray
    focus_loss: np.ndarray
    counted_stems: frozenset[str]


# For the stem of each term its synonyms by their stems, with the share of its meaning.
Synonyms = Mapping[str, Mapping[str, float]]


def count_stems(candidates: Iterable[Candidate]) -> dict[str, int]:
    """Number of candidates that contain each stem."""
    counts: dict[str, int] = {}
    for candidate in candidates:
        for word in candidate.stems:
            counts[word] = counts.get(word, 0) + 1
    return counts


def build_terms(question: str, counted: Mapping[str, int], total: int) -> tuple[Term, ...]:
    """The words a question is about; words that are rarer among the sentences weigh more."""
    hints = {stem(word) for word in split_words(found[1])} if (found := _HINTS.search(question)) else set()
    measured = question_analysis.quality_measures(question)
    terms = []
    for word in content_words(question):
        key = stem(word)
        generic = is_generic(word) and key not in measured
        rarity = math.log(1 + (total + 20) / (counted.get(key, 0) + 0.5))
        share = (GENERIC_SHARE if generic else 1.0) * (HINT_SHARE if key in hints else 1.0)
        terms.append(Term(key, word, rarity * share, _is_name(word, question)))
    return tuple(terms)


def synonym_share(similarity: float) -> float:
    """How much one word means another, by the cosine of the two words alone."""
    return min(MAX_SYNONYM_SHARE, max(0.0, (similarity - UNRELATED_COSINE) / (SYNONYM_COSINE - UNRELATED_COSINE)))


def score_clause(
    clause: str, terms: Sequence[Term], candidates: Sequence[Candidate], similar: np.ndarray, synonyms: Synonyms
) -> ClauseScores:
    """Score a clause against every sentence; `similar` holds the cosines."""
    synonyms = _add_measures(clause, synonyms)
    rows = [[_term_coverage(term, candidate, synonyms) for term in terms] for candidate in candidates]
    covers = np.array(rows, dtype=np.float64).reshape(len(candidates), len(terms))
    whole = _covered_share(covers, terms)
    topics = [index for index, term in enumerate(terms) if not term.is_name]
    rest = _covered_share(covers[:, topics], [terms[index] for index in topics]) if topics else whole
    brief, clause = bool(_HINTS.search(clause)), _HINTS.sub("", clause)
    needed, counted = question_analysis.answer_type(clause), question_analysis.counted_stems(clause)
    manner = np.array([_form_score(candidate, needed, counted) for candidate in candidates])
    lost = _focus_loss(clause, terms, covers)
    support = 0.5 * (whole + rest + similar + manner) - lost - _name_loss(terms, covers)
    score = whole + similar + manner + _recency_scores(candidates)
    return ClauseScores(needed, brief, tuple(terms), covers, similar, score, support, lost, counted)


def _add_measures(clause: str, synonyms: Synonyms) -> Synonyms:
    """A sentence also covers a quality by its unit."""
    units = {
        key: dict.fromkeys(names, MAX_SYNONYM_SHARE)
        for key, names in question_analysis.quality_measures(clause).items()
    }
    return {**synonyms, **{key: {**synonyms.get(key, {}), **named} for key, named in units.items()}}


def _is_name(word: str, question: str) -> bool:
    """Whether it is an id, or capitalized within a sentence."""
    if any(map(str.isdigit, word)):
        return True
    return word[:1].isupper() and not (question.lstrip("\"'“‘¿¡ ").startswith(word) and is_common(word))


def _term_coverage(term: Term, candidate: Candidate, synonyms: Synonyms) -> float:
    """How much a sentence covers a term, 0 to 1."""
    if term.stem in candidate.stems:
        return 1.0
    found = [share for word, share in synonyms.get(term.stem, {}).items() if word in candidate.stems]
    above = (CHANNEL_SHARE if candidate.speaker else HEADING_SHARE) * (term.stem in candidate.heading_stems)
    return max(*found, above, CONTEXT_SHARE * (term.stem in candidate.context_stems))


def _covered_share(covers: np.ndarray, terms: Sequence[Term]) -> np.ndarray:
    """The covered share of the weight."""
    weights = np.array([term.weight for term in terms])
    total = float(weights.sum())
    shares: np.ndarray = covers @ weights / total if total else np.zeros(len(covers))
    return shares


def _form_score(candidate: Candidate, needed: question_analysis.AnswerType, counted: frozenset[str]) -> float:
    """Bonus or malus for a sentence apart from its topic."""
    fits = question_analysis.has_answer_type(candidate.text, needed, counted)
    value = 0.0 if fits is None else RIGHT_TYPE_SCORE if fits else WRONG_TYPE_SCORE
    if candidate.is_question:
        value += QUESTION_SCORE
    elif candidate.is_title:
        value += TITLE_SCORE
    return value


def _focus_loss(clause: str, terms: Sequence[Term], covers: np.ndarray) -> np.ndarray:
    """Deduction for a sentence that does not cover the focus of the question."""
    focus = question_analysis.focus_stems(clause)
    columns = [index for index, term in enumerate(terms) if term.stem in focus]
    lost = np.zeros(len(covers))
    for column in columns:
        lost += FOCUS_LOSS * (1 - covers[:, column])
    return lost


def _name_loss(terms: Sequence[Term], covers: np.ndarray) -> np.ndarray:
    """Deduction for a sentence about other names than those in the question; permit 21-A is not 17-B."""
    names = [index for index, term in enumerate(terms) if term.is_name]
    ids = [index for index in names if terms[index].is_id]
    lost = np.zeros(len(covers))
    for indexes, loss in ((names, NAME_LOSS), (ids, ID_LOSS)):
        if indexes:
            lost += loss * (1 - _covered_share(covers[:, indexes], [terms[index] for index in indexes]))
    return lost


def _recency_scores(candidates: Sequence[Candidate]) -> np.ndarray:
    """A small bonus for newer sources, so that they win ties."""
    times = sorted({candidate.time for candidate in candidates if candidate.time is not None})
    rank = {time: RECENCY_SCORE * (place + 1) / len(times) for place, time in enumerate(times)}
    return np.array([rank[candidate.time] if candidate.time is not None else 0.0 for candidate in candidates])
