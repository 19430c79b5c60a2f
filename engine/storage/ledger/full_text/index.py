"""The full-text indexes, their size within a scope, and what a database must offer to read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, runtime_checkable

from engine.storage.ledger.clauses import row_clause, space_clause
from engine.storage.ledger.full_text import fts5, tsvector
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.records.query_results import ScopeIds
from engine.storage.sql.connection import Dialect
from engine.storage.sql.fragments import id_list

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engine.storage.ledger.full_text.bm25 import Postings
    from engine.storage.sql.connection import Connection


class ScopeClause(str):
    """SQL that holds for rows within a scope, and the scope itself."""

    __slots__ = ("ids",)
    ids: ScopeIds

    def __new__(cls, sql: str, ids: ScopeIds) -> Self:
        clause = super().__new__(cls, sql)
        clause.ids = ids
        return clause


@dataclass(frozen=True, slots=True)
class FullTextIndex:
    """The index of chunk texts or of entity names."""

    kind: KeyKind

    def scope_clause(self, scope_ids: ScopeIds, table: str) -> ScopeClause:
        """SQL that holds for rows within the scope; names belong to spaces alone.

        For rows that are known by id: the plus sign keeps SQLite from looking for each once in every space.
        """
        if self.kind == KeyKind.CHUNK and scope_ids.rooms:
            return ScopeClause(row_clause(scope_ids, table), scope_ids)
        return ScopeClause(f"@unindexed {space_clause(scope_ids, table)}", ScopeIds(scope_ids.spaces, frozenset()))


CHUNK_INDEX, NAME_INDEX = FullTextIndex(KeyKind.CHUNK), FullTextIndex(KeyKind.NAME)


class SearchWord(NamedTuple):
    """A word as it is asked for, its terms as the index makes them, and the stem terms that its other forms have."""

    text: str
    term: tuple[str, ...]
    stems: tuple[str, ...] = ()

    def list_stems(self) -> list[SearchWord]:
        """Its stem terms as words."""
        return [SearchWord(stem, (stem,)) for stem in self.stems]


class Tokenizing(Protocol):
    """How a database makes terms."""

    def find_tokenizer(self, db: Connection) -> str:
        """The tokenizer of the indexes, which the first start decided."""

    def tokenize_words(self, db: Connection, tokenizer: str, words: Sequence[str]) -> list[tuple[str, ...]]:
        """The terms of each word as the index makes them: folded, stemmed, perhaps several or none."""


class TermTable(Tokenizing, Protocol):
    """The term index of a database as it is written."""

    def index_again(self, db: Connection, kind: KeyKind, rows: Sequence[tuple[int, str]]) -> None:
        """Index rows (id, text) again that were indexed without terms of scripts without spaces."""


class TermIndex(Tokenizing, Protocol):
    """A term index to be read. `kind`: of the index; `scope`: SQL that holds for rows `x` within the scope."""

    def load_postings(
        self, db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: ScopeClause
    ) -> list[Postings]:
        """The rows within the scope that contain each word; of several terms it counts once in a row."""

    def count_matches(
        self, db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: ScopeClause, limit: int
    ) -> dict[SearchWord, int]:
        """The number of rows within the scope that contain each word, counted up to the limit."""

    def find_rows_by_start(self, db: Connection, kind: KeyKind, start: str, scope: str, limit: int) -> list[int]:
        """Some of the rows within the scope that contain a word with this beginning, given in letters."""

    def find_common(
        self, db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: ScopeClause, limit: int
    ) -> set[SearchWord]:
        """The words that at least `limit` rows within the scope contain."""


@runtime_checkable
class IndexedConnection(Protocol):
    """A connection that has a term index of its own."""

    @property
    def term_index(self) -> TermIndex: ...


TERM_TABLES: dict[Dialect, TermTable] = {Dialect.SQLITE: fts5, Dialect.POSTGRES: tsvector}


def find_term_index(db: Connection) -> TermIndex:
    """The term index to be read through a connection."""
    if isinstance(db, IndexedConnection):
        return db.term_index
    if db.dialect == Dialect.POSTGRES:
        return tsvector
    from engine.storage.ledger.full_text.fts5_index import FTS5_INDEX  # noqa: PLC0415 - it needs NumPy, which is slow

    return FTS5_INDEX


@dataclass(frozen=True, slots=True)
class ScopeSize:
    """The number of rows within a scope, and their total length."""

    rows: int
    length: int


def measure_scope(db: Connection, index: FullTextIndex, scope_ids: ScopeIds) -> ScopeSize:
    """The number and length of the index's rows within a scope."""
    [[rows, length]] = db.execute_fetchall(
        "SELECT COALESCE(SUM(x.row_count), 0), COALESCE(SUM(x.total_length), 0) FROM corpus_stats x"
        f" WHERE x.kind = ? AND {index.scope_clause(scope_ids, 'x')}",
        (index.kind,),
    )
    return ScopeSize(rows, length)


def measure_rows(db: Connection, index: FullTextIndex, ids: Collection[int]) -> ScopeSize:
    """The number and length of these rows of the index."""
    lengths = "chunk" if index.kind == KeyKind.CHUNK else "entity_length"
    column = "tokens" if index.kind == KeyKind.CHUNK else "length"
    [[rows, length]] = db.execute_fetchall(
        f"SELECT COUNT(*), COALESCE(SUM(x.{column}), 0) FROM @list(?, j) @then JOIN {lengths} x ON x.id = j.value",
        (id_list(sorted(ids)),),
    )
    return ScopeSize(rows, length)
