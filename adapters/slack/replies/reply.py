"""An answer in the thread of its question: it grows while it is written, and is whole at the end in any case."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from adapters.slack.api.errors import TROUBLE, code, told
from adapters.slack.replies.answer_messages import Pages
from adapters.slack.replies.mrkdwn import safe
from adapters.slack.replies.recovery import about
from adapters.slack.replies.sender import Letter
from adapters.slack.replies.status import Status
from bot.errors import PlatformError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.slack.context import Study
    from bot.platform.models import Closing
    from bot.platform.ports import Target

log = structlog.get_logger(__name__)

TICK = 1.0  # seconds between two looks at what is still to be written
ABANDONED = 1800.0  # seconds after the last call of the bot


class ThreadReply:
    """One answer (see bot.platform.ports.Reply).

    What Slack does not allow to be written at once is written with the next `show`, or at the end: never later than
    the bot wants, who looks at the readers before each write. `fresh`: the question came in this run, so nothing of
    the answer can be there yet.
    """

    def __init__(self, target: Target, study: Study, *, fresh: bool) -> None:
        self._target = replace(target, mark=target.mark or study.begun.get(target.answer, ""))
        self._study = study
        self._status = Status(study.writer, target, study.pace.clock)
        self._pages = Pages(self._target, study)
        self._lock = asyncio.Lock()
        self._parts: list[str] = []
        self._recovered = fresh and not self._target.mark
        self._rewrites = False
        self._done = False
        self._called = study.pace.clock()
        self._keeper: asyncio.Task[None] | None = None

    @property
    def mark(self) -> str:
        """The channel and the ids of the messages."""
        return self._pages.mark

    async def status(self, words: str) -> None:
        """Show the words below the thread until the answer begins."""
        if self._pages.said or self._done:
            self._status.words = words
            return
        self._keep()
        await self._status.show(words)

    async def show(self, parts: Sequence[str]) -> bool:
        """The answer so far; False if Slack did not take all of it now."""
        async with self._lock:
            await self._begin(parts)
            written = await self._write()
        self._keep()
        return written

    async def finish(self, parts: Sequence[str], closing: Closing) -> None:
        """The whole answer. Raises PlatformError if it cannot be delivered."""
        async with self._lock:
            await self._begin(list(parts) or ["…"])
            last = len(self._parts) - 1
            with told():
                for number in range(last + 1):
                    letter = self._letter(number, closing if number == last else None, done=True)
                    await self._pages.complete(number, letter, self._status.words)
                await self._pages.shorten(last + 1)
            await self._end()

    async def replace(self, text: str) -> None:
        """Show this instead of everything so far. Raises PlatformError if something may still be seen."""
        async with self._lock:
            await self._begin([text])
            letter = self._letter(0, None, done=True)
            with told():
                for said in self._pages.said[:1]:
                    await self._pages.rewrite(said, letter, urgent=True)
                await self._pages.shorten(1)
                if not self._pages.said:
                    await self._pages.complete(0, letter, "")
            await self._end()

    async def _begin(self, parts: Sequence[str]) -> None:
        """Note what is to be shown, and find what a former run has shown."""
        self._called = self._study.pace.clock()
        if not self._recovered:
            await self._pages.recover()
            self._recovered = True
            self._rewrites = bool(self._pages.said)
        self._done = False
        self._parts = [safe(part, self._study.people.name) for part in parts]

    async def _write(self) -> bool:
        """Bring what is shown as near to the answer as Slack allows now; whether all of it is there."""
        last = len(self._parts) - 1
        try:
            for number in range(last + 1):
                letter = self._letter(number, None, done=False)
                if not await self._pages.bring(number, letter, self._status.words, last=number == last):
                    return False
        except (PlatformError, *TROUBLE) as error:
            log.warning("write_delayed", error=code(error))
            return False
        return True

    def _letter(self, number: int, closing: Closing | None, *, done: bool) -> Letter:
        mark = about(self._target.answer, number, done=done)
        return Letter(self._parts[number], self._target.person, closing, about=mark)

    # Between the calls.

    def _keep(self) -> None:
        """Go on in the background: refresh the status, give signs of life."""
        if self._keeper is None and not self._done:
            self._keeper = self._study.supervisor.run("slack status refresh", self._keeping)
            self._study.tasks.add(self._keeper)
            self._keeper.add_done_callback(self._study.tasks.discard)

    async def _keeping(self) -> None:
        while not self._done and self._study.pace.clock() - self._called < ABANDONED:
            await self._study.pace.sleep(TICK)
            async with self._lock:
                if not self._done:
                    await self._tend()

    async def _tend(self) -> None:
        try:
            if self._pages.said:
                await self._pages.beat(self._status.words)
            else:
                await self._status.refresh()
        except (PlatformError, *TROUBLE) as error:
            log.info("beat_failed", error=code(error))

    async def _end(self) -> None:
        self._done = True
        self._pages.forget()
        if self._keeper is not None:
            self._keeper.cancel()
            self._keeper = None
        await self._status.end(stays=self._rewrites)
