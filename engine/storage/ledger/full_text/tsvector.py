"""The term index of PostgreSQL: columns of type `tsvector` with a GIN index.

The function search_vector of the schema makes the terms that FTS5 makes: texts without diacritics and punctuation,
stemmed by Porter's algorithm, pairs of neighbors in scripts without spaces, or trigrams. A tsvector holds the places of
a term, but no function counts them except by unpacking all terms of a row. `ts_rank` of one term with weight 1 is the
sum of 1/j² for its j places, divided by pi²/6: its frequency follows from that. PostgreSQL keeps at most 256 places of
a term.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from itertools import accumulate
from math import pi
from typing import TYPE_CHECKING

from engine.storage.ledger.records.projection import KeyKind
from engine.storage.sql.fragments import id_list, text_list
from engine.text.languages.unspaced import RUN, has_unspaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.storage.ledger.full_text.bm25 import Postings
    from engine.storage.ledger.full_text.index import SearchWord
    from engine.storage.sql.connection import Connection

_ROWS = {KeyKind.CHUNK: ("chunk", "x.tokens"), KeyKind.NAME: ("entity", "LENGTH(x.name)")}
_SOURCES = {KeyKind.CHUNK: ("chunk", "text"), KeyKind.NAME: ("entity", "name")}
MAX_PLACES = 256  # of a term in a tsvector
RANKS = [total * 6 / pi**2 for total in accumulate(1 / place**2 for place in range(1, MAX_PLACES + 1))]
RANK_TOLERANCE = 1e-6  # ranks have the precision of a 32-bit number


def find_tokenizer(db: Connection) -> str:
    """The tokenizer of the indexes."""
    [[tokenizer]] = db.execute_fetchall("SELECT search_tokenizer()")
    return str(tokenizer)


def tokenize_words(db: Connection, tokenizer: str, words: Sequence[str]) -> list[tuple[str, ...]]:
    """The terms of each word as the index makes them; those of scripts without spaces are terms already."""
    rows = db.execute_fetchall(
        "SELECT j.value, t.lexeme, t.positions FROM @list(?, j) CROSS JOIN LATERAL unnest(word_vector(j.value)) t",
        (text_list(words),),
    )
    found: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for word, lexeme, places in rows:
        found[word] += [(place, lexeme) for place in places]
    if tokenizer != "trigram":
        found.update({word: [(0, word)] for word in words if RUN.fullmatch(word)})
    return [tuple(lexeme for _, lexeme in sorted(found[word])) for word in words]


def index_again(db: Connection, kind: KeyKind, rows: Sequence[tuple[int, str]]) -> None:
    """Index rows (id, text) again that were indexed without terms of scripts without spaces."""
    table, column = _SOURCES[kind]
    ids = [row for row, text in rows if has_unspaced(text)]
    db.execute(f"UPDATE {table} SET {column} = {column} WHERE id IN (SELECT value FROM @list(?))", (id_list(ids),))


def load_postings(db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: str) -> list[Postings]:
    """The rows within the scope that contain each word."""
    from engine.storage.ledger.full_text.bm25 import Postings  # noqa: PLC0415 - it needs NumPy, which is slow

    table, length = _ROWS[kind]
    rows = db.fetch_each(
        f"SELECT CAST(?1 AS BIGINT), x.id, {length}, ts_rank('{{1, 1, 1, 1}}', x.search, CAST(?2 AS tsquery))"
        f" FROM {table} x WHERE x.search @@ CAST(?2 AS tsquery) AND {scope}",
        [(place, write_query(word.term)) for place, word in enumerate(words)],
    )
    found: list[list[tuple[int, int, int]]] = [[] for _ in words]
    for place, row, size, rank in rows:
        found[place].append((row, size, count_places(rank) if len(words[place].term) == 1 else 1))
    return [Postings.build(held) for held in found]


def count_matches(
    db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: str, limit: int
) -> dict[SearchWord, int]:
    """The number of rows within the scope that contain each word, counted up to the limit."""
    rows = db.fetch_each(
        "SELECT CAST(?1 AS BIGINT), (SELECT COUNT(*) FROM (SELECT 1 FROM"
        f" {_ROWS[kind][0]} x WHERE x.search @@ CAST(?2 AS tsquery) AND {scope} LIMIT ?3) w) WHERE true",
        [(place, write_query(word.term), limit) for place, word in enumerate(words)],
    )
    return {words[place]: count for place, count in rows}


def find_rows_by_start(db: Connection, kind: KeyKind, start: str, scope: str, limit: int) -> list[int]:
    """Some of the rows within the scope that contain a word with this beginning, given in letters."""
    rows = db.execute_fetchall(
        f"SELECT x.id FROM {_ROWS[kind][0]} x WHERE x.search @@ CAST(? AS tsquery) AND {scope} LIMIT ?",
        (f"{write_query([start])}:*", limit),
    )
    return [row[0] for row in rows]


def find_common(db: Connection, kind: KeyKind, words: Sequence[SearchWord], scope: str, limit: int) -> set[SearchWord]:
    """The words that at least `limit` rows within the scope contain."""
    counts = count_matches(db, kind, words, scope, limit)
    return {word for word, count in counts.items() if count >= limit}


def write_query(term: Sequence[str]) -> str:
    """The tsquery of terms that follow each other."""
    return " <-> ".join("'{}'".format(text.replace("\\", "\\\\").replace("'", "''")) for text in term)


def count_places(rank: float) -> int:
    """The number of places of a term from its rank with weight 1."""
    return min(bisect_left(RANKS, rank - RANK_TOLERANCE) + 1, MAX_PLACES)
