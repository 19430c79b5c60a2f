"""What is done beside everything else: what time brings; and apart from it, for it may take hours, looking back."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from bot.platform.models import Place
from engine.scheduling.tasks import end

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from bot.context import House
    from bot.ingest.sync.queue import LookingBack
    from bot.ingest.sync.retention import Retention

JOBS, SYNC = "periodic jobs", "channel sync"  # names of the two tasks
PAUSE = 15.0  # seconds between two looks at what time brings
HOUR, DAY = 60 * 60.0, 24 * 60 * 60.0
COMPACT = 600.0  # seconds between two removals of forgotten bytes from the bot's own file


class Upkeep:
    """Does what is due. `news` is set when there is something to look back at."""

    def __init__(self, house: House, retention: Retention, back: LookingBack, news: asyncio.Event) -> None:
        self._house = house
        self._supervisor = house.desk.engine.supervisor
        self._retention = retention
        self._back = back
        self._news = news
        self._done: dict[str, float] = {}

    async def work(self, clock: Callable[[], datetime]) -> None:
        """Do what is due, until cancelled; neither of the two waits for the other."""
        run = self._supervisor.run
        tasks = (
            run(JOBS, lambda: self._repeat(lambda: self.tick(clock()), asyncio.Event())),
            run(SYNC, lambda: self._repeat(self._back.past, self._news)),
        )
        try:
            await asyncio.wait(tasks)
        finally:
            await end(*tasks)

    async def _repeat(self, do: Callable[[], Awaitable[None]], news: asyncio.Event) -> None:
        while True:
            news.clear()
            await do()
            with suppress(TimeoutError):  # not `wait_for`: on Python 3.11 that may swallow the end of this task
                async with asyncio.timeout(PAUSE):
                    await news.wait()

    async def tick(self, now: datetime) -> None:
        """What time brings: conversations end, what is too old goes, and once a day channels are compared."""
        await self._every("close", 0.0, lambda: self._retention.close_quiet(now))
        await self._every("forget", HOUR, lambda: self._retention.forget_old(now))
        await self._every("compact", COMPACT, self._house.store.compact)
        await self._every("compare", DAY, lambda: self.owe(*self._house.platforms))

    async def owe(self, *platforms: str) -> None:
        """All channels of these platforms are to be compared soon, and what lies in none."""
        for platform in platforms:
            known = await self._house.store.rooms.known(platform)
            self._back.owe([*known, Place(platform, "", "")])

    async def _every(self, what: str, seconds: float, do: Callable[[], Awaitable[None]]) -> None:
        """Do something if its time has come; what fails is tried again at the next look, and holds up nothing else."""
        last = self._done.get(what)
        if last is not None and time.monotonic() - last < seconds:
            return
        name = f"{JOBS}: {what}"
        try:
            await do()
        except Exception as error:  # noqa: BLE001 - whatever it is, the rest must be done
            self._supervisor.failed(name, error)
        else:
            self._supervisor.succeeded(name)
            self._done[what] = time.monotonic()
