"""Statuses, open work, the expected content of graph and vectors, and the canonical export."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from engine.errors import NotFound
from engine.storage.graph.base import GraphEdge, GraphNode
from engine.storage.ledger.records.query_results import DocumentInfo, DocumentStatus, IndexStatus
from engine.storage.ledger.scope_clauses import row_clause
from engine.storage.ledger.work import embedding_failures
from engine.storage.sqlite.timestamps import from_micros

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection

    import aiosqlite

    from engine.storage.ledger.records.query_results import ScopeIds
    from engine.storage.sqlite.connection import Connection


async def load_document_status(db: Connection, key: str, scope_ids: ScopeIds) -> DocumentStatus:
    """The progress of a document within a scope. Raises NotFound."""
    rows = await db.execute_fetchall(
        f"SELECT d.status, d.error, d.hint FROM document d WHERE d.key = ?1 AND {row_clause(scope_ids, 'd')}", (key,)
    )
    for row in rows:
        return DocumentStatus(*row)
    raise NotFound(f"There is no document “{key}”.")


async def load_index_status(db: Connection, scope_ids: ScopeIds) -> IndexStatus:
    """Numbers of documents, facts and open work within a scope."""
    held = row_clause(scope_ids, "d")
    documents = await db.execute_fetchall(
        f"SELECT d.status, COUNT(*) FROM document d WHERE {held} GROUP BY d.status ORDER BY d.status"
    )
    [[passages]] = await db.execute_fetchall(
        f"SELECT COUNT(*) FROM passage p JOIN document d ON d.id = p.document WHERE {held}"
    )
    [[chunks]] = await db.execute_fetchall(f"SELECT COUNT(*) FROM chunk d WHERE {held}")
    [[entities, relations]] = await db.execute_fetchall(
        "SELECT SUM(row_count * (kind = 1)), SUM(row_count * (kind = 2)) FROM corpus_stats WHERE space IN"
        " (SELECT value FROM json_each(?))",
        (json.dumps(sorted(scope_ids.spaces)),),
    )
    unread, stale = await count_unextracted(db, scope_ids), await count_stale(db, scope_ids)
    [[failed]] = await db.execute_fetchall(f"SELECT COUNT(*) FROM document d WHERE d.error <> '' AND {held}")
    return IndexStatus(
        {row[0]: row[1] for row in documents},
        passages,
        chunks,
        entities or 0,
        relations or 0,
        unread,
        stale,
        failed,
        await find_extraction_error(db, scope_ids) or await embedding_failures.find_retry_error(db, scope_ids),
        *await embedding_failures.count_failed_keys(db, scope_ids),
    )


async def count_unextracted(db: Connection, scope_ids: ScopeIds) -> int:
    """Chunks within a scope that wait for extraction, without given-up ones and those of open conversations."""
    [[unread]] = await db.execute_fetchall(
        "SELECT COUNT(*) FROM chunk c JOIN document d ON d.id = c.document"
        f" WHERE c.extraction IS NULL AND NOT d.open AND c.retry_at < 9e999 AND {row_clause(scope_ids, 'c')}"
    )
    return int(unread)


async def find_extraction_error(db: Connection, scope_ids: ScopeIds) -> str:
    """The error of a chunk within a scope whose extraction is tried again, "" if there is none."""
    rows = await db.execute_fetchall(
        "SELECT c.error FROM chunk c WHERE c.extraction IS NULL AND c.error <> '' AND c.retry_at < 9e999"
        f" AND {row_clause(scope_ids, 'c')} ORDER BY c.retry_at DESC LIMIT 1"
    )
    return next((str(row[0]) for row in rows), "")


async def count_stale(db: Connection, scope_ids: ScopeIds) -> int:
    """Stale chunks, names and pairs within a scope; deleted ones belong to no scope."""
    [[stale]] = await db.execute_fetchall(
        "SELECT COUNT(*) FROM stale_key s LEFT JOIN chunk c ON s.kind = 0 AND c.id = s.id"
        " LEFT JOIN name n ON s.kind = 1 AND n.id = s.id LEFT JOIN pair p ON s.kind = 2 AND p.id = s.id"
        f" WHERE {row_clause(scope_ids, 'c')} OR COALESCE(n.space, p.space) IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(scope_ids.spaces)),),
    )
    return int(stale)


async def list_documents(db: Connection, scope_ids: ScopeIds, status_: str = "") -> list[DocumentInfo]:
    """The documents within a scope, by title."""
    rows = await db.execute_fetchall(
        "SELECT d.key, s.name, r.name, d.kind, d.title, d.link, d.time, d.open, d.status, d.error, d.hint,"
        " (SELECT COUNT(*) FROM chunk c WHERE c.document = d.id),"
        " (SELECT COUNT(*) FROM passage p WHERE p.document = d.id)"
        " FROM document d JOIN space s ON s.id = d.space JOIN room r ON r.id = d.room"
        f" WHERE {row_clause(scope_ids, 'd')} AND (?1 = '' OR d.status = ?1) ORDER BY d.title, d.key",
        (status_,),
    )
    return [
        DocumentInfo(key, space, room, kind, title, link, from_micros(time), bool(open_), *rest)
        for key, space, room, kind, title, link, time, open_, *rest in map(tuple, rows)
    ]


async def find_last_chunk_id(db: Connection) -> int:
    """The highest id that any chunk ever had, 0 if there was none."""
    rows = await db.execute_fetchall("SELECT seq FROM sqlite_sequence WHERE name = 'chunk'")
    return next((int(row[0]) for row in rows), 0)


async def list_nodes(db: Connection) -> list[GraphNode]:
    """Every entity, as the graph should hold it."""
    rows = await db.execute_fetchall("SELECT id, space FROM entity ORDER BY id")
    return [GraphNode(*row) for row in map(tuple, rows)]


async def list_edges(db: Connection) -> list[GraphEdge]:
    """Every relation, as the graph should hold it."""
    rows = await db.execute_fetchall("SELECT id, a, b, weight FROM relation ORDER BY id")
    return [GraphEdge(*row) for row in map(tuple, rows)]


async def list_last_graphed(db: Connection) -> tuple[list[int], list[GraphEdge]]:
    """The newest entities and relations that the graph must hold."""
    nodes = await db.execute_fetchall(
        f"SELECT id FROM entity WHERE in_graph ORDER BY id DESC LIMIT {LAST_GRAPHED_LIMIT}"
    )
    edges = await db.execute_fetchall(
        f"SELECT id, a, b, weight FROM relation WHERE in_graph ORDER BY id DESC LIMIT {LAST_GRAPHED_LIMIT}"
    )
    return [row[0] for row in nodes], [GraphEdge(*row) for row in map(tuple, edges)]


async def load_chunk_locations(db: Connection) -> dict[int, tuple[int, int]]:
    """(space, room) by chunk, as its vectors should have them."""
    rows = await db.execute_fetchall("SELECT id, space, room FROM chunk")
    return {row[0]: (row[1], row[2]) for row in rows}


async def load_profile_locations(db: Connection, table: str) -> dict[int, tuple[int, int]]:
    """(space, 0) by profile, as its vector should have them."""
    return {row[0]: (row[1], 0) for row in await db.execute_fetchall(f"SELECT id, space FROM {table}")}


async def stream_entities(db: aiosqlite.Connection, scope_ids: ScopeIds) -> AsyncGenerator[tuple[Any, ...], None]:
    """Id, name, type, description, mentions, degree, space and canonical name of each entity in the scope."""
    sql = (
        "SELECT e.id, e.name, e.type, e.description, e.mention_count, e.degree, s.name, n.canonical FROM entity e"
        " CROSS JOIN name n ON n.id = e.id CROSS JOIN space s ON s.id = e.space"
        " WHERE e.space IN (SELECT value FROM json_each(?)) ORDER BY s.name, n.canonical"
    )
    async with db.execute(sql, (json.dumps(sorted(scope_ids.spaces)),)) as cursor:
        async for row in cursor:
            yield tuple(row)


async def stream_relations(db: aiosqlite.Connection, scope_ids: ScopeIds) -> AsyncGenerator[tuple[Any, ...], None]:
    """Keywords, description, weight, space and both canonical names of each relation in the scope's spaces."""
    sql = (
        "SELECT r.keywords, r.description, r.weight, s.name, MIN(x.canonical, y.canonical) AS a,"
        " MAX(x.canonical, y.canonical) AS b FROM relation r CROSS JOIN name x ON x.id = r.a"
        " CROSS JOIN name y ON y.id = r.b CROSS JOIN space s ON s.id = r.space"
        " WHERE r.space IN (SELECT value FROM json_each(?)) ORDER BY s.name, a, b"
    )
    async with db.execute(sql, (json.dumps(sorted(scope_ids.spaces)),)) as cursor:
        async for row in cursor:
            yield tuple(row)


