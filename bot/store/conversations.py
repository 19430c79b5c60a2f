"""Conversations as documents: from when to when, how long, and whether they go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.store.models import ConversationRecord
from engine.storage.sqlite.timestamps import EPOCH, from_micros, to_micros

if TYPE_CHECKING:
    from datetime import datetime

    from bot.store.database import Database

_COLUMNS = "document, room, thread, first, last, tokens"


class Conversations:
    """What is known of conversations."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, document: str) -> ConversationRecord | None:
        """One conversation."""
        return next(iter(await self._select("document = ?", document)), None)

    async def list_overlapping(self, room: str, since: datetime, until: datetime) -> list[ConversationRecord]:
        """The runs of messages outside of threads that reach into this time, by their last message."""
        return await self._select(
            "room = ? AND thread = '' AND last >= ? AND first <= ?", room, to_micros(since), to_micros(until)
        )

    async def list_active_since(self, room: str, since: datetime, limit: int) -> list[ConversationRecord]:
        """The threads in which something was said since, the latest ones."""
        found = await self._select("room = ? AND thread <> '' AND last >= ?", room, to_micros(since))
        return found[-limit:]

    async def list_idle_since(self, before: datetime) -> list[ConversationRecord]:
        """Open conversations in which nothing was said since."""
        return await self._select("open AND last <= ?", to_micros(before))

    async def close(self, document: str) -> None:
        """It is over."""
        await self._database.execute("UPDATE conversation SET open = 0 WHERE document = ?", (document,))

    async def delete(self, document: str) -> None:
        """It is no document any more, and its messages are passages of none."""
        async with self._database.transaction() as db:
            await db.execute("DELETE FROM conversation WHERE document = ?", (document,))
            await db.execute("UPDATE message SET document = '', applied = 1 WHERE document = ?", (document,))

    async def _select(self, condition: str, *parameters: Any) -> list[ConversationRecord]:
        rows = await self._database.fetch_all(
            f"SELECT {_COLUMNS} FROM conversation WHERE {condition} ORDER BY last, document", parameters
        )
        return [
            ConversationRecord(document, room, thread, from_micros(first) or EPOCH, from_micros(last) or EPOCH, tokens)
            for document, room, thread, first, last, tokens in rows
        ]
