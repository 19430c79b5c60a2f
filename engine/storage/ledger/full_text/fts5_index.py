"""Reads the term index of SQLite: the rows within a scope that contain a word.

FTS5's own `bm25()` counts documents and lengths of the whole index, so that a word in a foreign space would change the
order of what an asker sees. The rows of a word come as one JSON text, which takes 0.2 µs a row: a fourth of what
they take one by one.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.storage.column_arrays import is_member, parse_numbers
from engine.storage.ledger.full_text import fts5
from engine.storage.ledger.full_text.bm25 import Postings
from engine.storage.ledger.full_text.word_counts import IndexState
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.work.settings import CHUNK_MOVES, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from engine.storage.ledger.full_text.index import ScopeClause, SearchWord
    from engine.storage.ledger.full_text.word_counts import WordCounts
    from engine.storage.ledger.records.query_results import ScopeIds
    from engine.storage.sql.connection import Connection

# Rows of a word that are read at once while they are counted: at first so many for each that is wanted, up to a number,
# and later at least that number, up to another one.
ROWS_PER_WANTED, MIN_COUNTED_ROWS, MAX_COUNTED_ROWS = 64, 4_096, 262_144
_MATCHES_AFTER = (
    "SELECT json_group_array(rowid) FROM"
    " (SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ? AND rowid > ? ORDER BY rowid LIMIT ?)"
)

_CHUNKS_WITH = "chunk_fts w WHERE w.chunk_fts MATCH ?"
_ANY_OUTSIDE = "SELECT 1 FROM corpus_stats x WHERE x.kind = ? AND x.row_count > 0 AND NOT ({}) LIMIT 1"
READ_CHUNKS = 100_000  # at once
_FROM_ID = (
    "SELECT json_group_array(id), json_group_array(space), json_group_array(room), json_group_array(tokens) FROM"
    " (SELECT id, space, room, tokens FROM chunk @use(chunk_location) WHERE id >= ? ORDER BY id LIMIT ?)"
)


class _Tables(NamedTuple):
    """The tables of words, of terms, and of rows with their lengths."""

    words: str
    terms: str
    rows: str
    length: str

    @property
    def term_places(self) -> str:
        """The places of a term of FTS5: a row with several is there several times."""
        return f"{self.terms} w CROSS JOIN {self.rows} ON x.id = w.doc WHERE w.term = ?"

    @property
    def matches(self) -> str:
        """The rows whose indexed text matches a query of FTS5."""
        return f"{self.words} w CROSS JOIN {self.rows} ON x.id = w.rowid WHERE w.{self.words} MATCH ?"


_TABLES = {
    KeyKind.CHUNK: _Tables("chunk_fts", "chunk_fts_terms", "chunk x INDEXED BY chunk_location", "tokens"),
    KeyKind.NAME: _Tables("entity_fts", "entity_fts_terms", "entity_length x", "length"),
}


class Fts5Index:
    """A `TermIndex` that joins the rows of a word with the table of what is indexed."""

    find_tokenizer = staticmethod(fts5.find_tokenizer)
    tokenize_words = staticmethod(fts5.tokenize_words)

    def load_postings(
        self, db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: ScopeClause
    ) -> list[Postings]:
        """The rows within the scope that contain each word; of several terms it counts once in a row."""
        return [self._load(db, kind, word, scope) for word in words]

    def _load(self, db: Connection, kind: KeyKind, word: SearchWord, scope: ScopeClause) -> Postings:
        tables = _TABLES[kind]
        places, asked = (
            (tables.term_places, word.term[0]) if len(word.term) == 1 else (tables.matches, fts5.quote_term(word.text))
        )
        columns = f"json_group_array(x.id), json_group_array(x.{tables.length})"
        [found] = db.execute_fetchall(f"SELECT {columns} FROM {places} AND {scope}", (asked,))
        rows, lengths = map(parse_numbers, found)
        ids, first, times = np.unique(rows, return_index=True, return_counts=True)
        return Postings(ids, lengths[first], times)

    def count_matches(
        self, db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: ScopeClause, limit: int
    ) -> dict[SearchWord, int]:
        """The number of rows within the scope that contain each word, counted up to the limit."""
        places = f"{_TABLES[kind].matches} AND {scope}"
        return {word: _count(db, places, word, limit) for word in words}

    def find_rows_by_start(self, db: Connection, kind: KeyKind, start: str, scope: str, limit: int) -> list[int]:
        """Some of the rows within the scope that contain a word with this beginning, given in letters."""
        matches = f"SELECT x.id FROM {_TABLES[kind].matches} AND {scope} LIMIT ?"
        return [row[0] for row in db.execute_fetchall(matches, (f"{fts5.quote_term(start)} *", limit))]

    def find_common(
        self, db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: ScopeClause, limit: int
    ) -> set[SearchWord]:
        """The words that at least `limit` rows within the scope contain.

        Rows are counted in the whole index first, because looking up where each one is costs several times as much;
        and there alone, if all of its rows are within the scope.
        """
        often = _list_frequent(db, kind, words, limit)
        if not often or not db.execute_fetchall(_ANY_OUTSIDE.format(scope), (kind,)):
            return set(often)
        counts = self.count_matches(db, kind, often, scope, limit)
        return {word for word, count in counts.items() if count >= limit}


class ChunkColumns(NamedTuple):
    """The spaces, rooms and lengths of chunks by id; zeros where there is none."""

    spaces: np.ndarray
    rooms: np.ndarray
    lengths: np.ndarray

    @classmethod
    def reserve(cls, size: int) -> ChunkColumns:
        """Columns for ids below a number."""
        return cls(*(np.zeros(size, np.int32) for _ in cls._fields))

    def locate(self, ids: np.ndarray, scope_ids: ScopeIds) -> tuple[np.ndarray, np.ndarray]:
        """Which of the ids are chunks within the scope, as booleans; the lengths of these come first."""
        if len(ids) and ids[-1] >= len(self.spaces):  # they were deleted before the columns were read
            ids = np.where(ids < len(self.spaces), ids, 0)
        inside = is_member(self.spaces[ids], scope_ids.spaces)
        if scope_ids.rooms:
            inside |= is_member(self.rooms[ids], scope_ids.rooms)
        return self.lengths[ids[inside]], inside


class ChunkLocations:
    """The columns of all chunks, for several threads: SQLite looks up a row in 2.5 µs, among a million.

    They take 12 bytes for each id. A snapshot differs from them by later ids, since none is used again; by rows that
    are gone, which no word finds; and by moves to another space or room, which are counted: after one, everything is
    read again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._moves = -1
        self._known = _Known(ChunkColumns.reserve(1), 1)  # ids begin with one

    def follow(self, db: Connection) -> ChunkColumns:
        """The columns with every chunk of a snapshot; later ones may be there, too."""
        moves = Settings(db).get_int(CHUNK_MOVES)
        with self._lock:
            if moves == self._moves:
                self._known = self._known.extend(db)
            elif moves > self._moves:
                self._known, self._moves = _Known(ChunkColumns.reserve(1), 1).extend(db), moves
            if moves >= self._moves:
                return self._known.list_columns()
        return _Known(ChunkColumns.reserve(1), 1).extend(db).list_columns()  # of an earlier moment


