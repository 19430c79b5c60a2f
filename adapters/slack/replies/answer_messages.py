"""The messages of one answer, one for each of its parts: streamed where Slack lets us, else posted and rewritten."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import structlog
from slack_sdk.errors import SlackApiError

from adapters.slack.api.errors import SLACK_ERRORS, error_code, retry_after_seconds
from adapters.slack.api.retries import is_outcome_unknown
from adapters.slack.replies.recovery import find_unfinished_messages
from adapters.slack.replies.sender import TOO_LONG_ERRORS, OutgoingMessage
from bot.errors import PlatformError
from bot.text.splitting import has_sentence, split_message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.slack.context import SlackContext
    from bot.platform.ports import ReplyTarget

log = structlog.get_logger(__name__)

KEEPALIVE_AFTER = 45.0  # seconds of silence after which a stream is given a sign of life; Slack ends idle ones
REWRITE_INTERVAL = 2.0  # seconds between two rewritings of a message
MAX_PIECE_LENGTH = 3000  # characters of the pieces of a text that Slack finds too long
STREAM_OPEN_ERROR = "streaming_state_conflict"
STREAM_ENDED_ERROR = "message_not_in_streaming_state"
NOT_EDITABLE_ERRORS = frozenset(("message_not_found", "cant_update_message", "edit_window_closed"))


@dataclass(slots=True)
class PostedMessage:
    """A message. `text`: what it shows; None if nobody knows. `more`: what did not fit in it."""

    ts: str
    text: str | None
    is_streaming: bool
    updated_at: float
    overflow_ids: list[str] = field(default_factory=list)

    @property
    def ids(self) -> tuple[str, ...]:
        """The message and what follows it."""
        return (self.ts, *self.overflow_ids)

    def can_grow_to(self, text: str) -> bool:
        """Whether this text is only a longer one, in a stream."""
        return self.is_streaming and self.text is not None and text.startswith(self.text)


class AnswerMessages:
    """`target.mark`: what a former run began, as `mark` gives it."""

    def __init__(self, target: ReplyTarget, study: SlackContext) -> None:
        self._target = target
        self._context = study
        self._channel = target.location.channel
        self._root = target.location.thread or target.message
        self._is_unconfirmed = False  # a message may have been begun that nobody told us of
        self._saved_ids = [ts for ts in target.reply_ref.partition(":")[2].split(",") if ts]
        self.messages: list[PostedMessage] = []
        study.active_messages.update(self._saved_ids)

    @property
    def ref(self) -> str:
        """The channel and the ids of the messages: `C1:1700000000.000100,1700000009.000200`."""
        ids = [ts for said in self.messages for ts in said.ids]
        return f"{self._channel}:{','.join(ids)}" if ids else self._target.reply_ref

    async def recover(self) -> None:
        """Find what a former run has begun."""
        found: Sequence[str] = ()
        try:
            found = await self._find_unfinished()
        except PlatformError as error:
            log.warning("thread_not_searched", error=str(error))
        for ts in [*self._saved_ids, *(ts for ts in found if ts not in self._saved_ids)]:
            self._add_message(PostedMessage(ts, None, is_streaming=True, updated_at=self._now - REWRITE_INTERVAL))

    def release(self) -> None:
        """The answer is finished: its messages are no concern of other replies any more."""
        self._context.active_messages.difference_update(self._saved_ids, *(said.ids for said in self.messages))
        self._context.refs_by_answer.pop(self._target.answer, None)

    # While the answer grows: never waiting for a turn.

    async def write_partial(self, number: int, letter: OutgoingMessage, words: str, *, last: bool) -> bool:
        """Bring a message as near to this as Slack allows now; whether it is there. A stream before the last ends."""
        if number == len(self.messages) and not await self._adopt_unconfirmed():
            return await self._start_message(number, letter, words, last=last)
        said = self.messages[number]
        if said.can_grow_to(letter.text) and not last and self._context.rate_limits.stops.wait_seconds <= 0:
            return await self._stop_stream(said, letter, words)
        if said.text == letter.text:
            return True
        if said.can_grow_to(letter.text):
            return self._context.rate_limits.appends.try_acquire() and await self._append(said, letter)
        if self._now - said.updated_at < REWRITE_INTERVAL or self._context.rate_limits.updates.wait_seconds > 0:
            return False
        await self.rewrite(said, letter)
        return True

    async def send_keepalive(self, words: str) -> None:
        """A sign of life for streams that have long been silent."""
        for said in self.messages:
            silent = said.is_streaming and said.text is not None and self._now - said.updated_at >= KEEPALIVE_AFTER
            if silent and self._context.rate_limits.appends.try_acquire():
                said.updated_at = self._now
                await self._context.streams.send_keepalive(self._channel, said.ts, words)

    async def _start_message(self, number: int, letter: OutgoingMessage, words: str, *, last: bool) -> bool:
        """The first words of a message: as a stream if it will grow, else posted."""
        ts = None
        self._is_unconfirmed = True
        try:
            if self._root and last:
                ts = await self._context.streams.start(self._target, letter.text, "" if number else words)
        except SLACK_ERRORS as error:
            log.warning("stream_may_have_begun", error=error_code(error))
            if await self._adopt_unconfirmed():
                return False
        self._is_unconfirmed = False
        if ts is not None:
            self._add_message(PostedMessage(ts, letter.text, is_streaming=True, updated_at=self._now))
        elif not has_sentence(letter.text) or self._context.rate_limits.posts(self._channel).wait_seconds > 0:
            return False  # a notification shows the first words of a post
        else:
            await self._post(letter)
        return True

    async def _append(self, said: PostedMessage, letter: OutgoingMessage) -> bool:
        """Let a stream grow; one that has ended, or of which nobody knows what it shows, is rewritten instead."""
        before, said.text = said.text or "", None  # nobody knows, if this is cut short
        try:
            await self._context.streams.append(self._channel, said.ts, letter.text[len(before) :])
        except SLACK_ERRORS as error:
            pause = retry_after_seconds(error)
            if pause is not None:
                self._context.rate_limits.appends.block(pause)
                said.text = before
                return False
            log.info("stream_ended", error=error_code(error))
            said.is_streaming = error_code(error) != STREAM_ENDED_ERROR
            await self.rewrite(said, letter)
            return True
        said.text, said.updated_at = letter.text, self._now
        return True

    # For good: whatever it takes.

    async def finish_message(self, number: int, letter: OutgoingMessage, words: str) -> None:
        """A message in its last form. Raises what Slack refuses."""
        if letter.footer is not None and letter.text and not letter.is_within_limit:
            await self.finish_message(number, replace(letter, footer=None), words)
            said = self.messages[number]
            said.overflow_ids.append(await self._post_followup(replace(letter, text="")))
            self._record_ref()
        elif number == len(self.messages) and not await self._adopt_unconfirmed():
            await self._post(letter)
        elif not await self._try_finish(self.messages[number], letter, words):
            await self.rewrite(self.messages[number], letter)

    async def _try_finish(self, said: PostedMessage, letter: OutgoingMessage, words: str) -> bool:
        """Whether the message has its last form, or takes it by growing."""
        if said.can_grow_to(letter.text):
            return await self._stop_stream(said, letter, words)
        return not said.is_streaming and said.text == letter.text and letter.footer is None and not said.overflow_ids

    async def _stop_stream(self, said: PostedMessage, letter: OutgoingMessage, words: str) -> bool:
        """End a stream with the rest; False if it has to be rewritten."""
        rest, said.text = letter.text[len(said.text or "") :], None
        words = words if said is self.messages[0] else ""
        try:
            await self._context.streams.stop((self._channel, said.ts), rest, words, letter)
        except SLACK_ERRORS as error:
            log.info("stream_not_ended", error=error_code(error))
            said.is_streaming = error_code(error) != STREAM_ENDED_ERROR
            return False
        said.text, said.is_streaming, said.updated_at = letter.text, False, self._now
        return True

    async def rewrite(self, said: PostedMessage, letter: OutgoingMessage, *, urgent: bool = False) -> None:
        """Show this in a message, whatever it showed before; what does not fit follows below."""
        if said.is_streaming:
            await self._abort_stream(said, urgent=urgent)
        for ts in said.overflow_ids:
            await self._delete(ts)
        said.overflow_ids.clear()
        try:
            await self._context.sender.update(self._channel, said.ts, letter, urgent=urgent)
        except SlackApiError as error:
            if error_code(error) == STREAM_OPEN_ERROR:
                await self._abort_stream(said, urgent=urgent)
                await self._context.sender.update(self._channel, said.ts, letter, urgent=urgent)
            elif error_code(error) in NOT_EDITABLE_ERRORS:
                said.ts = await self._post_followup(letter)
            elif error_code(error) in TOO_LONG_ERRORS:
                first, *rest = _split_message(letter)
                await self._context.sender.update(self._channel, said.ts, first)
                said.overflow_ids += [await self._post_followup(piece) for piece in rest]
            else:
                raise
        said.text, said.updated_at = letter.text, self._now
        self._record_ref()

    async def delete_extra(self, length: int) -> None:
        """Delete the messages that the answer does not need any more."""
        for said in self.messages[length:]:
            if said.is_streaming:
                await self._abort_stream(said)
            for ts in said.ids:
                await self._delete(ts)
        del self.messages[length:]

    async def _post(self, letter: OutgoingMessage) -> None:
        """Post a message; if nobody knows whether it was, look."""
        self._is_unconfirmed = True
        try:
            ts = await self._context.sender.post(self._channel, self._root, letter)
        except SLACK_ERRORS as error:
            if error_code(error) in TOO_LONG_ERRORS:
                first, *rest = _split_message(letter)
                said = PostedMessage(
                    await self._post_followup(first), letter.text, is_streaming=False, updated_at=self._now
                )
                said.overflow_ids += [await self._post_followup(piece) for piece in rest]
                self._add_message(said)
                return
            if not is_outcome_unknown(error):
                self._is_unconfirmed = False
                raise
            log.warning("message_may_be_posted", error=error_code(error))
            if await self._adopt_unconfirmed():
                await self.rewrite(self.messages[-1], letter)
                return
            ts = await self._context.sender.post(self._channel, self._root, letter)
        self._add_message(PostedMessage(ts, letter.text, is_streaming=False, updated_at=self._now))

    async def _post_followup(self, letter: OutgoingMessage) -> str:
        ts = await self._context.sender.post(self._channel, self._root, letter)
        self._context.active_messages.add(ts)
        return ts

    async def _abort_stream(self, said: PostedMessage, *, urgent: bool = False) -> None:
        try:
            await self._context.streams.abort(self._channel, said.ts, urgent=urgent)
        except SLACK_ERRORS as error:
            log.info("stream_had_ended", error=error_code(error))
        said.is_streaming = False

    async def _delete(self, ts: str) -> None:
        try:
            await self._context.idempotent_client.chat_delete(channel=self._channel, ts=ts)
        except SlackApiError as error:
            if error_code(error) != "message_not_found":
                raise

    # What may have been begun.

    async def _find_unfinished(self) -> list[str]:
        return await find_unfinished_messages(
            self._context.idempotent_client, self._target, self._context.identity, self._context.active_messages
        )

    async def _adopt_unconfirmed(self) -> bool:
        """Take over a message whose beginning was not confirmed, if there may be one."""
        if not self._is_unconfirmed:
            return False
        for ts in (await self._find_unfinished())[:1]:
            self._add_message(PostedMessage(ts, None, is_streaming=True, updated_at=self._now - REWRITE_INTERVAL))
            return True
        return False

    def _add_message(self, said: PostedMessage) -> None:
        """Remember a message as ours."""
        self._is_unconfirmed = False
        self.messages.append(said)
        self._record_ref()

    def _record_ref(self) -> None:
        self._context.active_messages.update(ts for said in self.messages for ts in said.ids)
        self._context.refs_by_answer[self._target.answer] = self.ref

    @property
    def _now(self) -> float:
        return self._context.rate_limits.clock()


def _split_message(letter: OutgoingMessage) -> list[OutgoingMessage]:
    """A letter as several: what stands below comes with the last."""
    texts = split_message(letter.text, MAX_PIECE_LENGTH)
    return [replace(letter, text=text, footer=None) for text in texts[:-1]] + [replace(letter, text=texts[-1])]
