"""BM25 with the statistics of one scope: no text outside of it moves a score (Robertson and Zaragoza 2009).

FTS5's own `bm25()` counts documents and lengths of the whole index, so that a word in a foreign space would change the
order of what an asker sees. Its term index is read instead, and counted within the scope. Measured on 100,000 chunks:
as fast as `bm25()` (7 ms of processor time for four words in 8,000 chunks).
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING

from engine.storage.ledger.queries.filters import filter_ids
from engine.storage.ledger.queries.tie_order import load_sort_keys
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.records.query_results import EMPTY_SORT_KEY
from engine.storage.ledger.scope_clauses import row_clause, space_clause

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.storage.ledger.records.query_results import ResolvedFilters, ScopeIds
    from engine.storage.sqlite.connection import Connection

    Postings = Mapping[tuple[int, int], int]

K1, B = 1.2, 0.75
FILTER_BATCH = 256  # rows checked against the filters at once
SCORE_DIGITS, SCORE_TOLERANCE = 9, 1e-9  # digits of a score; further ones depend on the order of additions
_TOKENIZER = re.compile(r"tokenize\s*=\s*'([^']*)'")


@dataclass(frozen=True, slots=True)
class FullTextIndex:
    """A full-text index: its tables of words and terms, and the table of its rows with their lengths."""

    index_table: str
    terms_table: str
    rows_table: str
    length_column: str
    kind: KeyKind

    def scope_clause(self, scope_ids: ScopeIds, table: str) -> str:
        """SQL that holds for rows within the scope; names belong to spaces alone.

        For rows that are known by id: the plus sign keeps SQLite from looking for each once in every space.
        """
        if self.kind == KeyKind.CHUNK and scope_ids.rooms:
            return row_clause(scope_ids, table)
        return f"+{space_clause(scope_ids, table)}"


CHUNK_INDEX = FullTextIndex(
    "chunk_fts", "chunk_fts_terms", "chunk {} INDEXED BY chunk_location", "tokens", KeyKind.CHUNK
)
NAME_INDEX = FullTextIndex("entity_fts", "entity_fts_terms", "entity_length {}", "length", KeyKind.NAME)


@dataclass(frozen=True, slots=True)
class ScopeSize:
    """The number of rows within a scope, and their total length."""

    rows: int
    length: int


async def measure_scope(db: Connection, index: FullTextIndex, scope_ids: ScopeIds) -> ScopeSize:
    """The number and length of the index's rows within a scope."""
    [[rows, length]] = await db.execute_fetchall(
        "SELECT COALESCE(SUM(x.row_count), 0), COALESCE(SUM(x.total_length), 0) FROM corpus_stats x"
        f" WHERE x.kind = ? AND {index.scope_clause(scope_ids, 'x')}",
        (index.kind,),
    )
    return ScopeSize(rows, length)


async def find_tokenizer(db: Connection, index: FullTextIndex) -> str:
    """The tokenizer of the index."""
    [[schema]] = await db.execute_fetchall("SELECT sql FROM sqlite_master WHERE name = ?", (index.index_table,))
    found = _TOKENIZER.search(schema)
    return found[1] if found else "unicode61"


def tokenize_words(tokenizer: str, words: Sequence[str]) -> list[tuple[str, ...]]:
    """The terms of each word as FTS5 makes them: folded, stemmed, perhaps several. Takes half a millisecond."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.execute(f"CREATE VIRTUAL TABLE words USING fts5 (word, tokenize = '{tokenizer}')")
        db.execute("CREATE VIRTUAL TABLE terms USING fts5vocab (words, instance)")
        db.executemany("INSERT INTO words (rowid, word) VALUES (?, ?)", enumerate(words))
        found: defaultdict[int, list[str]] = defaultdict(list)
        for place, term in db.execute("SELECT doc, term FROM terms ORDER BY doc, offset"):
            found[place].append(term)
    return [tuple(found[place]) for place in range(len(words))]


async def rank_rows(
    db: Connection,
    index: FullTextIndex,
    words: Sequence[str],
    scope_ids: ScopeIds,
    filters: ResolvedFilters | None,
    k: int,
) -> dict[int, float]:
    """The k best rows within the scope that match the filters and any of the words, with scores, best first."""
    whole = await measure_scope(db, index, scope_ids)
    terms = dict(zip(tokenize_words(await find_tokenizer(db, index), words), words, strict=True))
    scores = score_rows(
        [await _load_postings(db, index, term, word, scope_ids) for term, word in terms.items() if term], whole
    )
    if filters is not None:
        scores = await _filter_scores(db, index, scores, filters, k)
    return await _select_best(db, index, scores, k)


async def _filter_scores(
    db: Connection, index: FullTextIndex, scores: Mapping[int, float], filters: ResolvedFilters, k: int
) -> dict[int, float]:
    """The k best rows that match the filters, and those with the same score as the last."""
    left, kept = sorted(scores, key=lambda row: -scores[row]), dict[int, float]()
    while left and not (len(kept) >= k and scores[left[0]] < min(kept.values()) - SCORE_TOLERANCE):
        some, left = left[:FILTER_BATCH], left[FILTER_BATCH:]
        inside = await filter_ids(db, filters, index.kind, some)
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


async def _load_postings(
    db: Connection, index: FullTextIndex, term: tuple[str, ...], word: str, scope_ids: ScopeIds
) -> Postings:
    """The rows within the scope that contain a word, with length and frequency; of several terms it counts once."""
    if len(term) == 1:
        matches, parameter = (
            f"SELECT doc AS id, COUNT(*) AS times FROM {index.terms_table} WHERE term = ? GROUP BY doc",
            term[0],
        )
    else:
        matches = f"SELECT rowid AS id, 1 AS times FROM {index.index_table} WHERE {index.index_table} MATCH ?"
        parameter = quote_term(word)
    rows = await db.execute_fetchall(
        f"SELECT x.id, x.{index.length_column}, w.times FROM ({matches}) w"
        f" CROSS JOIN {index.rows_table.format('x')} ON x.id = w.id"
        f" WHERE {index.scope_clause(scope_ids, 'x')}",
        (parameter,),
    )
    return {(row, length): times for row, length, times in rows}


def quote_term(word: str) -> str:
    """A word as a quoted FTS5 term."""
    return '"{}"'.format(word.replace('"', '""'))


async def _select_best(db: Connection, index: FullTextIndex, scores: Mapping[int, float], k: int) -> dict[int, float]:
    """The k best rows with rounded scores; content decides between equal scores, not the order of insertion."""
    least = nlargest(max(0, k), scores.values())[-1:]
    reach = {
        row: round(score, SCORE_DIGITS)
        for row, score in scores.items()
        if least and score >= least[0] - SCORE_TOLERANCE
    }
    known = await load_sort_keys(db, index.kind, reach)
    best = sorted(reach, key=lambda row: (-reach[row], known.get(row, EMPTY_SORT_KEY)))[:k]
    return {row: reach[row] for row in best}


def score_texts(tokenizer: str, words: Sequence[str], texts: Sequence[str]) -> list[float]:
    """The BM25 score of each text for these words, with the statistics of these texts alone."""
    scores = [0.0] * len(texts)
    if words:
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
            db.execute(f"CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = '{tokenizer}')")
            db.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(texts))
            query = " OR ".join(map(quote_term, words))
            for row, score in db.execute("SELECT rowid, -bm25(texts) FROM texts WHERE texts MATCH ?", (query,)):
                scores[row] = score
    return scores
