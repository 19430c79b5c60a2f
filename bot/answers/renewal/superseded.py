"""Find posted answers whose cited messages a new or edited message replaces, and have them written anew.

What replaces what is decided by the rules by which an answer shows a newer statement before an older one.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from bot.errors import PlatformError
from bot.permissions.provenance import Provenance, can_read
from bot.store.models import message_key
from bot.text.excerpts import content_words
from engine import Scope, Source
from engine.llm.offline.supersession.sources import can_replace_others, find_replaced_sources

if TYPE_CHECKING:
    from bot.context import BotContext
    from bot.platform.models import Message
    from bot.store import AnswerSource
    from bot.store.control.renewals import CitingAnswer

log = structlog.get_logger(__name__)

MIN_COMMON_WORDS = 2  # of a message and what an answer cites
MAX_ANSWERS = 50  # that are compared with a message, the newest


class SupersessionFinder:
    """Compares new messages with what posted answers cite."""

    def __init__(self, context: BotContext) -> None:
        self._context = context
        self._store = context.store

    async def check(self, message: Message) -> None:
        """Have the answers written anew that cite what this indexed message replaces, where its room may be read.

        Nothing was removed, so an answer stays as it is until there is a new text, or else with a mark.
        """
        if self._context.settings.renew_answers == "off" or not message.text.strip() or message.own:
            return
        words = content_words(message.text)
        if len(words) < MIN_COMMON_WORDS:
            return
        alike = [answer for answer in await self._list_citing(message) if _is_alike(words, answer)]
        record = await self._store.messages.get(message.location.room, message.id) if alike else None
        if record is None or not record.document:
            return
        newer = await self._describe(message, record.document)
        if not await asyncio.to_thread(can_replace_others, newer):
            return
        for answer in alike:
            await self._request_new_text(answer, newer)

    async def _list_citing(self, message: Message) -> list[CitingAnswer]:
        since = self._context.clock.now() - timedelta(days=self._context.settings.renew_answers_days)
        until = self._context.clock.now() if message.edited else message.time
        found = await self._store.answer_renewals.list_citing(message.location, since, until, MAX_ANSWERS)
        if len(found) >= MAX_ANSWERS:
            log.info("answer.superseded_limit_reached", channel=message.location.room, answers=len(found))
        return found

    async def _request_new_text(self, answer: CitingAnswer, newer: Source) -> None:
        cited = [_to_source(source) for source in answer.sources if source.time is not None]
        replaced = await asyncio.to_thread(find_replaced_sources, (newer, *cited))
        older = {pair.older for pair in replaced if pair.newer == newer.number}
        keys = {message_key(source.room, source.passage) for source in answer.sources if source.number in older}
        if not keys:
            return
        provenance = Provenance(Scope(frozenset(), frozenset({newer.room})), {}, 0.0)
        if await can_read(self._context.audience, provenance, answer.location):
            await self._store.superseded_answers.add(answer.id, message_key(newer.room, newer.passage), keys)

    async def _describe(self, message: Message, document: str) -> Source:
        location, name = message.location, message.author
        platform, text = self._context.platform_for(location), message.text
        try:
            text = await platform.to_plain_text(location.workspace, message.content)
            name = (await self._context.audience.get_person(location.platform, location.workspace, name)).name
        except PlatformError:
            pass
        line = f"[{message.time:%Y-%m-%d %H:%M}] {name}: {text}"
        return Source(0, document, message.id, "", "", "", name, message.time, line, "", location.room, "")


def _is_alike(words: set[str], answer: CitingAnswer) -> bool:
    """Whether a message with these words has enough of them in common with the messages that an answer cites."""
    cited = answer.cited_words.casefold()
    if sum(word in cited for word in words) < MIN_COMMON_WORDS:
        return False  # of most answers; nothing is parsed
    excerpts = " ".join(source.excerpt for source in answer.sources if source.time is not None)
    return len(words & content_words(excerpts)) >= MIN_COMMON_WORDS


def _to_source(cited: AnswerSource) -> Source:
    """A cited message as the engine has it, with what is stored of it."""
    speaker = cited.title.rpartition(" · ")[2]
    line = f"[{cited.time:%Y-%m-%d %H:%M}] {speaker}: {cited.excerpt}"
    where = (cited.document, cited.passage, cited.title, "", cited.link, speaker)
    return Source(cited.number, *where, cited.time, line, cited.space, cited.room, "")
