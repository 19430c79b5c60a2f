"""The term index of SQLite, FTS5: what is indexed, and the terms of words. `fts5_index` reads it."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections import defaultdict
from contextlib import closing
from functools import lru_cache
from typing import TYPE_CHECKING

from engine.storage.ledger.records.projection import KeyKind
from engine.text.languages.unspaced import MARK, has_unspaced, split_unspaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.storage.sql.connection import Connection

_TOKENIZER = re.compile(r"tokenize\s*=\s*'([^']*)'")
# The tokenizer takes marks for ends of words, and private characters for letters.
PRIVATE = 0xE000
_ENCODED = {ord(mark): PRIVATE + place for place, mark in enumerate(filter(MARK.match, map(chr, range(0x3100))))}


# The table of words of each index, and its indexed column.
TABLES = {KeyKind.CHUNK: ("chunk_fts", "text"), KeyKind.NAME: ("entity_fts", "name")}
_FILL_WITHOUT_STEMS = "INSERT INTO chunk_fts (rowid, text) SELECT id, search_text(text) FROM chunk"
_FILL = {
    KeyKind.CHUNK: """INSERT INTO chunk_fts (rowid, text)
        SELECT id, search_text(text) || CASE stems WHEN '' THEN '' ELSE ' ' || stems END FROM chunk""",
    KeyKind.NAME: "INSERT INTO entity_fts (rowid, name) SELECT id, search_text(name) FROM entity",
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
    has_stems = "stems" in {row[1] for row in db.execute("PRAGMA table_info(chunk)")}
    db.execute(_FILL[KeyKind.CHUNK] if has_stems else _FILL_WITHOUT_STEMS)
    db.execute(_FILL[KeyKind.NAME])


def fill(db: Connection, kind: KeyKind) -> None:
    """Fill an empty index from its rows; this connection has `search_text`."""
    db.execute(_FILL[kind])


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
    """The terms of each word as FTS5 makes them."""
    return list(_tokenize(tokenizer, tuple(words)))


@lru_cache(maxsize=32)  # a question asks three times
def _tokenize(tokenizer: str, words: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return _open_tokenizer(tokenizer).tokenize(words)


class _Tokenizer:
    """A tokenizer of FTS5, for several threads: an index in memory, whose making takes most of the time."""

    def __init__(self, tokenizer: str) -> None:
        self._lock = threading.Lock()
        self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._memory.execute(f"CREATE VIRTUAL TABLE words USING fts5 (word, content = '', tokenize = '{tokenizer}')")
        self._memory.execute("CREATE VIRTUAL TABLE terms USING fts5vocab (words, instance)")

    def tokenize(self, words: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """The terms of each word."""
        found: defaultdict[int, list[str]] = defaultdict(list)
        with self._lock:
            try:
                self._memory.executemany("INSERT INTO words (rowid, word) VALUES (?, ?)", enumerate(map(encode, words)))
                rows = self._memory.execute("SELECT doc, term FROM terms ORDER BY doc, offset").fetchall()
            finally:
                self._memory.execute("INSERT INTO words (words) VALUES ('delete-all')")
        for place, term in rows:
            found[place].append(term)
        return tuple(tuple(found[place]) for place in range(len(words)))


_open_tokenizer = lru_cache(maxsize=4)(_Tokenizer)


def index_again(db: Connection, kind: KeyKind, rows: Sequence[tuple[int, str]]) -> None:
    """Index rows (id, text) again that were indexed as they are, without stem terms."""
    if is_trigram(find_tokenizer(db)):
        return
    table, column = TABLES[kind]
    plain = [(row, text) for row, text in rows if has_unspaced(text)]
    index = f"INSERT INTO {table} ({{}}rowid, {column}) VALUES ({{}}?, ?)"
    db.executemany(index.format(f"{table}, ", "'delete', "), plain)
    db.executemany(index.format("", ""), [(row, segment(text)) for row, text in plain])


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
