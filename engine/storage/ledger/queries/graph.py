"""Look-ups of an explorer of the graph within a scope: names while they are typed, relations, corrections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.joins.candidates import SURFACE
from engine.storage.ledger.queries.lookup import LAST_CHARACTER
from engine.storage.ledger.records.query_results import ManualCorrection
from engine.storage.ledger.scope_clauses import join_ids, space_clause
from engine.storage.sql.lists import id_list

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.storage.ledger.records.query_results import ScopeIds
    from engine.storage.sql.connection import Connection


async def find_entities_by_start(db: Connection, start: str, scope_ids: ScopeIds, limit: int) -> list[int]:
    """Entities in the scope's spaces with a name, or an alias, that starts with a canonical text.

    Those with a word that starts with it follow; of each the most mentioned first.
    """
    rows = await db.execute_fetchall(
        "SELECT e.id, MIN(CASE WHEN n.canonical >= ?1 AND n.canonical < ?2 THEN 0 ELSE 1 END) AS place"
        f" FROM name n CROSS JOIN entity e ON e.id = n.target WHERE n.space IN ({join_ids(scope_ids.spaces)})"
        " AND (n.canonical >= ?1 AND n.canonical < ?2 OR instr(n.canonical, ?3) > 0)"
        " GROUP BY e.id, e.mention_count, e.name ORDER BY place, e.mention_count DESC, e.name, e.id LIMIT ?4",
        (start, start + LAST_CHARACTER, f" {start}", limit),
    )
    return [row[0] for row in rows]


async def list_relations_between(db: Connection, ids: Collection[int], scope_ids: ScopeIds) -> list[int]:
    """The relations in the scope's spaces whose two ends are among these entities."""
    rows = await db.execute_fetchall(
        "SELECT r.id FROM json_each(?1) j CROSS JOIN relation r ON r.a = j.value"
        f" WHERE {space_clause(scope_ids, 'r')} AND r.b IN (SELECT value FROM json_each(?1))",
        (id_list(sorted(ids)),),
    )
    return [row[0] for row in rows]


def _as_written(canonical: str) -> str:
    """SQL for a canonical name as the oldest text writes it, or as it is where no text has it."""
    surface = SURFACE.format("n")
    return (
        f"COALESCE((SELECT {surface} FROM name n WHERE n.space = c.space AND n.canonical = {canonical}), {canonical})"
    )


_TABLES = (
    ("merge", "alias", ("c.name", "c.target", "''"), " AND c.reason = ''"),
    ("separate", "distinct_names", ("c.a", "c.b", "''"), ""),
    ("describe", "description_override", ("c.a", "c.b", "c.description"), ""),
    ("hide", "hidden_key", ("c.a", "c.b", "''"), ""),
)


def _select_corrections(position: int, where: str) -> str:
    kind, table, (a, b, description), condition = _TABLES[position]
    return (
        f"SELECT {position} AS position, '{kind}' AS kind, s.name AS space, {_as_written(a)} AS written,"
        f" {_as_written(b)} AS other, {description} AS description FROM {table} c"
        f" CROSS JOIN space s ON s.id = c.space WHERE {where}{condition}"
    )


async def list_corrections(db: Connection, scope_ids: ScopeIds, limit: int, offset: int) -> list[ManualCorrection]:
    """The corrections made by hand in the scope's spaces, by kind and name; `offset`: how many are left out first."""
    where = space_clause(scope_ids, "c")
    selects = " UNION ALL ".join(_select_corrections(position, where) for position in range(len(_TABLES)))
    rows = await db.execute_fetchall(
        f"SELECT kind, space, written, other, description FROM ({selects}) AS made"
        " ORDER BY position, written, other, space LIMIT ? OFFSET ?",
        (limit, offset),
    )
    return [ManualCorrection(*row) for row in map(tuple, rows)]
