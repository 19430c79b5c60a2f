"""Make a verified answer of a statement."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.answers.footer import build_answer_source
from bot.answers.review.verification import AnswerVerifier, verified_id
from bot.platform.models import Location
from bot.store import VerifiedAnswer
from bot.store.models import source_keys
from bot.text.markdown import escape_markdown

if TYPE_CHECKING:
    from bot.context import BotContext
    from engine.llm.offline.contradictions.finding import DisputedStatement


def find_verified_id(claim: DisputedStatement) -> str:
    """The id of the verified answer that `verify_claim` makes."""
    return verified_id(Location.from_room(claim.source.room), " ".join(claim.question.split()))


async def verify_claim(context: BotContext, claim: DisputedStatement, author: str, person: str) -> None:
    """Answer the question of a statement with it, where it was said. Raises NotFound and InvalidQuestion.

    `author`: who wrote it; `person`: who says that it is right, which is checked elsewhere.
    """
    now, source = context.clock.now(), replace(claim.source, number=1, position=1)
    place, text = Location.from_room(source.room), f"{escape_markdown(claim.text)} [1]"
    known = await context.store.messages.get(source.room, source.passage)
    verified = VerifiedAnswer(
        "",
        place,
        source.passage if known is not None else "",
        claim.question,
        text,
        person,
        author,
        person,
        now,
        sources=(build_answer_source(source, text),),
        keys=source_keys(source.document, source.room, source.passage),
    )
    await AnswerVerifier(context, now).keep(verified)
