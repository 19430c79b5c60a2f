"""An answer on its way to its readers: one call at a time, not too often, and never to somebody who may not read it."""

from __future__ import annotations

import asyncio
import time
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Self, TypeVar

import structlog

from bot import texts
from bot.answers.sources.citation_links import linked
from bot.errors import PlatformError
from bot.text import splitting

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.platform.models import Closing
    from bot.platform.ports import Limits, Reply

    May = Callable[[], Awaitable[bool | None]]  # whether all readers may read it; None if that cannot be known

log = structlog.get_logger(__name__)

Result = TypeVar("Result")

AGAIN = 1.0  # seconds until readers who could not be known are looked for again
TRIES = 3  # at the end, before the answer is taken back
HEARTBEAT = 60.0  # seconds after which a status is shown again


class Delivery:
    """Brings a growing text to its readers. Enter it; leaving it stops writing, whatever was shown stays.

    `may` is asked before every write of the text; once it says no, everything is taken back, and `withdrawn` is the
    sentence that says so. `heading` stands above the text. `links` gives the addresses of what has been cited so far.
    `mark` is told of the reply's mark as soon as there is one.
    """

    def __init__(self, reply: Reply, limits: Limits, mark: Callable[[str], Awaitable[None]]) -> None:
        self.reply = reply
        self.limits = limits
        self.may: May = _nothing_drawn
        self.links: Callable[[], Mapping[int, str]] = dict
        self.heading = ""
        self.withdrawn = ""
        self.first_words: float | None = None
        self._mark = mark
        self._marked = reply.mark
        self._status, self._told = "", ""
        self._text = ""
        self._shown: tuple[str, ...] = ()
        self._wrote: float | None = None
        self._news, self._ended = asyncio.Event(), asyncio.Event()
        self._working: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._working = asyncio.create_task(self._work())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._working is not None:
            self._working.cancel()
            await asyncio.gather(self._working, return_exceptions=True)

    def status(self, words: str) -> None:
        """Show that it is worked on."""
        self._status = words
        self._news.set()

    def say(self, text: str) -> None:
        """The answer so far."""
        self._text = text
        self._news.set()

    async def finish(self, text: str, closing: Closing) -> bool:
        """The whole answer, and what stands below it; False if it had to be taken back. Raises PlatformError."""
        await self._stop()
        if not self.withdrawn:
            self.withdrawn = await self._objection()
        if self.withdrawn:
            await self._call(self.reply.replace(self.withdrawn))
            return False
        await self._call(self.reply.finish(splitting.parts(self._whole(text), self.limits.part), closing))
        return True

    def _whole(self, text: str) -> str:
        """The text with its links, below the heading if there is one."""
        said = linked(text, self.links())
        return f"{self.heading}\n\n{said}" if self.heading else said

    async def _stop(self) -> None:
        """Let the call that is under way come to its end, and begin no other."""
        self._ended.set()
        self._news.set()
        if self._working is not None:
            working, self._working = self._working, None
            await working

    async def _objection(self) -> str:
        """Why the answer may not be shown, in a sentence; empty if it may."""
        for left in reversed(range(TRIES)):
            allowed = await self.may()
            if allowed is not None:
                return "" if allowed else texts.WITHDRAWN
            await asyncio.sleep(AGAIN if left else 0.0)
        return texts.READERS_UNKNOWN

    async def _work(self) -> None:
        while not self._ended.is_set():
            try:
                async with asyncio.timeout(HEARTBEAT):
                    await self._news.wait()
            except TimeoutError:
                self._status = self._told  # platforms let a status fade
            self._news.clear()
            try:
                await self._write()
            except Exception as error:  # noqa: BLE001 - what cannot be shown now is shown at the end
                where = [] if isinstance(error, PlatformError) else traceback.format_tb(error.__traceback__)
                log.warning("write_failed", error=type(error).__name__, where="".join(where))

    async def _write(self) -> None:
        if self._status and not self._shown:
            self._status, self._told = "", self._status
            await self._call(self.reply.status(self._told))
        if not self._text or not await self._its_turn():
            return
        parts = splitting.shown(self._whole(self._text), self.limits.part)
        if not parts or parts == self._shown:
            return
        allowed = await self.may()
        if allowed is None:
            asyncio.get_running_loop().call_later(AGAIN, self._news.set)
        elif allowed:
            await self._show(parts)
        else:
            self.withdrawn = texts.WITHDRAWN
            self._ended.set()
            await self._call(self.reply.replace(self.withdrawn))

    async def _show(self, parts: tuple[str, ...]) -> None:
        self._wrote = time.monotonic()
        if await self._call(self.reply.show(parts)) is False:
            asyncio.get_running_loop().call_later(self.limits.every or AGAIN, self._news.set)
            return
        self._shown = parts
        self.first_words = self.first_words or self._wrote

    async def _its_turn(self) -> bool:
        """Wait until the next write may begin; False if the answer ended meanwhile, and is written as a whole."""
        delay = splitting.wait(time.monotonic(), self._wrote, self.limits.every)
        if delay:
            with suppress(TimeoutError):
                async with asyncio.timeout(delay):
                    await self._ended.wait()
        return not self._ended.is_set()

    async def _call(self, call: Awaitable[Result]) -> Result:
        result = await call
        if self.reply.mark != self._marked:
            self._marked = self.reply.mark
            await self._mark(self._marked)
        return result


async def _nothing_drawn() -> bool:
    """What draws on nothing may be read by anybody."""
    return True
