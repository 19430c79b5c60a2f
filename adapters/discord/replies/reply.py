"""Stream one answer by edits within Discord's rate limits, and complete it at the end."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from adapters.discord.calls import TokenExpired, count_rate_limits
from adapters.discord.replies.channel_messages import MessageContent
from adapters.discord.replies.refs import ReplyRef
from adapters.discord.replies.render import MAX_PART_LENGTH, append_sources, render_markdown, render_partial
from bot.text.splitting import has_sentence, split_message

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from adapters.discord.replies.channel_messages import MessageSink
    from bot.platform.models import AnswerFooter, Button
    from engine import Clock

EDIT_INTERVAL = 1.2  # seconds between two edits of a message
MAX_EDIT_INTERVAL = 30.0
MAX_WRITE_WAIT = 0.3  # seconds to wait for a write; short, since the audience was checked before


class EditThrottle:
    """Adaptive interval between writes: grows with each rate limit, shrinks after successes."""

    def __init__(
        self,
        clock: Clock,
        min_interval: float = EDIT_INTERVAL,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.interval = min_interval
        self._min_interval = min_interval
        self._clock = clock
        self._sleep = sleep
        self._next = 0.0

    @property
    def can_write_soon(self) -> bool:
        """Whether the next write is allowed within MAX_WRITE_WAIT seconds."""
        return self._next - self._clock.monotonic() <= MAX_WRITE_WAIT

    async def wait(self) -> None:
        """Wait until the next write, at most the minimal interval: Discord itself delays the final one if needed."""
        wait = min(self._next - self._clock.monotonic(), self._min_interval)
        if wait > 0:
            await self._sleep(wait)

    def record_write(self, hits: int) -> None:
        """Record a write that was rate-limited `hits` times."""
        self.interval = (
            min(self.interval * 2**hits, MAX_EDIT_INTERVAL) if hits else max(self._min_interval, self.interval * 0.75)
        )
        self._next = self._clock.monotonic() + self.interval


class Destination(Protocol):
    """Finds the sink of an answer."""

    async def find(self) -> tuple[MessageSink, ReplyRef]:
        """The sink, and the messages written to it before."""

    async def find_fallback(self, ref: ReplyRef) -> tuple[MessageSink, ReplyRef]:
        """The sink after the first one expired, and the earlier messages that it can edit."""

    @property
    def is_private(self) -> bool:
        """Whether only one person sees the answer."""


class DiscordReply:
    """A Reply of one message per part; only changed messages are written.

    `progress_buttons`: below the last part until the answer is finished.
    """

    def __init__(
        self,
        destination: Destination,
        throttle: EditThrottle,
        ref: str = "",
        progress_buttons: tuple[Button, ...] = (),
    ) -> None:
        self._destination = destination
        self._progress_buttons = progress_buttons
        self._ref = ReplyRef.parse(ref)
        self._throttle = throttle
        self._sink: MessageSink | None = None
        self._messages: list[MessageContent | None] = []
        self._has_text = False

    @property
    def reply_ref(self) -> str:
        """The reply reference of the messages."""
        return str(self._ref)

    async def show_status(self, status: str) -> None:
        """Show a status until the answer starts."""
        if not self._has_text and self._throttle.can_write_soon:
            await self._write([MessageContent(f"*{status.strip('*_ ')}*", self._progress_buttons)])

    async def show(self, parts: Sequence[str]) -> bool:
        """Show the answer so far; False, without writing, if it is too early."""
        if not parts or not self._throttle.can_write_soon:
            return not parts
        if not (self._messages or self._ref.messages or len(parts) > 1 or has_sentence(parts[0])):
            return False  # a notification shows the first words
        await self._throttle.wait()
        self._has_text = True
        await self._write(
            [
                *(MessageContent(render_markdown(part)) for part in parts[:-1]),
                MessageContent(render_partial(parts[-1]), self._progress_buttons),
            ]
        )
        return True

    async def finish(self, parts: Sequence[str], footer: AnswerFooter) -> None:
        """Write the whole answer, with sources and buttons below the last part or in an extra message."""
        await self._throttle.wait()
        self._has_text = True
        texts = [render_markdown(part) for part in parts] or ["…"]
        texts = append_sources(texts, footer)
        last = MessageContent(texts.pop(), footer.buttons)
        await self._write([*map(MessageContent, texts), last])
        await self._delete_extra(len(texts) + 1)

    async def replace(self, text: str) -> None:
        """Replace the answer. An ephemeral one can be replaced only until its token expires."""
        self._has_text = True
        messages = [MessageContent(render_markdown(part)) for part in split_message(text, MAX_PART_LENGTH) or ("",)]
        try:
            await self._write(messages, allow_fallback=not self._destination.is_private)
            await self._delete_extra(len(messages))
        except TokenExpired:
            if not self._destination.is_private:
                raise

    async def _write(self, messages: Sequence[MessageContent], *, allow_fallback: bool = True) -> None:
        for part, outgoing in enumerate(messages):
            if part < len(self._messages) and self._messages[part] == outgoing:
                continue
            try:
                await self._write_part(part, outgoing)
            except TokenExpired:
                if not allow_fallback:
                    raise
                await self._switch_sink()
                return await self._write(messages)
        return None

    async def _write_part(self, part: int, outgoing: MessageContent) -> None:
        sink = await self._open_sink()
        written = self._ref.messages
        with count_rate_limits() as hits:
            channel, message = await sink.write_part(part, written[part] if part < len(written) else "", outgoing)
        self._throttle.record_write(len(hits))
        self._ref = ReplyRef(channel, (*written[:part], message, *written[part + 1 :]), sink.handle)
        self._messages += [None] * (part + 1 - len(self._messages))
        self._messages[part] = outgoing

    async def _open_sink(self) -> MessageSink:
        if self._sink is None:
            self._sink, self._ref = await self._destination.find()
        return self._sink

    async def _switch_sink(self) -> None:
        self._sink, self._ref = await self._destination.find_fallback(self._ref)
        self._messages = []

    async def _delete_extra(self, length: int) -> None:
        """Delete the messages after the first `length`, left over from a longer answer."""
        sink = await self._open_sink()
        extra = self._ref.messages[length:]
        for message in extra:
            await sink.delete_part(message)
        self._ref = replace(self._ref, messages=self._ref.messages[:length])
        del self._messages[length:]
