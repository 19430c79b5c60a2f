"""Files that a person uploads outside of the chat: kept like those that they share with the bot alone."""

from __future__ import annotations

import secrets
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from bot import texts
from bot.errors import NotAllowed
from bot.ingest.shared_file import build_key
from bot.permissions.audience import personal_space
from bot.store import FileRecord
from engine.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Collection

    from bot.context import BotContext
    from bot.ingest.documents import ConversationDocuments
    from bot.store import Subject
    from engine import Document

UPLOAD_MESSAGE = "upload"  # in place of the id of a message that shares files


class PersonalFile:
    """Adds the documents of one uploaded file to its person's own space."""

    def __init__(self, context: BotContext, documents: ConversationDocuments, subject: Subject, name: str) -> None:
        self._context = context
        self._documents = documents
        self._subject = subject
        self._prefix = f"{sha256(name.encode()).hexdigest()[:16]}:"
        self.space = self.room = personal_space(subject.platform, subject.workspace, subject.person)
        self._record = self._build_record(f"{self._prefix}{secrets.token_hex(4)}")

    @property
    def key(self) -> str:
        """The key of the file's first document."""
        return self._record.document

    async def open(self) -> None:
        """Find the earlier upload of this name, which it replaces. Raises NotAllowed for somebody who opted out."""
        await self._check_allowed()
        earlier = await self._context.store.files.list_by_prefix(self.room, self._prefix)
        if earlier:
            self._record = self._build_record(earlier[0].upload_id)

    async def add(self, document: Document) -> bool:
        """Add a document of the file; returns whether anything changed. Raises NotAllowed and InvalidDocument."""
        store = self._context.store
        dated = replace(document, time=document.time or self._record.time)
        async with self._documents.lock(self.room):
            await self._check_allowed()
            if await store.messages.find_tombstones(self.room, [document.key, self.key]):
                raise InvalidDocument("The file was forgotten while it was read.", hint="Upload it again.")
            known = await store.files.get(document.key)
            if known is None:
                await store.files.insert(replace(self._record, document=document.key))
            elif not document.time:
                dated = replace(dated, time=known.time)
            return await self._documents.replace_document(dated)

    async def finish(self, keys: Collection[str]) -> bool:
        """Forget what an earlier version had besides these documents; returns whether there was any."""
        store, is_changed = self._context.store, False
        async with self._documents.lock(self.room):
            for file in await store.files.list_by_prefix(self.room, self._record.upload_id):
                if file.document not in keys:
                    is_changed |= await self._documents.forget_document(file.document)
        await store.files.record_applied(self._record)
        return is_changed

    async def _check_allowed(self) -> None:
        subject = self._subject
        if await self._context.store.opt_outs.is_opted_out(subject.platform, subject.workspace, subject.person):
            raise NotAllowed(texts.opted_out_notice(self._context.traits_of(subject.platform)))

    def _build_record(self, upload: str) -> FileRecord:
        document = build_key(self.room, UPLOAD_MESSAGE, upload)
        now = self._context.clock.now()
        return FileRecord(document, self.room, UPLOAD_MESSAGE, upload, self._subject.person, now)
