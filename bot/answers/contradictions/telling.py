"""Post a contradiction to one person as an answer of the bot: it is corrected when a source goes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from bot.answers.contradictions import words
from bot.answers.contradictions.finding import ContradictionAudience, build_id, describe_known, key_of, list_rooms
from bot.answers.footer import build_answer_source
from bot.answers.watches.unasked import UnaskedAnswers
from bot.errors import PermissionDenied, PlatformError, PlatformUnavailable, SetupError
from bot.i18n import gettext, use_language
from bot.platform.models import AnswerFooter, FooterSource
from bot.store import AnswerResult, StoredAnswer

if TYPE_CHECKING:
    from bot.context import BotContext
    from bot.platform.models import Location
    from bot.platform.ports import Reply
    from engine.llm.offline.contradictions.finding import Contradiction

log = structlog.get_logger(__name__)


class ContradictionTeller:
    """Tells one person of one contradiction, if they may read both statements when it is posted."""

    def __init__(self, context: BotContext) -> None:
        self._context = context
        self._store = context.store
        self._audience = ContradictionAudience(context)
        self._answers = UnaskedAnswers(context)

    async def tell(self, found: Contradiction, place: Location, person: str) -> None:
        """Post it in the person's direct messages, or continue what was begun. Raises PlatformError."""
        id_, now = build_id(found), self._context.clock.now()
        answer = await self._store.contradictions.begin_telling(describe_known(found, place), person, now)
        if not answer:
            return
        begun = await self._answers.find_or_open(answer, place, person, gettext(words.HEADING))
        if begun.state == "started":
            await self._post(found, place, begun)
        await self._store.contradictions.finish_telling(id_, person)

    async def withdraw_broken(self, place: Location) -> bool:
        """Take back what was posted in a workspace of statements that are forgotten; False to try again later."""
        is_complete = True
        for notice in await self._store.contradictions.list_broken(place):
            stored = await self._store.answers.get(notice.answer)
            try:
                if stored is not None:
                    with use_language(await self._context.find_person_language(place, notice.person)):
                        await self._answers.withdraw(stored, self._answers.open_reply(stored))
            except PlatformError as error:
                if not isinstance(error, PermissionDenied) or isinstance(error, SetupError):
                    log.warning("contradiction.not_withdrawn", error=type(error).__name__)
                    is_complete = False
                    continue
            await self._store.contradictions.finish_broken(notice)
        return is_complete

    async def _post(self, found: Contradiction, place: Location, answer: StoredAnswer) -> None:
        is_new, person = await self._store.answers.begin(answer), answer.asker
        reply = self._answers.open_reply(answer, is_new=is_new)
        allowed = await self._audience.may_read(found, place, person)
        if allowed is None:
            raise PlatformUnavailable("It is not known now what the person can read.")
        if not allowed:
            await self._answers.withdraw(answer, reply)
            return
        with use_language(await self._context.find_person_language(place, person)):
            await self._finish(found, answer, reply)

    async def _finish(self, found: Contradiction, answer: StoredAnswer, reply: Reply) -> None:
        platform, result = self._context.platform_for(answer.location), _build_result(found)
        cited = tuple(
            FooterSource(source.number, source.title, source.link, time=source.time) for source in result.sources
        )
        command = platform.traits.format_command(words.COMMAND)
        notice = gettext("{command} lists what else disagrees.").format(command=f"`{command}`")
        footer = AnswerFooter(answer.id, cited, notice, words.list_buttons(build_id(found), found))
        await self._answers.finish(answer, reply, result, footer)


def _build_result(found: Contradiction) -> AnswerResult:
    claims = (found.older, found.newer)
    text = "\n".join([f"**{gettext(words.HEADING)}**", *map(words.quote, claims, (1, 2))])
    sources = [replace(claim.source, number=number, position=number) for number, claim in enumerate(claims, 1)]
    return AnswerResult(
        text,
        tuple(build_answer_source(source, text) for source in sources),
        frozenset(map(key_of, sources)),
        rooms=list_rooms(found),
    )
