"""Conversations as documents: from when to when, how long, and whether they go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.store.models import Window
from engine.storage.sqlite.timestamps import EPOCH, shown, stored

if TYPE_CHECKING:
    from datetime import datetime

    from bot.store.database import Database

_COLUMNS = "document, room, thread, first, last, tokens"


class Windows:
    """What is known of conversations."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, document: str) -> Window | None:
        """One conversation."""
        return next(iter(await self._where("document = ?", document)), None)

    async def near(self, room: str, since: datetime, until: datetime) -> list[Window]:
        """The runs of messages outside of threads that reach into this time, by their last message."""
        return await self._where(
            "room = ? AND thread = '' AND last >= ? AND first <= ?", room, stored(since), stored(until)
        )

    async def lively(self, room: str, since: datetime, limit: int) -> list[Window]:
        """The threads in which something was said since, the latest ones."""
        found = await self._where("room = ? AND thread <> '' AND last >= ?", room, stored(since))
        return found[-limit:]

    async def quiet(self, before: datetime) -> list[Window]:
        """Open conversations in which nothing was said since."""
        return await self._where("open AND last <= ?", stored(before))

    async def close(self, document: str) -> None:
        """It is over."""
        await self._database.write("UPDATE conversation SET open = 0 WHERE document = ?", (document,))

    async def drop(self, document: str) -> None:
        """It is no document any more, and its messages are passages of none."""
        async with self._database.transaction() as db:
            await db.run("DELETE FROM conversation WHERE document = ?", (document,))
            await db.run("UPDATE message SET document = '', settled = 1 WHERE document = ?", (document,))

    async def _where(self, condition: str, *parameters: Any) -> list[Window]:
        rows = await self._database.rows(
            f"SELECT {_COLUMNS} FROM conversation WHERE {condition} ORDER BY last, document", parameters
        )
        return [
            Window(document, room, thread, shown(first) or EPOCH, shown(last) or EPOCH, tokens)
            for document, room, thread, first, last, tokens in rows
        ]
