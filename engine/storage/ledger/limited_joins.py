"""Joins with the first rows of a correlated query: SQLite has no LATERAL, and PostgreSQL is slow without."""

from __future__ import annotations

from engine.storage.sql.connection import Dialect


def join_newest_facts(dialect: Dialect, facts: str, column: str, condition: str) -> str:
    """SQL that joins each name or pair `k` with its newest facts `f`; of the facts `g` that fulfil a condition.

    The last placeholder is the limit.
    """
    newest = f"FROM {facts} g WHERE g.{column} = k.id AND {condition} ORDER BY g.time DESC, g.hash DESC LIMIT ?"
    if dialect == Dialect.POSTGRES:
        return f" CROSS JOIN LATERAL (SELECT g.* {newest}) f"
    return (
        f" CROSS JOIN {facts} f ON f.{column} = k.id AND (f.time, f.hash, f.chunk, f.number) IN"
        f" (SELECT g.time, g.hash, g.chunk, g.number {newest})"
    )


def join_chunks(dialect: Dialect, query: str) -> str:
    """SQL that joins with the chunks `n` whose ids a correlated query gives."""
    if dialect == Dialect.POSTGRES:
        return f" CROSS JOIN LATERAL ({query}) n"
    return f" CROSS JOIN chunk n ON n.id IN ({query})"
