"""Rooms and their spaces, and moving a document to another space.

The space of a moved room holds for all its documents and corrections.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.invalidation import delete_cached_answers, invalidate_keys
from engine.storage.ledger.joins.definitions import move_definitions
from engine.storage.ledger.joins.refresh import refresh_joins_by_id
from engine.storage.ledger.names import intern_names, intern_pairs
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.work.stale_keys import add_stale_keys, add_stale_targets, next_generation

if TYPE_CHECKING:
    from engine.storage.sql.connection import Connection


async def get_or_create_id(db: Connection, table: str, name: str) -> int:
    """The id of a space or a room."""
    rows = list(await db.execute_fetchall(f"SELECT id FROM {table} WHERE name = ?", (name,)))
    if not rows:
        rows = list(await db.execute_fetchall(f"INSERT INTO {table} (name) VALUES (?) RETURNING id", (name,)))
    return int(rows[0][0])


async def resolve_location(db: Connection, room: str, space: str) -> tuple[int, int]:
    """The ids of a space and a room; a moved room overrides the caller's space, which may be outdated."""
    rows = await db.execute_fetchall("SELECT id, space FROM room WHERE name = ?", (room,))
    for id_, settled in rows:
        return (await get_or_create_id(db, "space", space) if settled is None else int(settled)), int(id_)
    return await get_or_create_id(db, "space", space), await get_or_create_id(db, "room", room)


async def set_room_space(db: Connection, room: int, space: int | None) -> None:
    """Set the space of a room; None makes the callers' space count again."""
    await db.execute("UPDATE room SET space = ? WHERE id = ?", (space, room))


async def move_to_space(db: Connection, document: int, space: int) -> None:
    """Move a document with its chunks, mentions and links; mark the keys of both spaces stale."""
    generation = await next_generation(db)
    await db.execute("UPDATE document SET space = ? WHERE id = ?", (space, document))
    chunks = await db.execute_fetchall("UPDATE chunk SET space = ? WHERE document = ? RETURNING id", (space, document))
    ids = [row[0] for row in chunks]
    await add_stale_keys(db, KeyKind.CHUNK, ids, generation)
    await delete_cached_answers(db, KeyKind.CHUNK, ids)
    mentions = list(
        await db.execute_fetchall(
            "SELECT m.chunk, m.number, m.name, n.canonical FROM chunk c JOIN mention m ON m.chunk = c.id"
            " JOIN name n ON n.id = m.name WHERE c.document = ?",
            (document,),
        )
    )
    links = list(
        await db.execute_fetchall(
            "SELECT f.chunk, f.number, f.pair, x.canonical, y.canonical FROM chunk c JOIN link f ON f.chunk = c.id"
            " JOIN pair p ON p.id = f.pair JOIN name x ON x.id = p.a JOIN name y ON y.id = p.b WHERE c.document = ?",
            (document,),
        )
    )
    names = await intern_names(db, space, {name for *_, name in mentions})
    ends = [(min(names[a], names[b]), max(names[a], names[b])) for *_, a, b in links]
    pairs = await intern_pairs(db, space, set(ends))
    await db.executemany(
        "UPDATE mention SET name = ? WHERE chunk = ? AND number = ?",
        [(names[name], chunk, number) for chunk, number, _, name in mentions],
    )
    await db.executemany(
        "UPDATE link SET pair = ? WHERE chunk = ? AND number = ?",
        [(pairs[pair], chunk, number) for pair, (chunk, number, *_) in zip(ends, links, strict=True)],
    )
    moved = {name for _, _, name, _ in mentions} | set(names.values())
    await refresh_joins_by_id(db, moved, await move_definitions(db, ids, space))
    await invalidate_keys(db, {name for _, _, name, _ in mentions}, {pair for _, _, pair, *_ in links}, generation)
    await add_stale_targets(db, names.values(), pairs.values(), generation)
