"""Filters of a question: chunks with a matching passage, and facts of chunks with no other passages.

Few chunks are listed by id, found by indexes. Many are described by a condition that is checked against the hits of a
search: no question reads or lists a large part of the ledger.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from engine.storage.ledger.clauses import join_ids, row_clause
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.records.query_results import ChunkFilter, ResolvedFilters, SqlValue
from engine.storage.sql.fragments import id_list, text_list, to_micros

if TYPE_CHECKING:
    from collections.abc import Collection
    from collections.abc import Set as AbstractSet

    from engine.models import Filters
    from engine.storage.ledger.records.query_results import ScopeIds
    from engine.storage.sql.connection import Connection


SqlClause = tuple[str, list[SqlValue]]

MAX_LISTED = 1000  # chunks, names or pairs listed at most
MAX_LISTED_FALLBACK = 20_000  # the same when other searches find too few
DAY_MICROSECONDS = 86_400_000_000  # few chunks span more; these have their own indexes
_PASSAGE_JOIN = (
    "FROM chunk_passage i @then JOIN passage p ON p.id = i.passage @then JOIN document d ON d.id = p.document"
)


_FACT_TABLES = {KeyKind.NAME: ("name", "mention", "name"), KeyKind.PAIR: ("pair", "link", "pair")}


def chunk_clause(chunks: ChunkFilter, column: str) -> SqlClause:
    """SQL that holds for rows whose column is one of these chunks."""
    if chunks.ids is not None:
        return f"{column} IN (SELECT value FROM @list(?))", [id_list(sorted(chunks.ids))]
    return f"EXISTS (SELECT 1 FROM chunk c WHERE c.id = {column} AND {chunks.sql})", [*chunks.parameters]


def fact_clause(chunks: ChunkFilter, table: str) -> SqlClause:
    """SQL that holds for facts of these chunks; a fact has the time of its chunk, by which facts are sorted."""
    sql, parameters = chunk_clause(chunks, f"{table}.chunk")
    for bound, comparison in ((chunks.since, ">="), (chunks.until, "<=")):
        if bound is not None:
            sql, parameters = f"{table}.time {comparison} ? AND {sql}", [bound, *parameters]
    return sql, parameters


def filter_ids(db: Connection, filters: ResolvedFilters, kind: KeyKind, ids: Collection[int]) -> AbstractSet[int]:
    """Those of the ids that match the filters."""
    known = filters.listed_ids(kind)
    if known is not None:
        return known.intersection(ids)
    if kind == KeyKind.CHUNK:
        sql, parameters = chunk_clause(filters.matching_chunks, "j.value")
    else:
        keys, facts, column = _FACT_TABLES[kind]
        stated, parameters = fact_clause(filters.fully_matching_chunks, "f")
        sql = (
            f"EXISTS (SELECT 1 FROM {keys} k @then JOIN {facts} f ON f.{column} = k.id"
            f" WHERE k.target = j.value AND {stated})"
        )
    rows = db.execute_fetchall(f"SELECT j.value FROM @list(?, j) WHERE {sql}", (id_list(ids), *parameters))
    return {row[0] for row in rows}


def resolve_filters(db: Connection, filters: Filters, scope_ids: ScopeIds) -> ResolvedFilters:
    """The chunks, names and pairs within the scope that match the filters."""
    some = find_matching_chunks(db, filters, scope_ids)
    only = find_fully_matching_chunks(db, filters, some)
    return ResolvedFilters(some, only, _find_few_keys(db, KeyKind.NAME, only), _find_few_keys(db, KeyKind.PAIR, only))


def find_matching_chunks(db: Connection, filters: Filters, scope_ids: ScopeIds, few: int = MAX_LISTED) -> ChunkFilter:
    """The chunks within the scope that have a matching passage."""
    sql, parameters = matching_chunk_clause(filters)
    found, branches = set[int](), _index_branches(filters, scope_ids)
    for driver, own in branches:
        rows = db.execute_fetchall(
            f"SELECT DISTINCT c.id FROM {driver} AND {row_clause(scope_ids, 'c')} AND {sql} LIMIT ?",
            (*own, *parameters, few + 1),
        )
        found.update(row[0] for row in rows)
        if len(found) > few:
            return ChunkFilter(None, sql, tuple(parameters))
    return ChunkFilter(frozenset(found))


def find_fully_matching_chunks(db: Connection, filters: Filters, some: ChunkFilter) -> ChunkFilter:
    """Those of the chunks whose every passage matches: in others, any passage may state a fact."""
    condition_, parameters = passage_clause(filters)
    mixed = f"EXISTS (SELECT 1 {_PASSAGE_JOIN} WHERE i.chunk = c.id AND NOT COALESCE({condition_}, false))"
    since, until, is_past = to_micros(filters.since), to_micros(filters.until), filters.as_of is not None
    if some.ids is None:
        sql, bounds = f"{some.sql} AND NOT {mixed}", (*some.parameters, *parameters)
        return ChunkFilter(None, sql, bounds, since, until, is_past)
    rows = db.execute_fetchall(
        f"SELECT c.id FROM @list(?, j) @then JOIN chunk c ON c.id = j.value WHERE NOT {mixed}",
        (id_list(sorted(some.ids)), *parameters),
    )
    return ChunkFilter(frozenset(row[0] for row in rows), since=since, until=until, is_past=is_past)


def find_stated_keys(db: Connection, kind: KeyKind, chunks: ChunkFilter, most: int) -> frozenset[int]:
    """The names or pairs that these chunks state; any `most` of them if they are more."""
    keys, facts, column = _FACT_TABLES[kind]
    sql, parameters = fact_clause(chunks, "f")
    start = f"{facts} f"
    if chunks.ids is not None:
        start, sql = f"@list(?, j) @then JOIN {facts} f ON f.chunk = j.value", "true"
        parameters = [id_list(sorted(chunks.ids))]
    rows = db.execute_fetchall(
        f"SELECT DISTINCT k.target FROM {start} @then JOIN {keys} k ON k.id = f.{column} WHERE {sql} LIMIT ?",
        (*parameters, most),
    )
    return frozenset(row[0] for row in rows)


def _find_few_keys(db: Connection, kind: KeyKind, chunks: ChunkFilter) -> frozenset[int] | None:
    if chunks.ids is None:
        return None
    found = find_stated_keys(db, kind, chunks, MAX_LISTED + 1)
    return found if len(found) <= MAX_LISTED else None


def list_matching_ids(db: Connection, filters: Filters, scope_ids: ScopeIds, kind: KeyKind) -> frozenset[int]:
    """Every id of a kind that matches the filters, up to a limit: for searches that find too few hits."""
    chunks = find_matching_chunks(db, filters, scope_ids, MAX_LISTED_FALLBACK)
    if kind == KeyKind.CHUNK:
        return chunks.ids or frozenset()
    return find_stated_keys(db, kind, find_fully_matching_chunks(db, filters, chunks), MAX_LISTED_FALLBACK)


def matching_chunk_clause(filters: Filters) -> SqlClause:
    """SQL that holds for a chunk `c` with a matching passage."""
    sql, parameters = passage_clause(filters)
    return f"EXISTS (SELECT 1 {_PASSAGE_JOIN} WHERE i.chunk = c.id AND {sql})", parameters


def passage_clause(filters: Filters) -> SqlClause:
    """SQL that holds for matching passages `p` of a document `d`, with its parameters."""
    conditions, parameters = ["true"], list[SqlValue]()
    for values, column in (
        (filters.documents, "d.key IN (SELECT value FROM @list(?))"),
        (filters.rooms, "d.room IN (SELECT id FROM room WHERE name IN (SELECT value FROM @list(?)))"),
        (filters.authors, "p.author IN (SELECT value FROM @list(?))"),
        (filters.kinds, "d.kind IN (SELECT value FROM @list(?))"),
    ):
        if values:
            conditions.append(column)
            parameters.append(text_list(sorted(values)))
    for time, comparison in ((filters.since, ">="), (filters.until, "<=")):
        if time is not None:
            conditions.append(f"COALESCE(p.time, d.time) {comparison} ?")
            parameters.append(to_micros(time))
    return f"({' AND '.join(conditions)})", parameters


def _index_branches(filters: Filters, scope_ids: ScopeIds) -> list[SqlClause]:
    """Ways to find the chunks, each by the most selective index."""
    listed = "IN (SELECT value FROM @list(?))"
    if filters.documents:
        keys = text_list(sorted(filters.documents))
        return [(f"document o @then JOIN chunk c ON c.document = o.id WHERE o.key {listed}", [keys])]
    if filters.authors:
        return _author_branches(filters)
    if filters.rooms:
        rooms = text_list(sorted(filters.rooms))
        places: list[SqlClause] = [(f"c.room IN (SELECT id FROM room WHERE name {listed})", [rooms])]
        return [_time_branch("room", time, place) for time, place in product(_time_ranges(filters), places)]
    return [
        _time_branch(column, time, (f"c.{column} IN ({join_ids(members)})", []))
        for column, members in (("space", scope_ids.spaces), ("room", scope_ids.rooms))
        for time in _time_ranges(filters)
        if members
    ]


def _author_branches(filters: Filters) -> list[SqlClause]:
    authors = text_list(sorted(filters.authors))
    source = (
        "passage a @use(passage_author) @then JOIN chunk_passage e ON e.passage = a.id"
        " @then JOIN chunk c ON c.id = e.chunk WHERE a.author IN (SELECT value FROM @list(?))"
    )
    since, until = to_micros(filters.since), to_micros(filters.until)
    if since is None and until is None:
        return [(source, [authors])]
    dated = f"{source} AND a.time >= ? AND a.time <= ?"
    bounds: list[SqlValue] = [-(2**63) if since is None else since, 2**63 - 1 if until is None else until]
    return [(dated, [authors, *bounds]), (f"{source} AND a.time IS NULL", [authors])]


def _time_branch(column: str, time: SqlClause, place: SqlClause) -> SqlClause:
    """Chunks of a location by time, through an index of both: by their latest or by their first passage."""
    index = "long" if "> c.first_time +" in time[0] else "first" if time[0].startswith("c.first_time") else "time"
    return f"chunk c @use(chunk_{column}_{index}) WHERE {place[0]} AND {time[0]}", [*place[1], *time[1]]


def _time_ranges(filters: Filters) -> list[SqlClause]:
    """Time ranges that contain every chunk with a passage in the filters' range; 0 is an unknown time."""
    since, until = to_micros(filters.since), to_micros(filters.until)
    if since is None and until is None:
        return [("true", [])]
    if until is None:
        return [("c.time >= ?", [since])]
    if since is None:
        return [("c.first_time BETWEEN 1 AND ?", [until]), ("c.first_time < 0 AND c.first_time <= ?", [until])]
    return [
        ("c.time BETWEEN ? AND ?", [since, until]),
        ("c.time > ? AND c.time <= ? AND c.first_time <= ?", [until, until + DAY_MICROSECONDS, until]),
        (
            f"c.first_time <= ? AND c.time > ? AND c.time > c.first_time + {DAY_MICROSECONDS}",
            [until, until + DAY_MICROSECONDS],
        ),
    ]
