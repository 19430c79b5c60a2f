"""Corrections by hand (aliases, pinned descriptions, hidden keys): they survive a reindex and can be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import InvalidQuestion, NotFound
from engine.storage.ledger.content.rooms import get_or_create_id
from engine.storage.ledger.correction_sql import NAME_DESCRIPTION, NAME_HIDDEN, PAIR_DESCRIPTION, PAIR_HIDDEN
from engine.storage.ledger.invalidation import invalidate_keys
from engine.storage.ledger.joins.aliases import (
    Alias,
    change_aliases,
    load_automatic_aliases,
    name_ids,
    touching_keys,
)
from engine.storage.ledger.joins.refresh import refresh_joins
from engine.storage.ledger.names import resolve_manual_aliases
from engine.storage.ledger.records.content import KeyCorrection
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.work.stale_keys import next_generation
from engine.storage.ledger.work.work_queue import set_setting
from engine.storage.sql.lists import id_list
from engine.text.names import normalize_name

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.storage.sql.connection import Connection


NAME_HINT = "Write names as they appear in the documents; capitals make no difference."


_CORRECTION_QUERIES = {
    KeyKind.NAME: f"SELECT n.id, {NAME_DESCRIPTION}, {NAME_HIDDEN}"
    " FROM json_each(?) j CROSS JOIN name n ON n.id = j.value",
    KeyKind.PAIR: f"SELECT p.id, {PAIR_DESCRIPTION}, {PAIR_HIDDEN}"
    " FROM json_each(?) j CROSS JOIN pair p ON p.id = j.value",
}


async def load_corrections(db: Connection, kind: KeyKind, ids: Collection[int]) -> dict[int, KeyCorrection]:
    """Pinned descriptions and hidden keys among these names or pairs; missing ids are left out."""
    rows = await db.execute_fetchall(_CORRECTION_QUERIES[kind], (id_list(ids),))
    return {id_: KeyCorrection(override, bool(hidden)) for id_, override, hidden in rows}


async def find_space_id(db: Connection, space: str) -> int:
    """The id of a space. Raises NotFound."""
    for (id_,) in await db.execute_fetchall("SELECT id FROM space WHERE name = ?", (space,)):
        return int(id_)
    raise NotFound("Nothing is known here yet.", hint="Add documents first.")


async def resolve_place(db: Connection, space: str, room: str) -> tuple[int, int]:
    """The ids of a correction's space and room (0 for none); a moved room decides the space."""
    if not room:
        return await find_space_id(db, space), 0
    for id_, settled in await db.execute_fetchall("SELECT id, space FROM room WHERE name = ?", (room,)):
        return settled or await find_space_id(db, space), id_
    return await find_space_id(db, space), await get_or_create_id(db, "room", room)


async def merge_names(db: Connection, space: str, name: str, into: str, room: str = "") -> list[str]:
    """Make a name an alias of another within a space; returns those of the two that are unknown.

    Raises NotFound if both are unknown.
    """
    (id_, made_in), alias, target = await resolve_place(db, space, room), normalize_name(name), normalize_name(into)
    if not alias or not target or alias == target:
        raise InvalidQuestion(f"“{name}” and “{into}” are not two different names.", hint=NAME_HINT)
    unknown = [each for each in (name, into) if not await name_ids(db, id_, {normalize_name(each)})]
    if len(unknown) > 1:
        raise NotFound(f"Neither “{name}” nor “{into}” is known here.", hint=NAME_HINT)
    await save_alias(db, id_, alias, Alias(target, room=made_in))
    return unknown


async def save_alias(db: Connection, space: int, name: str, alias: Alias) -> None:
    """Save an alias made by hand; it replaces automatic ones, and what was separated before."""
    a, b = sorted((name, alias.target))
    await db.execute("DELETE FROM distinct_names WHERE space = ? AND a = ? AND b = ?", (space, a, b))
    replaced = dict.fromkeys(await load_automatic_aliases(db, space, {name}))
    await change_aliases(db, space, replaced | {name: alias})
    await refresh_joins(db, space, {name, alias.target, *replaced})


async def remove_alias(db: Connection, space: int, name: str, target: str) -> None:
    """Remove an alias made by hand; its names may be joined automatically then, as they would be without it."""
    await change_aliases(db, space, {name: None})
    await refresh_joins(db, space, {name, target})


