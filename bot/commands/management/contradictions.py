"""Decide about statements that disagree, for their authors and for managers and experts who can read both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.answers.contradictions import words
from bot.answers.contradictions.finding import ContradictionAudience, describe_known, find_in_scope, key_of
from bot.answers.contradictions.settling import find_verified_id, verify_claim
from bot.capabilities.results import Completed
from bot.errors import NotAllowed
from bot.i18n import gettext
from bot.store.schedules.contradictions import Decision
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from bot.capabilities.contradictions.requests import DismissContradiction, SettleContradiction
    from bot.commands.context import PersonAtPlace
    from bot.commands.management.manager import Manager
    from engine.llm.offline.contradictions.finding import Contradiction


async def settle(manager: Manager, request: SettleContradiction) -> Completed:
    """Make a verified answer of the right statement. Raises NotFound, NotAllowed and InvalidQuestion."""
    call = manager.stand()
    found = await _open(call, request.id)
    right, wrong = (found.older, found.newer) if request.right == words.OLDER else (found.newer, found.older)
    decision = Decision("settling", call.person, key_of(wrong.source), right.source.room, find_verified_id(right))
    if not await call.store.contradictions.decide(describe_known(found, call.location), decision, call.now):
        raise NotFound(gettext(words.DECIDED))
    is_verified = False
    try:
        author = await ContradictionAudience(call.services.context).find_author(right.source)
        await verify_claim(call.services.context, right, author, call.person)
        is_verified = True
    finally:
        await call.store.contradictions.finish_settling(request.id, call.person, verified=is_verified)
    return Completed(gettext(words.SETTLED).format(question=right.question, text=right.text))


async def dismiss(manager: Manager, request: DismissContradiction) -> Completed:
    """Mention two statements no more. Raises NotFound, NotAllowed and InvalidQuestion."""
    call = manager.stand()
    known = describe_known(await _open(call, request.id), call.location)
    if not await call.store.contradictions.decide(known, Decision("dismissed", call.person), call.now):
        raise NotFound(gettext(words.DECIDED))
    return Completed(gettext(words.DISMISSED))


async def _open(call: PersonAtPlace, id_: str) -> Contradiction:
    """What disagrees within what the person can read now, if they may decide it."""
    context = call.services.context
    if context.settings.contradictions == "off":
        raise InvalidQuestion(gettext(words.OFF), hint=gettext(words.OFF_HINT))
    found = (await find_in_scope(call.engine, await call.resolve_scope(), call.now)).get(id_)
    if found is None:
        raise NotFound(gettext(words.UNKNOWN))
    if await call.store.contradictions.list_decided([id_]):
        raise NotFound(gettext(words.DECIDED))
    if not await _may_decide(call, found):
        raise NotAllowed(gettext(words.NOT_ALLOWED))
    return found


async def _may_decide(call: PersonAtPlace, found: Contradiction) -> bool:
    """Whether somebody may certainly read both statements, and wrote one of them or may verify answers there."""
    audience = ContradictionAudience(call.services.context)
    if not await audience.may_read(found, call.location, call.person):
        return False
    if call.person in await audience.list_authors(found):
        return True
    return await audience.may_review(found, call.person)
