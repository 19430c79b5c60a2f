"""Table of messages that are absent from a listing until the platform confirms or denies their deletion."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from bot.store.database import Database

_BY_IDS = "room = ? AND id IN (SELECT value FROM json_each(?))"


class UnconfirmedDeletions:
    """Messages whose deletion must be confirmed one by one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, room: str, ids: Collection[str]) -> None:
        """Add messages that a listing lacks; unknown messages are ignored."""
        await self._write(
            f"INSERT OR IGNORE INTO unconfirmed_deletion (room, id) SELECT room, id FROM message WHERE {_BY_IDS}",
            room,
            ids,
        )

    async def record_checks(self, room: str, ids: Collection[str]) -> None:
        """Count one more check of these messages."""
        await self._write(f"UPDATE unconfirmed_deletion SET checks = checks + 1 WHERE {_BY_IDS}", room, ids)

    async def delete(self, room: str, ids: Collection[str]) -> None:
        """Remove messages that still exist."""
        await self._write(f"DELETE FROM unconfirmed_deletion WHERE {_BY_IDS}", room, ids)

    async def list_next(self, room: str, limit: int) -> list[str]:
        """The next messages to check: fewest checks first, then newest first."""
        rows = await self._database.fetch_all(
            "SELECT n.id FROM unconfirmed_deletion n CROSS JOIN message m USING (room, id) WHERE n.room = ?"
            " ORDER BY n.checks, m.time DESC, n.id LIMIT ?",
            (room, limit),
        )
        return [row[0] for row in rows]

    async def has_unchecked(self, room: str) -> bool:
        """Whether there are messages that were never checked."""
        return bool(
            await self._database.fetch_one(
                "SELECT 1 FROM unconfirmed_deletion WHERE room = ? AND checks = 0 LIMIT 1", (room,)
            )
        )

    async def _write(self, sql: str, room: str, ids: Collection[str]) -> None:
        await self._database.execute(sql, (room, json.dumps(list(ids))))