async def unmerge_name(db: Connection, space: str, name: str, room: str = "") -> None:
    """Remove an alias; if its names would then be joined automatically, they are separated. Raises NotFound.

    A name that is joined automatically is separated from all names that it is joined with.
    """
    (id_, made_in), alias = await resolve_place(db, space, room), normalize_name(name)
    rows = await db.execute_fetchall(
        "SELECT target FROM alias WHERE space = ? AND name = ? AND reason = ''", (id_, alias)
    )
    for (target,) in rows:
        await remove_alias(db, id_, alias, target)
        if target in await _find_joined(db, id_, alias):
            await save_distinct(db, id_, alias, {target}, made_in)
        return
    joined = await _find_joined(db, id_, alias)
    if not joined:
        raise NotFound(f"“{name}” is not merged into another name.", hint="Only merged names can be separated.")
    await save_distinct(db, id_, alias, joined, made_in)


async def _find_joined(db: Connection, space: int, name: str) -> set[str]:
    """The names with which a name is joined automatically: its target, and those with the same target."""
    own = await load_automatic_aliases(db, space, {name})
    around = await load_automatic_aliases(db, space, {name, *(alias.target for alias in own.values())})
    return {each for source, alias in around.items() for each in (source, alias.target)} - {name}


async def separate_names(db: Connection, space: str, name: str, other: str, room: str = "") -> None:
    """Record that two names are different; their join ends. Raises NotFound if both are unknown."""
    (id_, made_in), a, b = await resolve_place(db, space, room), normalize_name(name), normalize_name(other)
    if not a or not b or a == b:
        raise InvalidQuestion(f"“{name}” and “{other}” are not two different names.", hint=NAME_HINT)
    if not await name_ids(db, id_, {a, b}):
        raise NotFound(f"Neither “{name}” nor “{other}” is known here.", hint=NAME_HINT)
    for source, target in ((a, b), (b, a)):
        if list(
            await db.execute_fetchall(
                "SELECT 1 FROM alias WHERE space = ? AND name = ? AND target = ? AND reason = ''", (id_, source, target)
            )
        ):
            await change_aliases(db, id_, {source: None})
    await save_distinct(db, id_, a, {b}, made_in)


async def save_distinct(db: Connection, space: int, name: str, others: Collection[str], room: int) -> None:
    """Record that a name and each of some others are different; their joins end."""
    await db.executemany(
        "INSERT INTO distinct_names (space, a, b, room) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(space, min(name, other), max(name, other), room) for other in others],
    )
    await refresh_joins(db, space, {name, *others})


async def remove_distinct(db: Connection, space: int, a: str, b: str) -> None:
    """Remove the record that two names are different; they may be joined automatically then."""
    await db.execute("DELETE FROM distinct_names WHERE space = ? AND a = ? AND b = ?", (space, min(a, b), max(a, b)))
    await refresh_joins(db, space, {a, b})


async def pin_description(db: Connection, space: str, names: tuple[str, str], description: str, room: str = "") -> None:
    """Set a description that overrides the merged one; an empty one removes it. An entity is (name, "")."""
    id_, made_in = await resolve_place(db, space, room)
    a, b = order_names(names)
    if description:
        await _check_exists(db, id_, a, b)
        await db.execute(
            "INSERT INTO description_override (space, a, b, description, room) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (space, a, b) DO UPDATE SET description = excluded.description, room = excluded.room",
            (id_, a, b, description, made_in),
        )
    else:
        await _remove_correction(db, "description_override", id_, a, b)
    await _invalidate(db, id_, a, b)


async def set_hidden(db: Connection, space: str, names: tuple[str, str], room: str = "", *, hidden: bool) -> None:
    """Hide an entity (with its relations) or a relation, or show it again."""
    id_, made_in = await resolve_place(db, space, room)
    a, b = order_names(names)
    if hidden:
        await _check_exists(db, id_, a, b)
        sql = "INSERT INTO hidden_key (space, a, b, room) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        await db.execute(sql, (id_, a, b, made_in))
    else:
        await _remove_correction(db, "hidden_key", id_, a, b)
    await _invalidate(db, id_, a, b, relations=True)


