"""Score the sentences of the sources for each clause of a question, by their words and by embeddings.

A sentence covers a word of the clause whole if it has a form of it, 0.8 if it has a listed synonym, a word derived from
the same one, a word with a similar vector or a unit of the measure asked for, and 0.75 if its heading or one of the two
sentences before it has the word. Rarer words weigh more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from engine.llm.offline.attendance import ABSENT, list_absence_words
from engine.llm.offline.candidates import build_candidates
from engine.llm.offline.language_forms import list_forms
from engine.llm.offline.language_rules import detect_rules
from engine.llm.offline.questions import analysis
from engine.llm.offline.quoting.similar_words import find_similar_words
from engine.llm.offline.words import content_words, is_common, is_generic, split_words, stem, word_family
from engine.scheduling.supervisor import gather_or_cancel
from engine.text.languages.unspaced import has_function_character, has_unspaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.checked_embedder import CheckedEmbedder
    from engine.llm.offline.candidates import Candidate
    from engine.llm.offline.language_rules import LanguageRules
    from engine.models import Source
    from engine.usage import UsageMeter

MAX_BEFORE_ABSENCE = 3  # sentences that name the meeting
MAX_CANDIDATES = 96  # sentences that are embedded

GENERIC_SHARE = 0.35  # weight of a word with little meaning
NEARBY_SHARE = 0.75
SYNONYM_SHARE = 0.8
PREVIOUS_SHARE, WITH_PREVIOUS_SHARE = 0.6, 0.92  # a sentence together with the one before it
RIGHT_TYPE_SCORE, WRONG_TYPE_SCORE = 0.1, -0.15
RECENCY_SCORE = 0.08
NAME_LOSS = 0.35
SPEAKER_LOSS = 0.35  # of a message that has only the name of its speaker in common with a question
MIN_OWN_WORDS = 2  # of a question for yes or no, in the sentence that answers

OtherWords = Mapping[str, frozenset[str]]
_NO_WORDS: OtherWords = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Term:
    """A word that a question is about; a `name` only identifies a person or thing."""

    stem: str
    word: str
    weight: float
    is_name: bool
    is_noun: bool = False  # written like a name, as German writes all nouns
    is_generic: bool = False

    @property
    def is_id(self) -> bool:
        """Whether it identifies exactly one thing: 17-B, v2."""
        return any(map(str.isdigit, self.word)) and any(map(str.isalpha, self.word))


@dataclass(frozen=True, slots=True)
class ClauseScores:
    """Scores of a clause: `coverage` and `own` have shape (sentences, terms), `weights` (terms,), others (sentences,).

    `score` orders the sentences; `support` decides whether one answers at all. `own` is the coverage without words
    nearby. By the stem of a term, `other_words` are those that also cover it, and `alike` those with similar vectors.
    """

    text: str
    terms: tuple[Term, ...]
    other_words: OtherWords
    alike: OtherWords
    answer_type: analysis.AnswerType
    counted_stems: frozenset[str]
    has_hint: bool
    weights: np.ndarray
    coverage: np.ndarray
    own: np.ndarray
    similarity: np.ndarray
    score: np.ndarray
    support: np.ndarray


async def rank_sentences(
    question: str, sources: Sequence[Source], embedder: CheckedEmbedder, meter: UsageMeter
) -> tuple[list[Candidate], list[ClauseScores]]:
    """The sentences of the sources, and their scores for each clause; errors of the embedder are raised."""
    candidates = build_candidates(sources)
    clauses = analysis.split_clauses(question)
    terms = [build_terms(clause, candidates) for clause in clauses]
    words = list({term.stem: term for about in terms for term in about}.values())
    forms = find_forms(question, words, candidates)
    shared = np.array([sum(w.weight for w in words if w.stem in one.stems | one.nearby_stems) for one in candidates])
    similar = await _compare(clauses, candidates, np.argsort(-shared, kind="stable")[:MAX_CANDIDATES], embedder, meter)
    scored = [
        score_clause(clause, about, candidates, near, forms)
        for clause, about, near in zip(clauses, terms, similar, strict=True)
    ]
    alike = await find_similar_words(scored, candidates, embedder, meter) if candidates else {}
    if alike:
        alike = {key: alike.get(key, frozenset()) | forms.get(key, frozenset()) for key in {*alike, *forms}}
        scored = [score_clause(clause.text, clause.terms, candidates, clause.similarity, alike) for clause in scored]
    return candidates, scored


def find_forms(question: str, terms: Sequence[Term], candidates: Sequence[Candidate]) -> dict[str, frozenset[str]]:
    """By the stem of a term: the stems of its other forms in the sentences and around them."""
    known = frozenset[str]().union(*(one.stems | one.nearby_stems for one in candidates))
    return list_forms({term.stem: term.word for term in terms}, known, detect_rules(question))


def build_terms(clause: str, candidates: Sequence[Candidate]) -> list[Term]:
    """The words a clause is about."""
    measured, rules = analysis.measured_stems(clause), detect_rules(clause)
    speakers = {stem(word) for one in candidates for word in split_words(one.speaker)}
    terms = []
    for word in _list_subjects(clause, rules):
        key = stem(word)
        count = sum(key in candidate.stems for candidate in candidates)
        rarity = math.log(1 + (len(candidates) + 20) / (count + 0.5))
        little = is_generic(word) if rules.language in {"", "en"} else rules.is_generic(word)
        is_name = _is_name(word, clause)
        is_noun = is_name and rules.language == "de" and not any(map(str.isdigit, word)) and key not in speakers
        share = GENERIC_SHARE if little and key not in measured else 1.0
        terms.append(Term(key, word, rarity * share, is_name and not is_noun, is_noun, little))
    return terms


def _list_subjects(clause: str, rules: LanguageRules) -> list[str]:
    """The content words of a clause without what its language asks by; all of them if nothing else is left."""
    words = [word for word in content_words(rules.strip_phrases(clause)) if not rules.is_function_word(word)]
    if has_unspaced(clause):
        words = [word for word in words if not has_function_character(word)] or words
    return words or content_words(clause)


def score_clause(
    clause: str,
    terms: Sequence[Term],
    candidates: Sequence[Candidate],
    similar: np.ndarray,
    alike: OtherWords = _NO_WORDS,
) -> ClauseScores:
    """Score a clause against every sentence; `similar` holds similarities, `alike` stems of words like its terms."""
    asked, hint = analysis.split_hint(clause)
    kind, counted = analysis.answer_type(asked), analysis.counted_stems(asked)
    others = _list_other_words(clause, terms)
    own = _cover_all(terms, others, alike, [one.stems for one in candidates])
    nearby = _cover_all(terms, _NO_WORDS, _NO_WORDS, [one.nearby_stems for one in candidates])
    if kind == "absence":
        asked_by = list_absence_words({term.stem for term in terms})
        places = np.array([term.stem in asked_by for term in terms], dtype=bool)
        said = _find_absences((own + nearby)[:, ~places], candidates)
        kind = "absence" if said.any() else "person"
        if said.any():  # a sentence about who came has the words of the question, too
            own[:, places], nearby[:, places] = said[:, None], 0
            others = {key: words | {ABSENT} if key in asked_by else words for key, words in others.items()}
    coverage = np.maximum(own, NEARBY_SHARE * (nearby > 0))
    names = np.array([term.is_name for term in terms], dtype=bool)
    topics = find_topics(terms)
    weights = np.array([term.weight for term in terms])
    weights = weights / (weights.sum() or 1.0)
    covered = coverage @ weights
    form = np.array([_type_score(one.text, kind, counted) for one in candidates])
    support = 0.5 * (covered + _share(coverage, weights, topics) + similar + form)
    support -= NAME_LOSS * (1 - _share(coverage, weights, names)) * names.any()
    answers = (coverage[:, [term.is_id for term in terms]] > 0).all(axis=1)
    if analysis.is_yes_or_no(asked):
        answers &= (own > 0).sum(axis=1) >= min(MIN_OWN_WORDS, len(terms))
    score = covered + similar + form + _recency_scores(candidates)
    only_speaker = _find_only_speaker(terms, own, candidates)
    score = score - SPEAKER_LOSS * only_speaker
    support = np.where(answers & ~only_speaker, support, 0.0)
    return ClauseScores(
        clause, tuple(terms), others, alike, kind, counted, bool(hint), weights, coverage, own, similar, score, support
    )


def _find_absences(covered: np.ndarray, candidates: Sequence[Candidate]) -> np.ndarray:
    """Which sentences say that somebody did not come, after or in a sentence with another term of the question."""
    about = [bool(row.any()) or not row.size for row in covered]
    said = np.zeros(len(candidates), dtype=bool)
    for at, one in enumerate(candidates):
        near = range(max(0, at - MAX_BEFORE_ABSENCE), at + 1)
        said[at] = ABSENT in one.stems and any(about[each] for each in near if candidates[each].source is one.source)
    return said


def find_topics(terms: Sequence[Term]) -> np.ndarray:
    """Which terms say what is asked about: those that are no names; all if these say little, or if there are none."""
    topics = np.array([not term.is_name for term in terms], dtype=bool)
    return topics if any(not (term.is_name or term.is_generic) for term in terms) else np.ones_like(topics)


def _find_only_speaker(terms: Sequence[Term], own: np.ndarray, candidates: Sequence[Candidate]) -> np.ndarray:
    """Whether a message has words of the clause in the name of its speaker alone."""
    spoken = [frozenset(map(stem, split_words(one.speaker))) for one in candidates]
    named = np.array([[term.stem in stems for term in terms] for stems in spoken], dtype=bool).reshape(own.shape)
    result: np.ndarray = (own > 0).any(axis=1) & ~((own > 0) & ~named).any(axis=1)
    return result


def _is_name(word: str, clause: str) -> bool:
    """Whether it is an id, or capitalized within a sentence."""
    if any(map(str.isdigit, word)):
        return True
    return word[:1].isupper() and not (clause.lstrip("\"'“‘¿¡ ").startswith(word) and is_common(word))


def _list_other_words(clause: str, terms: Sequence[Term]) -> OtherWords:
    """The stems of the synonyms of each term, and of the units by which it is answered."""
    measured = analysis.measured_stems(clause)
    synonyms = {term.stem: frozenset() if term.is_name else analysis.synonym_stems(term.stem) for term in terms}
    parts = {term.stem: _longest_part(term.word) for term in terms if "-" in term.word and not term.is_id}
    return {key: measured.get(key, frozenset()) | same | parts.get(key, frozenset()) for key, same in synonyms.items()}


def _longest_part(word: str) -> frozenset[str]:
    """The stem of the longest part of a word with hyphens, which may also be written apart."""
    return frozenset({stem(max(word.split("-"), key=len))})


def _cover_all(
    terms: Sequence[Term], others: OtherWords, alike: OtherWords, texts: Sequence[frozenset[str]]
) -> np.ndarray:
    """How much each text, given by the stems of its words, covers each term: shape (texts, terms)."""
    meant = [others.get(term.stem, frozenset()) | alike.get(term.stem, frozenset()) for term in terms]
    derived = ["" if term.is_name else word_family(term.stem) for term in terms]
    covered = np.zeros((len(texts), len(terms)))
    has_pairs = any(has_unspaced(term.word) for term in terms)
    for row, stems in enumerate(texts):
        families = frozenset(map(word_family, stems))
        letters = set("".join(stems)) if has_pairs else set[str]()
        for column, term in enumerate(terms):
            if term.stem in stems:
                covered[row, column] = 1.0
            elif (
                derived[column] in families
                or not meant[column].isdisjoint(stems)
                or (has_unspaced(term.word) and letters.issuperset(term.word))
            ):
                covered[row, column] = SYNONYM_SHARE
    return covered


def _share(coverage: np.ndarray, weights: np.ndarray, part: np.ndarray) -> np.ndarray:
    """The covered share of the weight of a part of the terms."""
    shares: np.ndarray = coverage[:, part] @ weights[part] / (weights[part].sum() or 1.0)
    return shares


def _type_score(text: str, kind: analysis.AnswerType, counted: frozenset[str]) -> float:
    fits = analysis.has_answer_type(text, kind, counted)
    return 0.0 if fits is None else RIGHT_TYPE_SCORE if fits else WRONG_TYPE_SCORE


def _recency_scores(candidates: Sequence[Candidate]) -> np.ndarray:
    """A small bonus for newer sources, so that they win ties."""
    times = sorted({one.source.time for one in candidates if one.source.time})
    rank = {time: RECENCY_SCORE * place / len(times) for place, time in enumerate(times, 1)}
    return np.array([rank[one.source.time] if one.source.time else 0.0 for one in candidates])


async def _compare(
    clauses: Sequence[str],
    candidates: Sequence[Candidate],
    chosen: np.ndarray,
    embedder: CheckedEmbedder,
    meter: UsageMeter,
) -> np.ndarray:
    """Similarities of shape (clauses, sentences), of each sentence alone or after the one before; others count as 0."""
    scale = await embedder.measure_scale(meter)
    asked, vectors = await gather_or_cancel(
        embedder.embed_queries(clauses, meter),
        embedder.embed([candidates[at].attributed_text for at in chosen], meter),
    )
    sentences = np.zeros((len(candidates), asked.shape[1]))
    sentences[chosen] = vectors
    before = [one.preceding[-1] if one.preceding else at for at, one in enumerate(candidates)]
    after = sentences + PREVIOUS_SHARE * sentences[before]
    after /= np.maximum(np.linalg.norm(after, axis=1, keepdims=True), 1e-9)
    similar = np.zeros((len(clauses), len(candidates)))
    alone, together = scale.similarities(asked @ sentences.T), scale.similarities(asked @ after.T)
    similar[:, chosen] = np.maximum(alone, WITH_PREVIOUS_SHARE * together)[:, chosen]
    return similar
