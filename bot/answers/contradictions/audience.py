"""Whom a contradiction concerns: its authors if each may read both statements, else experts and managers who may."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from bot.answers.contradictions.finding import list_rooms
from bot.answers.review.rights import may_verify
from bot.errors import PlatformError
from bot.permissions.managers import is_workspace_manager
from bot.permissions.provenance import Provenance, can_read
from bot.platform.models import Location
from engine import Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.context import BotContext
    from engine import Source
    from engine.llm.offline.contradictions.finding import Contradiction

MAX_LOOKED_UP, MAX_TOLD = (
    30,
    3,
)  # people who write most, of whom is asked whether they manage; who is told besides authors


class ContradictionAudience:
    """Finds the people; who may read what is resolved when they are asked for."""

    def __init__(self, context: BotContext) -> None:
        self._context = context
        self._store = context.store

    async def list_people(self, found: Contradiction, place: Location) -> list[str]:
        """The ids of those to tell, in the workspace of `place`; none if that is not certain."""
        authors = await self.list_authors(found)
        if authors and all([await self.may_be_told(found, place, author) for author in authors]):
            return await self._list_willing(place, authors)
        told = list[str]()
        for person in await self._list_willing(place, await self._list_reviewers(place)):
            if len(told) < MAX_TOLD and await self.may_be_told(found, place, person):
                told += [person] if await self.may_review(found, person) else []
        return told

    async def list_authors(self, found: Contradiction) -> list[str]:
        """Who wrote or shared the statements; none if that is unknown for one of them."""
        people = [await self.find_author(claim.source) for claim in (found.older, found.newer)]
        return list(dict.fromkeys(people)) if all(people) else []

    async def find_author(self, source: Source) -> str:
        """Who wrote the message or shared the file of a source; empty if that is unknown."""
        message = await self._store.messages.get(source.room, source.passage)
        if message is not None and message.document == source.document:
            return message.author
        file = await self._store.files.get(source.document)
        return file.author if file is not None else ""

    async def may_read(self, found: Contradiction, place: Location, person: str) -> bool | None:
        """Whether a person may read both statements now; None if that is unknown."""
        used = Provenance(Scope(frozenset(), list_rooms(found)), {}, 0.0)
        return await can_read(self._context.audience, used, place, person)

    async def may_review(self, found: Contradiction, person: str) -> bool:
        """Whether a person may certainly verify answers where one of both statements is."""
        places = [Location.from_room(room) for room in sorted(list_rooms(found))]
        return any([await may_verify(self._context, place, person) for place in places])

    async def may_be_told(self, found: Contradiction, place: Location, person: str) -> bool:
        """Whether somebody is a person with an account, did not opt out, and may certainly read both statements now."""
        where = (place.platform, place.workspace)
        with suppress(PlatformError):
            known = await self._context.audience.get_person(*where, person)
            if known.is_deactivated or known.is_bot:
                return False
            if await self._store.opt_outs.is_opted_out(*where, person, self._context.clock.now()):
                return False
            return bool(await self.may_read(found, place, person))
        return False

    async def _list_willing(self, place: Location, people: Sequence[str]) -> list[str]:
        """Those who did not say that they want to be told of none."""
        return [person for person in people if not await self._store.contradictions.is_off(place, person)]

    async def _list_reviewers(self, place: Location) -> list[str]:
        """The experts of a workspace, and its managers among those who write most."""
        where = (place.platform, place.workspace)
        people = [expert.person for expert in await self._store.experts.list_in_workspace(*where)]
        for person in await self._store.messages.list_frequent_authors(*where, MAX_LOOKED_UP):
            with suppress(PlatformError):
                if is_workspace_manager(await self._context.audience.get_person(*where, person)):
                    people.append(person)
        return list(dict.fromkeys(people))
