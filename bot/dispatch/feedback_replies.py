"""Take a reply in the thread of an answer that its author voted down as the reason for the vote.

The vote keeps the message's id, not its text: managers see what the message says when they look.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.context import BotContext
    from bot.dispatch.reply_policy import ReplyPolicy
    from bot.platform.models import Message
    from bot.store import StoredAnswer

PERIOD = timedelta(days=3)  # after an answer, in which a reply may say what was wrong with it


class FeedbackReplies:
    """Finds and records such replies. Handling one again has the same result. Raises PlatformError."""

    def __init__(self, context: BotContext, policy: ReplyPolicy) -> None:
        self._context = context
        self._policy = policy

    async def find(self, message: Message, *, addressed: bool) -> str:
        """The id of the answer that a message complains about; empty for other messages. `addressed`: to the bot.

        Its author voted that answer down and gave no comment; the message asks nothing, and is for nobody else.
        """
        if message.own or message.by_bot:
            return ""
        answer = await self._find_answer(message)
        if answer is None or answer.private or not answer.time < message.time <= answer.time + PERIOD:
            return ""
        if not await self._context.store.feedback.awaits_comment(answer.id, message.author, message.id):
            return ""
        channel = await self._context.audience.get_channel_info(message.location)
        return (
            answer.id if channel.kind != "direct" and await self._policy.is_remark(message, addressed=addressed) else ""
        )

    async def record(self, message: Message, *, addressed: bool) -> bool:
        """Keep a reply as the comment of its author's vote; whether it is one."""
        answer = await self.find(message, addressed=addressed)
        if answer:
            await self._context.store.feedback.record_reply(answer, message.author, message.id)
        return bool(answer)

    async def _find_answer(self, message: Message) -> StoredAnswer | None:
        """The answer that a message replies to, or the last one of its thread that its author voted down."""
        location, answers = message.location, self._context.store.answers
        if message.replies_to:
            return await answers.get_by_message(location.without_thread, message.replies_to)
        return await answers.get_disliked(location, message.author) if location.thread else None
