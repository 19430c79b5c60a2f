"""Bring the documents of one source up to date: read what is new or changed, forget what is gone.

A document is stored before what is known of it, and forgotten before that is deleted: a synchronization that was cut
off is repeated, with the same result.
"""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, field, replace
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING

import structlog

from bot.errors import ItemClosed, ItemGone, ItemNotRead, ItemNotReadNow, PlatformError
from bot.ingest.shared_file import find_failed_family
from bot.ingest.sources.places import find_workspace, is_own_room
from bot.platform.document_source import RemovedItem, ScanEnd, SourceItem
from bot.platform.models import Location, Upload
from bot.store import UnreadFile
from bot.store.schedules.sources import PREFIX, WITHHELD, SourceItemRecord
from engine import Document, Scope
from engine.boundary import repair_surrogates
from engine.errors import InvalidDocument, ModelError
from engine.models import Omission
from engine.parsers.dates import plausible_time
from engine.scheduling.supervisor import gather_or_cancel

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Iterable, Mapping

    from bot.context import BotContext
    from bot.ingest.documents import ConversationDocuments
    from bot.platform.document_source import DocumentSource, FetchedItem
    from bot.store.schedules.sources import SourceRecord
    from engine import DocumentInfo
    from engine.parsers.base import ParsedFile

log = structlog.get_logger(__name__)

MAX_KEY_LENGTH = 400  # characters of an id within a key
FEW = 10  # documents that may be gone at once, if they are not all
SURE_SHARE = 0.5  # of the documents that may be gone at once
FORGOTTEN = "Somebody had it forgotten."
WITHIN = "attachment-"  # with a number, which another version changes: the key of a file within another one
_ESCAPES = str.maketrans({"%": "%25", "#": "%23", "\n": "%0A", "\r": "%0D", "\0": "%00"})


class SourceRemoved(Exception):
    """The source was removed while it was read."""


class ItemForgotten(Exception):
    """A person had all of the document forgotten."""


@dataclass(frozen=True, slots=True)
class SyncProgress:
    """`done` of `total` documents are read; `name`: of the one that is next."""

    done: int
    total: int
    name: str = ""