class _Known(NamedTuple):
    """Columns whose rows are read below a number; behind them is room for others."""

    columns: ChunkColumns
    end: int

    def list_columns(self) -> ChunkColumns:
        """The columns as far as they are read."""
        return ChunkColumns(*(column[: self.end] for column in self.columns))

    def extend(self, db: Connection) -> _Known:
        """With the chunks behind; rows that readers may be using stay as they are."""
        columns, end = self
        for ids, block in _read_chunks(db, end):
            former, end = end, int(ids[-1]) + 1
            if end > len(columns.spaces):
                larger = ChunkColumns.reserve(end + end // 2)
                for column, known in zip(larger, columns, strict=True):
                    column[:former] = known[:former]
                columns = larger
            for column, added in zip(columns, block, strict=True):
                column[ids] = added
        return _Known(columns, end)


class LocatedIndex(Fts5Index):
    """A `TermIndex` for one snapshot that knows where chunks are, and how many contain a word; names are joined."""

    def __init__(self, locations: ChunkLocations, counts: WordCounts) -> None:
        self._locations = locations
        self._counts = counts
        self._columns: ChunkColumns | None = None

    def _load(self, db: Connection, kind: KeyKind, word: SearchWord, scope: ScopeClause) -> Postings:
        if kind != KeyKind.CHUNK:
            return super()._load(db, kind, word, scope)
        places, asked = (
            ("SELECT json_group_array(doc) FROM chunk_fts_terms WHERE term = ?", word.term[0])
            if len(word.term) == 1
            else ("SELECT json_group_array(rowid) FROM chunk_fts WHERE chunk_fts MATCH ?", fts5.quote_term(word.text))
        )
        [[found]] = db.execute_fetchall(places, (asked,))
        ids, times = _count_repeated(parse_numbers(found))
        lengths, inside = self._find_chunks(db).locate(ids, scope.ids)
        return Postings(ids[inside], lengths, times[inside])

    def _find_chunks(self, db: Connection) -> ChunkColumns:
        if self._columns is None:
            self._columns = self._locations.follow(db)
        return self._columns

    def count_matches(
        self, db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: ScopeClause, limit: int
    ) -> dict[SearchWord, int]:
        """The number of rows within the scope that contain each word, counted up to the limit."""
        if kind != KeyKind.CHUNK:
            return super().count_matches(db, kind, words, scope, limit)
        chunks = self._find_chunks(db)
        return {word: _count_inside(db, word, chunks, scope.ids, limit) for word in words}

    def find_common(
        self, db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: ScopeClause, limit: int
    ) -> set[SearchWord]:
        """The words that at least `limit` rows within the scope contain."""
        if kind != KeyKind.CHUNK:
            return super().find_common(db, kind, words, scope, limit)
        state, chunks = IndexState.read(db), self._find_chunks(db)

        def is_common(word: SearchWord, within: str, count: Callable[[int], int]) -> bool:
            return self._counts.reaches(word.text, within, limit, state, count)

        often = [word for word in words if is_common(word, "", partial(_count, db, _CHUNKS_WITH, word))]
        if not often or not db.execute_fetchall(_ANY_OUTSIDE.format(scope), (kind,)):
            return set(often)
        return {word for word in often if is_common(word, scope, partial(_count_inside, db, word, chunks, scope.ids))}


FTS5_INDEX = Fts5Index()


def _count_inside(db: Connection, word: SearchWord, chunks: ChunkColumns, scope_ids: ScopeIds, limit: int) -> int:
    """The number of chunks within the scope that contain a word, counted up to the limit."""
    read, count, last, size = 0, 0, 0, min(ROWS_PER_WANTED * limit, MIN_COUNTED_ROWS)
    while count < limit:
        [[found]] = db.execute_fetchall(_MATCHES_AFTER, (fts5.quote_term(word.text), last, size))
        ids = parse_numbers(found)
        count += len(chunks.locate(ids, scope_ids)[0])
        if len(ids) < size:
            break
        read, last = read + size, int(ids[-1])
        size = min(max(MIN_COUNTED_ROWS, (limit - count) * read // max(1, count)), 4 * size, MAX_COUNTED_ROWS)
    return min(count, limit)


def _list_frequent(db: Connection, kind: KeyKind, words: Sequence[SearchWord], limit: int) -> list[SearchWord]:
    """The words that at least `limit` rows of the whole index contain."""
    table = _TABLES[kind].words
    return [word for word in words if _count(db, f"{table} w WHERE w.{table} MATCH ?", word, limit) >= limit]


def _count(db: Connection, places: str, word: SearchWord, limit: int) -> int:
    """The number of rows that contain a word, counted up to the limit."""
    counting = f"SELECT COUNT(*) FROM (SELECT 1 FROM {places} LIMIT ?)"
    [[found]] = db.execute_fetchall(counting, (fts5.quote_term(word.text), limit))
    return int(found)


def _count_repeated(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ascending ids, each once, and how often each is there."""
    edges = np.flatnonzero(np.diff(ids, prepend=-1))
    return ids[edges], np.diff(edges, append=len(ids))


def _read_chunks(db: Connection, first: int) -> Iterator[tuple[np.ndarray, ChunkColumns]]:
    """The chunks from an id on, with ascending ids."""
    while True:
        [row] = db.execute_fetchall(_FROM_ID, (first, READ_CHUNKS))
        ids, *columns = map(parse_numbers, row)
        if len(ids):
            yield ids, ChunkColumns(*columns)
            first = int(ids[-1]) + 1
        if len(ids) < READ_CHUNKS:
            return
