"""Questions without a good answer and verified answers, for managers."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from bot import texts
from bot.answers.review.verification import AnswerVerifier
from bot.capabilities.answers.lookup import find_own_answer
from bot.capabilities.management.results import QuestionEntry, QuestionList, VerifiedEntry, VerifiedList
from bot.capabilities.results import Completed
from bot.commands.review.unanswered import MAX_ASKERS, find_name, find_unanswered, list_reasons
from bot.commands.review.verify import can_read_verified, is_reviewer, remove_verified, require_reviewer
from bot.errors import NotAllowed, PlatformError
from bot.i18n import gettext
from bot.texts import review as review_texts
from bot.texts.search_notices import is_closest
from engine.errors import EngineError, NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.management.requests import (
        ListQuestions,
        ListVerified,
        PinAnswer,
        RemoveVerified,
        VerifyAnswer,
    )
    from bot.commands.context import PersonAtPlace
    from bot.commands.management.manager import Manager
    from bot.commands.review.unanswered import Group
    from bot.platform.models import Location
    from bot.store import StoredAnswer, VerifiedAnswer

MAX_GROUPS = 50
MAX_VERIFIED = 200  # of one channel, the newest


async def list_questions(manager: Manager, request: ListQuestions) -> QuestionList:
    """Questions without a good answer, as `/unanswered` lists them in that channel. Raises NotFound."""
    call = await manager.open_channel(request.room) if request.room else manager.stand()
    groups, withdrawn = await find_unanswered(call, MAX_GROUPS, outside_of_channels=True)
    questions = [await _describe_group(call, group) for group in groups]
    return QuestionList(tuple(questions), tuple([await _describe_verified(call, answer) for answer in withdrawn]))


async def verify_answer(manager: Manager, request: VerifyAnswer) -> Completed:
    """Verify an answer, as it is or in other words. Raises NotFound, NotAllowed and InvalidQuestion."""
    stored = await _open_answer(manager, request.answer, request.channel)
    words = request.text.strip(), request.question.strip()
    return Completed(await _verifier(manager).verify(stored, manager.subject.person, *words))


async def pin_answer(manager: Manager, request: PinAnswer) -> Completed:
    """Give an answer of one's own to a question. Raises NotFound, NotAllowed and InvalidQuestion."""
    call = await manager.open_channel(request.room)
    pinned = await _verifier(manager).pin(call.location, manager.subject.person, request.question, request.text)
    return Completed(pinned)


async def list_verified(manager: Manager, request: ListVerified) -> VerifiedList:
    """The verified answers of one channel or of all, for those who may verify there and read the sources.

    Raises NotFound, and NotAllowed for those who may verify nowhere.
    """
    if request.room:
        calls = [await manager.open_channel(request.room)]
        await require_reviewer(calls[0])
    else:
        calls = [channel async for channel in _open_channels(manager) if await is_reviewer(channel)]
        if not calls:
            raise NotAllowed(gettext(review_texts.CANNOT_VERIFY))
    found = list[VerifiedEntry]()
    for call in calls:
        answers = await call.store.verified_answers.list_in_room(call.location.room)
        for answer in answers[:MAX_VERIFIED]:
            if await can_read_verified(call, answer):
                found.append(await _describe_verified(call, answer))
    return VerifiedList(tuple(found))


async def remove_answer(manager: Manager, request: RemoveVerified) -> Completed:
    """Remove a verified answer by its whole id. Raises NotFound and NotAllowed."""
    call = await manager.open_channel(request.room)
    return Completed(await remove_verified(call, request.id))


async def _open_channels(manager: Manager) -> AsyncGenerator[PersonAtPlace]:
    subject = manager.subject
    for room, _ in await manager.services.context.store.channels.list_names(subject.platform, subject.workspace):
        with suppress(NotFound, PlatformError):
            yield await manager.open_channel(room)


async def _open_answer(manager: Manager, id_: str, channel: str) -> StoredAnswer:
    """An answer that the manager may verify. Raises NotFound with one message for all others, so that none shows.

    `channel`: where it is verified, if it was given outside of the chat.
    """
    stored = await manager.services.context.store.answers.get(id_)
    if stored is None:
        raise NotFound(gettext(texts.NO_ANSWER))
    if not stored.location.channel and channel:
        stored = await find_own_answer(manager.services.context.store, manager.subject, id_)
        stored = replace(stored, location=(await manager.open_channel(channel)).location)
    try:
        await manager.open_channel(stored.location.room)
    except NotFound as error:
        raise NotFound(gettext(texts.NO_ANSWER)) from error
    await _verifier(manager).check(stored, manager.subject.person)
    return stored


def _verifier(manager: Manager) -> AnswerVerifier:
    context = manager.services.context
    return AnswerVerifier(context, context.clock.now())


async def _describe_group(call: PersonAtPlace, group: Group) -> QuestionEntry:
    newest = group.questions[0]
    people = list(dict.fromkeys(question.asker for question in group.questions if question.location.channel))[
        :MAX_ASKERS
    ]
    given = await list_reasons(call, group)
    return QuestionEntry(
        newest.answer,
        group.texts[0],
        newest.location.room if newest.location.channel else "",
        await _name_channel(call, newest.location),
        newest.time,
        _link(call, newest.location, newest.message_id),
        len(group.questions),
        sum(question.votes_down for question in group.questions),
        tuple([await find_name(call, person) for person in people]),
        tuple(review_texts.format_reason(*reason) for reason in given),
        await _find_text(call, newest.answer),
    )


async def _find_text(call: PersonAtPlace, answer: str) -> str:
    """What the bot answered, if the caller may verify it; empty if it found nothing, or outside of channels."""
    stored: StoredAnswer | None = await call.store.answers.get(answer)
    if stored is None or not stored.location.channel or not stored.sources or is_closest(stored.text):
        return ""
    with suppress(EngineError):
        await AnswerVerifier(call.services.context, call.now).check(stored, call.person)
        return stored.text
    return ""


async def _describe_verified(call: PersonAtPlace, verified: VerifiedAnswer) -> VerifiedEntry:
    return VerifiedEntry(
        verified.id,
        verified.location.room,
        await _name_channel(call, verified.location),
        verified.question,
        verified.text,
        await find_name(call, verified.verifier),
        verified.verified_at,
        _link(call, verified.location, verified.message),
        verified.state == "review",
    )


async def _name_channel(call: PersonAtPlace, location: Location) -> str:
    return await call.store.channels.get_name(location.room) or location.channel


def _link(call: PersonAtPlace, location: Location, message: str) -> str:
    return call.services.context.platform_for(location).message_link(location, message) if message else ""