async def move_corrections(db: Connection, room: int, space: int | None) -> None:
    """Move the corrections made in a room into a space; None removes them.

    Existing corrections of that space win; an alias that would form a circle there is removed.
    """
    where = "WHERE room = ?1 AND room <> 0 AND space IS NOT ?2"
    for table, columns in (("description_override", "description, room"), ("hidden_key", "room")):
        rows = await db.execute_fetchall(f"DELETE FROM {table} {where} RETURNING space, a, b, {columns}", (room, space))
        for old_space, a, b, *rest in list(rows):
            if space is not None:
                marks = ", ".join("?" * len(rest))
                await db.execute(
                    f"INSERT INTO {table} (space, a, b, {columns}) VALUES (?, ?, ?, {marks}) ON CONFLICT DO NOTHING",
                    (space, a, b, *rest),
                )
                await _invalidate(db, space, a, b, relations=True)
            await _invalidate(db, old_space, a, b, relations=True)
    led = await db.execute_fetchall(f"SELECT space, name, target FROM alias {where}", (room, space))
    for old_space, name, target in list(led):
        await change_aliases(db, old_space, {name: None})
        await refresh_joins(db, old_space, {name, target})
        if space is not None and await _can_alias(db, space, name, target):
            await save_alias(db, space, name, Alias(target, room=room))
    parted = await db.execute_fetchall(f"DELETE FROM distinct_names {where} RETURNING space, a, b", (room, space))
    for old_space, a, b in list(parted):
        await refresh_joins(db, old_space, {a, b})
        if space is not None:
            await save_distinct(db, space, a, {b}, room)
    if space is None:
        await set_setting(db, "last_removal", await next_generation(db))


async def _can_alias(db: Connection, space: int, name: str, target: str) -> bool:
    """Whether a name may become an alias of another in this space: it has no alias yet, and no circle results."""
    sql = "SELECT 1 FROM alias WHERE space = ? AND name = ? AND reason = ''"
    existing = await db.execute_fetchall(sql, (space, name))
    return not list(existing) and (await resolve_manual_aliases(db, space, {target})).get(target) != name


def order_names(names: tuple[str, str]) -> tuple[str, str]:
    """Canonical names in the order of pinned descriptions and hidden keys; the second is "" for an entity."""
    a, b = normalize_name(names[0]), normalize_name(names[1]) if names[1] else ""
    if not a or (names[1] and (not b or a == b)):
        raise InvalidQuestion(f"“{' ~ '.join(filter(None, names))}” names nothing.", hint=NAME_HINT)
    return (min(a, b), max(a, b)) if b else (a, "")


async def _check_exists(db: Connection, space: int, a: str, b: str) -> None:
    if len(await name_ids(db, space, {a, b} - {""})) < (2 if b else 1):
        raise NotFound(f"“{' ~ '.join(filter(None, (a, b)))}” is not known here.", hint=NAME_HINT)


async def _remove_correction(db: Connection, table: str, space: int, a: str, b: str) -> None:
    """Remove a correction; its names may be gone from the ledger."""
    deleted = await db.execute_fetchall(
        f"DELETE FROM {table} WHERE space = ? AND a = ? AND b = ? RETURNING a", (space, a, b)
    )
    if not list(deleted):
        await _check_exists(db, space, a, b)


async def _invalidate(db: Connection, space: int, a: str, b: str, *, relations: bool = False) -> None:
    """Mark an entity (with its relations on request) or a relation stale."""
    ids = await name_ids(db, space, {a, b} - {""})
    if b:
        names, pairs = set[int](), await _pair_ids(db, ids)
    else:
        names, pairs = await touching_keys(db, ids)
    await invalidate_keys(db, names, pairs if b or relations else (), await next_generation(db))


async def _pair_ids(db: Connection, ends: Collection[int]) -> set[int]:
    """The pair of two names, and the pair of the names that they lead to."""
    rows = await db.execute_fetchall(
        "WITH led (id) AS (SELECT n.id FROM json_each(?) j CROSS JOIN name n ON n.id = j.value"
        " UNION SELECT n.target FROM json_each(?) j CROSS JOIN name n ON n.id = j.value)"
        " SELECT p.id, p.target FROM led x CROSS JOIN led y CROSS JOIN pair p ON p.a = x.id AND p.b = y.id",
        (id_list(ends), id_list(ends)),
    )
    return {each for row in rows for each in row if each}
