"""The newest chunks of a scope, whatever their content, and documents without a date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.queries.filters import matching_chunk_clause
from engine.storage.ledger.queries.lookup import resolve_scope
from engine.storage.ledger.scope_clauses import row_clause
from engine.storage.sql.lists import text_list
from engine.storage.sql.timestamps import from_micros

if TYPE_CHECKING:
    from datetime import datetime

    from engine.models import Filters, Scope
    from engine.storage.ledger.records.query_results import ScopeIds
    from engine.storage.sql.connection import Connection


async def list_latest_chunks(db: Connection, filters: Filters, scope_ids: ScopeIds, limit: int) -> list[int]:
    """The newest chunks within the scope that match the filters, newest first."""
    matching, parameters = matching_chunk_clause(filters)
    rows = await db.execute_fetchall(
        f"SELECT c.id FROM chunk c WHERE {row_clause(scope_ids, 'c')} AND {matching}"
        " ORDER BY c.time DESC, c.id DESC LIMIT ?",
        (*parameters, limit),
    )
    return [row[0] for row in rows]


async def find_latest_time(db: Connection, filters: Filters, scope_ids: ScopeIds) -> datetime | None:
    """The time of the newest chunk that matches the filters, if it has one."""
    ids = await list_latest_chunks(db, filters, scope_ids, 1)
    rows = await db.execute_fetchall("SELECT time FROM chunk WHERE id = ?", ids) if ids else []
    return next((from_micros(row[0]) for row in rows if row[0]), None)


async def has_excluded_undated(db: Connection, scope: Scope, filters: Filters) -> bool:
    """Whether a document within the scope is excluded by the time span only because it has no date."""
    scope_ids = await resolve_scope(db, scope)
    narrowed, parameters = "", list[str]()
    for values, column in ((filters.documents, "d.key"), (filters.rooms, "r.name")):
        if values:
            narrowed += f" AND {column} IN (SELECT value FROM json_each(?))"
            parameters.append(text_list(sorted(values)))
    rows = await db.execute_fetchall(
        "SELECT 1 FROM document d INDEXED BY document_undated CROSS JOIN room r ON r.id = d.room"
        f" WHERE d.time IS NULL AND d.kind = 'file' AND {row_clause(scope_ids, 'd')}{narrowed}"
        " AND EXISTS (SELECT 1 FROM passage p WHERE p.document = d.id AND p.time IS NULL) LIMIT 1",
        parameters,
    )
    return bool(rows)
