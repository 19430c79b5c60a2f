"""Rooms and their spaces. The space of a moved room holds for all its documents and corrections."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.storage.sqlite.connection import Connection


async def get_or_create_id(db: Connection, table: str, name: str) -> int:
    """The id of a space or a room."""
    await db.execute(f"INSERT OR IGNORE INTO {table} (name) VALUES (?)", (name,))
    [[id_]] = await db.execute_fetchall(f"SELECT id FROM {table} WHERE name = ?", (name,))
    return int(id_)


async def resolve_location(db: Connection, room: str, space: str) -> tuple[int, int]:
    """The ids of a space and a room; a moved room overrides the caller's space, which may be outdated."""
    id_ = await get_or_create_id(db, "room", room)
    [[settled]] = await db.execute_fetchall("SELECT space FROM room WHERE id = ?", (id_,))
    return (await get_or_create_id(db, "space", space) if settled is None else int(settled)), id_


async def set_room_space(db: Connection, room: int, space: int | None) -> None:
    """Set the space of a room; None makes the callers' space count again."""
    await db.execute("UPDATE room SET space = ? WHERE id = ?", (space, room))
