"""A source of documents in memory, and how a test has it synchronized."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field, replace

from bot.errors import ItemGone
from bot.ingest.documents import ConversationDocuments
from bot.ingest.sources.sync import SourceSync, SyncReport
from bot.platform.document_source import DocumentSource, FetchedItem, ScanEnd, Scanned, SourceItem
from bot.store.schedules.sources import SourceRecord
from tests.support.bot_fixture import BotFixture

RECORD = SourceRecord("s1", "notes", "memory", "memory:", (), "console:local", "source:s1:notes")


@dataclass
class MemorySource:
    """Texts by id. `fails` raises what a fetch raises, by id, `before` happens before it; `withheld` as in SourceItem.

    `scan_error` ends scans. `packed`: what is fetched, in place of a text.
    `changes`: what the next scan yields, in place of everything.
    """

    texts: dict[str, str]
    at_once: int = 2
    fails: dict[str, Callable[[], Exception]] = field(default_factory=dict)
    withheld: dict[str, str] = field(default_factory=dict)
    stamps: dict[str, str] = field(default_factory=dict)
    packed: dict[str, bytes] = field(default_factory=dict)
    scan_error: Exception | None = None
    end: ScanEnd = field(default_factory=ScanEnd)
    changes: list[Scanned] | None = None
    before: dict[str, Callable[[], Awaitable[object]]] = field(default_factory=dict)
    fetched: list[str] = field(default_factory=list)
    cursors: list[str] = field(default_factory=list)

    async def scan(self, cursor: str) -> AsyncGenerator[Scanned]:
        self.cursors.append(cursor)
        if self.scan_error is not None:
            raise self.scan_error
        if self.changes is not None:
            for change in self.changes:
                yield change
        else:
            for id_, text in self.texts.items():
                yield SourceItem(id_, self.stamps.get(id_, text), id_, self.withheld.get(id_, ""))
        yield self.end

    async def fetch(self, item: SourceItem, validator: str) -> FetchedItem | None:
        self.fetched.append(item.id)
        if item.id in self.before:
            await self.before[item.id]()
        if item.id in self.fails:
            make_error = self.fails[item.id]
            raise make_error()
        if item.id not in self.texts:
            raise ItemGone("It is gone.")
        return FetchedItem(item.id, self.packed.get(item.id) or self.texts[item.id].encode())

    async def close(self) -> None:
        pass


async def synchronize(
    bot: BotFixture, source: DocumentSource, *, forget_missing: bool = False, configured: SourceRecord = RECORD
) -> SyncReport:
    """Synchronize the source of the test once, as it is configured now."""
    await bot.store.sources.insert(configured)
    record = await bot.store.sources.get(configured.id)
    assert record is not None
    running = SourceSync(bot.context, ConversationDocuments(bot.context), replace(record, every=60.0), source)
    if isinstance(source, MemorySource):
        source.fetched.clear()
    async for _ in running.run(forget_missing=forget_missing):
        pass
    return running.report
