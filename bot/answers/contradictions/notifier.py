"""Look for contradictions in the channels of each workspace, and tell whom they concern, at most weekly."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from bot.answers.contradictions.finding import ContradictionAudience, find_in_scope
from bot.answers.contradictions.telling import ContradictionTeller
from bot.errors import ChannelGone, PermissionDenied, PlatformError, SetupError, WorkspaceGone
from bot.platform.models import Location
from bot.store.schedules.contradictions import INTERVAL as PERSONAL_INTERVAL
from engine import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.context import BotContext
    from engine.llm.offline.contradictions.finding import Contradiction

log = structlog.get_logger(__name__)

POLL_SECONDS = 600.0
INTERVAL = timedelta(days=1)  # between two searches of one workspace
RETRY = timedelta(hours=1)  # after a person could not be told


class ContradictionNotifier:
    """Searches each workspace once a day, and goes on after a restart; nothing is computed where it is off."""

    def __init__(self, context: BotContext) -> None:
        self._context = context
        self._store = context.store
        self._audience = ContradictionAudience(context)
        self._teller = ContradictionTeller(context)

    async def run(self) -> None:
        """Search and tell until cancelled; one process at a time does, each for the workspaces it serves."""
        if self._context.settings.contradictions == "off":
            return
        while True:
            async with self._context.engine_context.engine.processes.try_lease("contradictions") as is_held:
                if is_held:
                    await self.run_due()
            await asyncio.sleep(POLL_SECONDS)

    async def run_due(self) -> None:
        """Search the workspaces that are due; one that was never searched is due a day later."""
        if self._context.settings.contradictions == "off":
            return
        for place in await self._list_workspaces():
            now, due = self._context.clock.now(), await self._store.contradictions.find_due(place)
            if due is None:
                await self._store.contradictions.set_due(place, now + INTERVAL)
            elif now >= due:
                is_complete = await self.search(place)
                await self._store.contradictions.set_due(place, now + (INTERVAL if is_complete else RETRY))

    async def search(self, place: Location) -> bool:
        """Tell who may read both statements of what is found in a workspace; False if somebody could not be told.

        What was begun before, and is forgotten, decided or hidden from the person since, is taken back first.
        """
        rooms = {channel.room for channel in await self._store.channels.list_joined(place.platform, place.workspace)}
        scope = Scope(frozenset(), frozenset(rooms))
        found = await find_in_scope(self._context.engine_context.engine, scope, self._context.clock.now())
        decided = await self._store.contradictions.list_decided(found)
        by_person = dict[str, dict[str, "Contradiction"]]()
        for id_, each in found.items():
            for person in await self._audience.list_people(each, place) if id_ not in decided else ():
                by_person.setdefault(person, {})[id_] = each
        wanted = [(person, id_) for person, listed in by_person.items() for id_ in listed]
        await self._store.contradictions.break_others(place, wanted)
        is_clean = await self._teller.withdraw_broken(place)
        told = [await self._tell_person(place, person, listed) for person, listed in sorted(by_person.items())]
        return is_clean and all(told)

    async def _list_workspaces(self) -> list[Location]:
        found = set[tuple[str, str]]()
        for platform in self._context.platforms:
            joined = await self._store.channels.list_joined(platform)
            found |= {(platform, channel.workspace) for channel in joined if self._context.serves(channel)}
        return [Location(platform, workspace, "") for platform, workspace in sorted(found)]

    async def _tell_person(self, place: Location, person: str, listed: Mapping[str, Contradiction]) -> bool:
        """Tell a person of the newest one that they do not know, unless they were told of another one this week."""
        known = await self._store.contradictions.find_person(place, person)
        chosen = listed.get(known.begun)
        if chosen is None and (known.last is None or self._context.clock.now() - known.last >= PERSONAL_INTERVAL):
            chosen = next((each for id_, each in listed.items() if id_ not in known.told), None)
        if chosen is None:
            return True
        try:
            await self._teller.tell(chosen, place, person)
        except (ChannelGone, WorkspaceGone):
            log.warning("contradiction.not_told", workspace=place.workspace)
        except PlatformError as error:
            if isinstance(error, PermissionDenied) and not isinstance(error, SetupError):
                await self._store.contradictions.finish_telling(_find_id(listed, chosen), person)
                return True
            log.warning("contradiction.postponed", error=type(error).__name__)
            return False
        return True


def _find_id(listed: Mapping[str, Contradiction], chosen: Contradiction) -> str:
    return next(id_ for id_, each in listed.items() if each is chosen)
