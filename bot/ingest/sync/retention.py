"""Close idle conversations and delete expired data."""

from __future__ import annotations

from datetime import timedelta
from itertools import groupby
from typing import TYPE_CHECKING

import structlog

from engine import CONVERSATION_GAP

if TYPE_CHECKING:
    from datetime import datetime

    from bot.context import BotContext
    from bot.ingest.documents import ConversationDocuments

log = structlog.get_logger(__name__)

TOMBSTONE_TTL = timedelta(days=400)  # a platform may report deletions late
BATCH = 500  # messages removed in one transaction


class Retention:
    """Closes idle conversations, and deletes data beyond the retention period."""

    def __init__(self, context: BotContext, documents: ConversationDocuments) -> None:
        self._context = context
        self._documents = documents
        self._store = context.store

    async def close_idle(self, now: datetime) -> None:
        """Close the conversations without a message for 15 minutes."""
        for window in await self._store.conversations.list_idle_since(now - CONVERSATION_GAP):
            async with self._documents.lock(window.room):
                current = await self._store.conversations.get(window.document)
                if current and current.last <= now - CONVERSATION_GAP:
                    await self._documents.close_conversation(window.document)

    async def delete_expired(self, now: datetime) -> None:
        """Delete messages, files and answers beyond the retention period, and old tombstones."""
        await self._store.messages.delete_tombstones(now - TOMBSTONE_TTL)
        if not self._context.settings.retention_days:
            return
        oldest = now - timedelta(days=self._context.settings.retention_days)
        while messages := await self._store.messages.list_before(oldest, BATCH):
            messages.sort(key=lambda each: each.room)
            for room, group in groupby(messages, key=lambda each: each.room):
                async with self._documents.lock(room):
                    await self._documents.remove_messages(list(group))
        for file in await self._store.files.list_before(oldest):
            async with self._documents.lock(file.room):
                await self._documents.forget_document(file.document)
        await self._store.answers.delete_before(oldest.timestamp())
