"""Documents without a date, which a time span excludes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from engine.storage.ledger.queries.lookup import resolve_scope
from engine.storage.ledger.scope_clauses import row_clause

if TYPE_CHECKING:
    from engine.models import Filters, Scope
    from engine.storage.sqlite.connection import Connection


async def has_excluded_undated(db: Connection, scope: Scope, filters: Filters) -> bool:
    """Whether a document within the scope is excluded by the time span only because it has no date."""
    scope_ids = await resolve_scope(db, scope)
    narrowed, parameters = "", list[str]()
    for values, column in ((filters.documents, "d.key"), (filters.rooms, "r.name")):
        if values:
            narrowed += f" AND {column} IN (SELECT value FROM json_each(?))"
            parameters.append(json.dumps(sorted(values)))
    rows = await db.execute_fetchall(
        "SELECT 1 FROM document d INDEXED BY document_undated CROSS JOIN room r ON r.id = d.room"
        f" WHERE d.time IS NULL AND d.kind = 'file' AND {row_clause(scope_ids, 'd')}{narrowed}"
        " AND EXISTS (SELECT 1 FROM passage p WHERE p.document = d.id AND p.time IS NULL) LIMIT 1",
        parameters,
    )
    return bool(rows)
