"""Table of values that an adapter keeps across restarts, and that all processes on one database see."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.store.models import Database


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
