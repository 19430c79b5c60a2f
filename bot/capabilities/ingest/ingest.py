"""Ingest files and folders: parse them, add the documents, and wait until they are indexed."""

from __future__ import annotations

import asyncio
import math
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from bot.capabilities.documents.lookup import build_scope, file_key
from bot.capabilities.ingest import files
from bot.capabilities.ingest.estimates import estimate_files
from bot.capabilities.ingest.progress import OUTAGE_TIMEOUT_SECONDS, count_unindexed, wait_until_indexed
from bot.capabilities.results import IngestFailure, IngestResult, ProgressUpdate
from bot.texts.omissions import describe_omissions
from engine.errors import DocumentTooLarge, InvalidDocument, ModelError
from engine.parsers.base import read_file_content

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sized
    from pathlib import Path

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.requests import Ingest
    from bot.capabilities.results import OperationResult
    from engine import Document, DocumentInfo, FileParser, IndexStatus

SLOW_FILE_SECONDS = 3.0  # after which a slow file is named in the progress
MAX_SIMILAR_FAILURES = 5  # documents listed with the same error
GIVE_RIGHT = "Give the user that runs Threadlore the right to read it."
RAISE_LIMIT = (
    "Split the file, or raise the limit: THREADLORE_MAX_FILE_SIZE_MB, THREADLORE_PARSER_TIMEOUT_SECONDS or"
    " THREADLORE_PARSER_MEMORY_MB."
)

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


@dataclass(slots=True)
class IngestStats:
    """Counters of an ingest: the keys of documents, and how many were new or changed.

    `started_files`: files that are being read, with the time of their start. `places`: the last label of those of which
    a part is stored already.
    """

    keys: set[str] = field(default_factory=set)
    changed: int = 0
    failures: list[IngestFailure] = field(default_factory=list)
    finished_files: int = 0
    started_files: dict[str, float] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)

    def slowest_file(self, now: float) -> str:
        """The file that is parsed for the longest time, "" if none is slow; times in seconds."""
        name, since = min(self.started_files.items(), key=lambda each: each[1], default=("", now))
        place = f", at {self.places[name]}" if name in self.places else ""
        return f"{name} for {now - since:.0f} s{place}" if now - since >= SLOW_FILE_SECONDS else ""


async def ingest(deps: Deps, _caller: Caller, request: Ingest) -> AsyncGenerator[OperationResult]:
    """Advanced while files are read and while they are indexed, then Ingested; on request only an estimate.

    What was taken in before and has not changed since is skipped. A file that cannot be read is a failure of its own;
    what keeps all of them from being taken in (the disk, for instance) is raised, and a second run goes on.
    A model that is out of reach or fails is waited for only for a while, unless the request says otherwise: the next
    run goes on there, too.
    """
    clock, scope = deps.clock, build_scope([request.space])
    began = clock.monotonic()
    found = await asyncio.to_thread(files.find_files, request.paths)
    there: dict[str, list[DocumentInfo]] = {}
    for document in await deps.engine.documents.list(scope):
        there.setdefault(document.link, []).append(document)
    tally = IngestStats()
    taker = _FileIngester(deps, request, there, tally)
    if request.estimate:
        async for step in estimate_files(deps, await taker.list_changed(found), taker.read_documents):
            yield step
        return
    yield ProgressUpdate("parsing", 0, len(found))
    async for _ in run_concurrently(
        found, taker.ingest_file, 2 * deps.context.parser_limits.workers, SLOW_FILE_SECONDS
    ):
        slowest = tally.slowest_file(clock.monotonic())
        yield ProgressUpdate("parsing", tally.finished_files, len(found), remaining=slowest)
    trouble = ""
    if tally.changed or tally.keys:
        try:
            async for step in wait_until_indexed(
                deps.engine,
                scope,
                "indexing",
                tally.changed,
                most=math.inf if request.wait else OUTAGE_TIMEOUT_SECONDS,
            ):
                yield step
        except ModelError as error:
            trouble = format_waiting(error, await deps.engine.maintenance.get_status(scope))
    listed = [document for document in await deps.engine.documents.list(scope) if document.key in tally.keys]
    tally.failures += _list_failures(listed)
    took, gaps = clock.monotonic() - began, tuple(_list_gaps(listed))
    spent = (await deps.engine.maintenance.get_status(scope)).spent_budget
    yield IngestResult(len(found), len(tally.keys), tally.changed, took, tuple(tally.failures), trouble, gaps, spent)


def format_waiting(error: ModelError, status: IndexStatus) -> str:
    """What happens when the model is reachable again, and how documents are found until then; "" if none waits."""
    count = count_unindexed(status)
    if not count:
        return ""
    found = "words" if status.documents.get("pending") else "words and by meaning"
    what = "1 document waits" if count == 1 else f"{count} documents wait"
    return f"{error} {what} for it, and can be found by {found} already."


@dataclass(frozen=True, slots=True)
class _StoredFile:
    """What is stored of a file: its key, the fingerprint of its content now, and its documents by key."""

    key: str
    stamp: str
    documents: Mapping[str, DocumentInfo]
    is_unchanged: bool


