"""Post answers that nobody asked for: notices and reports in direct messages, corrected when a source goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.answers.footer import link_citations, source_urls
from bot.answers.review.notices import describe_removal
from bot.platform.ports import ReplyTarget
from bot.store import StoredAnswer
from bot.text import splitting

if TYPE_CHECKING:
    from bot.context import BotContext
    from bot.platform.models import AnswerFooter, Location
    from bot.platform.ports import Reply
    from bot.store import AnswerResult


class UnaskedAnswers:
    """Posts each of them once: what was begun before the process ended is continued. Raises PlatformError."""

    def __init__(self, context: BotContext) -> None:
        self._context = context
        self._store = context.store

    async def find_or_open(self, id_: str, place: Location, person: str, question: str) -> StoredAnswer:
        """What was begun of the answer with this id; else a new one in the direct messages of the person."""
        begun = await self._store.answers.get(id_)
        if begun is not None:
            return begun
        direct = await self._context.platform_for(place).open_direct(place.workspace, person)
        return StoredAnswer(id_, direct, person, question, self._context.clock.now())

    def open_reply(self, answer: StoredAnswer, *, is_new: bool = False) -> Reply:
        """What the answer is posted with, or was; `is_new`: nothing of it was begun."""
        whose = (answer.id, answer.location, answer.asker)
        target = ReplyTarget(*whose, reply_ref=answer.reply_ref, asked_at=answer.time, is_new=is_new)
        return self._context.platform_for(answer.location).start_reply(target)

    async def finish(self, answer: StoredAnswer, reply: Reply, result: AnswerResult, footer: AnswerFooter) -> None:
        """Post the text, and store what it rests on; if any of that was removed meanwhile, say so in its place."""
        limits = self._context.platform_for(answer.location).limits
        text = link_citations(result.text, source_urls(result.sources))
        try:
            await reply.finish(splitting.split_message(text, limits.max_length), footer)
        finally:
            await self._store.answers.save_reply_ref(answer.id, reply.reply_ref)
        if not await self._store.answers.finish(answer.id, result):
            await reply.replace(self._describe_removal(answer))

    async def withdraw(self, answer: StoredAnswer, reply: Reply) -> None:
        """Take back what was posted already of an answer that may not be shown any more."""
        if reply.reply_ref:
            await reply.replace(self._describe_removal(answer))
        await self._store.answers.delete(answer.id)

    def _describe_removal(self, answer: StoredAnswer) -> str:
        return describe_removal(answer.id, self._context.platform_for(answer.location).traits)
