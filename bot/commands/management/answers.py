"""What a person does with an answer that they got outside of the chat: have it verified, or ask an expert."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from bot import texts
from bot.answers.review.rights import ExpertRequests, can_read_room
from bot.answers.review.verification import AnswerVerifier, source_keys_of
from bot.capabilities.answers.lookup import find_own_answer
from bot.capabilities.management.results import AnswerActions, ExpertChoice, ReviewPlace
from bot.capabilities.results import Completed
from bot.commands.review.verify import is_reviewer
from bot.errors import NotAllowed, PlatformError
from bot.i18n import N_, gettext
from bot.permissions.managers import may_post
from bot.texts.search_notices import is_closest
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.management.requests import AskExpert, GetAnswerActions
    from bot.commands.context import PersonAtPlace
    from bot.commands.management.manager import Manager
    from bot.platform.models import Location
    from bot.store import StoredAnswer

CANNOT_ASK_THERE = N_("Only people who can post in this channel can ask an expert there.")
MAX_PLACES, MAX_EXPERTS = 200, 50


async def list_actions(manager: Manager, request: GetAnswerActions) -> AnswerActions:
    """What the person may do with an answer of theirs, as the card in the chat lists it.

    What repeats a verified answer is verified again, or corrected, in the channel of that one. Raises NotFound, also if
    they may not read anymore what it rests on.
    """
    stored = await find_own_answer(manager.services.context.store, manager.subject, request.answer)
    if stored.state != "done":
        return AnswerActions()
    if not await manager.can_read_answer(stored):
        raise NotFound(gettext(texts.NO_ANSWER))
    context = manager.services.context
    repeated = await AnswerVerifier(context, context.clock.now()).find_repeated(stored)
    place = None if repeated is None else repeated.location.room
    places = [each async for each in _list_places(manager) if place in {None, each.room}]
    experts = [expert async for expert in _list_experts(manager)]
    has_sources = bool(stored.sources or source_keys_of(stored)) and not is_closest(stored.text)
    places.sort(key=lambda each: each.is_closed)  # open ones first
    question = stored.question if repeated is None else repeated.question
    return AnswerActions(question, stored.text, has_sources, tuple(places), tuple(experts))


async def ask_expert(manager: Manager, request: AskExpert) -> Completed:
    """Mention an expert in a channel, with the question of an answer.

    Raises NotFound, and NotAllowed for a person who may not post there.
    """
    stored = await find_own_answer(manager.services.context.store, manager.subject, request.answer)
    call = await manager.open_channel(request.channel)
    if not await _may_post(manager, call.location):
        raise NotAllowed(gettext(CANNOT_ASK_THERE), hint=gettext(texts.JOIN_HINT))
    requests = ExpertRequests(manager.services.context)
    return Completed(await requests.ask(_to_channel(stored, call), request.person, manager.subject.person))


async def _may_post(manager: Manager, location: Location) -> bool:
    return await may_post(manager.services.context.audience, location, manager.subject.person)


def _to_channel(stored: StoredAnswer, call: PersonAtPlace) -> StoredAnswer:
    """An answer as one of a channel, in which its asker makes the question known."""
    return replace(stored, location=call.location, private=False)


async def _list_places(manager: Manager) -> AsyncGenerator[ReviewPlace]:
    """The channels in which the person may verify answers."""
    subject, found = manager.subject, 0
    for room, name in await manager.services.context.store.channels.list_names(subject.platform, subject.workspace):
        if found >= MAX_PLACES:
            return
        with suppress(NotFound, PlatformError):
            call = await manager.open_channel(room)
            if await is_reviewer(call):
                found += 1
                kind = (await manager.services.context.audience.get_channel(call.location)).kind
                yield ReviewPlace(room, name, is_closed=kind != "open")


async def _list_experts(manager: Manager) -> AsyncGenerator[ExpertChoice]:
    """The experts of channels that they can read and the person may post in, each where they were named."""
    subject, context, found = manager.subject, manager.services.context, 0
    for expert in await context.store.experts.list_in_workspace(subject.platform, subject.workspace):
        if found >= MAX_EXPERTS:
            return
        if expert.person == subject.person:
            continue
        with suppress(NotFound, PlatformError):
            location = (await manager.open_channel(expert.location.room)).location
            is_reached = await can_read_room(context, location.room, location, expert.person)
            if is_reached and await _may_post(manager, location):
                person = await context.audience.get_person_at(location, expert.person)
                found += 1
                name = await _name_channel(manager, location)
                yield ExpertChoice(expert.person, person.name, expert.topic, location.room, name)


async def _name_channel(manager: Manager, location: Location) -> str:
    return await manager.services.context.store.channels.get_name(location.room) or location.channel
