"""SQL conditions that keep rows to a scope; the numbers in them are the ledger's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.storage.ledger.records.query_results import ScopeIds


def row_clause(scope_ids: ScopeIds, table: str) -> str:
    """SQL that holds for rows in the scope's spaces or rooms."""
    return f"({space_clause(scope_ids, table)} OR {table}.room IN ({join_ids(scope_ids.rooms)}))"


def space_clause(scope_ids: ScopeIds, table: str) -> str:
    """SQL that holds for rows in the scope's spaces."""
    return f"{table}.space IN ({join_ids(scope_ids.spaces)})"


def join_ids(ids: Collection[int]) -> str:
    """Ids as a list in SQL."""
    return ", ".join(map(str, sorted(ids)))
