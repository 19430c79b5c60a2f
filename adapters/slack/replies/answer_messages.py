"""Write the messages of one answer, one per part: streamed if Slack allows it, otherwise posted and edited."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import structlog
from slack_sdk.errors import SlackApiError

from adapters.slack.errors import SLACK_ERRORS, error_code, retry_after_seconds
from adapters.slack.replies.recovery import find_unfinished_messages
from adapters.slack.replies.sender import TOO_LONG_ERRORS, OutgoingMessage, PostedMessage
from adapters.slack.retries import is_outcome_unknown
from bot.errors import PlatformError
from bot.text.splitting import has_sentence, split_message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.slack.context import SlackContext
    from bot.platform.ports import ReplyTarget

log = structlog.get_logger(__name__)

REWRITE_INTERVAL = 2.0  # seconds between two edits of a message
MAX_PIECE_LENGTH = 3000  # characters per piece of a text that Slack refused as too long
STREAM_OPEN_ERROR = "streaming_state_conflict"
STREAM_ENDED_ERROR = "message_not_in_streaming_state"
NOT_EDITABLE_ERRORS = frozenset(("message_not_found", "cant_update_message", "edit_window_closed"))


class AnswerMessages:
    """Messages of one answer. `target.reply_ref`: those that an earlier run started, in the format of `ref`."""

    def __init__(self, target: ReplyTarget, context: SlackContext) -> None:
        self._target = target
        self._context = context
        self._channel = target.location.channel
        self._root = target.location.thread or target.message
        self._is_unconfirmed = False  # a message may exist without a confirmation
        self._saved_ids = [ts for ts in target.reply_ref.partition(":")[2].split(",") if ts]
        self.messages: list[PostedMessage] = []
        context.active_messages.update(self._saved_ids)

    @property
    def ref(self) -> str:
        """The channel and the ids of the messages: `C1:1700000000.000100,1700000009.000200`."""
        ids = [ts for posted in self.messages for ts in posted.ids]
        return f"{self._channel}:{','.join(ids)}" if ids else self._target.reply_ref

    async def recover(self) -> None:
        """Find the messages that an earlier run started."""
        found: Sequence[str] = ()
        try:
            found = await self._find_unfinished()
        except PlatformError as error:
            log.warning("slack.recovery_search_failed", error=str(error))
        for ts in [*self._saved_ids, *(ts for ts in found if ts not in self._saved_ids)]:
            self._add_message(PostedMessage(ts, None, is_streaming=True, updated_at=self._now - REWRITE_INTERVAL))

    def release(self) -> None:
        """Stop tracking the messages of a finished answer."""
        self._context.active_messages.difference_update(self._saved_ids, *(posted.ids for posted in self.messages))
        self._context.refs_by_answer.pop(self._target.answer, None)

    # Partial writes: these never wait for a rate limit that this process knows.

    async def write_partial(self, number: int, outgoing: OutgoingMessage, status: str, *, last: bool) -> bool:
        """Write as much of a part as Slack allows now; whether all is written. Only the last part keeps streaming."""
        if number == len(self.messages) and not await self._adopt_unconfirmed():
            return await self._start_message(number, outgoing, status, last=last)
        posted = self.messages[number]
        if posted.can_grow_to(outgoing.text) and not last and self._context.rate_limits.stops.wait_seconds <= 0:
            return await self._stop_stream(posted, outgoing, status)
        if posted.text == outgoing.text:
            return True
        if posted.can_grow_to(outgoing.text):
            return await self._context.rate_limits.appends.try_acquire() and await self._append(posted, outgoing)
        if self._now - posted.updated_at < REWRITE_INTERVAL or self._context.rate_limits.updates.wait_seconds > 0:
            return False
        await self.rewrite(posted, outgoing)
        return True

    async def send_keepalive(self, status: str) -> None:
        """Send a keepalive to streams that were silent for long."""
        for posted in self.messages:
            if posted.is_silent(self._now) and await self._context.rate_limits.appends.try_acquire():
                posted.updated_at = self._now
                await self._context.streams.send_keepalive(self._channel, posted.ts, status)

    async def _start_message(self, number: int, outgoing: OutgoingMessage, status: str, *, last: bool) -> bool:
        """Start a message: as a stream if it will grow, otherwise as a post."""
        stream = None
        self._is_unconfirmed = True
        try:
            if self._root and last:
                stream = await self._context.streams.start(self._target, outgoing.text, "" if number else status)
        except SLACK_ERRORS as error:
            log.warning("slack.stream_start_uncertain", error=error_code(error))
            if await self._adopt_unconfirmed():
                return False
        self._is_unconfirmed = False
        if stream is not None:
            posted = PostedMessage(stream.ts, outgoing.text, is_streaming=True, updated_at=self._now)
            posted.has_buttons = stream.has_buttons
            self._add_message(posted)
        elif not has_sentence(outgoing.text) or self._context.rate_limits.posts(self._channel).wait_seconds > 0:
            return False  # a notification shows the first words of a post
        else:
            await self._post(outgoing)
        return True

    async def _append(self, posted: PostedMessage, outgoing: OutgoingMessage) -> bool:
        """Append to a stream; if it has ended or its content is unknown, rewrite it instead."""
        before, posted.text = posted.text or "", None  # unknown if the call is interrupted
        try:
            await self._context.streams.append(self._channel, posted.ts, outgoing.text[len(before) :])
        except SLACK_ERRORS as error:
            pause = retry_after_seconds(error)
            if pause is not None:
                await self._context.rate_limits.appends.block_for_all(pause)
                posted.text = before
                return False
            log.info("slack.stream_append_failed", error=error_code(error))
            posted.is_streaming = error_code(error) != STREAM_ENDED_ERROR
            await self.rewrite(posted, outgoing)
            return True
        posted.text, posted.updated_at = outgoing.text, self._now
        return True

    # Final writes: these wait and retry.

    async def finish_message(self, number: int, outgoing: OutgoingMessage, status: str) -> None:
        """Write the final form of a message. Raises what Slack refuses."""
        if outgoing.footer is not None and outgoing.text and not outgoing.is_within_limit:
            await self.finish_message(number, replace(outgoing, footer=None), status)
            posted = self.messages[number]
            posted.overflow_ids.append(await self._post_followup(replace(outgoing, text="")))
            self._record_ref()
        elif number == len(self.messages) and not await self._adopt_unconfirmed():
            await self._post(outgoing)
        elif not await self._try_finish(self.messages[number], outgoing, status):
            await self.rewrite(self.messages[number], outgoing)

    async def _try_finish(self, posted: PostedMessage, outgoing: OutgoingMessage, status: str) -> bool:
        """Finish a message without a rewrite; False if it needs one."""
        if posted.can_grow_to(outgoing.text):
            is_ended = await self._stop_stream(posted, outgoing, status)
            return is_ended and not (posted.has_buttons or outgoing.has_table)  # a stream shows tables as its text
        return (
            not (posted.is_streaming or posted.has_buttons)
            and posted.text == outgoing.text
            and outgoing.footer is None
            and not posted.overflow_ids
        )

    async def _stop_stream(self, posted: PostedMessage, outgoing: OutgoingMessage, status: str) -> bool:
        """End a stream with the rest of its text; False if it must be rewritten."""
        rest, posted.text = outgoing.text[len(posted.text or "") :], None
        status = status if posted is self.messages[0] else ""
        try:
            await self._context.streams.stop((self._channel, posted.ts), rest, status, outgoing)
        except SLACK_ERRORS as error:
            log.info("slack.stream_stop_failed", error=error_code(error))
            posted.is_streaming = error_code(error) != STREAM_ENDED_ERROR
            return False
        posted.text, posted.is_streaming, posted.updated_at = outgoing.text, False, self._now
        return True

    async def rewrite(self, posted: PostedMessage, outgoing: OutgoingMessage, *, urgent: bool = False) -> None:
        """Replace the content of a message; text that does not fit goes into overflow messages."""
        if posted.is_streaming:
            await self._abort_stream(posted, urgent=urgent)
        for ts in posted.overflow_ids:
            await self._delete(ts)
        posted.overflow_ids.clear()
        try:
            await self._context.sender.update(self._channel, posted.ts, outgoing, urgent=urgent)
        except SlackApiError as error:
            if error_code(error) == STREAM_OPEN_ERROR:
                await self._abort_stream(posted, urgent=urgent)
                await self._context.sender.update(self._channel, posted.ts, outgoing, urgent=urgent)
            elif error_code(error) in NOT_EDITABLE_ERRORS:
                posted.ts = await self._post_followup(outgoing)
            elif error_code(error) in TOO_LONG_ERRORS:
                first, *rest = _split_message(outgoing)
                await self._context.sender.update(self._channel, posted.ts, first)
                posted.overflow_ids += [await self._post_followup(piece) for piece in rest]
            else:
                raise
        posted.text, posted.updated_at, posted.has_buttons = outgoing.text, self._now, bool(outgoing.buttons)
        self._record_ref()

    async def delete_extra(self, length: int) -> None:
        """Delete the messages after the first `length`."""
        for posted in self.messages[length:]:
            if posted.is_streaming:
                await self._abort_stream(posted)
            for ts in posted.ids:
                await self._delete(ts)
        del self.messages[length:]

    async def _post(self, outgoing: OutgoingMessage) -> None:
        """Post a message; if the outcome is unknown, search for it before posting again."""
        self._is_unconfirmed = True
        try:
            ts = await self._context.sender.post(self._channel, self._root, outgoing)
        except SLACK_ERRORS as error:
            if error_code(error) in TOO_LONG_ERRORS:
                first, *rest = _split_message(outgoing)
                posted = PostedMessage(
                    await self._post_followup(first), outgoing.text, is_streaming=False, updated_at=self._now
                )
                posted.overflow_ids += [await self._post_followup(piece) for piece in rest]
                self._add_message(posted)
                return
            if not is_outcome_unknown(error):
                self._is_unconfirmed = False
                raise
            log.warning("slack.post_uncertain", error=error_code(error))
            if await self._adopt_unconfirmed():
                await self.rewrite(self.messages[-1], outgoing)
                return
            ts = await self._context.sender.post(self._channel, self._root, outgoing)
        posted = PostedMessage(ts, outgoing.text, is_streaming=False, updated_at=self._now)
        posted.has_buttons = bool(outgoing.buttons)
        self._add_message(posted)

    async def _post_followup(self, outgoing: OutgoingMessage) -> str:
        ts = await self._context.sender.post(self._channel, self._root, outgoing)
        self._context.active_messages.add(ts)
        return ts

    async def _abort_stream(self, posted: PostedMessage, *, urgent: bool = False) -> None:
        try:
            await self._context.streams.abort(self._channel, posted.ts, urgent=urgent)
        except SLACK_ERRORS as error:
            log.info("slack.stream_already_stopped", error=error_code(error))
        posted.is_streaming = False

    async def _delete(self, ts: str) -> None:
        try:
            await self._context.idempotent_client.chat_delete(channel=self._channel, ts=ts)
        except SlackApiError as error:
            if error_code(error) != "message_not_found":
                raise

    # Recovery.

    async def _find_unfinished(self) -> list[str]:
        return await find_unfinished_messages(
            self._context.idempotent_client, self._target, self._context.identity, self._context.active_messages
        )

    async def _adopt_unconfirmed(self) -> bool:
        """Adopt a message whose start was not confirmed, if there is one."""
        if not self._is_unconfirmed:
            return False
        for ts in (await self._find_unfinished())[:1]:
            self._add_message(PostedMessage(ts, None, is_streaming=True, updated_at=self._now - REWRITE_INTERVAL))
            return True
        return False

    def _add_message(self, posted: PostedMessage) -> None:
        """Track a message of this answer."""
        self._is_unconfirmed = False
        self.messages.append(posted)
        self._record_ref()

    def _record_ref(self) -> None:
        self._context.active_messages.update(ts for posted in self.messages for ts in posted.ids)
        self._context.refs_by_answer[self._target.answer] = self.ref

    @property
    def _now(self) -> float:
        return self._context.clock.monotonic()


def _split_message(outgoing: OutgoingMessage) -> list[OutgoingMessage]:
    """Split a long message into several; the footer goes with the last."""
    texts = split_message(outgoing.text, MAX_PIECE_LENGTH)
    return [replace(outgoing, text=text, footer=None) for text in texts[:-1]] + [replace(outgoing, text=texts[-1])]
