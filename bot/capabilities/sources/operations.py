"""Add, list, read and remove sources: who will find what is said before, and what goes before it is forgotten."""

from __future__ import annotations

from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

from bot.capabilities.documents.forget import erase_bytes
from bot.capabilities.documents.lookup import LOCAL_SPACE
from bot.capabilities.ingest.estimates import add_model_cost
from bot.capabilities.ingest.progress import wait_until_indexed
from bot.capabilities.readers.operations import describe_target
from bot.capabilities.readers.targets import ReaderTarget
from bot.capabilities.results import Completed, EstimateResult, IngestFailure, Listing, ProgressUpdate, SourceReport
from bot.capabilities.sources.places import find_place, find_source, list_visible
from bot.errors import NotPermitted, PlatformError
from bot.i18n import gettext
from bot.ingest.sources.places import count_nouns, is_own_room
from bot.ingest.sources.service import SourceDraft
from bot.ingest.sources.sync import describe_trouble
from bot.platform.document_source import find_source_kind, load_source_kind
from bot.text.format import format_utc
from engine import Scope
from engine.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import BotParts, Deps
    from bot.capabilities.results import OperationResult
    from bot.capabilities.sources.requests import (
        AddSource,
        ListSources,
        ListUnreadItems,
        PauseSource,
        RemoveSource,
        SyncSource,
    )
    from bot.ingest.sources.sync import SyncReport
    from bot.store.schedules.sources import SourceRecord

COLUMNS = ("name", "kind", "address", "readers", "documents", "not read", "read at", "problem", "state")
MAX_TITLES = 5  # in the rehearsal of a removal


async def list_sources(deps: Deps, caller: Caller, _request: ListSources) -> AsyncGenerator[OperationResult]:
    """Yield the sources of places that the caller reads."""
    parts = await deps.parts.open()
    counts = await parts.store.sources.count_items()
    rows = [await _describe(parts, caller, record, counts) for record in await list_visible(parts, caller)]
    yield Listing(COLUMNS, tuple(rows))


async def _describe(
    parts: BotParts, caller: Caller, record: SourceRecord, counts: dict[str, tuple[int, int]]
) -> tuple[str, ...]:
    """A row of the list; only the owner sees addresses and problems that may name what is on this computer."""
    is_shown = caller.is_owner or load_source_kind(record.kind).for_managers
    total, unread = counts.get(record.id, (0, 0))
    problem = record.problem if is_shown or not record.problem else gettext("I can't read all of it right now.")
    return (
        record.name,
        record.kind,
        record.address if is_shown else "",
        await parts.ingest.sources.describe_readers(record),
        str(total - unread),
        str(unread),
        format_utc(record.synced_at) if record.synced_at else "",
        problem,
        parts.ingest.sources.describe_state(record),
    )


async def add_source(deps: Deps, caller: Caller, request: AddSource) -> AsyncGenerator[OperationResult]:
    """Yield who can find how much; if that is confirmed, add the source, and read it at once for the owner.

    Raises NotPermitted, NotFound, BadSetting and SourceUnavailable.
    """
    parts = await deps.parts.open()
    local = deps.context.owner_space or LOCAL_SPACE
    sources, place = parts.ingest.sources, await find_place(parts, caller, request.channel, local)
    added_by = str(caller.subject) if caller.kind == "person" else ""
    draft = SourceDraft(request.address, place, request.name, request.options, request.minutes * 60.0, added_by)
    kind = request.source_kind or find_source_kind(request.address)
    if not caller.is_owner:
        sources.check_allowed(kind)
    record = await sources.prepare(draft, kind)
    yield ProgressUpdate("listing")
    async with sources.drafting(record):
        with_tokens = not request.confirmed and deps.context.estimator is not None
        size = await sources.measure(record, with_tokens=with_tokens)
        if with_tokens and size.tokens is not None:
            yield await add_model_cost(deps, EstimateResult(size.documents, 0, size.tokens, size.is_whole))
        sentence = await _describe_audience(parts, caller, record, size.documents)
        if request.confirmed:
            await sources.add(record)
    if not request.confirmed:
        yield Completed(sentence)
        return
    yield Completed(gettext("{audience} It is called {name}.").format(audience=sentence, name=record.name))
    if caller.is_owner:
        async for step in _sync_all(deps, [record]):
            yield step


async def _describe_audience(parts: BotParts, caller: Caller, record: SourceRecord, count: int) -> str:
    """Who will find how much; managers are told who these people are, as far as that is known now."""
    sentence, people = await parts.ingest.sources.describe_audience(record, count), ""
    with suppress(PlatformError):
        space = await parts.ingest.sources.find_space(record)
        people = (await describe_target(parts, caller, ReaderTarget.of_room(record.room, space))).people
    return f"{sentence} {people}".strip()


