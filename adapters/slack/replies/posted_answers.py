"""Replace or delete finished answers in a channel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
from slack_sdk.errors import SlackApiError

from adapters.slack.errors import SLACK_ERRORS, error_code, map_errors
from adapters.slack.replies.answer_messages import STREAM_OPEN_ERROR
from adapters.slack.replies.mrkdwn import defuse_mentions
from adapters.slack.replies.recovery import answer_metadata
from adapters.slack.replies.sender import OutgoingMessage

if TYPE_CHECKING:
    from adapters.slack.context import SlackContext
    from bot.platform.ports import ReplyTarget

log = structlog.get_logger(__name__)

MESSAGE_NOT_FOUND = "message_not_found"
NOT_EDITABLE_ERRORS = frozenset(("cant_update_message", "edit_window_closed"))


class SlackPostedAnswers:
    """Edits the messages that a reply reference names."""

    def __init__(self, context: SlackContext) -> None:
        self._context = context

    async def replace(self, target: ReplyTarget, text: str) -> None:
        """Show `text` in the first message that still exists, and delete the others. Raises PlatformError.

        A message that Slack does not allow to be edited any more is deleted.
        """
        channel, messages = _parse_ref(target)
        outgoing = OutgoingMessage(defuse_mentions(text), metadata=answer_metadata(target.answer, 0, done=True))
        is_shown = False
        with map_errors():
            for ts in messages:
                if is_shown:
                    await self._delete(channel, ts)
                else:
                    is_shown = await self._rewrite(channel, ts, outgoing)

    async def delete(self, target: ReplyTarget) -> None:
        """Delete all messages. Raises PlatformError."""
        channel, messages = _parse_ref(target)
        with map_errors():
            for ts in messages:
                await self._delete(channel, ts)

    async def _rewrite(self, channel: str, ts: str, outgoing: OutgoingMessage) -> bool:
        """Rewrite a message; False if it does not exist any more. Raises what Slack refuses."""
        try:
            await self._context.sender.update(channel, ts, outgoing)
        except SlackApiError as error:
            if error_code(error) == STREAM_OPEN_ERROR:
                await self._abort_stream(channel, ts)
                await self._context.sender.update(channel, ts, outgoing)
            elif error_code(error) == MESSAGE_NOT_FOUND:
                return False
            elif error_code(error) in NOT_EDITABLE_ERRORS:
                log.info("slack.answer_edit_rejected", error=error_code(error))
                await self._delete(channel, ts)
                return False
            else:
                raise
        return True

    async def _abort_stream(self, channel: str, ts: str) -> None:
        try:
            await self._context.streams.abort(channel, ts)
        except SLACK_ERRORS as error:
            log.info("slack.stream_already_stopped", error=error_code(error))

    async def _delete(self, channel: str, ts: str) -> None:
        try:
            await self._context.idempotent_client.chat_delete(channel=channel, ts=ts)
        except SlackApiError as error:
            if error_code(error) != MESSAGE_NOT_FOUND:
                raise


def _parse_ref(target: ReplyTarget) -> tuple[str, list[str]]:
    """Parse the channel and the message ids of a reply reference."""
    channel, _, messages = target.reply_ref.partition(":")
    return channel, [ts for ts in messages.split(",") if ts]
