"""The sources of documents outside of the chat: added, listed, removed, and kept up to date by one clock."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import structlog

from bot.errors import BadSetting, NotPermitted, PageNotRead, PlatformError, SourceUnavailable
from bot.i18n import gettext
from bot.ingest.sources.places import clean_source_name, count_nouns, describe_progress, is_own_room
from bot.ingest.sources.removal import SourceRemoval
from bot.ingest.sources.secrets import read_secret
from bot.ingest.sources.sizes import SourceSize, measure_source
from bot.ingest.sources.sync import SourceRemoved, SourceSync, SyncProgress, list_stored
from bot.permissions.audience import is_adult_space, parse_workspace_space
from bot.platform.document_source import SourceTools, load_source_kind
from bot.platform.models import Location
from bot.store.schedules.sources import PAUSED, SourceRecord
from bot.texts.overviews.readers import name_readers
from engine.errors import EngineError
from engine.scheduling.supervisor import gather_or_cancel

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping

    from bot.context import BotContext
    from bot.ingest.documents import ConversationDocuments
    from bot.ingest.sources.places import SourcePlace
    from bot.ingest.sources.sync import SyncReport
    from bot.platform.document_source import DocumentSource, SourceKind, WebReader
    from bot.texts.overviews.readers import SourceAudience

log = structlog.get_logger(__name__)

MIN_EVERY, MAX_EVERY = 60.0, 30 * 24 * 3600.0  # seconds between two synchronizations
FIRST_RETRY_SECONDS = 60.0  # before a source that could not be read is tried again; doubled after each failure
POLL_SECONDS = 15.0  # between two looks for what is due
AT_ONCE = 3  # sources that are synchronized at the same time


@dataclass(frozen=True, slots=True)
class SourceDraft:
    """A source that somebody wants. `every`: seconds, 0 for those of its kind. `added_by`: a person, or empty."""

    address: str
    place: SourcePlace
    name: str = ""
    options: tuple[tuple[str, str], ...] = ()
    every: float = 0.0
    added_by: str = ""


class SourceService:
    """Adds, lists, removes and synchronizes sources. `updated`: one is due before its time. `web`: fetches pages."""

    def __init__(self, context: BotContext, documents: ConversationDocuments, web: WebReader) -> None:
        self._context = context
        self._documents = documents
        self._store = context.store
        self._processes = context.engine_context.engine.processes
        self._removal = SourceRemoval(context, documents)
        self._progress = dict[str, tuple[float, SyncProgress]]()  # when a reading began, and how far it is
        self.web = web
        self.updated = asyncio.Event()

    async def prepare(self, draft: SourceDraft, kind_name: str) -> SourceRecord:
        """The source that a draft makes, which is not stored. Raises BadSetting and NotFound."""
        kind = load_source_kind(kind_name)
        if unknown := {name for name, _ in draft.options} - kind.options:
            known = ", ".join(sorted(kind.options)) or "none"
            raise BadSetting(
                f"A source of the kind {kind_name} has no option “{min(unknown)}”.", hint=f"Known: {known}."
            )
        every = draft.every or kind.every
        if not MIN_EVERY <= every <= MAX_EVERY:
            raise BadSetting("A source is read every 1 to 43,200 minutes.", hint="Correct the number of minutes.")
        id_, name = secrets.token_hex(4), await self._find_free_name(draft)
        room = draft.place.build_room(id_, name)
        record = SourceRecord(id_, name, kind_name, draft.address, draft.options, draft.place.find_space(), room)
        await (await self._open(record)).close()
        return replace(record, added_by=draft.added_by, every=every, due_at=self._context.clock.time())

    async def _find_free_name(self, draft: SourceDraft) -> str:
        """A name that no other source has. Raises BadSetting if somebody chose one that is taken."""
        name, taken = clean_source_name(draft.name, draft.address), {source.name for source in await self.list_all()}
        if name in taken and draft.name:
            raise BadSetting(f"There is a source “{name}” already.", hint="Choose another name.")
        numbered = (f"{name}-{number}" for number in range(2, len(taken) + 3))
        return next(text for text in (name, *numbered) if text not in taken)

    def check_allowed(self, kind: str) -> None:
        """Raise NotPermitted for a kind that managers and programs may not add: only the owner at the terminal may."""
        allowed = {part.strip() for part in self._context.settings.chat_sources.split(",")}
        if kind not in allowed or not load_source_kind(kind).for_managers:
            raise NotPermitted(
                gettext("Only the operator can add this kind of source."),
                hint=gettext("They can allow managers to add websites."),
            )

    async def measure(self, record: SourceRecord, *, with_tokens: bool) -> SourceSize:
        """How much a source has now that everybody at it may read. Raises SourceUnavailable, PageNotRead."""
        engine = self._context.engine_context
        async with self._opening(record) as source:
            return await measure_source(source, engine.parser if with_tokens else None, engine.count_tokens)

    @asynccontextmanager
    async def drafting(self, record: SourceRecord) -> AsyncIterator[None]:
        """Keep what a source has on disk after the block only if the source is stored then."""
        async with self._processes.lease(_lease_name(record.id)):
            try:
                yield
            finally:
                await self._removal.delete_unknown_copy(record.id)

    async def delete_unknown_copies(self) -> None:
        """Delete what sources have on disk that are not stored, and that nobody adds or reads now."""
        known = {source.id for source in await self.list_all()}
        for name in await self._removal.list_copies():
            if name in known:
                continue
            async with self._processes.try_lease(_lease_name(name)) as is_held:
                if is_held:
                    await self._removal.delete_unknown_copy(name)

    async def add(self, record: SourceRecord) -> None:
        """Store a source, which is due at once."""
        if is_own_room(record):
            await self._store.imported_spaces.set(record.room, record.space)
        await self._store.sources.insert(record)
        self.updated.set()
        self._processes.notify("sources")
        log.info("sources.added", source=record.id, kind=record.kind, room=record.room)

    async def list_all(self) -> list[SourceRecord]:
        """All sources by name."""
        return await self._store.sources.list_all()

    async def describe_audience(self, record: SourceRecord, count: int) -> str:
        """Who will find how much, as a sentence in the active language."""
        counted = count_nouns(load_source_kind(record.kind).noun, count)
        return gettext("{readers} can find what is in {address} ({count}).").format(
            readers=await self.describe_readers(record), address=record.address, count=counted
        )

    async def describe_readers(self, record: SourceRecord) -> str:
        """Who can find the documents of a source, in the active language."""
        workspace = parse_workspace_space(record.space)
        if not is_own_room(record):
            name = await self._store.channels.get_name(record.room) or record.room
            return name_readers(await self._find_audience(Location.from_room(record.room)), name)
        return name_readers("workspace", ":".join(workspace)) if workspace else name_readers("terminal", record.space)

    async def find_space(self, record: SourceRecord) -> str:
        """The space of what will be read of a source. Raises PlatformError."""
        if is_own_room(record):
            return record.space
        return await self._context.audience.get_home_space(Location.from_room(record.room))

    async def _find_audience(self, channel: Location) -> SourceAudience:
        """Who finds the documents of a channel at present."""
        try:
            space = await self._context.audience.get_home_space(channel)
            if parse_workspace_space(space) is not None:
                return "adult" if is_adult_space(space) else "open"
            return "shared" if (await self._context.audience.get_channel_info(channel)).shared else "members"
        except PlatformError:
            return "unknown"

    async def rehearse_removal(self, record: SourceRecord, most: int) -> tuple[int, list[str]]:
        """How many documents go with a source when it is removed, and some of their titles."""
        stored = await list_stored(self._context, record)
        return len(stored), [info.title for info in stored[:most]]

    async def remove(self, record: SourceRecord) -> int:
        """Remove a source with its documents; returns their number."""
        removed = await self._removal.remove(record)
        log.info("sources.removed", source=record.id, documents=removed)
        return removed

    async def record_forgotten(self, document: str) -> None:
        """Record that a person had a document of a source forgotten, so that it is not read again."""
        await self._removal.record_forgotten(document)

    async def pause(self, record: SourceRecord, *, paused: bool) -> None:
        """Read a source on demand alone, or regularly again, at once for the first time."""
        await self._store.sources.make_due(record.id, PAUSED if paused else self._context.clock.time())
        log.info("sources.paused" if paused else "sources.resumed", source=record.id)
        if not paused:
            self.updated.set()
            self._processes.notify("sources")

    async def list_unread(self, record: SourceRecord) -> list[tuple[str, str]]:
        """What of a source was not read, by id, and why."""
        items = await self._store.sources.list_items(record.id)
        return [(item.id, item.problem) for item in items.values() if item.problem]

    def describe_state(self, record: SourceRecord) -> str:
        """What happens to a source now, in the active language."""
        if record.id in self._progress:
            began, step = self._progress[record.id]
            return describe_progress(load_source_kind(record.kind).noun, step, self._context.clock.monotonic() - began)
        if record.is_paused:
            return gettext("paused")
        is_due = record.due_at <= self._context.clock.time()
        return gettext("waiting to be read") if is_due or record.synced_at is None else gettext("up to date")

    async def request_sync(self, record: SourceRecord) -> None:
        """Have a source read soon, by the process that runs for long."""
        await self._store.sources.make_due(record.id, self._context.clock.time())
        self.updated.set()
        self._processes.notify("sources")

    async def sync(
        self, record: SourceRecord, reports: list[SyncReport], *, forget_missing: bool = False, if_due: bool = False
    ) -> AsyncGenerator[SyncProgress]:
        """Yield the progress of one synchronization, and add its report. Raises SourceUnavailable and EngineError.

        `if_due`: not if another one ended meanwhile.
        """
        async with self._processes.lease(_lease_name(record.id)):
            current = await self._store.sources.get(record.id)
            if current is None or (if_due and current.due_at > self._context.clock.time()):
                return
            try:
                async with self._opening(current) as source:
                    running = SourceSync(self._context, self._documents, current, source)
                    began = self._context.clock.monotonic()
                    async with aclosing(running.run(forget_missing=forget_missing)) as steps:
                        async for step in steps:
                            self._progress[current.id] = (began, step)
                            yield step
                    reports.append(running.report)
            except SourceRemoved:
                return
            except EngineError as error:
                await self._record_failure(current, str(error))
                raise
            finally:
                await self._removal.delete_unknown_copy(record.id)
                self._progress.pop(current.id, None)

    async def run(self) -> None:
        """Synchronize what is due until cancelled."""
        while True:
            self.updated.clear()
            await self.run_due()
            with suppress(TimeoutError):  # `wait_for` can swallow a cancellation on Python 3.11
                async with asyncio.timeout(POLL_SECONDS):
                    await self.updated.wait()

    async def run_due(self) -> None:
        """Finish removals, also of other processes, and synchronize what is due and what no other process reads."""
        await self._removal.finish()
        await self.delete_unknown_copies()
        gate = asyncio.Semaphore(AT_ONCE)
        due = await self._store.sources.list_due(self._context.clock.time())
        await gather_or_cancel(*(self._run_one(source, gate) for source in due))

    async def list_problems(self) -> list[str]:
        """Why sources are not up to date, each as a sentence."""
        return [f"Source {source.name}: {source.problem}" for source in await self.list_all() if source.problem]

    async def _run_one(self, record: SourceRecord, gate: asyncio.Semaphore) -> None:
        async with gate, self._processes.try_lease(f"periodic source {record.id}") as is_held:
            if not is_held:
                return
            try:
                async with aclosing(self.sync(record, [], if_due=True)) as steps:
                    async for _ in steps:
                        pass
            except EngineError as error:
                log.warning("sources.sync_failed", source=record.id, error=type(error).__name__)
            except Exception as error:  # noqa: BLE001 - one source that fails must not keep the others waiting
                log.warning("sources.sync_failed", source=record.id, error=type(error).__name__)
                await self._record_failure(record, f"It failed ({type(error).__name__}).")

    async def _record_failure(self, record: SourceRecord, problem: str) -> None:
        delay = min(record.every, FIRST_RETRY_SECONDS * 2 ** min(record.failures, 20))
        await self._store.sources.record_failure(record.id, problem, self._context.clock.time() + delay)

    @asynccontextmanager
    async def _opening(self, record: SourceRecord) -> AsyncIterator[DocumentSource]:
        """The source, until the block ends. A page on which all depends counts as the source: SourceUnavailable."""
        source = await self._open(record)
        try:
            yield source
        except PageNotRead as error:
            raise SourceUnavailable(str(error), hint=error.hint) from error
        finally:
            await source.close()

    async def _open(self, record: SourceRecord) -> DocumentSource:
        kind: SourceKind = load_source_kind(record.kind)
        options: Mapping[str, str] = dict(record.options)
        settings = self._context.settings
        secret = await asyncio.to_thread(read_secret, options, settings.adapter_settings)
        cache, limits = self._removal.cache_dir / record.id, self._context.engine_context.parser.limits
        is_local = is_own_room(record) and parse_workspace_space(record.space) is None
        tools = SourceTools(
            self._context.clock, self.web, cache, settings.data_path, limits.max_file_size, secret, is_local
        )
        return await asyncio.to_thread(kind.open, record.address, options, tools)


def _lease_name(id_: str) -> str:
    """The lease of whoever reads a source or adds it."""
    return f"source {id_}"
