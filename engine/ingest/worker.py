"""The worker: embeds new chunks, reads them, and drives the projector, until every accepted document is indexed."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from engine.errors import BrokenProjection, EngineError, LanguageError, StoreError
from engine.ingest.embed_step import ChunkEmbedder
from engine.ingest.extract_step import ChunkReader
from engine.scheduling.batch_gate import Haste, Then, Wish
from engine.scheduling.supervisor import ends_task, reason
from engine.scheduling.tasks import end, running_task
from engine.storage.ledger.work import work_queue

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractContextManager

    from engine.projection.projector import Projector
    from engine.runtime import Runtime
    from engine.storage.ledger import Ledger

TROUBLE_WAIT = 2.0
SHORTEST_QUIET = 1.0
GRACE = 0.3  # seconds after the start: a question for which the program was begun comes first
# Seconds from the beginning of a batch to the next while more keeps coming: one by one costs several times as much.
PACE = {"embed": 1.0, "project": 2.0}


@dataclass(slots=True)
class Worker:
    """Runs in the background of an engine."""

    runtime: Runtime
    projector: Projector
    _troubles: dict[str, EngineError] = field(default_factory=dict)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _news: dict[str, asyncio.Event] = field(default_factory=dict)
    _calm: asyncio.Condition = field(default_factory=asyncio.Condition)
    _haste: Haste = field(default_factory=Haste)
    broken: asyncio.Queue[BrokenProjection] = field(default_factory=asyncio.Queue)
    _chunks: ChunkEmbedder = field(init=False)
    _reader: ChunkReader = field(init=False)

    def __post_init__(self) -> None:
        self._chunks = ChunkEmbedder(self.runtime)
        self._reader = ChunkReader(self.runtime, self._haste, self.wake)

    def start(self) -> None:
        """Begin, or go on where the last run stopped."""
        steps: dict[str, Callable[[], Awaitable[Then]]] = {
            "embed": self._embed,
            "read": self._read,
            "project": self._project,
        }
        self._news = {name: asyncio.Event() for name in steps}
        run = self.runtime.supervisor.run
        self._tasks = [run(name, partial(self._repeat, name, step, self._news[name])) for name, step in steps.items()]
        self._tasks.append(run("quiet periods", self._quiet_periods))

    async def stop(self) -> None:
        """Let go at once; what is unfinished is taken up at the next start."""
        await end(*self._tasks, *self._reader.running.values())
        self._tasks.clear()
        self._reader.running.clear()

    @property
    def trouble(self) -> EngineError | None:
        """What keeps one of the steps from going on, while it does."""
        return next(iter(self._troubles.values()), None)

    @property
    def hindrance(self) -> EngineError | None:
        """What keeps the worker from going on, or a model that fails, as long as either lasts; it is tried again."""
        return self.trouble or self._reader.failing

    def recover(self) -> None:
        """Forget about troubles: their cause was removed."""
        self._troubles.clear()
        self.wake()

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
        return not self._reader.running and await self.ledger.read(work_queue.idle, skip_quiet=True)

    @property
    def ledger(self) -> Ledger:
        """The ledger that is worked on."""
        return self.runtime.ledger

    async def _repeat(self, name: str, step: Callable[[], Awaitable[Then]], news: asyncio.Event) -> None:
        """Do a step as long as there is something to do, at its pace, then wait for news; trouble is waited out."""
        await self._haste.let_gather(time.monotonic() + GRACE)
        while True:
            news.clear()
            await self.runtime.priority.after_you()
            since = time.monotonic()
            try:
                then = await step()
            except (StoreError, LanguageError) as error:
                if isinstance(error, BrokenProjection) and isinstance(self._troubles.get(name), BrokenProjection):
                    self.broken.put_nowait(error)
                self._troubles[name], then = error, Then.REST
                self.runtime.supervisor.failed(name, error)
                await asyncio.sleep(TROUBLE_WAIT)
            except BaseException as error:  # the supervisor runs this anew
                if ends_task(error, running_task()):
                    raise
                self._troubles[name] = EngineError(f"The step “{name}” of indexing failed: {reason(error)}.")
                raise
            else:
                proved = name != "project" or self.projector.proved
                if proved and self._troubles.pop(name, None) is not None:
                    self.runtime.supervisor.succeeded(name)
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

    async def _read(self) -> Then:
        return await self._reader.step()

    # Projecting: hot keys wait for the end of their quiet period, unless somebody waits for everything.

    async def _project(self) -> Then:
        if (then := await self.projector.step()) is not Then.REST:
            self.wake()
            return then
        if self._haste.wanted(Wish.END) and await self.ledger.read(work_queue.only_held_left):
            await self.projector.end_quiet()
            return await self.projector.step()
        return Then.REST

    async def _quiet_periods(self) -> None:
        while True:
            await asyncio.sleep(max(self.runtime.options.quiet, SHORTEST_QUIET))
            await self.projector.end_quiet()
            self.runtime.supervisor.succeeded("quiet periods")
            self.wake()
