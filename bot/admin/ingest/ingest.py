"""Taking in files and folders: read, added, and followed until all of it is indexed."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from bot.admin.document_lookup import file_key, scope_of
from bot.admin.ingest import files
from bot.admin.ingest.progress import LOST, settling, unfinished
from bot.admin.results import Advanced, Failure, Ingested
from engine.errors import BadInput, LanguageError
from engine.parsers import Reader

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Iterable, Sized
    from pathlib import Path

    from bot.admin.requests import Ingest
    from bot.admin.results import Event
    from bot.engine_context import Desk
    from engine.models import Document
    from engine.storage.ledger.queries.stats import Listed, Status

PULSE = 3.0  # seconds after which a file that is still being read is told
MANY = 5  # documents that failed alike

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


@dataclass(slots=True)
class Tally:
    """What came of an ingest so far: keys of documents, and how many of them were new or changed.

    `taken`: files that are read; `begun`: those that are being read, with the time since when.
    """

    keys: set[str] = field(default_factory=set)
    changed: int = 0
    failures: list[Failure] = field(default_factory=list)
    taken: int = 0
    begun: dict[str, float] = field(default_factory=dict)

    def slowest(self, now: float) -> str:
        """The file that has been read for longest, if that is worth telling; times in seconds."""
        name, since = min(self.begun.items(), key=lambda each: each[1], default=("", now))
        return f"{name} for {now - since:.0f} s" if now - since >= PULSE else ""


async def ingest(desk: Desk, request: Ingest) -> AsyncGenerator[Event]:
    """Advanced while files are read and while they are indexed, then Ingested.

    What was taken in before and has not changed since is skipped. A file that cannot be read is a failure of its own;
    what keeps all of them from being taken in (the disk, for instance) is raised, and a second run goes on.
    A model that is out of reach or fails is waited for only for a while, unless the request says otherwise: the next
    run goes on there, too.
    """
    began, scope = time.monotonic(), scope_of([request.space])
    found = await asyncio.to_thread(files.find, request.paths)
    there: dict[str, list[Listed]] = {}
    for each in await desk.engine.documents(scope):
        there.setdefault(each.link, []).append(each)
    tally = Tally()
    async with Reader(desk.limits) as reader:
        taker = _Taker(desk, reader, request, there, tally)
        yield Advanced("reading", 0, len(found))
        async for _ in completed(found, taker.take, 2 * desk.limits.workers, PULSE):
            yield Advanced("reading", tally.taken, len(found), inside=tally.slowest(time.monotonic()))
    trouble = ""
    if tally.changed or tally.keys:
        try:
            async for step in settling(
                desk.engine, scope, "indexing", tally.changed, most=math.inf if request.wait else LOST
            ):
                yield step
        except LanguageError as error:
            trouble = waits(error, await desk.engine.status(scope))
    tally.failures += await _given_up(desk, request, tally.keys)
    took = time.monotonic() - began
    yield Ingested(len(found), len(tally.keys), tally.changed, took, tuple(tally.failures), trouble)


def waits(error: LanguageError, status: Status) -> str:
    """What is to be done once the model can be reached, and how documents are found until then; "" if none waits."""
    count = unfinished(status)
    if not count:
        return ""
    found = "words" if status.documents.get("pending") else "words and by meaning"
    what = "1 document waits" if count == 1 else f"{count} documents wait"
    return f"{error} {what} for it, and can be found by {found} already."


@dataclass(frozen=True, slots=True)
class _Taker:
    """`there`: what is known already, by link."""

    desk: Desk
    reader: Reader
    request: Ingest
    there: dict[str, list[Listed]]
    tally: Tally

    async def take(self, path: Path) -> None:
        """Take one file in, or write down why not."""
        self.tally.begun[path.name] = time.monotonic()
        try:
            await self._take(path)
        except BadInput as error:
            self.tally.failures.append(Failure(str(path), str(error), error.hint))
        except OSError as error:
            self.tally.failures.append(Failure(str(path), f"The file cannot be read: {error.strerror or error}."))
        finally:
            self.tally.begun.pop(path.name, None)
            self.tally.taken += 1

    async def _take(self, path: Path) -> None:
        key, stamp = file_key(path, self.request.space), await asyncio.to_thread(self.desk.stamps.stamp, path)
        known = {each.key: each for each in self.there.get(path.as_uri(), []) if each.kind != "manual"}
        failed = any(each.status == "failed" for each in known.values())
        if known and not failed and self.desk.stamps.unchanged(key, _stamp(stamp, known)):
            self.tally.keys |= known.keys()
            return
        documents = await self._documents(path)
        for document in documents:
            self.tally.keys.add(document.key)
            take = self.desk.replace if document.key in known else self.desk.engine.add
            changed = await take(document)
            self.tally.changed += changed  # other files are taken in meanwhile: nothing may be awaited in between
        for gone in known.keys() - {document.key for document in documents}:
            await self.desk.forget(gone)
        self.desk.stamps.note(key, _stamp(stamp, documents))

    async def _documents(self, path: Path) -> list[Document]:
        place = files.Place(self.request.space, self.request.room)
        data = await asyncio.to_thread(files.content, path, self.desk.limits.size)
        if await asyncio.to_thread(files.is_chat, path, data):
            return await asyncio.to_thread(files.conversations_of, path, data, place, self.desk.count)
        return [await files.document_of(path, data, place, self.reader)]


def _stamp(stamp: str, documents: Sized) -> str:
    """The stamp of a file with the number of documents that came from it: of those one may be forgotten since."""
    return f"{stamp}:{len(documents)}"


async def _given_up(desk: Desk, request: Ingest, keys: Collection[str]) -> list[Failure]:
    """Documents of this ingest of which something could not be read by the model, or not at all.

    What befell many of them in the same way, as a wrong key does, is told once.
    """
    alike: dict[tuple[str, str], list[str]] = {}
    for each in await desk.engine.documents(scope_of([request.space])):
        if each.key in keys and each.error:
            alike.setdefault((each.error, each.hint), []).append(each.title)
    return [Failure(title, *why) for why, titles in alike.items() for title in _shortened(titles)]


def _shortened(titles: list[str]) -> list[str]:
    return [f"{titles[0]} and {len(titles) - 1} more documents"] if len(titles) > MANY else titles


async def completed(
    items: Iterable[Item],
    work: Callable[[Item], Awaitable[Outcome]],
    at_once: int,
    pulse: float | None = None,
) -> AsyncIterator[Outcome | None]:
    """What `work` makes of each item, as it is done, with so many under way at once; what it raises ends all.

    None as a sign of life where nothing was done for `pulse` seconds.
    """
    waiting = iter(items)
    running: set[asyncio.Future[Outcome]] = set()
    try:
        while True:
            while len(running) < at_once and (item := next(waiting, None)) is not None:
                running.add(asyncio.ensure_future(work(item)))
            if not running:
                return
            done, running = await asyncio.wait(running, timeout=pulse, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                yield None
            for each in done:
                yield each.result()
    finally:
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)
