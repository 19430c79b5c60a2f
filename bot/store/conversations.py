"""Table of conversations that are documents: their times, their size, and whether they are open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.store.models import ConversationRecord
from engine.storage.sql.timestamps import EPOCH, from_micros, to_micros

if TYPE_CHECKING:
    from datetime import datetime

    from bot.store.database import Database

_COLUMNS = "document, room, thread, first, last, tokens"


class Conversations:
    """Reads and writes the table of conversations."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, document: str) -> ConversationRecord | None:
        """One conversation, or None."""
        return next(iter(await self._select("document = ?", document)), None)

    async def list_overlapping(self, room: str, since: datetime, until: datetime) -> list[ConversationRecord]:
        """The windows of messages outside of threads that overlap a time span, by their last message."""
        return await self._select(
            "room = ? AND thread = '' AND last >= ? AND first <= ?", room, to_micros(since), to_micros(until)
        )

    async def list_active_since(self, room: str, since: datetime, limit: int) -> list[ConversationRecord]:
        """The threads with messages since a time, newest first."""
        found = await self._select("room = ? AND thread <> '' AND last >= ?", room, to_micros(since))
        return found[-limit:]

    async def list_idle_since(self, before: datetime) -> list[ConversationRecord]:
        """Open conversations without messages since a time."""
        return await self._select("open AND last <= ?", to_micros(before))

    async def close(self, document: str) -> None:
        """Mark a conversation as closed."""
        await self._database.execute("UPDATE conversation SET open = false WHERE document = ?", (document,))

    async def delete(self, document: str) -> None:
        """Delete a conversation; its messages belong to no document anymore."""
        await self._database.execute_all(
            ("DELETE FROM conversation WHERE document = ?", (document,)),
            ("UPDATE message SET document = '', applied = true WHERE document = ?", (document,)),
        )

    async def _select(self, condition: str, *parameters: Any) -> list[ConversationRecord]:
        rows = await self._database.fetch_all(
            f"SELECT {_COLUMNS} FROM conversation WHERE {condition} ORDER BY last, document", parameters
        )
        return [
            ConversationRecord(document, room, thread, from_micros(first) or EPOCH, from_micros(last) or EPOCH, tokens)
            for document, room, thread, first, last, tokens in rows
        ]
