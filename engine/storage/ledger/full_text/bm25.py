"""Full-text scores within one scope: BM25 (Robertson and Zaragoza 2009) with the statistics of that scope alone."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.storage.ledger.clauses import load_sort_keys
from engine.storage.ledger.full_text.index import find_term_index, measure_rows, measure_scope
from engine.storage.ledger.full_text.search_words import list_forms
from engine.storage.ledger.queries.filters import filter_ids
from engine.storage.ledger.records.query_results import EMPTY_SORT_KEY

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Self

    from engine.storage.ledger.full_text.index import FullTextIndex, ScopeSize, SearchWord
    from engine.storage.ledger.full_text.search_words import ChosenWords
    from engine.storage.ledger.records.query_results import ResolvedFilters, ScopeIds
    from engine.storage.sql.connection import Connection

K1, B = 1.2, 0.75
FILTER_BATCH = 256  # rows checked against the filters at once
STEM_SHARE = 0.6  # of a place of a word that a place of another form of it counts
COUNTED_SHARE = 8  # if one of so many ids has a score, sums for all ids take less time than sorting
SCORE_DIGITS, SCORE_TOLERANCE = 9, 1e-9  # digits of a score; further ones depend on the order of additions


class Postings(NamedTuple):
    """The rows that contain a word, as columns: ids, lengths of the rows, and how often the word stands in each."""

    ids: np.ndarray
    lengths: np.ndarray
    times: np.ndarray

    @classmethod
    def build(cls, rows: Sequence[tuple[int, int, float]]) -> Self:
        """From rows of an id, a length and a frequency."""
        ids, lengths, times = np.array(rows, np.float64).reshape(-1, 3).T
        return cls(ids.astype(np.int64), lengths, times)

    def select(self, kept: np.ndarray) -> Self:
        """Those of the rows, given as booleans or places."""
        return type(self)(self.ids[kept], self.lengths[kept], self.times[kept])


class RowScores(NamedTuple):
    """Rows by id, and the score of each."""

    ids: np.ndarray
    scores: np.ndarray

    def list_best(self, k: int) -> dict[int, float]:
        """The k best rows, and those with the score of the last."""
        if len(self.ids) <= k:
            return dict(zip(self.ids.tolist(), self.scores.tolist(), strict=True))
        if k <= 0:
            return {}
        least = np.partition(self.scores, len(self.scores) - k)[-k]
        kept = self.scores >= least - SCORE_TOLERANCE
        return dict(zip(self.ids[kept].tolist(), self.scores[kept].tolist(), strict=True))

    def list_matching(self, db: Connection, index: FullTextIndex, filters: ResolvedFilters, k: int) -> dict[int, float]:
        """The k best rows that match the filters, and those with the score of the last."""
        order = np.argsort(-self.scores, kind="stable")
        ids, scores, kept = self.ids[order].tolist(), self.scores[order].tolist(), dict[int, float]()
        for first in range(0, len(ids), FILTER_BATCH):
            if len(kept) >= k and scores[first] < min(kept.values(), default=0.0) - SCORE_TOLERANCE:
                break
            some = dict(zip(ids[first : first + FILTER_BATCH], scores[first : first + FILTER_BATCH], strict=True))
            inside = filter_ids(db, filters, index.kind, some.keys())
            kept |= {row: score for row, score in some.items() if row in inside}
        return kept


class RankedRows(NamedTuple):
    """Rows with scores, best first; `known`: the share of the question's words that any row within the scope contains.

    Words with the same term count as one.
    """

    scores: dict[int, float]
    known: float


def rank_rows(
    db: Connection,
    index: FullTextIndex,
    chosen: ChosenWords,
    scope_ids: ScopeIds,
    filters: ResolvedFilters | None,
    k: int,
) -> RankedRows:
    """The k best rows within the scope that match the filters and any of the words."""
    distinct = list({word.term: word for word in chosen.words}.values())
    forms = list(dict.fromkeys(list_forms(distinct)))
    scope = index.scope_clause(scope_ids, "x")
    loaded = find_term_index(db).load_postings(db, index.kind, forms, scope)
    past = None if filters is None else filters.list_past_ids(index.kind)
    if past is not None:
        loaded = [_select_ids(held, past) for held in loaded]
    whole = measure_scope(db, index, scope_ids) if past is None else measure_rows(db, index, past)
    joined = _join_words(distinct, dict(zip(forms, loaded, strict=True)))
    found = score_rows(joined, whole)
    missing = {word.term for word, held in zip(distinct, joined, strict=True) if not len(held.ids)}
    left = filters if past is None else None  # to be matched
    best = found.list_best(k) if left is None else found.list_matching(db, index, left, k)
    return RankedRows(_select_best(db, index, best, k), _share_known(distinct, missing, chosen.common))


def _share_known(
    words: Sequence[SearchWord], missing: set[tuple[str, ...]], common: frozenset[tuple[str, ...]]
) -> float:
    every = common.union(word.term for word in words)
    return 1 - len(missing - common) / len(every) if every else 1.0


def _select_ids(held: Postings, ids: Collection[int]) -> Postings:
    return held.select(np.isin(held.ids, np.fromiter(ids, np.int64, len(ids))))


def _join_words(words: Iterable[SearchWord], postings: Mapping[SearchWord, Postings]) -> list[Postings]:
    return [join_forms(postings[word], [postings[stem] for stem in word.list_stems()]) for word in words]


def join_forms(exact: Postings, others: Sequence[Postings]) -> Postings:
    """The rows that contain a word or another form of it, which counts less."""
    if not others:
        return exact
    every = (exact, *others)
    ids, first = np.unique(np.concatenate([held.ids for held in every]), return_index=True)
    own = np.zeros(len(ids))
    own[np.searchsorted(ids, exact.ids)] = exact.times
    times = own.copy()
    for held in others:
        at = np.searchsorted(ids, held.ids)
        times[at] = np.maximum(times[at], own[at] + STEM_SHARE * np.maximum(0, held.times - own[at]))
    return Postings(ids, np.concatenate([held.lengths for held in every])[first], times)


def weigh_word(count: int, whole: ScopeSize) -> float:
    """The weight of a word that so many rows contain: its rarity squared, since it weighs the question's words, too.

    Else several common words outweigh the rare one that a question is about. Salton and Buckley 1988.
    """
    return math.log1p((whole.rows - count + 0.5) / (count + 0.5)) ** 2


def score_rows(postings: Iterable[Postings], whole: ScopeSize) -> RowScores:
    """The BM25 score of every row that contains any of the words."""
    average = whole.length / whole.rows if whole.rows and whole.length else 1.0
    fixed, by_length = K1 * (1 - B), K1 * B / average
    ids, scores = [np.empty(0, np.int64)], [np.empty(0)]
    for held in postings:
        weight = weigh_word(len(held.ids), whole) * (K1 + 1)
        ids.append(held.ids)
        scores.append(weight * held.times / (held.times + fixed + by_length * held.lengths))
    return _add_scores(np.concatenate(ids), np.concatenate(scores))


def _add_scores(ids: np.ndarray, scores: np.ndarray) -> RowScores:
    """The sum of the scores of each id, ids ascending."""
    size = int(ids.max(initial=0)) + 1
    if len(ids) * COUNTED_SHARE < size:  # for the first places, numpy sorts by merging ascending runs, which is faster
        distinct, _, places = np.unique(ids, return_index=True, return_inverse=True)
        return RowScores(distinct, np.bincount(places, scores, len(distinct)))
    is_there = np.zeros(size, np.bool_)
    is_there[ids] = True
    distinct = np.flatnonzero(is_there)
    return RowScores(distinct, np.bincount(ids, scores, size)[distinct])


def _select_best(db: Connection, index: FullTextIndex, found: Mapping[int, float], k: int) -> dict[int, float]:
    """The k best rows with rounded scores; content decides between equal scores, not the order of insertion."""
    scores = {row: round(score, SCORE_DIGITS) for row, score in found.items()}
    count = Counter(scores.values())
    tied = [row for row, score in scores.items() if count[score] > 1]
    known = load_sort_keys(db, index.kind, tied) if tied else {}
    best = sorted(scores, key=lambda row: (-scores[row], known.get(row, EMPTY_SORT_KEY)))[: max(0, k)]
    return {row: scores[row] for row in best}
