"""Share an answer by a link, which shows it to whoever may read all that it rests on when they look."""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

from bot import texts
from bot.answers.review.verification import source_keys_of
from bot.capabilities.access.control import locate_subject
from bot.capabilities.answers.lookup import find_own_answer, is_own
from bot.capabilities.answers.requests import AnswerShared, SharedAnswer, SharedLink, SharedList
from bot.capabilities.asking.queries import to_source
from bot.capabilities.results import Completed
from bot.errors import PlatformError
from bot.i18n import gettext
from bot.permissions.provenance import provenance_of_answer
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.access.control import AccessControl
    from bot.capabilities.answers.requests import (
        GetSharedAnswer,
        ListSharedAnswers,
        ShareAnswer,
        UnshareAnswer,
    )
    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.store import StoredAnswer

NO_SHARED_ANSWER = "There is no shared answer at this link that you can read."
ID_BYTES = 16  # of a link, which nobody can guess


async def share_answer(deps: Deps, caller: Caller, request: ShareAnswer) -> AsyncGenerator[AnswerShared]:
    """Share an answer of the caller; again, it is the same link. Raises NotFound, InvalidQuestion without sources."""
    parts = await deps.parts.open()
    stored = await find_own_answer(parts.store, caller.subject, request.answer)
    if not source_keys_of(stored):
        raise InvalidQuestion("This answer rests on no source, so it is not known who may read it.")
    share = await parts.store.shared_answers.add(secrets.token_hex(ID_BYTES), stored.id, deps.clock.now())
    if not share:
        raise NotFound(gettext(texts.NO_ANSWER))
    yield AnswerShared(share)


async def unshare_answer(deps: Deps, caller: Caller, request: UnshareAnswer) -> AsyncGenerator[Completed]:
    """End the link to an answer of the caller. Raises NotFound."""
    store = (await deps.parts.open()).store
    stored = await find_own_answer(store, caller.subject, request.answer)
    await store.shared_answers.remove(stored.id)
    yield Completed("The link shows nothing anymore.")


async def list_shared_answers(deps: Deps, caller: Caller, _request: ListSharedAnswers) -> AsyncGenerator[SharedList]:
    """List the answers that the caller shares."""
    store, subject = (await deps.parts.open()).store, caller.subject
    found = await store.shared_answers.list_of(locate_subject(subject), subject.person)
    yield SharedList(tuple(SharedLink(answer.id, answer.answer, answer.question, answer.time) for answer in found))


async def get_shared_answer(deps: Deps, caller: Caller, request: GetSharedAnswer) -> AsyncGenerator[SharedAnswer]:
    """Show a shared answer to whoever may read all of its sources now.

    Raises NotFound for everybody else, with one message for all links, so that nobody learns which exist.
    """
    parts = await deps.parts.open()
    stored = await parts.store.answers.get(await parts.store.shared_answers.get_answer(request.share))
    if stored is None or stored.state != "done" or not await _may_read(parts.access, caller, stored):
        raise NotFound(NO_SHARED_ANSWER)
    name = await _find_name(parts.access, caller, stored)
    if await parts.store.answers.get(await parts.store.shared_answers.get_answer(request.share)) != stored:
        raise NotFound(NO_SHARED_ANSWER)  # it was changed, or its link ended, during the lookups
    own = stored.id if is_own(stored, caller.subject) else ""
    sources = tuple(map(to_source, stored.sources))
    yield SharedAnswer(stored.question, stored.text, sources, name, stored.time, own)


async def _may_read(access: AccessControl, caller: Caller, stored: StoredAnswer) -> bool:
    """Whether a caller is of the same workspace, or space, and may read all sources now; not if that is unknown."""
    if stored.location.without_thread != locate_subject(caller.subject):
        return False
    return await access.can_read(caller.subject, provenance_of_answer(stored))


async def _find_name(access: AccessControl, caller: Caller, stored: StoredAnswer) -> str:
    """The name of whoever shares an answer; empty if it is unknown."""
    place = stored.location
    if caller.kind == "person":
        with suppress(PlatformError):
            resolver = access.audience_of(caller.subject)
            return (await resolver.get_person_at(place, stored.asker)).name
    return ""
