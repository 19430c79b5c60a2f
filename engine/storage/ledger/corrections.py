"""Corrections by hand: aliases, pins and hidden keys, as facts that outlive a rebuild and can be taken back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from engine.errors import BadQuestion, NotFound
from engine.storage.ledger.content.rooms import intern
from engine.storage.ledger.facts import settle_keys
from engine.storage.ledger.names import intern_names, lead, leads, led_through
from engine.storage.ledger.work.stale_keys import Stale, next_generation
from engine.text.names import canonical

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.storage.sqlite.connection import Connection


AS_READ = "Write names as they were read; capitals make no difference."


class ByHand(NamedTuple):
    """What was corrected of a key: a description that overrides the fold, and whether it is out of sight."""

    pin: str | None
    hidden: bool


_BY_HAND = {
    Stale.NAME: "SELECT n.id, p.description,"
    " EXISTS (SELECT 1 FROM hidden h WHERE h.space = n.space AND h.a = n.canonical AND h.b = '')"
    " FROM json_each(?) j CROSS JOIN name n ON n.id = j.value"
    " LEFT JOIN pin p ON p.space = n.space AND p.a = n.canonical AND p.b = ''",
    Stale.PAIR: "SELECT p.id, i.description, EXISTS (SELECT 1 FROM hidden h WHERE h.space = p.space AND"
    " ((h.b = '' AND h.a IN (x.canonical, y.canonical)) OR (h.a = MIN(x.canonical, y.canonical)"
    " AND h.b = MAX(x.canonical, y.canonical)))) FROM json_each(?) j CROSS JOIN pair p ON p.id = j.value"
    " CROSS JOIN name x ON x.id = p.a CROSS JOIN name y ON y.id = p.b"
    " LEFT JOIN pin i ON i.space = p.space AND i.a = MIN(x.canonical, y.canonical)"
    " AND i.b = MAX(x.canonical, y.canonical)",
}


async def by_hand(db: Connection, kind: Stale, ids: Collection[int]) -> dict[int, ByHand]:
    """Pins and hidden keys among these names or pairs; ids that are gone are absent."""
    rows = await db.execute_fetchall(_BY_HAND[kind], (json.dumps(list(ids)),))
    return {id_: ByHand(pin, bool(hidden)) for id_, pin, hidden in rows}


async def space_of(db: Connection, space: str) -> int:
    """The integer of a space that exists."""
    for (id_,) in await db.execute_fetchall("SELECT id FROM space WHERE name = ?", (space,)):
        return int(id_)
    raise NotFound("Nothing is known here yet.", hint="Something has to be read before it can be corrected.")


async def _place(db: Connection, space: str, room: str) -> tuple[int, int]:
    """The space and the room (0 without one) that a correction belongs to; a room that was moved decides itself."""
    if not room:
        return await space_of(db, space), 0
    for id_, settled in await db.execute_fetchall("SELECT id, space FROM room WHERE name = ?", (room,)):
        return settled or await space_of(db, space), id_
    return await space_of(db, space), await intern(db, "room", room)


async def merge(db: Connection, space: str, name: str, into: str, room: str = "") -> list[str]:
    """Let a name lead to another one, within a space; one of them may be yet to come, and is given back.

    Raises NotFound if neither was ever told.
    """
    (id_, made_in), alias, target = await _place(db, space, room), canonical(name), canonical(into)
    if not alias or not target or alias == target:
        raise BadQuestion(f"“{name}” and “{into}” are not two different names.", hint=AS_READ)
    unknown = [each for each in (name, into) if not await _ids(db, id_, {canonical(each)})]
    if len(unknown) > 1:
        raise NotFound(f"Neither “{name}” nor “{into}” is known here.", hint=AS_READ)
    await _alias(db, id_, made_in, alias, target)
    return unknown


async def _alias(db: Connection, space: int, room: int, name: str, target: str) -> None:
    await intern_names(db, space, {name, target})
    await db.execute(
        "INSERT OR REPLACE INTO alias (space, name, target, room) VALUES (?, ?, ?, ?)", (space, name, target, room)
    )
    await _follow(db, space, name)


async def unmerge(db: Connection, space: str, name: str, room: str = "") -> None:
    """Let a name stand for itself again."""
    id_, _ = await _place(db, space, room)
    gone = await db.execute_fetchall(
        "DELETE FROM alias WHERE space = ? AND name = ? RETURNING name", (id_, canonical(name))
    )
    if not list(gone):
        raise NotFound(f"“{name}” does not lead to another name.", hint="Only what was merged can be parted again.")
    await _follow(db, id_, canonical(name))


async def _follow(db: Connection, space: int, name: str) -> None:
    """Bring up to date what leads through a name whose alias has changed, and mark what that changes; nothing else."""
    led = await led_through(db, space, name)
    before = await _neighbourhood(db, await _ids(db, space, led))
    await lead(db, space, led)
    after = await _neighbourhood(db, await _ids(db, space, led))
    generation = await next_generation(db)
    await settle_keys(db, before[0] | after[0], before[1] | after[1], generation)


async def _ids(db: Connection, space: int, names: Collection[str]) -> set[int]:
    rows = await db.execute_fetchall(
        "SELECT id FROM name WHERE space = ? AND canonical IN (SELECT value FROM json_each(?))",
        (space, json.dumps(list(names))),
    )
    return {row[0] for row in rows}


async def _neighbourhood(db: Connection, names: Collection[int]) -> tuple[set[int], set[int]]:
    """These names and all pairs they are in, each with where it leads."""
    listed = (json.dumps(list(names)),)
    led = await db.execute_fetchall("SELECT id, target FROM name WHERE id IN (SELECT value FROM json_each(?))", listed)
    pairs = await db.execute_fetchall(
        "SELECT id, target FROM pair WHERE a IN (SELECT value FROM json_each(?1))"
        " OR b IN (SELECT value FROM json_each(?1))",
        listed,
    )
    return {each for row in led for each in row}, {each for row in pairs for each in row if each}


async def pin(db: Connection, space: str, names: tuple[str, str], description: str, room: str = "") -> None:
    """Let a description override the fold; an empty one takes the pin back. An entity is (name, "")."""
    id_, made_in = await _place(db, space, room)
    a, b = ordered(names)
    if description:
        await _must_be_known(db, id_, a, b)
        await db.execute(
            "INSERT OR REPLACE INTO pin (space, a, b, description, room) VALUES (?, ?, ?, ?, ?)",
            (id_, a, b, description, made_in),
        )
    else:
        await _take_back(db, "pin", id_, a, b)
    await _touch(db, id_, a, b)


async def hide(db: Connection, space: str, names: tuple[str, str], room: str = "", *, hidden: bool) -> None:
    """Take an entity (with its relations) or a relation out of sight, or show it again."""
    id_, made_in = await _place(db, space, room)
    a, b = ordered(names)
    if hidden:
        await _must_be_known(db, id_, a, b)
        await db.execute("INSERT OR IGNORE INTO hidden (space, a, b, room) VALUES (?, ?, ?, ?)", (id_, a, b, made_in))
    else:
        await _take_back(db, "hidden", id_, a, b)
    await _touch(db, id_, a, b, relations=True)


async def carry_corrections(db: Connection, room: int, space: int | None) -> None:
    """Move what was corrected in a room into a space, or withdraw it (None).

    What was corrected there otherwise already stays so; an alias that would lead in a circle there is withdrawn.
    """
    where = "WHERE room = ?1 AND ?1 AND space IS NOT ?2"
    for kept, columns in (("pin", "description, room"), ("hidden", "room")):
        rows = await db.execute_fetchall(f"DELETE FROM {kept} {where} RETURNING space, a, b, {columns}", (room, space))
        for former, a, b, *rest in list(rows):
            if space is not None:
                marks = ", ".join("?" * len(rest))
                await db.execute(
                    f"INSERT OR IGNORE INTO {kept} (space, a, b, {columns}) VALUES (?, ?, ?, {marks})",
                    (space, a, b, *rest),
                )
                await _touch(db, space, a, b, relations=True)
            await _touch(db, former, a, b, relations=True)
    led = await db.execute_fetchall(f"DELETE FROM alias {where} RETURNING space, name, target", (room, space))
    for former, name, target in list(led):
        await _follow(db, former, name)
        if space is not None and await _leads_on(db, space, name, target):
            await _alias(db, space, room, name, target)
    if space is None:
        await db.execute("INSERT OR REPLACE INTO meta VALUES ('removed', ?)", (await next_generation(db),))


async def _leads_on(db: Connection, space: int, name: str, target: str) -> bool:
    """Whether a name may lead to another one in this space: it leads nowhere yet, and the other one not back to it."""
    taken = await db.execute_fetchall("SELECT 1 FROM alias WHERE space = ? AND name = ?", (space, name))
    return not list(taken) and (await leads(db, space, {target}))[target] != name


def ordered(names: tuple[str, str]) -> tuple[str, str]:
    """Canonical names, in the order in which pins and hidden keys are kept; the second is "" for an entity."""
    a, b = canonical(names[0]), canonical(names[1]) if names[1] else ""
    if not a or (names[1] and (not b or a == b)):
        raise BadQuestion(f"“{' ~ '.join(filter(None, names))}” names nothing.", hint=AS_READ)
    return (min(a, b), max(a, b)) if b else (a, "")


async def _must_be_known(db: Connection, space: int, a: str, b: str) -> None:
    if len(await _ids(db, space, {a, b} - {""})) < (2 if b else 1):
        raise NotFound(f"“{' ~ '.join(filter(None, (a, b)))}” is not known here.", hint=AS_READ)


async def _take_back(db: Connection, table: str, space: int, a: str, b: str) -> None:
    """Remove a correction, whose names may be forgotten meanwhile."""
    gone = await db.execute_fetchall(
        f"DELETE FROM {table} WHERE space = ? AND a = ? AND b = ? RETURNING a", (space, a, b)
    )
    if not list(gone):
        await _must_be_known(db, space, a, b)


async def _touch(db: Connection, space: int, a: str, b: str, *, relations: bool = False) -> None:
    """Mark an entity stale (with its relations, if so wished), or a relation alone."""
    ids = await _ids(db, space, {a, b} - {""})
    if b:
        names, pairs = set[int](), await _pair(db, ids)
    else:
        names, pairs = await _neighbourhood(db, ids)
    await settle_keys(db, names, pairs if b or relations else (), await next_generation(db))


async def _pair(db: Connection, ends: Collection[int]) -> set[int]:
    """The pair of two names, and where it leads."""
    if len(ends) < 2:
        return set()
    rows = await db.execute_fetchall("SELECT id, target FROM pair WHERE a = ? AND b = ?", (min(ends), max(ends)))
    return {each for row in rows for each in row if each}
