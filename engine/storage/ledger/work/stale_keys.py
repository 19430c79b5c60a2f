"""Generations and stale marks: what must be projected anew, and since when."""

from __future__ import annotations

import json
import time
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from engine.storage.sqlite.connection import Connection


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


async def next_generation(db: Connection) -> int:
    """The number of this change, greater than all before it."""
    [[value]] = await db.execute_fetchall(
        "INSERT INTO meta VALUES ('generation', 1) ON CONFLICT DO UPDATE SET value = value + 1 RETURNING value"
    )
    return int(value)


async def mark(db: Connection, kind: Stale, ids: Iterable[int], generation: int) -> None:
    """Say that these keys must be projected anew."""
    await db.executemany(
        "INSERT INTO stale (kind, id, since, generation) VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET generation = excluded.generation, tries = 0, retry_at = 0",
        [(kind, each, generation, generation) for each in ids],
    )


async def unmark(db: Connection, marks: Collection[Mark]) -> None:
    """Take the marks away, but for those that a newer change has set again meanwhile."""
    await db.executemany("DELETE FROM stale WHERE kind = ? AND id = ? AND generation = ?", marks)
    await db.executemany(
        "UPDATE stale SET since = MAX(since, ?) WHERE kind = ? AND id = ?",
        [(each.generation + 1, each.kind, each.id) for each in marks],
    )


async def stale_marks(db: Connection, kind: Stale, limit: int, skip: Collection[Mark] = ()) -> list[Mark]:
    """The marks of a kind that are due and not held, oldest first, but those of the keys of `skip`."""
    rows = await db.execute_fetchall(
        "SELECT id, generation FROM stale WHERE kind = ? AND held = 0 AND retry_at <= ?"
        " AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY since LIMIT ?",
        (kind, time.time(), json.dumps([each.id for each in skip if each.kind == kind]), limit),
    )
    return [Mark(kind, id_, generation) for id_, generation in rows]


async def marks_of(db: Connection, kind: Stale, ids: Iterable[int]) -> list[Mark]:
    """The marks of these keys, as far as they have one."""
    rows = await db.execute_fetchall(
        "SELECT s.id, s.generation FROM json_each(?) j CROSS JOIN stale s ON s.kind = ? AND s.id = j.value",
        (json.dumps(list(ids)), kind),
    )
    return [Mark(kind, id_, generation) for id_, generation in rows]


async def changed_since(db: Connection, marks: Collection[Mark]) -> list[Mark]:
    """Those of the marks whose keys changed again after they were read."""
    rows = await db.execute_fetchall(
        "SELECT s.kind, s.id, s.generation FROM json_each(?) j CROSS JOIN stale s"
        " ON s.kind = json_extract(j.value, '$[0]') AND s.id = json_extract(j.value, '$[1]')"
        " WHERE s.generation > json_extract(j.value, '$[2]')",
        (json.dumps(list(marks)),),
    )
    return [Mark(Stale(kind), id_, generation) for kind, id_, generation in rows]


async def hold(db: Connection, marks: Collection[Mark]) -> None:
    """Let hot keys wait for the end of their quiet period."""
    await db.executemany(
        "UPDATE stale SET held = 1 WHERE kind = ? AND id = ?", [(each.kind, each.id) for each in marks]
    )


async def release_held(db: Connection) -> None:
    """The quiet period has ended: what waits for it is due."""
    await db.execute("UPDATE stale SET held = 0 WHERE held = 1")


async def all_stale(db: Connection) -> list[tuple[Stale, int]]:
    """Every key whose projection is behind."""
    return [(Stale(kind), id_) for kind, id_ in await db.execute_fetchall("SELECT kind, id FROM stale")]


async def first_stale(db: Connection, *, held: bool = True) -> int | None:
    """The generation of the oldest change that is not projected, if any; without those that are held, if so wished."""
    which = "" if held else " WHERE held = 0"
    [[first]] = await db.execute_fetchall(f"SELECT MIN(since) FROM stale{which}")
    return None if first is None else int(first)
