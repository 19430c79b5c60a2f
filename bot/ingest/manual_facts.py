"""What somebody states is known as theirs, as if they had written it: only where what is written is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot import texts
from bot.store import FileRecord
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from datetime import datetime

    from bot.context import BotContext
    from bot.ingest.documents import ConversationDocuments
    from bot.platform.models import Location
    from engine import Extraction


class ManualFacts:
    """Takes statements in. Nobody who calls it holds the room."""

    def __init__(self, house: BotContext, shelf: ConversationDocuments) -> None:
        self._context = house
        self._documents = shelf

    async def add_fact(self, place: Location, person: str, told: Extraction, time: datetime) -> str:
        """Store it where its readers find it; return its document's key. Raises InvalidQuestion if nothing is."""
        async with self._documents.lock(place.room):
            await self._check_allowed(place, person)
            space = await self._context.audience.get_home_space(place)
            key = await self._context.engine_context.engine.add_facts(space, place.room, told, time=time)
            await self._context.store.files.insert(FileRecord(key, place.room, "", "", person, time))
        return key

    async def _check_allowed(self, place: Location, person: str) -> None:
        store = self._context.store
        if not (await self._context.get_channel_settings(place.room)).ingest:
            raise InvalidQuestion("Reading is turned off in this channel, so nothing can be added to it.")
        direct = (await self._context.audience.get_channel(place)).kind == "direct"
        if not (direct or await store.channels.is_announced(place.room)):
            raise InvalidQuestion(texts.CHANNEL_NOT_INDEXED, hint=texts.INVITE_HINT)
        if await store.opt_outs.is_opted_out(place.platform, place.workspace, person):
            raise InvalidQuestion(texts.opted_out_notice(self._context.traits_of(place.platform)))
