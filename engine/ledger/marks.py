"""Generations and stale marks: what must be projected anew, and since when."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import aiosqlite


class Stale(IntEnum):
    """The kinds of keys that are projected."""

    CHUNK = 0
    NAME = 1
    PAIR = 2


class Mark(NamedTuple):
    """A key whose projection is behind; the mark goes only if `generation` is still the last."""

    kind: Stale
    id: int
    generation: int


async def next_generation(db: aiosqlite.Connection) -> int:
    """The number of this change, greater than all before it."""
    [[value]] = await db.execute_fetchall(
        "INSERT INTO meta VALUES ('generation', 1) ON CONFLICT DO UPDATE SET value = value + 1 RETURNING value"
    )
    return int(value)


async def mark(db: aiosqlite.Connection, kind: Stale, ids: Iterable[int], generation: int) -> None:
    """Say that these keys must be projected anew."""
    await db.executemany(
        "INSERT INTO stale VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET generation = excluded.generation",
        [(kind, each, generation, generation) for each in ids],
    )


async def unmark(db: aiosqlite.Connection, marks: Collection[Mark]) -> None:
    """Take the marks away, but for those that a newer change has set again meanwhile."""
    await db.executemany("DELETE FROM stale WHERE kind = ? AND id = ? AND generation = ?", marks)
    await db.executemany(
        "UPDATE stale SET since = MAX(since, ?) WHERE kind = ? AND id = ?",
        [(each.generation + 1, each.kind, each.id) for each in marks],
    )
