"""What time does to what is known: conversations end, and what is too old goes."""

from __future__ import annotations

from datetime import timedelta
from itertools import groupby
from typing import TYPE_CHECKING

import structlog

from engine.parsers.chat_export import GAP

if TYPE_CHECKING:
    from datetime import datetime

    from bot.context import House
    from bot.ingest.documents import Shelf

log = structlog.get_logger(__name__)

TOLD = timedelta(days=400)  # within which a platform may tell late of what it has deleted
BATCH = 500  # messages that are taken out at once


class Retention:
    """Closes conversations in which nothing is said any more, and forgets by age."""

    def __init__(self, house: House, shelf: Shelf) -> None:
        self._house = house
        self._shelf = shelf
        self._store = house.store

    async def close_quiet(self, now: datetime) -> None:
        """Close the conversations in which nothing was said for a quarter of an hour."""
        for window in await self._store.windows.quiet(now - GAP):
            async with self._shelf.alone(window.room):
                current = await self._store.windows.get(window.document)
                if current and current.last <= now - GAP:
                    await self._shelf.close(window.document)

    async def forget_old(self, now: datetime) -> None:
        """Forget messages, files and answers that are older than the setting allows, and deletions of long ago."""
        await self._store.messages.forget_deletions(now - TOLD)
        if not self._house.settings.retention_days:
            return
        oldest = now - timedelta(days=self._house.settings.retention_days)
        while messages := await self._store.messages.before(oldest, BATCH):
            messages.sort(key=lambda each: each.room)
            for room, group in groupby(messages, key=lambda each: each.room):
                async with self._shelf.alone(room):
                    await self._shelf.drop(list(group))
        for file in await self._store.files.before(oldest):
            async with self._shelf.alone(file.room):
                await self._shelf.forget(file.document)
        await self._store.answers.drop_before(oldest.timestamp())