LAST_GRAPHED_LIMIT = 20

CANONICAL_QUERIES: dict[str, str] = {
    "document": "SELECT d.key, s.name AS space, r.name AS room, d.kind AS sort, d.title, d.link, d.time, d.open,"
    " d.status, d.error FROM document d JOIN space s ON s.id = d.space JOIN room r ON r.id = d.room",
    "passage": "SELECT d.key AS document, s.name AS space, p.key, p.position, p.time, p.author, p.label, p.link, p.text"
    " FROM passage p JOIN document d ON d.id = p.document JOIN space s ON s.id = d.space",
    "chunk": "SELECT c.key, d.key AS document, s.name AS space, r.name AS room, c.ordinal, c.tokens, c.time, c.text,"
    " c.extraction IS NOT NULL AS read, c.error,"
    " (SELECT json_group_array(json_array(p.key, i.start_offset, i.end_offset)) FROM"
    " (SELECT * FROM chunk_passage WHERE chunk = c.id ORDER BY ordinal) i JOIN passage p ON p.id = i.passage) AS pieces"
    " FROM chunk c JOIN document d ON d.id = c.document JOIN space s ON s.id = c.space JOIN room r ON r.id = c.room",
    "mention": "SELECT c.key AS chunk, s.name AS space, n.canonical, m.time, m.surface, m.type, m.description"
    " FROM mention m JOIN chunk c ON c.id = m.chunk JOIN name n ON n.id = m.name JOIN space s ON s.id = n.space",
    "link": "SELECT c.key AS chunk, s.name AS space, MIN(x.canonical, y.canonical) AS a, MAX(x.canonical, y.canonical)"
    " AS b, f.time, f.keywords, f.description FROM link f JOIN chunk c ON c.id = f.chunk JOIN pair p ON p.id = f.pair"
    " JOIN name x ON x.id = p.a JOIN name y ON y.id = p.b JOIN space s ON s.id = p.space",
    "alias": "SELECT s.name AS space, a.name, a.target FROM alias a JOIN space s ON s.id = a.space",
    "pin": "SELECT s.name AS space, p.a, p.b, p.description FROM description_override p JOIN space s ON s.id = p.space",
    "hidden": "SELECT s.name AS space, h.a, h.b FROM hidden_key h JOIN space s ON s.id = h.space",
    "entity": "SELECT s.name AS space, n.canonical, e.name, e.type, e.description,"
    " e.mention_count AS mentions, e.degree FROM entity e JOIN name n ON n.id = e.id JOIN space s ON s.id = e.space",
    "relation": "SELECT s.name AS space, MIN(x.canonical, y.canonical) AS a, MAX(x.canonical, y.canonical) AS b,"
    " r.keywords, r.description, r.weight FROM relation r JOIN name x ON x.id = r.a JOIN name y ON y.id = r.b"
    " JOIN space s ON s.id = r.space",
}


