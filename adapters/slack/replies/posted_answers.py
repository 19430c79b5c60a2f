"""Finished answers that stand in a channel: replaced by a line, or deleted, whether they were streamed or posted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
from slack_sdk.errors import SlackApiError

from adapters.slack.api.errors import TROUBLE, code, told
from adapters.slack.replies.answer_messages import OPEN
from adapters.slack.replies.mrkdwn import safe
from adapters.slack.replies.recovery import about
from adapters.slack.replies.sender import Letter

if TYPE_CHECKING:
    from adapters.slack.context import Study
    from bot.platform.ports import Target

log = structlog.get_logger(__name__)

GONE = "message_not_found"
FIXED = frozenset(("cant_update_message", "edit_window_closed"))


class PostedAnswers:
    """The messages that the mark of an answer names."""

    def __init__(self, study: Study) -> None:
        self._study = study

    async def replace(self, target: Target, text: str) -> None:
        """Show this in the first message that is still there, and delete the others. Raises PlatformError.

        Where Slack does not let a message be edited any more, it is deleted.
        """
        channel, messages = _where(target)
        letter = Letter(safe(text), about=about(target.answer, 0, done=True))
        shown = False
        with told():
            for ts in messages:
                if shown:
                    await self._delete(channel, ts)
                else:
                    shown = await self._rewrite(channel, ts, letter)

    async def delete(self, target: Target) -> None:
        """Delete all messages. Raises PlatformError."""
        channel, messages = _where(target)
        with told():
            for ts in messages:
                await self._delete(channel, ts)

    async def _rewrite(self, channel: str, ts: str, letter: Letter) -> bool:
        """Whether the message shows it now; else there is none any more. Raises what Slack refuses."""
        try:
            await self._study.letters.update(channel, ts, letter)
        except SlackApiError as error:
            if code(error) == OPEN:
                await self._break_off(channel, ts)
                await self._study.letters.update(channel, ts, letter)
            elif code(error) == GONE:
                return False
            elif code(error) in FIXED:
                log.info("answer_not_editable", error=code(error))
                await self._delete(channel, ts)
                return False
            else:
                raise
        return True

    async def _break_off(self, channel: str, ts: str) -> None:
        try:
            await self._study.streams.break_off(channel, ts)
        except TROUBLE as error:
            log.info("stream_had_ended", error=code(error))

    async def _delete(self, channel: str, ts: str) -> None:
        try:
            await self._study.reader.chat_delete(channel=channel, ts=ts)
        except SlackApiError as error:
            if code(error) != GONE:
                raise


def _where(target: Target) -> tuple[str, list[str]]:
    """The channel and the ids of the messages."""
    channel, _, messages = target.mark.partition(":")
    return channel, [ts for ts in messages.split(",") if ts]
