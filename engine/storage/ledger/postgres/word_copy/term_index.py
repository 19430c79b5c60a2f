"""The term index of PostgreSQL through its copy in memory, if it is there; else, and for phrases, by the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.storage.ledger.full_text import tsvector
from engine.storage.ledger.full_text.bm25 import K1, STEM_SHARE, B, list_forms, score_words, weigh_word
from engine.storage.ledger.full_text.index import RowScores, ScopeClause
from engine.storage.ledger.postgres.word_copy.source import hash_terms
from engine.storage.postgres.connection import BlockingConnection

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.storage.ledger.full_text.index import Postings, ScopeSize, SearchWord
    from engine.storage.ledger.postgres.word_copy.copies import WordCopies
    from engine.storage.ledger.records.projection import KeyKind
    from engine.storage.postgres.connection import Raw
    from engine.storage.sql.connection import Connection


class CopiedConnection(BlockingConnection):
    """A connection that reads, whose searches for words use the copies."""

    __slots__ = ("term_index",)

    def __init__(self, raw: Raw, copies: WordCopies) -> None:
        super().__init__(raw)
        self.term_index = CopiedTermIndex(raw, copies)


class CopiedTermIndex:
    """A `TermIndex` and a `ScoringIndex`. A word of several terms is a phrase, whose order the copy does not know."""

    find_tokenizer = staticmethod(tsvector.find_tokenizer)
    tokenize_words = staticmethod(tsvector.tokenize_words)
    index_again = staticmethod(tsvector.index_again)
    find_rows_by_start = staticmethod(tsvector.find_rows_by_start)
    load_postings = staticmethod(tsvector.load_postings)

    def __init__(self, raw: Raw, copies: WordCopies) -> None:
        self._raw = raw
        self._copies = copies

    def count_matches(
        self, db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: str, limit: int
    ) -> dict[SearchWord, int]:
        """The number of rows within the scope that contain each word, counted up to the limit."""
        single = [word for word in words if len(word.term) == 1]
        if (found := self._find(kind, single, scope)) is None:
            return tsvector.count_matches(db, kind, words, scope, limit)
        counts = {word: min(limit, len(held.ids)) for word, held in zip(single, found, strict=True)}
        phrases = [word for word in words if len(word.term) != 1]
        return counts | (tsvector.count_matches(db, kind, phrases, scope, limit) if phrases else {})

    def find_common(
        self, db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: str, limit: int
    ) -> set[SearchWord]:
        """The words that at least `limit` rows within the scope contain."""
        counts = self.count_matches(db, kind, words, scope, limit)
        return {word for word, count in counts.items() if count >= limit}

    def score_rows(
        self, db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: ScopeClause, whole: ScopeSize
    ) -> RowScores:
        """The BM25 score of every row within the scope that contains any of the words."""
        forms = list_forms(words)
        single = [form for form in forms if len(form.term) == 1]
        if (found := self._find(kind, single, scope)) is None:
            return score_words(words, lambda asked: tsvector.load_postings(db, kind, asked, scope), whole)
        phrases = [form for form in forms if len(form.term) != 1]
        loaded = tsvector.load_postings(db, kind, phrases, scope) if phrases else ()
        held = dict(zip((*single, *phrases), (*found, *map(_build_arrays, loaded)), strict=True))
        joined = [join_arrays(held[word], [held[stem] for stem in word.list_stems()]) for word in words]
        ids, scores = score_arrays(joined, whole)
        unknown = sum(not len(each.ids) for each in joined)
        return RowScores(dict(zip(ids.tolist(), scores.tolist(), strict=True)), unknown)

    def _find(self, kind: KeyKind, words: Sequence[SearchWord], scope: str) -> list[PostingArrays] | None:
        """The rows within the scope that contain each word of one term; None without a copy."""
        if not isinstance(scope, ScopeClause):
            return None
        terms = hash_terms(self._raw, [word.term[0] for word in words])
        with self._copies[kind].use(self._raw) as arrays:
            if arrays is None:
                return None
            inside = arrays.find_scope(scope.ids.spaces, scope.ids.rooms)
            held = [arrays.find(term, inside) for term in terms]
            return [
                PostingArrays(arrays.list_ids(places.rows), arrays.list_lengths(places.rows), places.times)
                for places in held
            ]


def _build_arrays(held: Postings) -> PostingArrays:
    rows = np.array(list(held), np.int64).reshape(-1, 2)
    return PostingArrays(rows[:, 0], rows[:, 1], np.fromiter(held.values(), np.int64, len(held)))


class PostingArrays(NamedTuple):
    """The rows that contain a term, as columns."""

    ids: np.ndarray
    lengths: np.ndarray
    times: np.ndarray


def join_arrays(exact: PostingArrays, others: Sequence[PostingArrays]) -> PostingArrays:
    """The rows that contain a word or another form of it, which counts less; as `score_words` joins them."""
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
    return PostingArrays(ids, np.concatenate([held.lengths for held in every])[first], times)


def score_arrays(postings: Iterable[PostingArrays], whole: ScopeSize) -> tuple[np.ndarray, np.ndarray]:
    """Ids and their BM25 scores, as `score_rows` computes them."""
    average = whole.length / whole.rows if whole.rows and whole.length else 1.0
    fixed, by_length = K1 * (1 - B), K1 * B / average
    ids, scores = [np.empty(0, np.int64)], [np.empty(0)]
    for held in postings:
        weight = weigh_word(len(held.ids), whole) * (K1 + 1)
        ids.append(held.ids)
        scores.append(weight * held.times / (held.times + fixed + by_length * held.lengths))
    distinct, places = np.unique(np.concatenate(ids), return_inverse=True)
    return distinct, np.bincount(places, np.concatenate(scores), len(distinct))