async def remove_source(deps: Deps, caller: Caller, request: RemoveSource) -> AsyncGenerator[OperationResult]:
    """Yield what goes with a source; if that is confirmed, remove it. Raises NotFound."""
    parts, record = await _open_source(deps, caller, request.name)
    if not request.confirmed:
        count, titles = await parts.ingest.sources.rehearse_removal(record, MAX_TITLES)
        named = f" {', '.join(f'“{title}”' for title in titles)}…" if titles else ""
        text = gettext("This removes the source {name} and forgets what was read of it: {count}.")
        yield Completed(f"{text.format(name=record.name, count=count_nouns('document', count))}{named}")
        return
    yield ProgressUpdate("forgetting")
    removed = await parts.ingest.sources.remove(record)
    async for step in erase_bytes(deps):
        yield step
    text = gettext("Removed: {name}. Forgotten: {count}.")
    yield Completed(text.format(name=record.name, count=count_nouns("document", removed)))


async def pause_source(deps: Deps, caller: Caller, request: PauseSource) -> AsyncGenerator[OperationResult]:
    """Read a source on demand alone, or regularly again. Raises NotFound."""
    parts, record = await _open_source(deps, caller, request.name)
    await parts.ingest.sources.pause(record, paused=request.paused)
    text = gettext("I no longer read {name}; what I read of it stays.") if request.paused else gettext("I read {name}.")
    yield Completed(text.format(name=record.name))


async def list_unread_items(deps: Deps, caller: Caller, request: ListUnreadItems) -> AsyncGenerator[OperationResult]:
    """Yield what of a source was not read; only the owner sees names that may be of this computer. Raises NotFound."""
    parts, record = await _open_source(deps, caller, request.name)
    is_shown = caller.is_owner or load_source_kind(record.kind).for_managers or is_own_room(record)
    found = await parts.ingest.sources.list_unread(record)
    yield Listing(("name", "reason"), tuple((name if is_shown else "", why) for name, why in found))


async def sync_source(deps: Deps, caller: Caller, request: SyncSource) -> AsyncGenerator[OperationResult]:
    """Read sources now; for others than the owner in the background.

    Raises NotFound, SourceUnavailable, and NotPermitted for others than the owner who confirm that much is gone.
    """
    parts = await deps.parts.open()
    chosen = [await find_source(parts, caller, request.name)] if request.name else await list_visible(parts, caller)
    if caller.is_owner:
        await parts.ingest.sources.delete_unknown_copies()
        async for step in _sync_all(deps, chosen, forget_missing=request.forget_missing):
            yield step
        if not chosen:
            yield Completed("There are no sources.")
        return
    if request.forget_missing:
        raise NotPermitted(
            gettext("Only the operator can confirm that most of a source is gone."),
            hint=f"threadlore source sync {request.name or 'NAME'} --forget-missing",
        )
    for record in [source_record for source_record in chosen if request.name or not source_record.is_paused]:
        await parts.ingest.sources.request_sync(record)
    if not chosen:
        yield Completed(gettext("I read no website or other source outside of the chat that you can see."))
        return
    if request.name and chosen[0].is_paused:
        yield Completed(gettext("I'm reading it now, and regularly again."))
        return
    yield Completed(gettext("I'm reading it now; what is new can be found within minutes."))


async def _sync_all(
    deps: Deps, records: Sequence[SourceRecord], *, forget_missing: bool = False
) -> AsyncGenerator[OperationResult]:
    """Read sources one after the other, and wait until what they brought is indexed."""
    sources = (await deps.parts.open()).ingest.sources
    for record in records:
        began, reports = deps.clock.monotonic(), list["SyncReport"]()
        async with aclosing(sources.sync(record, reports, forget_missing=forget_missing)) as steps:
            async for step in steps:
                yield ProgressUpdate("reading", step.done, step.total, remaining=step.name)
        for report in reports:
            trouble = describe_trouble(report)
            if report.changed:
                async for waiting in _wait_until_indexed(deps, record):
                    yield waiting
            failures = tuple(IngestFailure(name, why) for name, why in sorted(report.unread.items()))
            noun, took = load_source_kind(record.kind).noun, deps.clock.monotonic() - began
            counted = count_nouns(noun, report.known)
            yield SourceReport(record.name, counted, report.changed, report.removed, took, failures, trouble)


async def _wait_until_indexed(deps: Deps, record: SourceRecord) -> AsyncGenerator[ProgressUpdate]:
    """Wait for a model only for a while: what is stored is indexed later."""
    try:
        async for step in wait_until_indexed(deps.engine, Scope.of(record.space), "indexing"):
            yield step
    except ModelError as error:
        yield ProgressUpdate("indexing", trouble=str(error))


async def _open_source(deps: Deps, caller: Caller, name: str) -> tuple[BotParts, SourceRecord]:
    """The parts of the bot, and the source of a request. Raises NotFound."""
    parts = await deps.parts.open()
    return parts, await find_source(parts, caller, name)