@dataclass(slots=True)
class SyncReport:
    """What a synchronization did: documents that are `known` now, were `changed` (or new) or `removed`.

    `unread`: why documents are not read, by id. `held`: how many were not forgotten, because too many are gone at once.
    `problems`: what could not be listed.
    """

    known: int = 0
    changed: int = 0
    removed: int = 0
    held: int = 0
    unread: dict[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class ScannedSource:
    """What a scan found."""

    items: dict[str, SourceItem] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    end: ScanEnd = field(default_factory=ScanEnd)

    def find_gone(self, known: Collection[str]) -> set[str]:
        """The known documents that are gone."""
        unlisted = set(known) - self.items.keys() if self.end.is_complete else set()
        return unlisted | (self.removed & set(known) - self.items.keys())

    def find_withheld(self) -> set[str]:
        """The listed documents that are not read."""
        return {item.id for item in self.items.values() if item.withheld}


async def scan_source(source: DocumentSource, cursor: str) -> ScannedSource:
    """Everything that a scan yields. Raises SourceUnavailable."""
    found = ScannedSource()
    async with aclosing(source.scan(cursor)) as scan:
        async for scanned in scan:
            match scanned:
                case SourceItem(id=id_):
                    found.items[id_] = scanned
                case RemovedItem(id=id_):
                    found.removed.add(id_)
                case ScanEnd():
                    found.end = scanned
    return found


def build_item_key(source: str, item: str) -> str:
    """The key of the first document of an item; no two items share one."""
    escaped = repair_surrogates(item).translate(_ESCAPES)
    if len(escaped) > MAX_KEY_LENGTH:
        escaped = f"{escaped[:MAX_KEY_LENGTH]}~{sha256(item.encode(errors='surrogateescape')).hexdigest()[:16]}"
    return f"{PREFIX}{source}:{escaped}"


def build_forgotten_key(key: str, title: str) -> str:
    """The key by which a document that a person had forgotten is recognized: its own, or of its item and its title."""
    item, _, part = key.partition("#")
    return f"{item}#{sha256(title.encode(errors='surrogateescape')).hexdigest()}" if part.startswith(WITHIN) else key


def is_too_much(gone: int, known: int, left: int) -> bool:
    """Whether so many of the known documents are gone at once that the source may be broken. Pure.

    `left`: how many it has now.
    """
    return gone > 0 and (not left or (gone > FEW and left < known * SURE_SHARE))


class SourceSync:
    """One synchronization; the caller holds the lease of the source. `report` is complete when `run` has ended."""

    def __init__(
        self, context: BotContext, documents: ConversationDocuments, record: SourceRecord, source: DocumentSource
    ) -> None:
        self._context = context
        self._documents = documents
        self._record = record
        self._source = source
        self._store = context.store
        self._stored: dict[str, list[str]] | None = None
        self._known: Mapping[str, SourceItemRecord] = {}
        self._gone = set[str]()  # what was listed, and is not there
        self._closed = list[tuple[SourceItem, str]]()  # what was listed, and may not be read, and why
        self._watched_in = None if record.synced_at is None else find_workspace(record)  # all is new the first time
        self.report = SyncReport()

    async def run(self, *, forget_missing: bool = False) -> AsyncGenerator[SyncProgress]:
        """Yield how much is read. `forget_missing`: even if much is gone at once.

        Raises SourceUnavailable, and SourceRemoved if somebody removed the source meanwhile.
        """
        self._known = await self._store.sources.list_items(self._record.id)
        found = await self._scan(is_confirmed=forget_missing)
        await self._forget_withheld(found.items.values())
        async with aclosing(self._read_all(self._list_due(found))) as steps:
            async for step in steps:
                yield step
        await self._forget_gone(found, is_confirmed=forget_missing)
        await self._name_closed()
        await self._summarize(found.end)
        cursor = self._record.cursor if self.report.held else found.end.cursor  # what is kept is compared again
        await self._store.sources.record_success(
            self._record, cursor, self._context.clock.now(), describe_trouble(self.report)
        )

    async def _scan(self, *, is_confirmed: bool) -> ScannedSource:
        """What is there now. Once losses are confirmed: all of it, also if the source missed something."""
        found = await scan_source(self._source, self._record.cursor)
        if not is_confirmed or found.end.is_complete:
            return found
        anew = await scan_source(self._source, "")
        anew.removed |= found.removed
        return anew

    def _list_due(self, found: ScannedSource) -> list[SourceItem]:
        """The documents to read: new and changed ones, and those that failed for a reason that may have passed."""
        due = [item for item in found.items.values() if self._is_due(item)]
        if found.end.is_complete:
            return due
        unlisted = (item for item in self._known.values() if item.id not in found.items.keys() | found.removed)
        again = (item for item in unlisted if item.problem and not (item.stamp or item.is_forgotten))
        return due + [SourceItem(item.id, name=item.id) for item in again]

    def _is_due(self, item: SourceItem) -> bool:
        known = self._known.get(item.id)
        if item.withheld or (known is not None and known.is_forgotten):
            return False
        return known is None or not item.stamp or known.stamp not in {item.stamp, _mark_failed(item.stamp)}

    async def _read_all(self, due: list[SourceItem]) -> AsyncGenerator[SyncProgress]:
        size = max(1, self._source.at_once)
        for start in range(0, len(due), size):
            batch = due[start : start + size]
            yield SyncProgress(start, len(due), batch[0].name or batch[0].id)
            await gather_or_cancel(*(self._read(item) for item in batch))
        yield SyncProgress(len(due), len(due))

    async def _read(self, item: SourceItem) -> None:
        """Read one document, or record why it could not be read. Raises SourceUnavailable and SourceRemoved."""
        known = self._known.get(item.id, SourceItemRecord(item.id))
        try:
            fetched = await self._source.fetch(item, "" if known.problem else known.validator)
            validator = known.validator if fetched is None else fetched.validator
            if fetched is not None:
                await self._add(item, fetched)
        except ItemForgotten:
            await self._save_unread(item, FORGOTTEN, _mark_failed(item.stamp))
        except ItemGone as error:
            self._gone.add(item.id)
            if isinstance(error, ItemClosed):
                self._closed.append((item, str(error)))
        except (ItemNotReadNow, ModelError, OSError) as error:  # it may be read the next time
            await self._record_unread(item, error, "")
        except (ItemNotRead, InvalidDocument) as error:
            await self._record_unread(item, error, _mark_failed(item.stamp))
        else:
            await self._store.sources.save_item(self._record.id, SourceItemRecord(item.id, item.stamp, validator))
            await self._store.unread_files.delete(build_item_key(self._record.id, item.id))

    async def _add(self, item: SourceItem, fetched: FetchedItem) -> None:
        """Add the documents of an item, and forget what an earlier version had besides. Raises ItemForgotten."""
        key, keys = build_item_key(self._record.id, item.id), set[str]()
        before, changed, skipped = (await self._list_stored()).get(key, []), False, False
        parser = self._context.engine_context.parser
        async with aclosing(parser.stream(fetched.name, fetched.data, origin=self._record.id)) as parts:
            async for parsed in parts:
                document = self._build_document(f"{key}#{parsed.key}" if parsed.key else key, item, fetched, parsed)
                async with self._documents.lock(self._record.room):
                    if not await self._is_wanted(document):
                        skipped = True
                        continue
                    placed = replace(document, space=await self._find_space())
                    changed |= await self._documents.replace_document(placed, watched_in=self._watched_in)
                keys.add(document.key)
        await self._forget_keys([former for former in before if former not in keys])
        self.report.changed += changed
        if skipped and not keys:
            raise ItemForgotten

    def _build_document(self, key: str, item: SourceItem, fetched: FetchedItem, parsed: ParsedFile) -> Document:
        title = fetched.title if fetched.title and not parsed.key else parsed.title
        unread = () if parsed.key else tuple(Omission(*omission) for omission in fetched.omissions)
        now = self._context.clock.now()
        stated = parsed.time or plausible_time(None, fetched.time or now, parsed.day)
        return Document(
            key,
            self._record.space,
            self._record.room,
            title or item.name or item.id,
            parsed.passages,
            plausible_time(stated or fetched.time, now),
            fetched.link,
            omissions=(*parsed.omissions, *unread),
            coverage=parsed.coverage,
        )

    async def _is_wanted(self, document: Document) -> bool:
        """Whether nobody had a document forgotten. Raises SourceRemoved if the source was removed."""
        await self._check_exists()
        key = build_forgotten_key(document.key, document.title)
        return not await self._store.sources.is_forgotten(self._record.id, key)

    async def _check_exists(self) -> None:
        if await self._store.sources.get(self._record.id) is None:
            raise SourceRemoved

    async def _record_unread(self, item: SourceItem, error: Exception, stamp: str) -> None:
        """Name a document that was not read; an earlier version of it stays."""
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        log.info("sources.item_not_read", source=self._record.id, error=type(error).__name__)
        await self._save_unread(item, reason, stamp, find_failed_family(Upload("", item.name, 0, "", ""), error))

    async def _save_unread(self, item: SourceItem, reason: str, stamp: str, family: str = "") -> None:
        """Store why a document is not read. Raises SourceRemoved if the source was removed."""
        record, key = self._record, build_item_key(self._record.id, item.id)
        time, name = self._context.clock.now(), item.name or item.id
        async with self._documents.lock(record.room):
            await self._check_exists()
            await self._store.sources.save_item(record.id, SourceItemRecord(item.id, stamp, problem=reason))
            space = await self._find_space()
            unread = UnreadFile(key, space, record.room, "", record.id, "", time, name, family, reason)
            await self._store.unread_files.save(unread)

    async def _forget_withheld(self, items: Iterable[SourceItem]) -> None:
        """Forget what may not be read any more, and name it; name what somebody had forgotten."""
        for item in items:
            known = self._known.get(item.id)
            if known is not None and known.is_forgotten and known.problem != FORGOTTEN:
                await self._save_unread(item, FORGOTTEN, item.stamp)
            if not item.withheld or (known is not None and (known.is_forgotten or known.problem == item.withheld)):
                continue
            if known is not None:
                await self._forget_documents(item.id)
            await self._save_unread(item, item.withheld, f"{WITHHELD} {item.stamp}")

    async def _forget_gone(self, found: ScannedSource, *, is_confirmed: bool) -> None:
        """Forget what is gone; if that is too much, nothing until somebody confirms it."""
        readable = {id_ for id_, each in self._known.items() if not each.is_withheld}
        closed = {item.id for item, _ in self._closed if item.id in self._known} - readable  # since an earlier run
        gone = (found.find_gone(self._known) | (self._gone & self._known.keys())) - closed
        left = (readable | found.items.keys()) - gone - self._gone - found.find_withheld()
        lost = len(gone & readable)
        if not (is_confirmed or found.end.is_certain) and is_too_much(lost, len(readable), len(left)):
            self.report.held = lost
            return
        await self._forget_items(gone)
        if self._stored is not None and found.end.is_complete:
            await self._forget_orphans({build_item_key(self._record.id, item) for item in found.items})

    async def _name_closed(self) -> None:
        """Name what may not be read any more; it is tried again each time. What is kept until confirmed is not."""
        for item, reason in self._closed:
            is_kept = self.report.held and item.id in self._known and not self._known[item.id].is_withheld
            if not is_kept:
                await self._save_unread(item, reason, f"{WITHHELD} {item.stamp}")

    async def _forget_items(self, items: Collection[str]) -> None:
        for item in sorted(items):
            await self._forget_documents(item)
            await self._store.unread_files.delete(build_item_key(self._record.id, item))
            await self._store.sources.delete_items(self._record.id, [item])
            self.report.removed += 1

    async def _forget_documents(self, item: str) -> None:
        key = build_item_key(self._record.id, item)
        await self._forget_keys((await self._list_stored()).get(key, []))

    async def _forget_keys(self, keys: Iterable[str]) -> None:
        for key in keys:
            async with self._documents.lock(self._record.room):
                await self._documents.forget_document(key)

    async def _forget_orphans(self, wanted: Collection[str]) -> None:
        """Forget documents of which a run that was cut off left nothing but themselves."""
        stored = await self._list_stored()
        known = {build_item_key(self._record.id, id_) for id_ in self._known}
        await self._forget_keys(key for item in stored.keys() - wanted - known for key in stored[item])

    async def _list_stored(self) -> dict[str, list[str]]:
        """The keys of the documents of the source that are stored at the beginning, by the key of their item."""
        if self._stored is None:
            self._stored = {}
            for info in await list_stored(self._context, self._record):
                self._stored.setdefault(info.key.partition("#")[0], []).append(info.key)
        return self._stored

    async def _find_space(self) -> str:
        """The space of the present readers; while they cannot be looked up, the one of the channel alone.

        The caller holds the lock of the room, so that a channel which becomes private waits.
        """
        if is_own_room(self._record):
            return self._record.space
        try:
            return await self._context.audience.get_home_space(Location.from_room(self._record.room))
        except PlatformError:
            return self._record.room

    async def _summarize(self, end: ScanEnd) -> None:
        self.report.problems = end.problems
        items = await self._store.sources.list_items(self._record.id)
        self.report.known = len(items)
        self.report.unread = {item.id: item.problem for item in items.values() if item.problem}


async def list_stored(context: BotContext, record: SourceRecord) -> list[DocumentInfo]:
    """The documents of a source that the engine has."""
    scope = Scope(frozenset(), frozenset({record.room}))
    listed = await context.engine_context.engine.documents.list(scope)
    return [document for document in listed if document.key.startswith(f"{PREFIX}{record.id}:")]


def describe_trouble(report: SyncReport) -> str:
    """Why a synchronization did not do everything; empty if it did. Pure."""
    held = f"{report.held} of {report.known} documents are gone at once, and are kept until somebody confirms it."
    return " ".join([*([held] if report.held else []), *report.problems])


def _mark_failed(stamp: str) -> str:
    """The stamp of a document that cannot be read: it is tried again once it changes, or with another version."""
    return f"failed {version('threadlore')} {stamp}" if stamp else ""
