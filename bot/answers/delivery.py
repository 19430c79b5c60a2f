"""Stream an answer: one platform call at a time, throttled, and only while its audience may read it."""

from __future__ import annotations

import asyncio
import traceback
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TypeVar

import structlog

from bot import texts
from bot.answers.footer import link_citations
from bot.errors import PlatformError
from bot.i18n import gettext
from bot.text import splitting

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.platform.models import AnswerFooter
    from bot.platform.ports import MessageLimits, Reply
    from engine import Clock

log = structlog.get_logger(__name__)

Result = TypeVar("Result")

RECHECK_DELAY = 1.0  # seconds before an unknown audience is checked again
MAX_CHECKS = 3  # at the end, before the answer is withdrawn
HEARTBEAT = 60.0  # seconds between two writes of the same status


async def _always_allowed() -> bool:
    """The check of an answer without sources: anyone may read it."""
    return True


@dataclass(frozen=True, slots=True)
class AnswerFrame:
    """What goes with the text of an answer: the heading above it, the links of its citations, and who may see it.

    `can_show` is called before each write of the text; once it returns False, the whole answer is withdrawn.
    """

    heading: str = ""
    citation_urls: Callable[[], Mapping[int, str]] = dict
    can_show: Callable[[], Awaitable[bool | None]] = _always_allowed  # None if it is unknown


class StreamingReply:
    """Streams a growing text into a Reply. A context manager: on exit it stops writing and keeps what was shown.

    Once the frame forbids to show the text, `withdrawal_text` replaces everything. `save_reply_ref` is called once the
    reply has a reference.
    """

    def __init__(
        self, reply: Reply, limits: MessageLimits, save_reply_ref: Callable[[str], Awaitable[None]], clock: Clock
    ) -> None:
        self.reply = reply
        self.limits = limits
        self.frame = AnswerFrame()
        self.withdrawal_text = ""
        self.first_shown_at: float | None = None
        self._save_reply_ref = save_reply_ref
        self._clock = clock
        self._saved_reply_ref = reply.reply_ref
        self._status, self._shown_status = "", ""
        self._text = ""
        self._shown_parts: tuple[str, ...] = ()
        self._last_write_at: float | None = None
        self._updated, self._ended = asyncio.Event(), asyncio.Event()
        self._write_task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._write_task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._write_task is not None:
            self._write_task.cancel()
            await asyncio.gather(self._write_task, return_exceptions=True)

    def set_status(self, words: str) -> None:
        """Show a status until the first text."""
        self._status = words
        self._updated.set()

    def set_text(self, text: str) -> None:
        """Set the text so far."""
        self._text = text
        self._updated.set()

    def set_frame(self, frame: AnswerFrame) -> None:
        """Set what goes with the text from its next write on."""
        self.frame = frame

    async def finish(self, text: str, footer: AnswerFooter) -> bool:
        """Post the whole answer and its footer; false if it had to be withdrawn. Raises PlatformError."""
        await self._stop_writing()
        if not self.withdrawal_text:
            self.withdrawal_text = await self._withdrawal_reason()
        if self.withdrawal_text:
            await self._call_platform(self.reply.replace(self.withdrawal_text))
            return False
        await self._call_platform(
            self.reply.finish(splitting.split_message(self._full_text(text), self.limits.max_length), footer)
        )
        return True

    def _full_text(self, text: str) -> str:
        """The text with linked citations, below the heading."""
        linked = link_citations(text, self.frame.citation_urls())
        return f"{self.frame.heading}\n\n{linked}" if self.frame.heading else linked

    async def _stop_writing(self) -> None:
        """Let the current call finish, and start no other."""
        self._ended.set()
        self._updated.set()
        if self._write_task is not None:
            working, self._write_task = self._write_task, None
            await working

    async def _withdrawal_reason(self) -> str:
        """Why the answer may not be shown, as a sentence; empty if it may."""
        for left in reversed(range(MAX_CHECKS)):
            allowed = await self.frame.can_show()
            if allowed is not None:
                return "" if allowed else gettext(texts.ANSWER_WITHDRAWN)
            await asyncio.sleep(RECHECK_DELAY if left else 0.0)
        return gettext(texts.AUDIENCE_UNKNOWN)

    async def _run(self) -> None:
        while not self._ended.is_set():
            try:
                async with asyncio.timeout(HEARTBEAT):
                    await self._updated.wait()
            except TimeoutError:
                self._status = self._shown_status  # platforms remove a status after a while
            self._updated.clear()
            try:
                await self._write()
            except Exception as error:  # noqa: BLE001 - what cannot be shown now is shown at the end
                where = [] if isinstance(error, PlatformError) else traceback.format_tb(error.__traceback__)
                log.warning("answer.stream_write_failed", error=type(error).__name__, traceback="".join(where))

    async def _write(self) -> None:
        if self._status and not self._shown_parts:
            self._status, self._shown_status = "", self._status
            await self._call_platform(self.reply.show_status(self._shown_status))
        if not self._text or not await self._wait_for_turn():
            return
        parts = splitting.stable_parts(self._full_text(self._text), self.limits.max_length)
        if not parts or parts == self._shown_parts:
            return
        allowed = await self.frame.can_show()
        if allowed is None:
            asyncio.get_running_loop().call_later(RECHECK_DELAY, self._updated.set)
        elif allowed:
            await self._show(parts)
        else:
            self.withdrawal_text = gettext(texts.ANSWER_WITHDRAWN)
            self._ended.set()
            await self._call_platform(self.reply.replace(self.withdrawal_text))

    async def _show(self, parts: tuple[str, ...]) -> None:
        self._last_write_at = self._clock.monotonic()
        if await self._call_platform(self.reply.show(parts)) is False:
            asyncio.get_running_loop().call_later(self.limits.write_interval or RECHECK_DELAY, self._updated.set)
            return
        self._shown_parts = parts
        self.first_shown_at = self.first_shown_at or self._last_write_at

    async def _wait_for_turn(self) -> bool:
        """Wait until the next write may start; false if the answer finished in the meantime."""
        delay = splitting.seconds_until_write(self._clock.monotonic(), self._last_write_at, self.limits.write_interval)
        if delay:
            with suppress(TimeoutError):
                async with asyncio.timeout(delay):
                    await self._ended.wait()
        return not self._ended.is_set()

    async def _call_platform(self, call: Awaitable[Result]) -> Result:
        result = await call
        if self.reply.reply_ref != self._saved_reply_ref:
            self._saved_reply_ref = self.reply.reply_ref
            await self._save_reply_ref(self._saved_reply_ref)
        return result
