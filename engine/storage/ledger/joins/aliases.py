"""Changing aliases: the names that lead through them get new targets, and what they affect becomes stale."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from engine.storage.ledger.invalidation import invalidate_keys
from engine.storage.ledger.names import find_aliased_names, intern_names, update_name_targets
from engine.storage.ledger.work.stale_keys import next_generation
from engine.storage.sql.lists import id_list, text_list

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from engine.storage.sql.connection import Connection


class Alias(NamedTuple):
    """Where a name leads. `reason`: of an automatic alias, "" if it was made by hand. `room`: that it moves with."""

    target: str
    reason: str = ""
    room: int = 0


async def change_aliases(db: Connection, space: int, changes: Mapping[str, Alias | None]) -> None:
    """Set these aliases, or remove those that are None. Raises InvalidQuestion if they form a circle."""
    if not changes:
        return
    led = await find_aliased_names(db, space, changes)
    before = await touching_keys(db, await name_ids(db, space, led))
    await intern_names(db, space, {each for name, alias in changes.items() if alias for each in (name, alias.target)})
    await db.executemany("DELETE FROM alias WHERE space = ? AND name = ?", [(space, name) for name in changes])
    await db.executemany(
        "INSERT INTO alias (space, name, target, reason, room) VALUES (?, ?, ?, ?, ?)",
        [(space, name, *alias) for name, alias in changes.items() if alias],
    )
    await update_name_targets(db, space, led)
    after = await touching_keys(db, await name_ids(db, space, led))
    generation = await next_generation(db)
    await invalidate_keys(db, before[0] | after[0], before[1] | after[1], generation)


async def load_automatic_aliases(db: Connection, space: int, names: Collection[str]) -> dict[str, Alias]:
    """The automatic aliases from or to any of these names."""
    rows = await db.execute_fetchall(
        "SELECT name, target, reason FROM alias WHERE space = ?1 AND reason <> '' AND name IN"
        " (SELECT value FROM json_each(?2)) UNION SELECT name, target, reason FROM alias"
        " WHERE space = ?1 AND reason <> '' AND target IN (SELECT value FROM json_each(?2))",
        (space, text_list(names)),
    )
    return {name: Alias(target, reason) for name, target, reason in rows}


async def name_ids(db: Connection, space: int, names: Collection[str]) -> set[int]:
    """The ids of those canonical names that exist."""
    rows = await db.execute_fetchall(
        "SELECT id FROM name WHERE space = ? AND canonical IN (SELECT value FROM json_each(?))",
        (space, text_list(names)),
    )
    return {row[0] for row in rows}


async def touching_keys(db: Connection, names: Collection[int]) -> tuple[set[int], set[int]]:
    """These names and their pairs, each with its target."""
    listed = (id_list(names),)
    led = await db.execute_fetchall("SELECT id, target FROM name WHERE id IN (SELECT value FROM json_each(?))", listed)
    pairs = await db.execute_fetchall(
        "SELECT id, target FROM pair WHERE a IN (SELECT value FROM json_each(?1))"
        " OR b IN (SELECT value FROM json_each(?1))",
        listed,
    )
    return {each for row in led for each in row}, {each for row in pairs for each in row if each}
