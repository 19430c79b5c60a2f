"""What somebody asks about: the spaces and rooms that it rests on, of which they may know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot import texts
from bot.capabilities.access.control import locate_subject
from bot.capabilities.answers.lookup import find_own_answer
from bot.capabilities.documents.lookup import LOCAL_SPACE, resolve_documents
from bot.capabilities.sources.places import UNKNOWN, find_source
from bot.i18n import gettext
from bot.ingest.sources.places import OPEN
from bot.permissions.audience import personal_space, workspace_space
from bot.permissions.provenance import provenance_of_answer
from bot.platform.models import Location
from engine import Scope
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import BotParts, Deps
    from bot.capabilities.readers.requests import FindReaders


@dataclass(frozen=True, slots=True)
class ReaderTarget:
    """Spaces and rooms, and the spaces of the rooms."""

    used: Scope
    homes: Mapping[str, str]

    @classmethod
    def of_room(cls, room: str, space: str) -> ReaderTarget:
        """What lies in one room."""
        return cls(Scope(frozenset(), frozenset({room})), {room: space})

    @classmethod
    def of_space(cls, space: str) -> ReaderTarget:
        """What lies in a space."""
        return cls(Scope.of(space), {})

    @property
    def spaces(self) -> frozenset[str]:
        """All spaces in which it lies."""
        return self.used.spaces.union(self.homes.values())


async def find_target(deps: Deps, caller: Caller, request: FindReaders) -> ReaderTarget:
    """What a request is about. Raises InvalidQuestion, NotFound, AmbiguousDocument and PlatformError."""
    given = [name for name in ("document", "channel", "source", "answer") if getattr(request, name)]
    if len(given) > 1:
        raise InvalidQuestion(gettext("Name one thing: a document, a channel, a source or an answer."))
    if request.document:
        [info, *_] = await resolve_documents(deps, request.document, caller.scope)
        return ReaderTarget.of_room(info.room, info.space)
    parts = await deps.parts.open()
    if request.source:
        record = await find_source(parts, caller, request.source)
        return ReaderTarget.of_room(record.room, record.space)
    if request.answer:
        return await _find_answer(parts, caller, request.answer)
    return await _find_place(deps, parts, caller, request.channel)


async def _find_answer(parts: BotParts, caller: Caller, answer: str) -> ReaderTarget:
    """What an answer of the caller rests on, as long as they may read all of it. Raises NotFound."""
    stored = await find_own_answer(parts.store, caller.subject, answer)
    used = provenance_of_answer(stored)
    if not await parts.access.can_read(caller.subject, used):
        raise NotFound(gettext(texts.NO_ANSWER))
    rooms = used.source_scope.rooms
    if caller.subject.space:
        return ReaderTarget.of_space(caller.subject.space)
    resolver = parts.access.audience_of(caller.subject)
    homes = {room: await resolver.get_home_space(Location.from_room(room)) for room in sorted(rooms)}
    return ReaderTarget(used.source_scope, homes)


async def _find_place(deps: Deps, parts: BotParts, caller: Caller, channel: str) -> ReaderTarget:
    """Where something would be added. Raises NotFound."""
    if caller.kind != "person":
        if channel:
            raise NotFound(UNKNOWN, hint="A space of the terminal has no channels.")
        return ReaderTarget.of_space(caller.subject.space or deps.context.owner_space or LOCAL_SPACE)
    subject = caller.subject
    if channel == OPEN:
        space = workspace_space(subject.platform, subject.workspace)
        return ReaderTarget.of_space(space)
    place = Location.from_room(channel) if channel else caller.place
    if place is None or not place.channel:
        return ReaderTarget.of_space(personal_space(subject.platform, subject.workspace, subject.person))
    home = locate_subject(subject)
    is_own = (place.platform, place.workspace) == (home.platform, home.workspace)
    if channel and not (is_own and await parts.access.can_read_room(subject, place.room)):
        raise NotFound(UNKNOWN, hint="The list of channels shows their ids.")
    resolver = parts.access.audience_of(subject)
    return ReaderTarget.of_room(place.room, await resolver.get_home_space(place))