async def export_canonical(
    db: aiosqlite.Connection, spaces: Collection[str] | None = None
) -> AsyncGenerator[str, None]:
    """Everything in the ledger as sorted JSON Lines, without ids, generations and processing times.

    `spaces` keeps rows of these spaces only. SQLite sorts; rows that exceed its cache go to a temporary file.
    """
    within = "" if spaces is None else " WHERE s.name IN (SELECT value FROM json_each(?))"
    parameters = () if spaces is None else (json.dumps(sorted(spaces)),)
    for kind, sql in CANONICAL_QUERIES.items():
        async with db.execute(f"{sql} LIMIT 0") as cursor:
            columns = [column[0] for column in cursor.description]
        await db.create_function("canonical_line", len(columns), partial(_render_line, kind, columns))
        async with db.execute(
            f"SELECT canonical_line({', '.join(columns)}) AS line FROM ({sql}{within}) ORDER BY line", parameters
        ) as cursor:
            async for [line] in cursor:
                yield line


def _render_line(kind: str, columns: list[str], *row: Any) -> str:
    record: dict[str, Any] = {"kind": kind, **dict(zip(columns, row, strict=True))}
    if "pieces" in record:
        record["pieces"] = json.loads(record["pieces"])
    return json.dumps(record, ensure_ascii=False, sort_keys=True)
