"""Count votes on answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot import texts
from bot.answers.review.votes import record_vote
from bot.capabilities.answers.lookup import is_own
from bot.capabilities.results import Completed
from bot.i18n import gettext
from bot.permissions.provenance import provenance_of_answer
from bot.texts import review as review_texts
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.access.control import AccessControl
    from bot.capabilities.answers.requests import RateAnswer
    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.store import StoredAnswer


async def rate_answer(deps: Deps, caller: Caller, request: RateAnswer) -> AsyncGenerator[Completed]:
    """Record a vote, and why the answer did not help; the last vote of a person counts. Raises NotFound."""
    parts = await deps.parts.open()
    stored = await parts.store.answers.get(request.answer)
    if stored is None or not await _is_reader(parts.access, caller, stored):
        raise NotFound(gettext(texts.NO_ANSWER))
    await record_vote(parts.store, deps.metrics, stored, caller.subject.person, up=request.helpful)
    if request.helpful:
        yield Completed(gettext(texts.POSITIVE_FEEDBACK))
        return
    comment = " ".join(request.comment.split())
    if not (request.reason or comment):
        yield Completed(gettext(review_texts.REASON_TEXT))
        return
    feedback, person = parts.store.feedback, caller.subject.person
    if not await feedback.record_reason(stored.id, person, request.reason, comment):
        raise NotFound(gettext(texts.NO_ANSWER))
    yield Completed(gettext(review_texts.REASON_RECORDED))


async def _is_reader(access: AccessControl, caller: Caller, stored: StoredAnswer) -> bool:
    """Whether an answer was given to the caller, or in a channel where they can read it with all of its sources."""
    if is_own(stored, caller.subject):
        return True
    if caller.kind != "person" or stored.private or stored.state != "done":
        return False
    if (stored.location.platform, stored.location.workspace) != (caller.subject.platform, caller.subject.workspace):
        return False
    is_in_room = await access.can_read_room(caller.subject, stored.location.room)
    return is_in_room and await access.can_read(caller.subject, provenance_of_answer(stored))
