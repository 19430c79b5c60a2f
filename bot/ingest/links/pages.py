"""Read the pages that messages link to, where a channel allows it: each is a document that goes with its message."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import aclosing
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

import structlog

from bot.errors import PageNotRead
from bot.ingest.links.addresses import find_urls
from bot.ingest.links.fetcher import FILE_NAMES, PageFetcher
from bot.ingest.shared_file import LINK_PREFIX, SharedFiles
from bot.platform.models import Upload
from engine import Document
from engine.errors import InvalidDocument, ModelError
from engine.parsers.dates import plausible_time
from engine.parsers.sandbox.origins import OriginLimit

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from bot.context import BotContext
    from bot.ingest.documents import ConversationDocuments
    from bot.ingest.files import FileIngest
    from bot.platform.models import Location, Message
    from bot.store import FileRecord

log = structlog.get_logger(__name__)

MAX_LINKS = 3  # of a message
MAX_LINKS_PER_HOUR = 60  # of a channel
MAX_AGE = timedelta(days=7)  # of a message; links of older ones are not read
MAX_CONCURRENT_PAGES = 4
MAX_PAGES_OF_A_CHANNEL = 2  # of these
MAX_TITLE_LENGTH = 150  # characters of the title that a page gives itself


class LinkIngest:
    """Ingests linked pages, which `fetcher` fetches. Callers do not hold the lock of the room."""

    def __init__(self, context: BotContext, documents: ConversationDocuments, files: FileIngest) -> None:
        self._context = context
        self._documents = documents
        self._files = files
        self._parser = context.engine_context.parser
        self._clock = context.clock
        self.fetcher = PageFetcher(context.clock)
        self._gate = asyncio.Semaphore(MAX_CONCURRENT_PAGES)
        self._channels = OriginLimit(MAX_PAGES_OF_A_CHANNEL)
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()  # by room and message
        self._recent: dict[str, deque[float]] = {}

    async def ingest(self, message: Message) -> None:
        """Read the pages that a message links to, and forget those that it no longer links to.

        A page that cannot be read is left out. Events of one message wait for each other: a platform that shows a
        preview of the page sends the message a second time. Raises PlatformError.
        """
        lock = self._locks.setdefault((message.location.room, message.id), asyncio.Lock())
        async with lock:
            await self._ingest(message)

    async def _ingest(self, message: Message) -> None:
        room, is_recent = message.location.room, self._clock.now() - message.time <= MAX_AGE
        if not (is_recent or message.edited):
            return
        urls = {_link_id(url): url for url in await self._list_urls(message)}
        files = await self._context.store.files.list_by_messages(room, [message.id])
        stored = [file for file in files if file.upload_id.startswith(LINK_PREFIX)]
        await self._forget(room, [file for file in stored if file.upload_id not in urls])
        known = {file.upload_id for file in stored if file.is_applied}
        for key, url in urls.items():
            if is_recent and key not in known and self._count_if_below(room):
                await self._ingest_page(message, Upload(key, url, 0, "text/html", url))

    async def forget_all(self, location: Location) -> None:
        """Forget all pages that messages of a channel link to."""
        async with self._documents.lock(location.room):
            for file in await self._context.store.files.list_by_prefix(location.room, LINK_PREFIX):
                await self._documents.forget_document(file.document)

    async def _list_urls(self, message: Message) -> tuple[str, ...]:
        """The addresses that may be read; none in a channel that does not allow it, or in a message to the bot."""
        room, ours = message.location.room, message.own or message.addressed
        if ours or not (await self._context.get_channel_settings(room)).links:
            return ()
        if message.by_bot and not await self._context.indexes_bot_messages(room):
            return ()
        platform = self._context.platform_for(message.location)
        return find_urls(await platform.to_plain_text(message.location.workspace, message.text), MAX_LINKS)

    async def _forget(self, room: str, pages: Collection[FileRecord]) -> None:
        if pages:
            async with self._documents.lock(room):
                for page in pages:
                    await self._documents.forget_document(page.document)

    def _count_if_below(self, room: str) -> bool:
        """Count a page of a channel; false if it had too many in the last hour."""
        now, recent = self._clock.monotonic(), self._recent.setdefault(room, deque())
        while recent and now - recent[0] > 3600:
            recent.popleft()
        if len(recent) >= MAX_LINKS_PER_HOUR:
            return False
        recent.append(now)
        return True

    async def _ingest_page(self, message: Message, upload: Upload) -> None:
        shared = SharedFiles(message, is_link=True, was_announced=True)
        filed = shared.build_record(upload)
        try:
            if not await self._files.get_rejection(shared):
                async with self._channels.enter(filed.room), self._gate:
                    await self._add_page(shared, filed, upload.url)
        except (PageNotRead, InvalidDocument, ModelError) as error:
            log.info("ingest.link_not_read", channel=filed.room, error=type(error).__name__, reason=str(error))

    async def _add_page(self, shared: SharedFiles, filed: FileRecord, url: str) -> None:
        page, now = await self.fetcher.fetch(url), self._clock.now()
        async with aclosing(self._parser.stream(page.name, page.data, origin=filed.room)) as parts:
            async for parsed in parts:
                document = Document(
                    f"{filed.document}#{parsed.key}" if parsed.key else filed.document,
                    shared.space,
                    filed.room,
                    _build_title(parsed.title, page.url, now),
                    parsed.passages,
                    plausible_time(parsed.time, now, parsed.day) or now,
                    page.url,
                    omissions=parsed.omissions,
                    coverage=parsed.coverage,
                )
                if reason := await self._files.add_document(replace(filed, document=document.key), document, shared):
                    raise PageNotRead(reason)
        await self._context.store.files.record_applied(filed)


def _link_id(url: str) -> str:
    return f"{LINK_PREFIX}{sha256(url.encode()).hexdigest()[:16]}"


def _build_title(title: str, url: str, now: datetime) -> str:
    """The title of the page, its server, and the day on which it was read."""
    parts = urlsplit(url)
    name = parts.path.rpartition("/")[2] if title in FILE_NAMES.values() else title
    return f"{(name or parts.hostname or '')[:MAX_TITLE_LENGTH]} ({parts.hostname}, read {now:%Y-%m-%d})"
