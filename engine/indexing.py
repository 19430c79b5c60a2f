"""The worker: embeds new chunks, reads them, and drives the projector, until every accepted document is indexed."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import structlog

from engine.chunk_embedder import ChunkEmbedder
from engine.errors import BadKey, EngineError, LanguageError, NoSuchModel, Refused, StoreError, TooLong, Unreachable
from engine.haste import Haste, Then, Wish
from engine.ledger import facts, memos, work
from engine.records import Bill, Excerpt
from engine.supervisor import EXITS, reason
from engine.tasks import end

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractContextManager

    from engine.ledger import Ledger
    from engine.ledger.facts import Unread
    from engine.projecting import Projector

log = structlog.get_logger(__name__)

HOPELESS = (BadKey, NoSuchModel, Refused, TooLong)
FIRST_WAIT, LONGEST_WAIT = 5.0, 600.0
TROUBLE_WAIT = 2.0
LOOK_AGAIN = 0.25
SHORTEST_QUIET = 1.0
# Seconds from the beginning of a batch to the next while more keeps coming: one by one costs several times as much.
PACE = {"embed": 1.0, "project": 2.0}


def wait_before(tries: int) -> float:
    """Seconds until a failed chunk is tried again: doubling, up to ten minutes."""
    return float(min(FIRST_WAIT * 2**tries, LONGEST_WAIT))


@dataclass(slots=True)
class Worker:
    """Runs in the background of an engine."""

    projector: Projector
    _troubles: dict[str, EngineError] = field(default_factory=dict)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _news: dict[str, asyncio.Event] = field(default_factory=dict)
    _calm: asyncio.Condition = field(default_factory=asyncio.Condition)
    _reading: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    _same: dict[bytes, asyncio.Lock] = field(default_factory=dict)
    _haste: Haste = field(default_factory=Haste)
    _unheard: Unreachable | None = None
    _chunks: ChunkEmbedder = field(init=False)

    def __post_init__(self) -> None:
        self._chunks = ChunkEmbedder(self.projector)

    def start(self) -> None:
        """Begin, or go on where the last run stopped."""
        steps: dict[str, Callable[[], Awaitable[Then]]] = {
            "embed": self._embed,
            "read": self._read,
            "project": self._project,
        }
        self._news = {name: asyncio.Event() for name in steps}
        run = self.projector.supervisor.run
        self._tasks = [run(name, partial(self._repeat, name, step, self._news[name])) for name, step in steps.items()]
        self._tasks.append(run("quiet periods", self._quiet_periods))

    async def stop(self) -> None:
        """Let go at once; what is unfinished is taken up at the next start."""
        await end(*self._tasks, *self._reading.values())
        self._tasks.clear()
        self._reading.clear()

    @property
    def trouble(self) -> EngineError | None:
        """What keeps one of the steps from going on, while it does."""
        return next(iter(self._troubles.values()), None)

    @property
    def unreachable(self) -> Unreachable | None:
        """What keeps chunks from being read or embedded, if it is a model out of reach."""
        found = (self._unheard, *self._troubles.values())
        return next((each for each in found if isinstance(each, Unreachable)), None)

    def wake(self) -> None:
        """Say that there is something to do."""
        for news in self._news.values():
            news.set()

    async def settled(self) -> None:
        """Return once every accepted document is indexed or failed; raises what keeps the worker from it."""
        with self._haste.waiting(Wish.END):
            self.wake()
            async with self._calm:  # held while looking, so that no step comes to rest unseen
                while not await self._done():
                    await self._rested()

    def urgent(self) -> AbstractContextManager[None]:
        """Somebody waits for what is stale already, for as long as this is held."""
        return self._haste.waiting(Wish.NOW)

    async def progress(self) -> None:
        """Return when some step has come to rest, or after half a second; raises what keeps it from going on."""
        async with self._calm:
            await self._rested()

    async def _rested(self) -> None:
        if self.trouble is not None:
            raise self.trouble
        with suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await self._calm.wait()

    async def _done(self) -> bool:
        return not self._reading and await self.ledger.read(work.idle, skip_quiet=True)

    @property
    def ledger(self) -> Ledger:
        """The ledger that is worked on."""
        return self.projector.ledger

    async def _repeat(self, name: str, step: Callable[[], Awaitable[Then]], news: asyncio.Event) -> None:
        """Do a step as long as there is something to do, at its pace, then wait for news; trouble is waited out."""
        while True:
            news.clear()
            await self.projector.courtesy.after_you()
            since = time.monotonic()
            try:
                then = await step()
            except (StoreError, LanguageError) as error:
                self._troubles[name], then = error, Then.REST
                self.projector.supervisor.failed(name, error)
                await asyncio.sleep(TROUBLE_WAIT)
            except EXITS:
                raise
            except BaseException as error:  # the supervisor runs this anew
                self._troubles[name] = EngineError(f"The step “{name}” of indexing failed: {reason(error)}.")
                raise
            else:
                if self._troubles.pop(name, None) is not None:
                    self.projector.supervisor.succeeded(name)
            if then is Then.REST:
                await self._rest(news)
            elif then is Then.GATHER:
                await self._haste.let_gather(since + PACE[name])

    async def _rest(self, news: asyncio.Event) -> None:
        async with self._calm:
            self._calm.notify_all()
        with suppress(TimeoutError):
            # Not wait_for: up to Python 3.11 it loses a cancellation that comes together with the news.
            async with asyncio.timeout(1.0):
                await news.wait()

    async def _embed(self) -> Then:
        if (then := await self._chunks.step()) is not Then.REST:
            self.wake()
        return then

    # Reading: several chunks at once; one that fails, fails alone.

    async def _read(self) -> Then:
        readers = self.projector.options.readers
        most = 1 if self._unheard else 2 * readers  # while nobody is there to read, one asks whether that is over
        room = most - len(self._reading)
        if room > min(most - 1, readers // 2):
            found = await self.ledger.read(facts.unread, room, time.time(), list(self._reading))
            for chunk in found:
                self._reading[chunk.id] = self.projector.supervisor.spawn("read a chunk", self._read_one(chunk))
        self._haste.reads(bool(self._reading) and self._unheard is None)
        if not self._reading:
            if self._unheard and not await self.ledger.read(work.unread_left):
                self._unheard = None
            return Then.REST
        # Not for ever: what comes meanwhile is not to wait for a slow reply.
        await asyncio.wait(self._reading.values(), timeout=LOOK_AGAIN, return_when=asyncio.FIRST_COMPLETED)
        done = [id_ for id_, task in self._reading.items() if task.done()]
        for id_ in done:
            self._reading.pop(id_).result()
        if done:
            self.wake()
        return Then.GO_ON

    async def _read_one(self, chunk: Unread) -> None:
        excerpt, bill = Excerpt(chunk.text, chunk.section), Bill()
        key = self.projector.language.reading_key(excerpt)
        try:
            async with self._same.setdefault(key, asyncio.Lock()):
                reading = await self.ledger.read(facts.reading_of, key, chunk.id)
                if reading is None:
                    await self.projector.courtesy.after_you()
                    reading = await self.projector.language.extract(excerpt, bill)
                    self._unheard = None
                await self.projector.courtesy.after_you()
                await self.ledger.write(facts.keep_reading, chunk.id, key, reading)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - one chunk must not keep the others from being read
            await self._fail(chunk, error)
            if isinstance(error, Unreachable):
                await asyncio.sleep(TROUBLE_WAIT)
        finally:
            self._same.pop(key, None)
            if bill.items:
                await self.ledger.write(memos.add_usage, datetime.now(UTC).date().isoformat(), bill.items)

    async def _fail(self, chunk: Unread, error: Exception) -> None:
        known_before, self._unheard = self._unheard, error if isinstance(error, Unreachable) else None
        known = error if isinstance(error, EngineError) else EngineError(f"Reading failed: {type(error).__name__}.")
        hopeless = not isinstance(error, LanguageError) or isinstance(error, HOPELESS)
        over = hopeless or (not self._unheard and chunk.tries + 1 >= self.projector.options.attempts)
        if not (known_before and self._unheard):
            log.warning("chunk_unread", error=str(known), hint=known.hint, given_up=over, tries=chunk.tries + 1)
        retry_at = float("inf") if over else time.time() + wait_before(chunk.tries)
        await self.ledger.write(work.fail, chunk.id, known, retry_at)

    # Projecting: hot keys wait for the end of their quiet period, unless somebody waits for everything.

    async def _project(self) -> Then:
        if (then := await self.projector.step()) is not Then.REST:
            self.wake()
            return then
        if self._haste.wanted(Wish.END) and await self.ledger.read(work.only_held_left):
            await self.projector.end_quiet()
            return await self.projector.step()
        return Then.REST

    async def _quiet_periods(self) -> None:
        while True:
            await asyncio.sleep(max(self.projector.options.quiet, SHORTEST_QUIET))
            await self.projector.end_quiet()
            self.projector.supervisor.succeeded("quiet periods")
            self.wake()
