"""One answer on its way: shown while it grows, not faster than Discord likes, and whole in the end."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from adapters.discord.api.calls import Over, struck
from adapters.discord.replies.channel_messages import Sheet
from adapters.discord.replies.refs import Mark
from adapters.discord.replies.render import rendered, split, unfinished, with_sources
from bot.text.splitting import says_something

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from adapters.discord.replies.channel_messages import Way
    from bot.platform.models import Closing

EVERY = 1.2  # seconds between two changes of a message
SLOWEST = 30.0
NEAR = 0.3  # seconds that a write is waited for: about what a call takes, for the readers were looked at before it


class Pace:
    """When the next write may be: later, the more often Discord says that it was too early."""

    def __init__(
        self,
        every: float = EVERY,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.gap = every
        self._every = every
        self._clock = clock
        self._sleep = sleep
        self._next = 0.0

    @property
    def near(self) -> bool:
        """Whether the next write may be at once, or nearly so."""
        return self._next - self._clock() <= NEAR

    async def turn(self) -> None:
        """Wait for it, but not longer than usual: at the end Discord itself says how long."""
        left = min(self._next - self._clock(), self._every)
        if left > 0:
            await self._sleep(left)

    def wrote(self, strikes: int) -> None:
        """Something was written, after so many refusals for being too early."""
        self.gap = min(self.gap * 2**strikes, SLOWEST) if strikes else max(self._every, self.gap * 0.75)
        self._next = self._clock() + self.gap


class Opening(Protocol):
    """Finds the way on which an answer is written."""

    async def begin(self) -> tuple[Way, Mark]:
        """The way, and what was written on it before."""

    async def instead(self, mark: Mark) -> tuple[Way, Mark]:
        """Another one, once the time of the first is over; what can be changed on it of what was written before."""

    @property
    def private(self) -> bool:
        """Whether one person alone sees the answer."""


class Writing:
    """A Reply: its parts are messages, of which only those are written that changed."""

    def __init__(self, opening: Opening, mark: str = "", pace: Pace | None = None) -> None:
        self._opening = opening
        self._mark = Mark.of(mark)
        self._pace = pace or Pace()
        self._way: Way | None = None
        self._sheets: list[Sheet | None] = []
        self._said = False

    @property
    def mark(self) -> str:
        """The messages that it stands in."""
        return str(self._mark)

    async def status(self, words: str) -> None:
        """Show at once that it is worked on."""
        if not self._said and self._pace.near:
            await self._write([Sheet(f"*{words.strip('*_ ')}*")])

    async def show(self, parts: Sequence[str]) -> bool:
        """The answer so far; False if it comes too early: nothing is written then."""
        if not parts or not self._pace.near:
            return not parts
        if not (self._sheets or self._mark.messages or len(parts) > 1 or says_something(parts[0])):
            return False  # a notification shows the first words
        await self._pace.turn()
        self._said = True
        await self._write([*(Sheet(rendered(part)) for part in parts[:-1]), Sheet(unfinished(parts[-1]))])
        return True

    async def finish(self, parts: Sequence[str], closing: Closing) -> None:
        """The whole answer, with its sources and buttons below the last part, or in one more if they do not fit."""
        await self._pace.turn()
        self._said = True
        texts = [rendered(part) for part in parts] or ["…"]
        texts = with_sources(texts, closing)
        last = Sheet(texts.pop(), closing.buttons)
        await self._write([*map(Sheet, texts), last])
        await self._shorten(len(texts) + 1)

    async def replace(self, text: str) -> None:
        """Say this instead, at once. What one person alone saw can be taken back for a quarter of an hour."""
        self._said = True
        sheets = [Sheet(rendered(part)) for part in split(text)]
        try:
            await self._write(sheets, everywhere=not self._opening.private)
            await self._shorten(len(sheets))
        except Over:
            if not self._opening.private:
                raise

    async def _write(self, sheets: Sequence[Sheet], *, everywhere: bool = True) -> None:
        for part, sheet in enumerate(sheets):
            if part < len(self._sheets) and self._sheets[part] == sheet:
                continue
            try:
                await self._put(part, sheet)
            except Over:
                if not everywhere:
                    raise
                await self._switch()
                return await self._write(sheets)
        return None

    async def _put(self, part: int, sheet: Sheet) -> None:
        way = await self._begun()
        written = self._mark.messages
        with struck() as strikes:
            channel, message = await way.put(part, written[part] if part < len(written) else "", sheet)
        self._pace.wrote(len(strikes))
        self._mark = Mark(channel, (*written[:part], message, *written[part + 1 :]), way.handle)
        self._sheets += [None] * (part + 1 - len(self._sheets))
        self._sheets[part] = sheet

    async def _begun(self) -> Way:
        if self._way is None:
            self._way, self._mark = await self._opening.begin()
        return self._way

    async def _switch(self) -> None:
        self._way, self._mark = await self._opening.instead(self._mark)
        self._sheets = []

    async def _shorten(self, length: int) -> None:
        """Delete the messages behind these, which a longer answer left."""
        way = await self._begun()
        superfluous = self._mark.messages[length:]
        for message in superfluous:
            await way.take(message)
        self._mark = replace(self._mark, messages=self._mark.messages[:length])
        del self._sheets[length:]
