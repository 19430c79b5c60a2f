"""Stream an answer into the thread of its question, show its status meanwhile, and complete it at the end."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from adapters.slack.errors import SLACK_ERRORS, error_code, map_errors
from adapters.slack.replies.answer_messages import AnswerMessages
from adapters.slack.replies.mrkdwn import defuse_mentions
from adapters.slack.replies.recovery import answer_metadata
from adapters.slack.replies.sender import OutgoingMessage
from bot.errors import PlatformError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.context import SlackContext
    from bot.platform.models import AnswerFooter
    from bot.platform.ports import ReplyTarget
    from engine import Clock


log = structlog.get_logger(__name__)

TICK_SECONDS = 1.0  # seconds between two keepalive checks
ABANDONED_AFTER = 1800.0  # seconds after the last call of the bot
REFRESH_SECONDS = 90.0  # Slack removes a status after two minutes
EYES_REACTION = "eyes"


class ThreadReply:
    """One answer (see bot.platform.ports.Reply).

    Text that a rate limit holds back is written by the next `show` or `finish`, never in the background: the bot
    checks the audience before each write.
    """

    def __init__(self, target: ReplyTarget, context: SlackContext) -> None:
        self._target = replace(target, reply_ref=target.reply_ref or context.refs_by_answer.get(target.answer, ""))
        self._context = context
        self._status = ThreadStatus(context.write_client, target, context.clock)
        self._messages = AnswerMessages(self._target, context)
        self._lock = asyncio.Lock()
        self._parts: list[str] = []
        self._recovered = target.is_new and not self._target.reply_ref
        self._rewrites = False
        self._done = False
        self._last_call = context.clock.monotonic()
        self._keepalive_task: asyncio.Task[None] | None = None

    @property
    def reply_ref(self) -> str:
        """The channel and the ids of the messages."""
        return self._messages.ref

    async def show_status(self, status: str) -> None:
        """Show a status below the thread until the answer starts."""
        if self._messages.messages or self._done:
            self._status.words = status
            return
        self._start_keepalive()
        await self._status.show(status)

    async def show(self, parts: Sequence[str]) -> bool:
        """Show the answer so far; False if not all of it was written."""
        async with self._lock:
            await self._set_parts(parts)
            written = await self._write()
        self._start_keepalive()
        return written

    async def finish(self, parts: Sequence[str], footer: AnswerFooter) -> None:
        """Write the whole answer. Raises PlatformError if it cannot be delivered."""
        async with self._lock:
            await self._set_parts(list(parts) or ["…"])
            last = len(self._parts) - 1
            with map_errors():
                for number in range(last + 1):
                    outgoing = self._build_message(number, footer if number == last else None, done=True)
                    await self._messages.finish_message(number, outgoing, self._status.words)
                await self._messages.delete_extra(last + 1)
            await self._close()

    async def replace(self, text: str) -> None:
        """Replace everything shown so far. Raises PlatformError if old text may still be visible."""
        async with self._lock:
            await self._set_parts([text])
            outgoing = self._build_message(0, None, done=True)
            with map_errors():
                for posted in self._messages.messages[:1]:
                    await self._messages.rewrite(posted, outgoing, urgent=True)
                await self._messages.delete_extra(1)
                if not self._messages.messages:
                    await self._messages.finish_message(0, outgoing, "")
            await self._close()

    async def _set_parts(self, parts: Sequence[str]) -> None:
        """Set the parts to write; on the first call, recover messages of an earlier run."""
        self._last_call = self._context.clock.monotonic()
        if not self._recovered:
            await self._messages.recover()
            self._recovered = True
            self._rewrites = bool(self._messages.messages)
        self._done = False
        self._parts = [defuse_mentions(part, self._context.users.get_name) for part in parts]

    async def _write(self) -> bool:
        """Write as much as Slack allows now; whether all parts are written."""
        last = len(self._parts) - 1
        try:
            for number in range(last + 1):
                outgoing = self._build_message(number, None, done=False)
                if not await self._messages.write_partial(number, outgoing, self._status.words, last=number == last):
                    return False
        except (PlatformError, *SLACK_ERRORS) as error:
            log.warning("slack.write_postponed", error=error_code(error))
            return False
        return True

    def _build_message(self, number: int, footer: AnswerFooter | None, *, done: bool) -> OutgoingMessage:
        metadata = answer_metadata(self._target.answer, number, done=done)
        buttons = self._target.progress_buttons if number == len(self._parts) - 1 and not done else ()
        return OutgoingMessage(self._parts[number], footer, buttons, metadata=metadata)

    # Keepalive.

    def _start_keepalive(self) -> None:
        """Refresh the status and keep streams open in the background."""
        if self._keepalive_task is None and not self._done:
            self._keepalive_task = self._context.supervisor.run("slack status refresh", self._run_keepalive)
            self._context.tasks.add(self._keepalive_task)
            self._keepalive_task.add_done_callback(self._context.tasks.discard)

    async def _run_keepalive(self) -> None:
        while not self._done and self._context.clock.monotonic() - self._last_call < ABANDONED_AFTER:
            await self._context.rate_limits.sleep(TICK_SECONDS)
            async with self._lock:
                if not self._done:
                    await self._send_keepalive()

    async def _send_keepalive(self) -> None:
        try:
            if self._messages.messages:
                await self._messages.send_keepalive(self._status.words)
            else:
                await self._status.refresh()
        except (PlatformError, *SLACK_ERRORS) as error:
            log.info("slack.keepalive_failed", error=error_code(error))

    async def _close(self) -> None:
        self._done = True
        self._messages.release()
        if self._keepalive_task is not None:
            self._keepalive_task.cancel()
            self._keepalive_task = None
        await self._status.clear(is_visible=self._rewrites)


class ThreadStatus:
    """The status of one answer."""

    def __init__(self, client: AsyncWebClient, target: ReplyTarget, clock: Clock) -> None:
        self._client = client
        self._target = target
        self._clock = clock
        self._shown_at = 0.0
        self._has_eyes = False
        self.words = ""

    async def show(self, words: str) -> None:
        """Show words as the status of the thread, or a reaction where Slack takes no status."""
        self.words, self._shown_at = words, self._clock.monotonic()
        if self._has_eyes or not (self._target.location.thread or self._target.message):
            return
        try:
            await self._set(words)
        except SLACK_ERRORS as error:
            log.info("slack.status_set_failed", error=error_code(error))
            await self._show_eyes()

    async def refresh(self) -> None:
        """Show the status again before Slack removes it."""
        if self.words and self._clock.monotonic() - self._shown_at >= REFRESH_SECONDS:
            await self.show(self.words)

    async def clear(self, *, is_visible: bool) -> None:
        """Remove the status. A new message already removed it, unless `is_visible`."""
        if self._has_eyes:
            self._has_eyes = False
            await self._react(add=False)
        elif is_visible and self.words:
            try:
                await self._set("")
            except SLACK_ERRORS as error:
                log.info("slack.status_clear_failed", error=error_code(error))

    async def _set(self, words: str) -> None:
        await self._client.assistant_threads_setStatus(
            channel_id=self._target.location.channel,
            thread_ts=self._target.location.thread or self._target.message,
            status=words,
        )

    async def _show_eyes(self) -> None:
        if self._target.message:
            self._has_eyes = True
            await self._react(add=True)

    async def _react(self, *, add: bool) -> None:
        call = self._client.reactions_add if add else self._client.reactions_remove
        try:
            await call(channel=self._target.location.channel, name=EYES_REACTION, timestamp=self._target.message)
        except SLACK_ERRORS as error:
            log.info("slack.status_reaction_failed", error=error_code(error))
