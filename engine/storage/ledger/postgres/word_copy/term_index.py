"""The term index of PostgreSQL through its copy in memory, if it is there; else, and for phrases, by the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.full_text import tsvector
from engine.storage.ledger.full_text.bm25 import Postings
from engine.storage.ledger.postgres.word_copy.source import hash_terms
from engine.storage.postgres.connection import BlockingConnection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.storage.ledger.full_text.index import ScopeClause, SearchWord
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
    """A `TermIndex`. A word of several terms is a phrase, whose order the copy does not know."""

    find_tokenizer = staticmethod(tsvector.find_tokenizer)
    tokenize_words = staticmethod(tsvector.tokenize_words)
    find_rows_by_start = staticmethod(tsvector.find_rows_by_start)

    def __init__(self, raw: Raw, copies: WordCopies) -> None:
        self._raw = raw
        self._copies = copies

    def count_matches(
        self, db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: ScopeClause, limit: int
    ) -> dict[SearchWord, int]:
        """The number of rows within the scope that contain each word, counted up to the limit."""
        single = [word for word in words if len(word.term) == 1]
        if (found := self._find(kind, single, scope)) is None:
            return tsvector.count_matches(db, kind, words, scope, limit)
        counts = {word: min(limit, len(held.ids)) for word, held in zip(single, found, strict=True)}
        phrases = [word for word in words if len(word.term) != 1]
        return counts | (tsvector.count_matches(db, kind, phrases, scope, limit) if phrases else {})

    def find_common(
        self, db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: ScopeClause, limit: int
    ) -> set[SearchWord]:
        """The words that at least `limit` rows within the scope contain."""
        counts = self.count_matches(db, kind, words, scope, limit)
        return {word for word, count in counts.items() if count >= limit}

    def load_postings(
        self, db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: ScopeClause
    ) -> list[Postings]:
        """The rows within the scope that contain each word; of several terms it counts once in a row."""
        single = [word for word in words if len(word.term) == 1]
        if (found := self._find(kind, single, scope)) is None:
            return tsvector.load_postings(db, kind, words, scope)
        phrases = [word for word in words if len(word.term) != 1]
        loaded = tsvector.load_postings(db, kind, phrases, scope) if phrases else ()
        held = dict(zip((*single, *phrases), (*found, *loaded), strict=True))
        return [held[word] for word in words]

    def _find(self, kind: KeyKind, words: Sequence[SearchWord], scope: ScopeClause) -> list[Postings] | None:
        """The rows within the scope that contain each word of one term; None without a copy."""
        terms = hash_terms(self._raw, [word.term[0] for word in words])
        with self._copies[kind].use(self._raw) as arrays:
            if arrays is None:
                return None
            inside = arrays.find_scope(scope.ids.spaces, scope.ids.rooms)
            held = [arrays.find(term, inside) for term in terms]
            return [
                Postings(arrays.list_ids(places.rows), arrays.list_lengths(places.rows), places.times)
                for places in held
            ]
