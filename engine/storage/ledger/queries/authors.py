"""Authors of passages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from engine.storage.ledger.scope_clauses import row_clause

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.storage.ledger.records.query_results import ScopeIds
    from engine.storage.sqlite.connection import Connection


async def list_authors(db: Connection) -> list[str]:
    """The names of all authors, in all scopes: show none before `filter_authors` has kept it."""
    rows = await db.execute_fetchall(
        "WITH RECURSIVE known (author) AS (SELECT MIN(author) FROM passage WHERE author > '' UNION ALL"
        " SELECT (SELECT MIN(author) FROM passage WHERE author > known.author) FROM known WHERE author IS NOT NULL)"
        " SELECT author FROM known WHERE author IS NOT NULL"
    )
    return [row[0] for row in rows]


async def filter_authors(db: Connection, names: Sequence[str], scope_ids: ScopeIds) -> list[str]:
    """Those of the names that wrote something within the scope, in order."""
    rows = await db.execute_fetchall(
        "SELECT j.value FROM json_each(?) j WHERE EXISTS (SELECT 1 FROM passage p CROSS JOIN document d"
        f" ON d.id = p.document WHERE p.author = j.value AND {row_clause(scope_ids, 'd')}) ORDER BY j.value",
        (json.dumps(list(names)),),
    )
    return [row[0] for row in rows]
