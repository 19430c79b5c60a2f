"""Stale keys: what must be projected again, and since which generation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.records.projection import KeyKind, StaleKey
from engine.storage.sql.lists import id_list

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from engine.storage.sql.connection import Connection


_MARK_AGAIN = (
    "ON CONFLICT (kind, id) DO UPDATE SET generation = excluded.generation, attempts = 0, retry_at = 0,"
    " space = excluded.space"
)


async def next_generation(db: Connection) -> int:
    """The number of this change, greater than all before it."""
    [[value]] = await db.execute_fetchall(
        "INSERT INTO meta (key, value) VALUES ('generation', '1')"
        " ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(meta.value AS BIGINT) + 1 AS TEXT) RETURNING value"
    )
    return int(value)


async def add_stale_keys(db: Connection, kind: KeyKind, ids: Iterable[int], generation: int) -> None:
    """Mark these keys stale; one that a process has claimed stays claimed."""
    if listed := sorted(set(ids)):
        await db.execute(
            "INSERT INTO stale_key (kind, id, space, first_generation, generation)"
            " SELECT ?1, j.value, COALESCE(k.space, 0), ?2, ?2 FROM json_each(?3) j"
            f" LEFT JOIN {kind.name.lower()} k ON k.id = j.value WHERE true"
            f" {_MARK_AGAIN}",
            (kind, generation, id_list(listed)),
        )


async def add_stale_targets(db: Connection, names: Iterable[int], pairs: Iterable[int], generation: int) -> None:
    """Mark the keys stale whose profiles include these names and pairs; a target is in the space of its names."""
    for kind, ids in ((KeyKind.NAME, names), (KeyKind.PAIR, pairs)):
        if listed := sorted(set(ids)):
            await db.execute(
                "INSERT INTO stale_key (kind, id, space, first_generation, generation)"
                f" SELECT ?1, k.target, MIN(k.space), ?2, ?2 FROM json_each(?3) j"
                f" CROSS JOIN {kind.name.lower()} k ON k.id = j.value WHERE k.target > 0 GROUP BY k.target"
                f" {_MARK_AGAIN}",
                (kind, generation, id_list(listed)),
            )


async def remove_stale_keys(db: Connection, marks: Collection[StaleKey]) -> None:
    """Remove these stale keys; those that a newer change has marked again remain, and are free."""
    await db.executemany(
        "DELETE FROM stale_key WHERE kind = ? AND id = ? AND generation = ?",
        [(mark.kind, mark.id, mark.generation) for mark in marks],
    )
    await db.executemany(
        "UPDATE stale_key SET first_generation = MAX(first_generation, ?), claimed_by = NULL WHERE kind = ? AND id = ?",
        [(mark.generation + 1, mark.kind, mark.id) for mark in marks],
    )


async def find_stale_keys(db: Connection, kind: KeyKind, ids: Iterable[int]) -> list[StaleKey]:
    """The stale ones among these keys."""
    rows = await db.execute_fetchall(
        "SELECT s.id, s.generation FROM json_each(?) j CROSS JOIN stale_key s ON s.kind = ? AND s.id = j.value",
        (id_list(ids), kind),
    )
    return [StaleKey(kind, id_, generation) for id_, generation in rows]


async def find_changed_keys(db: Connection, marks: Collection[StaleKey]) -> list[StaleKey]:
    """Those of the stale keys that changed again since they were loaded."""
    known = {(each.kind, each.id): each.generation for each in marks}
    found = [
        key
        for kind in KeyKind
        for key in await find_stale_keys(db, kind, [each.id for each in marks if each.kind == kind])
    ]
    return [key for key in found if key.generation > known[key.kind, key.id]]


async def hold_keys(db: Connection, marks: Collection[StaleKey]) -> None:
    """Hold keys that change often until the end of their quiet period."""
    await db.executemany(
        "UPDATE stale_key SET on_cooldown = 1, claimed_by = NULL WHERE kind = ? AND id = ?",
        [(each.kind, each.id) for each in marks],
    )


async def release_held_keys(db: Connection) -> None:
    """Make the keys held for a quiet period due."""
    await db.execute("UPDATE stale_key SET on_cooldown = 0 WHERE on_cooldown = 1")


async def list_all_stale(db: Connection) -> list[tuple[KeyKind, int]]:
    """Every stale key."""
    return [(KeyKind(kind), id_) for kind, id_ in await db.execute_fetchall("SELECT kind, id FROM stale_key")]


async def find_first_stale(db: Connection, *, held: bool = True) -> int | None:
    """The generation of the oldest change that is not projected; without held keys if `held` is False."""
    which = "" if held else " WHERE on_cooldown = 0"
    [[first]] = await db.execute_fetchall(f"SELECT MIN(first_generation) FROM stale_key{which}")
    return None if first is None else int(first)
