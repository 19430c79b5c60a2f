"""Remove sources with exactly their documents: one, those of a channel, or those of a workspace."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import nullcontext
from typing import TYPE_CHECKING

from bot.ingest.sources.places import is_own_room
from bot.ingest.sources.sync import build_forgotten_key, build_item_key, list_stored
from bot.store.schedules.sources import PREFIX

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from bot.context import BotContext
    from bot.ingest.documents import ConversationDocuments
    from bot.store.schedules.sources import SourceRecord


class SourceRemoval:
    """Forgets what sources brought. `cache_dir`: the folders of all sources."""

    def __init__(self, context: BotContext, documents: ConversationDocuments) -> None:
        self._context = context
        self._documents = documents
        self._store = context.store

    @property
    def cache_dir(self) -> Path:
        """Where connectors keep what they need again, in a folder of each source."""
        return self._context.settings.data_path / "sources"

    async def remove(self, record: SourceRecord, *, is_locked: bool = False) -> int:
        """Remove a source; returns the number of its documents. A removal that was cut off is repeated.

        The source goes first, so that no synchronization adds to it. `is_locked`: the caller holds the room's lock.
        """
        await self._store.sources.mark_removed(record.id)
        async with self._lock(record, is_locked):  # what is being added is there when the lock is free
            keys = [info.key for info in await list_stored(self._context, record)]
        for key in keys:
            async with self._lock(record, is_locked):
                await self._documents.forget_document(key)
        await self._store.unread_files.delete_by_uploads("", [record.id])
        if is_own_room(record):
            await self._context.engine_context.engine.documents.forget_room(record.room)
            await self._store.imported_spaces.set(record.room, "")
        await asyncio.to_thread(shutil.rmtree, self.cache_dir / record.id, ignore_errors=True)
        await self._store.sources.delete(record.id)
        return len(keys)

    def _lock(self, record: SourceRecord, is_locked: bool) -> AbstractAsyncContextManager[None]:  # noqa: FBT001 - of `remove`
        return nullcontext() if is_locked else self._documents.lock(record.room)

    async def finish(self) -> None:
        """Finish the removals that an ended process began."""
        for record in await self._store.sources.list_removed():
            await self.remove(record)

    async def list_copies(self) -> list[str]:
        """The ids of the sources for which connectors keep something on disk."""
        return await asyncio.to_thread(_list_folders, self.cache_dir)

    async def delete_unknown_copy(self, id_: str) -> None:
        """Delete what a connector keeps on disk for a source, unless it is stored."""
        if await self._store.sources.get(id_) is None:
            await asyncio.to_thread(shutil.rmtree, self.cache_dir / id_, ignore_errors=True)

    async def remove_of_room(self, room: str) -> None:
        """Remove the sources of a channel that is forgotten; the caller holds its lock."""
        for source in await self._store.sources.list_in_room(room):
            await self.remove(source, is_locked=True)

    async def remove_of_workspace(self, platform: str, workspace: str) -> None:
        """Remove the sources that people of a workspace read."""
        for source in await self._store.sources.list_in_workspace(platform, workspace):
            await self.remove(source)

    async def record_forgotten(self, document: str) -> None:
        """Record that a person had a document of a source forgotten, so that it is not stored again.

        If it was all of its item, that is not read again.
        """
        id_, _, _ = document.removeprefix(PREFIX).partition(":")
        record = await self._store.sources.get(id_) if document.startswith(PREFIX) else None
        if record is None:
            return
        item = document.partition("#")[0]
        stored = {info.key: info.title for info in await list_stored(self._context, record)}
        await self._store.sources.add_forgotten(id_, build_forgotten_key(document, stored.get(document, "")))
        if any(other.partition("#")[0] == item for other in stored.keys() - {document}):
            return
        for text in await self._store.sources.list_items(id_):
            if build_item_key(id_, text) == item:
                await self._store.sources.forget_item(id_, text)


def _list_folders(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
