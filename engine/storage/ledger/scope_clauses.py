"""SQL conditions that keep rows to a scope; the numbers in them are the ledger's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.storage.ledger.records.query_results import ScopeIds


FEW_SPACES = 8


def row_clause(scope_ids: ScopeIds, table: str) -> str:
    """SQL that holds for rows in the scope's spaces or rooms."""
    return f"({space_clause(scope_ids, table)} OR {table}.room IN ({join_ids(scope_ids.rooms)}))"


def space_clause(scope_ids: ScopeIds, table: str) -> str:
    """SQL that holds for rows in the scope's spaces."""
    return f"{table}.space IN ({join_ids(scope_ids.spaces)})"


def name_clause(scope_ids: ScopeIds, table: str) -> str:
    """SQL that holds for names in the scope's spaces, in a query for certain canonical names.

    The names are looked up in each of a few spaces. For many spaces they are looked up everywhere: the plus sign keeps
    SQLite from using an index that starts with the space.
    """
    clause = space_clause(scope_ids, table)
    return clause if len(scope_ids.spaces) <= FEW_SPACES else f"+{clause}"


def join_ids(ids: Collection[int]) -> str:
    """Ids as a list in SQL; no column is in an empty one."""
    return ", ".join(map(str, sorted(ids))) or "NULL"
