"""The term index of SQLite: FTS5, and its table of terms with their places.

FTS5's own `bm25()` counts documents and lengths of the whole index, so that a word in a foreign space would change the
order of what an asker sees. Measured on 100,000 chunks: counting within the scope is as fast (7 ms of processor time
for four words in 8,000 chunks).
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from engine.storage.ledger.records.projection import KeyKind
from engine.text.languages.unspaced import MARK, has_unspaced, split_unspaced

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.storage.ledger.full_text.index import SearchWord
    from engine.storage.sql.connection import Connection

_TOKENIZER = re.compile(r"tokenize\s*=\s*'([^']*)'")
# The tokenizer takes marks for ends of words, and private characters for letters.
PRIVATE = 0xE000
_ENCODED = {ord(mark): PRIVATE + place for place, mark in enumerate(filter(MARK.match, map(chr, range(0x3100))))}


class _Tables(NamedTuple):
    """The indexed column, and the tables of words, of terms, and of rows with their lengths."""

    column: str
    words: str
    terms: str
    rows: str
    length_column: str

    @property
    def places(self) -> str:
        """The rows whose indexed text matches a term of FTS5."""
        return f"{self.words} w CROSS JOIN {self.rows} ON x.id = w.rowid WHERE w.{self.words} MATCH ?"


_TABLES = {
    KeyKind.CHUNK: _Tables("text", "chunk_fts", "chunk_fts_terms", "chunk x INDEXED BY chunk_location", "tokens"),
    KeyKind.NAME: _Tables("name", "entity_fts", "entity_fts_terms", "entity_length x", "length"),
}


FIND_SCHEMA = "SELECT sql FROM sqlite_master WHERE name = 'chunk_fts'"


def read_tokenizer(schema: str) -> str:
    """The tokenizer that the definition of an index names."""
    found = _TOKENIZER.search(schema)
    return found[1] if found else "unicode61"


def find_tokenizer(db: Connection) -> str:
    """The tokenizer of the indexes."""
    [[schema]] = db.execute_fetchall(FIND_SCHEMA)
    return read_tokenizer(schema)


def register_search_text(db: sqlite3.Connection) -> None:
    """Define the SQL function `search_text` for the indexes of this database: what they are given of a text."""
    [[schema]] = db.execute(FIND_SCHEMA)
    search_text = str if is_trigram(read_tokenizer(schema)) else segment
    db.create_function("search_text", 1, search_text, deterministic=True)


def index_all(db: sqlite3.Connection) -> None:
    """Fill the empty indexes of a new file from its rows."""
    register_search_text(db)
    stems = (
        "CASE stems WHEN '' THEN '' ELSE ' ' || stems END"
        if "stems" in {row[1] for row in db.execute("PRAGMA table_info(chunk)")}
        else "''"
    )
    db.execute(f"INSERT INTO chunk_fts (rowid, text) SELECT id, search_text(text) || {stems} FROM chunk")
    db.execute("INSERT INTO entity_fts (rowid, name) SELECT id, search_text(name) FROM entity")


def is_trigram(tokenizer: str) -> bool:
    """Whether the index holds trigrams, which need no words."""
    return "trigram" in tokenizer


def segment(text: str) -> str:
    """A text as words between spaces: the terms of scripts without spaces follow the rest."""
    rest, terms = split_unspaced(text)
    return " ".join((rest, *(encode(term) for term in terms))) if terms else text


def encode(term: str) -> str:
    """A term whose marks are part of it for the tokenizer."""
    return term.translate(_ENCODED)


def tokenize_words(_: Connection, tokenizer: str, words: Sequence[str]) -> list[tuple[str, ...]]:
    """The terms of each word as FTS5 makes them. Takes half a millisecond."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as memory:
        memory.execute(f"CREATE VIRTUAL TABLE words USING fts5 (word, tokenize = '{tokenizer}')")
        memory.execute("CREATE VIRTUAL TABLE terms USING fts5vocab (words, instance)")
        memory.executemany("INSERT INTO words (rowid, word) VALUES (?, ?)", enumerate(map(encode, words)))
        found: defaultdict[int, list[str]] = defaultdict(list)
        for place, term in memory.execute("SELECT doc, term FROM terms ORDER BY doc, offset"):
            found[place].append(term)
    return [tuple(found[place]) for place in range(len(words))]


