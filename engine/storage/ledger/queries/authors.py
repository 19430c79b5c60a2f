"""Authors of passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.scope_clauses import row_clause

if TYPE_CHECKING:
    from engine.storage.ledger.records.query_results import ScopeIds
    from engine.storage.sqlite.connection import Connection


async def list_authors(db: Connection, scope_ids: ScopeIds) -> list[str]:
    """The names of everybody who wrote something within the scope, in order."""
    rows = await db.execute_fetchall(
        "SELECT DISTINCT p.author FROM document d CROSS JOIN passage p ON p.document = d.id"
        f" WHERE p.author > '' AND {row_clause(scope_ids, 'd')} ORDER BY p.author"
    )
    return [row[0] for row in rows]
