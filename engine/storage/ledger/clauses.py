"""SQL expressions of several topics: scopes, corrections of a key, first rows of a query, and order among equals.

The numbers in them are the ledger's own. Corrections made under any of a key's names count. SQLite has no LATERAL, and
PostgreSQL is slow without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.records.projection import KeyKind
from engine.storage.sql.connection import Dialect
from engine.storage.sql.fragments import id_list

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.storage.ledger.records.query_results import ScopeIds
    from engine.storage.sql.connection import Connection
    from engine.usage import PausedTexts


FEW_SPACES = 8
LAST_CHARACTER = "\U0010ffff"  # behind every text that begins with another one
ENTITY_COUNTS = "entity e @use(entity_counts)"  # without names and descriptions

# A condition on chunks `c` of documents `d`, with the parameters of `paused_parameters`.
UNPAUSED = "NOT (c.space IN (SELECT value FROM @list(?)) AND (d.kind <> 'conversation' OR NOT ?))"

# Corrections of a name `n`.
NAME_DESCRIPTION = (
    "(SELECT p.description FROM name m @then JOIN description_override p"
    " ON p.space = m.space AND p.a = m.canonical AND p.b = '' WHERE m.target = n.id"
    " ORDER BY m.id <> m.target, p.a LIMIT 1)"
)
NAME_HIDDEN = (
    "EXISTS (SELECT 1 FROM name m @then JOIN hidden_key h"
    " ON h.space = m.space AND h.a = m.canonical AND h.b = '' WHERE m.target = n.id)"
)
# Whether a person merged another name into a name `n`, so that it is displayed.
# By its index: PostgreSQL would read the whole table for an EXISTS.
NAME_CHOSEN = (
    "(SELECT 1 FROM alias c WHERE c.space = n.space AND c.target = n.canonical AND c.reason = '' LIMIT 1) IS NOT NULL"
)
# How the person wrote such a name; NULL for other names.
ASKED_NAME = (
    "(SELECT CASE c.shown WHEN '' THEN c.target ELSE c.shown END FROM alias c"
    " WHERE c.space = n.space AND c.target = n.canonical AND c.reason = '' ORDER BY c.shown DESC, c.name LIMIT 1)"
)
# How such a name is written most often; NULL for other names, and without facts of its own.
CHOSEN_SPELLING = (
    f"CASE WHEN {NAME_CHOSEN} THEN (SELECT m.surface FROM mention m WHERE m.name = n.id"
    " GROUP BY m.surface ORDER BY COUNT(*) DESC, m.surface LIMIT 1) END"
)
# How a part `n` that was split from a name is displayed; NULL for other names.
PART_NAME = (
    "(SELECT x.shown FROM name_split x WHERE x.space = n.space AND x.part = n.canonical"
    " ORDER BY x.name, x.rule LIMIT 1)"
)
# Corrections of a pair `p`.
_BOTH_ENDS = (
    "name m CROSS JOIN name q @then JOIN {table} c ON c.space = p.space AND c.a = @least(m.canonical, q.canonical)"
    " AND c.b = @greatest(m.canonical, q.canonical) WHERE m.target = p.a AND q.target = p.b"
)
PAIR_DESCRIPTION = (
    f"(SELECT c.description FROM {_BOTH_ENDS.format(table='description_override')}"
    " ORDER BY m.id <> m.target, q.id <> q.target, c.a, c.b LIMIT 1)"
)
PAIR_HIDDEN = (
    "(EXISTS (SELECT 1 FROM name m @then JOIN hidden_key h ON h.space = m.space AND h.a = m.canonical AND h.b = ''"
    f" WHERE m.target IN (p.a, p.b)) OR EXISTS (SELECT 1 FROM {_BOTH_ENDS.format(table='hidden_key')}))"
)
_SORT_KEY_QUERIES = {
    KeyKind.CHUNK: "SELECT c.id, c.key, '', '' FROM @list(?, j) @then JOIN chunk c ON c.id = j.value",
    KeyKind.NAME: "SELECT n.id, n.canonical, s.name, '' FROM @list(?, j) @then JOIN name n ON n.id = j.value"
    " @then JOIN space s ON s.id = n.space",
    KeyKind.PAIR: "SELECT p.id, @least(x.canonical, y.canonical), @greatest(x.canonical, y.canonical), s.name"
    " FROM @list(?, j)"
    " @then JOIN pair p ON p.id = j.value @then JOIN name x ON x.id = p.a @then JOIN name y ON y.id = p.b"
    " @then JOIN space s ON s.id = p.space",
}


def row_clause(scope_ids: ScopeIds, table: str) -> str:
    """SQL that holds for rows in the scope's spaces or rooms."""
    return f"({space_clause(scope_ids, table)} OR {table}.room IN ({join_ids(scope_ids.rooms)}))"


def space_clause(scope_ids: ScopeIds, table: str) -> str:
    """SQL that holds for rows in the scope's spaces."""
    return f"{table}.space IN ({join_ids(scope_ids.spaces)})"


def name_clause(scope_ids: ScopeIds, table: str) -> str:
    """SQL that holds for names in the scope's spaces, in a query for certain canonical names.

    The names are looked up in each of a few spaces. For many spaces they are looked up everywhere: an expression keeps
    the database from using an index that starts with the space, or from reading all names of these spaces.
    """
    clause = space_clause(scope_ids, table)
    return clause if len(scope_ids.spaces) <= FEW_SPACES else f"@never_indexed {clause}"


def join_ids(ids: Collection[int]) -> str:
    """Ids as a list in SQL; no column is in an empty one."""
    return ", ".join(map(str, sorted(ids))) or "NULL"


def join_newest_facts(dialect: Dialect, facts: str, column: str, condition: str) -> str:
    """SQL that joins each name or pair `k` with its newest facts `f`; of the facts `g` that fulfil a condition.

    The last placeholder is the limit.
    """
    newest = f"FROM {facts} g WHERE g.{column} = k.id AND {condition} ORDER BY g.time DESC, g.hash DESC LIMIT ?"
    if dialect == Dialect.POSTGRES:
        return f" CROSS JOIN LATERAL (SELECT g.* {newest}) f"
    return (
        f" @then JOIN {facts} f ON f.{column} = k.id AND (f.time, f.hash, f.chunk, f.number) IN"
        f" (SELECT g.time, g.hash, g.chunk, g.number {newest})"
    )


def join_chunks(dialect: Dialect, query: str) -> str:
    """SQL that joins with the chunks `n` whose ids a correlated query gives."""
    if dialect == Dialect.POSTGRES:
        return f" CROSS JOIN LATERAL ({query}) n"
    return f" @then JOIN chunk n ON n.id IN ({query})"


def paused_parameters(paused: PausedTexts) -> tuple[str, bool]:
    """The parameters of `UNPAUSED`."""
    return id_list(sorted(paused.spaces)), paused.only_files


def free_text_clause(db: Connection, process: int) -> str:
    """A condition: no process but this one extracts the text of the chunk `c`."""
    if db.dialect is Dialect.SQLITE:
        return "true"
    return (
        "NOT EXISTS (SELECT 1 FROM extraction_claim k JOIN chunk o ON o.id = k.chunk"
        f" WHERE k.process <> {process:d} AND o.text_hash = c.text_hash)"
    )


def load_sort_keys(db: Connection, kind: KeyKind, ids: Collection[int]) -> dict[int, tuple[str, str, str]]:
    """Texts that order these chunks, names or pairs; missing rows are left out."""
    rows = db.execute_fetchall(_SORT_KEY_QUERIES[kind], (id_list(ids),))
    return {id_: (one, other, third) for id_, one, other, third in rows}
