"""Table of values that an adapter keeps across restarts, which all processes see; and the spaces of imports in it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from engine import Scope
from engine.storage.sql.fragments import text_list

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from bot.store.database import Database


IMPORT, HOME = "import", "import home"  # in place of a platform
HOMES = "SELECT name FROM adapter_state WHERE platform = ?"
ROOMS = "SELECT room FROM channel WHERE imported"


class AdapterState:
    """Values by platform and name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, platform: str, name: str) -> str:
        """A value; "" if there is none."""
        sql = "SELECT value FROM adapter_state WHERE platform = ? AND name = ?"
        row = await self._database.fetch_one(sql, (platform, name))
        return str(row[0]) if row else ""

    async def set(self, platform: str, name: str, value: str) -> None:
        """Set a value."""
        await self._database.execute(
            "INSERT INTO adapter_state VALUES (?, ?, ?)"
            " ON CONFLICT (platform, name) DO UPDATE SET value = excluded.value",
            (platform, name, value),
        )


class ImportedSpaces:
    """Spaces by room."""

    def __init__(self, database: Database, state: AdapterState) -> None:
        self._database = database
        self._state = state

    async def get(self, room: str) -> str:
        """The space of a room; "" if no import decided it."""
        return await self._state.get(IMPORT, room)

    async def set(self, room: str, space: str) -> None:
        """Store the space of a room; "" if none was decided."""
        if space or await self.get(room):
            await self._state.set(IMPORT, room, space)

    async def add_home(self, space: str) -> None:
        """Record that an import put a channel into a space."""
        await self._state.set(HOME, space, "1")

    async def read_scope(self) -> Scope:
        """Everything that was imported: its channels, and the spaces into which they were put."""
        spaces = await self._database.fetch_all(HOMES, (HOME,))
        rooms = await self._database.fetch_all(ROOMS)
        return _to_scope(spaces, rooms)

    async def find_channels(self, name: str) -> list[str]:
        """The imported channels with this name."""
        sql = "SELECT room FROM channel WHERE imported AND LOWER(name) = ?"
        return [row[0] for row in await self._database.fetch_all(sql, (name.casefold(),))]

    async def find_rooms(self, platform: str, workspace: str, names: Collection[str]) -> list[str]:
        """The rooms with these names, in lower case, in spaces of a workspace; an empty one stands for all."""
        start = f"{platform}:{workspace}:" if workspace else f"{platform}:"
        rows = await self._database.fetch_all(
            "SELECT channel.room FROM adapter_state JOIN channel ON channel.room = adapter_state.name"
            " WHERE adapter_state.platform = ?1 AND SUBSTR(adapter_state.value, 1, LENGTH(?2)) = ?2"
            " AND LOWER(channel.name) IN (SELECT value FROM @list(?3))",
            (IMPORT, start, text_list(names)),
        )
        return [row[0] for row in rows]


def read_imported_scope(file: Path) -> Scope:
    """What was imported, from a database that no process has open; nothing if it cannot be read."""
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as db:
            spaces, rooms = db.execute(HOMES, (HOME,)).fetchall(), db.execute(ROOMS).fetchall()
    except sqlite3.Error:
        return Scope(frozenset(), frozenset())
    return _to_scope(spaces, rooms)


def _to_scope(spaces: Iterable[Sequence[Any]], rooms: Iterable[Sequence[Any]]) -> Scope:
    return Scope(frozenset(row[0] for row in spaces), frozenset(row[0] for row in rooms))