def index_again(db: Connection, kind: KeyKind, rows: Sequence[tuple[int, str]]) -> None:
    """Index rows (id, text) again that were indexed as they are, without stem terms."""
    if is_trigram(find_tokenizer(db)):
        return
    tables = _TABLES[kind]
    plain = [(row, text) for row, text in rows if has_unspaced(text)]
    index = f"INSERT INTO {tables.words} ({{}}rowid, {tables.column}) VALUES ({{}}?, ?)"
    db.executemany(index.format(f"{tables.words}, ", "'delete', "), plain)
    db.executemany(index.format("", ""), [(row, segment(text)) for row, text in plain])


def load_postings(
    db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: str
) -> list[Mapping[tuple[int, int], int]]:
    """The rows within the scope that contain each word, with length and frequency."""
    return [_load_postings(db, kind, word, scope) for word in words]


def _load_postings(db: Connection, kind: KeyKind, word: SearchWord, scope: str) -> Mapping[tuple[int, int], int]:
    tables = _TABLES[kind]
    if len(word.term) == 1:
        places, parameter = f"{tables.terms} w CROSS JOIN {tables.rows} ON x.id = w.doc WHERE w.term = ?", word.term[0]
    else:
        places, parameter = tables.places, quote_term(word.text)
    # A row for each place of the term: grouping them in SQL takes half as long again.
    return Counter(
        db.execute_fetchall(f"SELECT x.id, x.{tables.length_column} FROM {places} AND {scope}", (parameter,))
    )


def count_matches(
    db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: str, limit: int
) -> dict[SearchWord, int]:
    """The number of rows within the scope that contain each word, counted up to the limit."""
    places = _TABLES[kind].places
    return {word: _count(db, f"{places} AND {scope}", word, limit) for word in words}


def find_rows_by_start(db: Connection, kind: KeyKind, start: str, scope: str, limit: int) -> list[int]:
    """Some of the rows within the scope that contain a word with this beginning, given in letters."""
    places = _TABLES[kind].places
    rows = db.execute_fetchall(f"SELECT x.id FROM {places} AND {scope} LIMIT ?", (f"{quote_term(start)} *", limit))
    return [row[0] for row in rows]


def find_common(db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: str, limit: int) -> set[SearchWord]:
    """The words that at least `limit` rows within the scope contain.

    Rows are counted in the whole index first, because looking up where each one is costs ten times as much.
    """
    table = _TABLES[kind].words
    often = [word for word in words if _count(db, f"{table} w WHERE w.{table} MATCH ?", word, limit) >= limit]
    counts = count_matches(db, kind, often, scope, limit)
    return {word for word, count in counts.items() if count >= limit}


def _count(db: Connection, places: str, word: SearchWord, limit: int) -> int:
    """The number of rows that contain a word, counted up to the limit."""
    counting = f"SELECT COUNT(*) FROM (SELECT 1 FROM {places} LIMIT ?)"
    [[found]] = db.execute_fetchall(counting, (quote_term(word.text), limit))
    return int(found)


def quote_term(word: str) -> str:
    """A word as a quoted FTS5 term."""
    return '"{}"'.format(encode(word).replace('"', '""'))


def score_texts(tokenizer: str, words: Sequence[str], texts: Sequence[str]) -> list[float]:
    """The BM25 score of each text for these words, with the statistics of these texts alone; needs no database."""
    scores = [0.0] * len(texts)
    texts = texts if is_trigram(tokenizer) else [segment(text) for text in texts]
    if words:
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as memory:
            memory.execute(f"CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = '{tokenizer}')")
            memory.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(texts))
            query = " OR ".join(map(quote_term, words))
            for row, score in memory.execute("SELECT rowid, -bm25(texts) FROM texts WHERE texts MATCH ?", (query,)):
                scores[row] = score
    return scores
