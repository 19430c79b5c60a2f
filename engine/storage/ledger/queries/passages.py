"""Passages: those that state facts of the graph, and the authors of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.records.query_results import StatingPassage
from engine.storage.ledger.scope_clauses import row_clause
from engine.storage.sql.lists import id_list

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.storage.ledger.records.query_results import ScopeIds
    from engine.storage.sql.connection import Connection

MAX_CHUNKS = 400  # searched for facts at most


async def find_stating_passages(db: Connection, names: Collection[int], pairs: Collection[int]) -> list[StatingPassage]:
    """The passages of the newest chunks that mention any of these names, or link any of these pairs."""
    rows = await db.execute_fetchall(
        "WITH stating AS ("
        " SELECT f.chunk, f.time FROM json_each(?1) j CROSS JOIN name k ON k.target = j.value"
        " CROSS JOIN mention f ON f.name = k.id"
        " UNION SELECT f.chunk, f.time FROM json_each(?2) j CROSS JOIN pair k ON k.target = j.value"
        " CROSS JOIN link f ON f.pair = k.id ORDER BY 2 DESC LIMIT ?3)"
        " SELECT DISTINCT d.key, r.name, p.key, p.text FROM stating"
        " CROSS JOIN chunk_passage i ON i.chunk = stating.chunk"
        " CROSS JOIN passage p ON p.id = i.passage CROSS JOIN document d ON d.id = p.document"
        " CROSS JOIN room r ON r.id = d.room",
        (id_list(sorted(names)), id_list(sorted(pairs)), MAX_CHUNKS),
    )
    return [StatingPassage(*row) for row in rows]


async def list_authors(db: Connection, scope_ids: ScopeIds) -> list[str]:
    """The names of everybody who wrote something within the scope, in order."""
    rows = await db.execute_fetchall(
        "SELECT DISTINCT p.author FROM document d CROSS JOIN passage p ON p.document = d.id"
        f" WHERE p.author > '' AND {row_clause(scope_ids, 'd')} ORDER BY p.author"
    )
    return [row[0] for row in rows]
