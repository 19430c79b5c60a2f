"""Complete search filters while a question is typed: with channels and people that the person may read, and times."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

import structlog

from bot.permissions.provenance import filter_readable
from bot.platform.forms import FormOption
from bot.platform.ttl_cache import TTLCache
from bot.text.search_filters import match_typed, suggest_times
from engine.errors import EngineError

if TYPE_CHECKING:
    from bot.context import BotContext
    from bot.platform.models import Location

log = structlog.get_logger(__name__)

MAX_SUGGESTIONS = 25
MAX_CHECKED_CHANNELS = 60  # for one list of suggestions
TIMEOUT_SECONDS = 2.0  # a platform waits for three
AUTHORS_SECONDS = 30.0  # for which the authors of a scope are cached


class FilterSuggestions:
    """Suggests values of search filters; none if a look-up fails or takes too long."""

    def __init__(self, context: BotContext) -> None:
        self._context = context
        self._authors: TTLCache[list[str]] = TTLCache(AUTHORS_SECONDS, context.clock)

    async def suggest(self, person: str, location: Location, name: str, typed: str) -> list[FormOption]:
        """Values of a filter that continue what a person typed, at most MAX_SUGGESTIONS."""
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                if name == "in":
                    return await self._suggest_channels(person, location, typed)
                if name == "from":
                    return await self._suggest_authors(person, location, typed)
                now = self._context.clock.now().astimezone(await self._context.find_zone(location, person))
                return [FormOption(time, time) for time in suggest_times(typed, now)][:MAX_SUGGESTIONS]
        except (EngineError, TimeoutError) as error:
            log.warning("suggestions.lookup_failed", filter=name, error=type(error).__name__)
            return []

    async def _suggest_channels(self, person: str, location: Location, typed: str) -> list[FormOption]:
        """Channels that the person can read now; the name of any other one stays unknown to them."""
        listed = await self._context.store.channels.list_names(location.platform, location.workspace)
        rooms = {f"{name}\0{room}": room for room, name in listed}
        names = {rooms[key]: key.partition("\0")[0] for key in match_typed(rooms, typed, MAX_CHECKED_CHANNELS)}
        found: list[FormOption] = []
        async with aclosing(filter_readable(self._context.audience, names, location, person)) as readable:
            async for room in readable:
                found.append(FormOption(f"<#{room.rpartition(':')[2]}>", f"#{names[room]}"))
                if len(found) == MAX_SUGGESTIONS:
                    break
        return found

    async def _suggest_authors(self, person: str, location: Location, typed: str) -> list[FormOption]:
        """People who wrote something that the person can read."""
        scope = await self._context.audience.scope_for_person(location, person)
        engine, key = self._context.engine_context.engine, (*sorted(scope.spaces), "", *sorted(scope.rooms))
        authors = await self._authors.get_or_fetch(key, lambda: engine.documents.list_authors(scope))
        return [FormOption(text, text) for text in match_typed(authors, typed, MAX_SUGGESTIONS)]
