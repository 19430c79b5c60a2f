"""BM25 with the statistics of one scope: no text outside of it moves a score (Robertson and Zaragoza 2009).

The term index of the database is read, and counted within the scope.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from functools import partial
from heapq import nlargest
from typing import TYPE_CHECKING

from engine.storage.ledger.full_text.index import ScoringIndex, find_term_index, measure_rows, measure_scope
from engine.storage.ledger.queries.filters import filter_ids
from engine.storage.ledger.queries.tie_order import load_sort_keys
from engine.storage.ledger.records.query_results import EMPTY_SORT_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from engine.storage.ledger.full_text.index import FullTextIndex, Postings, ScopeSize, SearchWord, TermIndex
    from engine.storage.ledger.records.query_results import ResolvedFilters, ScopeIds
    from engine.storage.sql.connection import Connection

K1, B = 1.2, 0.75
FILTER_BATCH = 256  # rows checked against the filters at once
STEM_SHARE = 0.6  # of a place of a word that a place of another form of it counts
SCORE_DIGITS, SCORE_TOLERANCE = 9, 1e-9  # digits of a score; further ones depend on the order of additions


def rank_rows(
    db: Connection,
    index: FullTextIndex,
    words: Sequence[SearchWord],
    scope_ids: ScopeIds,
    filters: ResolvedFilters | None,
    k: int,
) -> dict[int, float]:
    """The k best rows within the scope that match the filters and any of the words, with scores, best first."""
    reader, scope = find_term_index(db), index.scope_clause(scope_ids, "x")
    distinct = list({word.term: word for word in words}.values())
    if filters is not None and (past := filters.list_past_ids(index.kind)) is not None:
        size = measure_rows(db, index, past)
        load = partial(_load_among, reader, db, index, scope, past)
        return _select_best(db, index, score_words(distinct, load, size), k)
    whole = measure_scope(db, index, scope_ids)
    if isinstance(reader, ScoringIndex):
        scores = reader.score_rows(db, index.kind, distinct, scope, whole)
    else:
        scores = score_words(distinct, lambda forms: reader.load_postings(db, index.kind, forms, scope), whole)
    if filters is not None:
        scores = _filter_scores(db, index, scores, filters, k)
    return _select_best(db, index, scores, k)


def _load_among(
    reader: TermIndex,
    db: Connection,
    index: FullTextIndex,
    scope: str,
    ids: frozenset[int],
    forms: Sequence[SearchWord],
) -> list[Postings]:
    """The rows among these ids that contain each form."""
    found = reader.load_postings(db, index.kind, forms, scope)
    return [{row: times for row, times in held.items() if row[0] in ids} for held in found]


def list_forms(words: Iterable[SearchWord]) -> list[SearchWord]:
    """Words with their other forms, which an index holds as terms of their own."""
    return [form for word in words for form in (word, *word.list_stems())]


def score_words(
    words: Sequence[SearchWord], load: Callable[[Sequence[SearchWord]], Sequence[Postings]], whole: ScopeSize
) -> dict[int, float]:
    """BM25 scores of the rows that contain any of the words or another form of it. `load`: the rows of each form."""
    forms = list_forms(words)
    postings = dict(zip(forms, load(forms), strict=True))
    return score_rows([_join_forms(word, postings) for word in words], whole)


def _join_forms(word: SearchWord, postings: Mapping[SearchWord, Postings]) -> Postings:
    """The rows that contain a word or another form of it, which counts less."""
    exact = postings[word]
    joined = dict(exact)
    for stem in word.list_stems():
        for row, times in postings[stem].items():
            own = exact.get(row, 0)
            joined[row] = max(joined.get(row, 0), own + STEM_SHARE * max(0, times - own))
    return joined


def _filter_scores(
    db: Connection, index: FullTextIndex, scores: Mapping[int, float], filters: ResolvedFilters, k: int
) -> dict[int, float]:
    """The k best rows that match the filters, and those with the same score as the last."""
    left, kept = sorted(scores, key=lambda row: -scores[row]), dict[int, float]()
    while left and not (len(kept) >= k and scores[left[0]] < min(kept.values()) - SCORE_TOLERANCE):
        some, left = left[:FILTER_BATCH], left[FILTER_BATCH:]
        inside = filter_ids(db, filters, index.kind, some)
        kept |= {row: scores[row] for row in some if row in inside}
    return kept


def score_rows(postings: Iterable[Postings], whole: ScopeSize) -> dict[int, float]:
    """BM25 scores of rows from the frequencies of each term: {(row, length): times}."""
    average = whole.length / whole.rows if whole.rows and whole.length else 1.0
    fixed, by_length = K1 * (1 - B), K1 * B / average
    scores: defaultdict[int, float] = defaultdict(float)
    for held in postings:
        rarity = math.log1p((whole.rows - len(held) + 0.5) / (len(held) + 0.5)) * (K1 + 1)
        for (row, length), times in held.items():
            scores[row] += rarity * times / (times + fixed + by_length * length)
    return scores


def _select_best(db: Connection, index: FullTextIndex, scores: Mapping[int, float], k: int) -> dict[int, float]:
    """The k best rows with rounded scores; content decides between equal scores, not the order of insertion."""
    least = nlargest(max(0, k), scores.values())[-1:]
    reach = {
        row: round(score, SCORE_DIGITS)
        for row, score in scores.items()
        if least and score >= least[0] - SCORE_TOLERANCE
    }
    count = Counter(reach.values())
    tied = [row for row, score in reach.items() if count[score] > 1]
    known = load_sort_keys(db, index.kind, tied) if tied else {}
    best = sorted(reach, key=lambda row: (-reach[row], known.get(row, EMPTY_SORT_KEY)))[:k]
    return {row: reach[row] for row in best}