@dataclass(frozen=True, slots=True)
class _FileIngester:
    """Ingests the files of one request. `existing`: the documents that are stored already, by link."""

    deps: Deps
    request: Ingest
    existing: dict[str, list[DocumentInfo]]
    stats: IngestStats

    async def ingest_file(self, path: Path) -> None:
        """Ingest one file, or record its failure."""
        self.stats.started_files[path.name] = self.deps.clock.monotonic()
        try:
            await asyncio.to_thread(files.require_listed, path)
            await self._ingest_file(path)
        except (InvalidDocument, ModelError) as error:
            hint = RAISE_LIMIT if isinstance(error, DocumentTooLarge) else error.hint
            self.stats.failures.append(IngestFailure(str(path), str(error), hint))
        except OSError as error:
            hint = GIVE_RIGHT if isinstance(error, PermissionError) else ""
            why = f"It cannot be read: {error.strerror or error}."
            self.stats.failures.append(IngestFailure(str(path), why, hint))
        finally:
            self.stats.started_files.pop(path.name, None)
            self.stats.places.pop(path.name, None)
            self.stats.finished_files += 1

    async def list_changed(self, paths: Iterable[Path]) -> list[Path]:
        """The files that are new or changed; not those that cannot be read."""
        found: list[Path] = []
        for path in paths:
            with suppress(OSError):
                found += [] if (await self.find_stored(path)).is_unchanged else [path]
        return found

    async def find_stored(self, path: Path) -> _StoredFile:
        """What is stored of a file. Raises OSError."""
        fingerprints, key = self.deps.context.fingerprints, file_key(path, self.request.space)
        stamp = await asyncio.to_thread(fingerprints.compute_fingerprint, path)
        known = {text.key: text for text in self.existing.get(path.as_uri(), []) if text.kind != "manual"}
        failed = any(document.status == "failed" for document in known.values())
        is_unchanged = fingerprints.is_unchanged(key, _extend_fingerprint(stamp, known))
        return _StoredFile(key, stamp, known, is_unchanged=bool(known) and not failed and is_unchanged)

    async def _ingest_file(self, path: Path) -> None:
        stored = await self.find_stored(path)
        known = stored.documents
        if stored.is_unchanged:
            self.stats.keys |= known.keys()
            return
        keys = set[str]()
        async with aclosing(self.read_documents(path, self.deps.context.parser)) as documents:
            async for document in documents:
                keys.add(document.key)
                self.stats.keys.add(document.key)
                save = self.deps.replace_document if document.key in known else self.deps.engine.documents.add
                changed = await save(document)
                self.stats.changed += changed  # other files run concurrently: do not await in between
                self.stats.places[path.name] = document.passages[-1].label
        for removed_key in known.keys() - keys:
            await self.deps.forget_document(removed_key)
        self.deps.context.fingerprints.record(stored.key, _extend_fingerprint(stored.stamp, keys))

    async def read_documents(self, path: Path, parser: FileParser) -> AsyncGenerator[Document]:
        """The documents of a file. Raises InvalidDocument, ModelError and OSError."""
        target = files.IngestTarget(self.request.space, self.request.room)
        data = await asyncio.to_thread(read_file_content, path, self.deps.context.parser_limits.max_file_size)
        if await asyncio.to_thread(files.is_chat, path, data):
            for conversation in await asyncio.to_thread(
                files.build_conversations, path, data, target, self.deps.context.count_tokens
            ):
                yield conversation
            return
        async with aclosing(files.build_documents(path, data, target, parser, self.deps.clock.now())) as documents:
            async for document in documents:
                yield document


def _extend_fingerprint(stamp: str, documents: Sized) -> str:
    """The fingerprint of a file with the number of its documents: one of them may have been forgotten since."""
    return f"{stamp}:{len(documents)}"


def _list_failures(documents: Iterable[DocumentInfo]) -> list[IngestFailure]:
    """The documents that could not be indexed completely."""
    return _group_alike((document.title, document.error, document.hint) for document in documents if document.error)


def _list_gaps(documents: Iterable[DocumentInfo]) -> list[IngestFailure]:
    """The documents of which something was not read."""
    return _group_alike(
        (document.title, describe_omissions(document), "") for document in documents if document.omissions
    )


def _group_alike(found: Iterable[tuple[str, str, str]]) -> list[IngestFailure]:
    """Failures of titles, errors and hints; an error that many share, such as a wrong API key, is listed once."""
    alike: dict[tuple[str, str], list[str]] = {}
    for title, error, hint in found:
        alike.setdefault((error, hint), []).append(title)
    return [IngestFailure(title, *why) for why, titles in alike.items() for title in _summarize_titles(titles)]


def _summarize_titles(titles: list[str]) -> list[str]:
    return [f"{titles[0]} and {len(titles) - 1} more documents"] if len(titles) > MAX_SIMILAR_FAILURES else titles


async def run_concurrently(
    items: Iterable[Item],
    work: Callable[[Item], Awaitable[Outcome]],
    at_once: int,
    pulse: float | None = None,
) -> AsyncIterator[Outcome | None]:
    """Yield the results of `work` for all items as they complete, `at_once` at a time; the first error ends all.

    Yields None if nothing completed for `pulse` seconds.
    """
    waiting = iter(items)
    running: set[asyncio.Future[Outcome]] = set()
    done: set[asyncio.Future[Outcome]] = set()
    try:
        while True:
            while len(running) < at_once and (item := next(waiting, None)) is not None:
                running.add(asyncio.ensure_future(work(item)))
            if not running:
                return
            done, running = await asyncio.wait(running, timeout=pulse, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                yield None
            for future in done:
                yield future.result()
    finally:
        for future in running:
            future.cancel()
        await asyncio.gather(*running, *done, return_exceptions=True)
