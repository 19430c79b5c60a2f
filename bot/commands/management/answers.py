"""What a person does with an answer that they got outside of the chat: have it verified, or ask an expert."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.answers.review.experts import ExpertRequests
from bot.answers.review.improvements import is_verified
from bot.answers.review.rights import can_read_room
from bot.answers.review.verification import source_keys_of
from bot.capabilities.answers.lookup import find_own_answer
from bot.capabilities.management.results import AnswerActions, ExpertChoice, ReviewPlace
from bot.capabilities.results import Completed
from bot.commands.review.verify import is_reviewer
from bot.errors import PlatformError
from bot.texts.search_notices import is_closest
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.management.requests import AskExpert, GetAnswerActions
    from bot.commands.context import PersonAtPlace
    from bot.commands.management.manager import Manager
    from bot.platform.models import Location
    from bot.store import StoredAnswer

MAX_PLACES, MAX_EXPERTS = 200, 50


async def list_actions(manager: Manager, request: GetAnswerActions) -> AnswerActions:
    """What the person may do with an answer of theirs, as the card in the chat lists it. Raises NotFound."""
    stored = await find_own_answer(manager.services.context.store, manager.subject, request.answer)
    if stored.state != "done":
        return AnswerActions()
    places = [] if is_verified(stored) else [each async for each in _list_places(manager)]
    experts = [each async for each in _list_experts(manager)]
    has_sources = bool(stored.sources or source_keys_of(stored)) and not is_closest(stored.text)
    places.sort(key=lambda each: each.is_closed)  # open ones first
    return AnswerActions(stored.question, stored.text, has_sources, tuple(places), tuple(experts))


async def ask_expert(manager: Manager, request: AskExpert) -> Completed:
    """Mention an expert in a channel, with the question of an answer. Raises NotFound."""
    stored = await find_own_answer(manager.services.context.store, manager.subject, request.answer)
    call = await manager.open_channel(request.channel)
    requests = ExpertRequests(manager.services.context)
    return Completed(await requests.ask(_to_channel(stored, call), request.person, manager.subject.person))


def _to_channel(stored: StoredAnswer, call: PersonAtPlace) -> StoredAnswer:
    """An answer as one of a channel, in which its asker makes the question known."""
    return replace(stored, location=call.location, private=False)


async def _list_places(manager: Manager) -> AsyncGenerator[ReviewPlace]:
    """The channels in which the person may verify answers."""
    subject, found = manager.subject, 0
    for room, name in await manager.services.context.store.channels.list_names(subject.platform, subject.workspace):
        with suppress(NotFound, PlatformError):
            call = await manager.open_channel(room)
            if found < MAX_PLACES and await is_reviewer(call):
                found += 1
                kind = (await manager.services.context.audience.get_channel(call.location)).kind
                yield ReviewPlace(room, name, is_closed=kind != "open")


async def _list_experts(manager: Manager) -> AsyncGenerator[ExpertChoice]:
    """The experts of channels that both they and the person can read, each in the channel where they were named."""
    subject, context, found = manager.subject, manager.services.context, 0
    for each in await context.store.experts.list_in_workspace(subject.platform, subject.workspace):
        if each.person == subject.person or found >= MAX_EXPERTS:
            continue
        with suppress(NotFound, PlatformError):
            location = (await manager.open_channel(each.location.room)).location
            if await can_read_room(context, location.room, location, each.person):
                person = await context.audience.get_person(location.platform, location.workspace, each.person)
                found += 1
                name = await _name_channel(manager, location)
                yield ExpertChoice(each.person, person.name, each.topic, location.room, name)


async def _name_channel(manager: Manager, location: Location) -> str:
    return await manager.services.context.store.channels.get_name(location.room) or location.channel
