"""Score how well a sentence supports an answer: similarity to the question and coverage of its words. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.llm.offline import question as asked
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

    `score` orders the sentences; `support` decides whether one answers at all; `focus_loss` is the deduction for not covering
    the focus of the question.
    """

    answer_type: asked.AnswerType
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


def count_stems(quotables: Iterable[Candidate]) -> dict[str, int]:
    """Number of candidates that contain each stem."""
    found: dict[str, int] = {}
    for quotable in quotables:
        for word in quotable.stems:
            found[word] = found.get(word, 0) + 1
    return found


def build_terms(question: str, counted: Mapping[str, int], total: int) -> tuple[Term, ...]:
    """The words a question is about; words that are rarer among the sentences weigh more."""
    hints = {stem(word) for word in split_words(found[1])} if (found := _HINTS.search(question)) else set()
    measured = asked.quality_measures(question)
    made = []
    for word in content_words(question):
        key = stem(word)
        generic = is_generic(word) and key not in measured
        rarity = math.log(1 + (total + 20) / (counted.get(key, 0) + 0.5))
        share = (GENERIC_SHARE if generic else 1.0) * (HINT_SHARE if key in hints else 1.0)
        made.append(Term(key, word, rarity * share, _is_name(word, question)))
    return tuple(made)


def synonym_share(similarity: float) -> float:
    """How much one word means another, by the cosine of the two words alone."""
    return min(MAX_SYNONYM_SHARE, max(0.0, (similarity - UNRELATED_COSINE) / (SYNONYM_COSINE - UNRELATED_COSINE)))


def score_clause(
    clause: str, about: Sequence[Term], quotables: Sequence[Candidate], similar: np.ndarray, likes: Synonyms
) -> ClauseScores:
    """Score a clause against every sentence; `similar` holds the cosines."""
    likes = _add_measures(clause, likes)
    rows = [[_term_coverage(term, quotable, likes) for term in about] for quotable in quotables]
    covers = np.array(rows, dtype=np.float64).reshape(len(quotables), len(about))
    whole = _covered_share(covers, about)
    asked_for = [index for index, term in enumerate(about) if not term.is_name]
    rest = _covered_share(covers[:, asked_for], [about[index] for index in asked_for]) if asked_for else whole
    brief, clause = bool(_HINTS.search(clause)), _HINTS.sub("", clause)
    wanted, counted = asked.answer_type(clause), asked.counted_stems(clause)
    manner = np.array([_form_score(quotable, wanted, counted) for quotable in quotables])
    lost = _focus_loss(clause, about, covers)
    support = 0.5 * (whole + rest + similar + manner) - lost - _name_loss(about, covers)
    score = whole + similar + manner + _recency_scores(quotables)
    return ClauseScores(wanted, brief, tuple(about), covers, similar, score, support, lost, counted)


def _add_measures(clause: str, likes: Synonyms) -> Synonyms:
    """A sentence also covers a quality by its unit."""
    units = {key: dict.fromkeys(names, MAX_SYNONYM_SHARE) for key, names in asked.quality_measures(clause).items()}
    return {**likes, **{key: {**likes.get(key, {}), **named} for key, named in units.items()}}


def _is_name(word: str, question: str) -> bool:
    """Whether it is an id, or capitalized within a sentence."""
    if any(map(str.isdigit, word)):
        return True
    return word[:1].isupper() and not (question.lstrip("\"'“‘¿¡ ").startswith(word) and is_common(word))


def _term_coverage(term: Term, quotable: Candidate, likes: Synonyms) -> float:
    """How much a sentence covers a term, 0 to 1."""
    if term.stem in quotable.stems:
        return 1.0
    found = [share for word, share in likes.get(term.stem, {}).items() if word in quotable.stems]
    above = (CHANNEL_SHARE if quotable.speaker else HEADING_SHARE) * (term.stem in quotable.heading_stems)
    return max(*found, above, CONTEXT_SHARE * (term.stem in quotable.context_stems))


def _covered_share(covers: np.ndarray, about: Sequence[Term]) -> np.ndarray:
    """The covered share of the weight."""
    weights = np.array([term.weight for term in about])
    total = float(weights.sum())
    shares: np.ndarray = covers @ weights / total if total else np.zeros(len(covers))
    return shares


def _form_score(quotable: Candidate, wanted: asked.AnswerType, counted: frozenset[str]) -> float:
    """Bonus or malus for a sentence apart from its topic."""
    fits = asked.has_answer_type(quotable.text, wanted, counted)
    value = 0.0 if fits is None else RIGHT_TYPE_SCORE if fits else WRONG_TYPE_SCORE
    if quotable.is_question:
        value += QUESTION_SCORE
    elif quotable.is_title:
        value += TITLE_SCORE
    return value


def _focus_loss(clause: str, about: Sequence[Term], covers: np.ndarray) -> np.ndarray:
    """Deduction for a sentence that does not cover the focus of the question."""
    sought = asked.focus_stems(clause)
    columns = [index for index, term in enumerate(about) if term.stem in sought]
    lost = np.zeros(len(covers))
    for column in columns:
        lost += FOCUS_LOSS * (1 - covers[:, column])
    return lost


def _name_loss(about: Sequence[Term], covers: np.ndarray) -> np.ndarray:
    """Deduction for a sentence about other names than those in the question; permit 21-A is not 17-B."""
    names = [index for index, term in enumerate(about) if term.is_name]
    ids = [index for index in names if about[index].is_id]
    lost = np.zeros(len(covers))
    for indexes, loss in ((names, NAME_LOSS), (ids, ID_LOSS)):
        if indexes:
            lost += loss * (1 - _covered_share(covers[:, indexes], [about[index] for index in indexes]))
    return lost


def _recency_scores(quotables: Sequence[Candidate]) -> np.ndarray:
    """A small bonus for newer sources, so that they win ties."""
    times = sorted({quotable.time for quotable in quotables if quotable.time is not None})
    rank = {time: RECENCY_SCORE * (place + 1) / len(times) for place, time in enumerate(times)}
    return np.array([rank[quotable.time] if quotable.time is not None else 0.0 for quotable in quotables])
