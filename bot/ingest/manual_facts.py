"""What somebody states is known as theirs, as if they had written it: only where what is written is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot import texts
from bot.store import Filed
from engine.errors import BadQuestion

if TYPE_CHECKING:
    from datetime import datetime

    from bot.context import House
    from bot.ingest.documents import Shelf
    from bot.platform.models import Place
    from engine.models import Reading


class Stating:
    """Takes statements in. Nobody who calls it holds the room."""

    def __init__(self, house: House, shelf: Shelf) -> None:
        self._house = house
        self._shelf = shelf

    async def state(self, place: Place, person: str, told: Reading, time: datetime) -> str:
        """Take it in where its readers find it now; gives its document's key. Raises BadQuestion if nothing is read."""
        async with self._shelf.alone(place.room):
            await self._check(place, person)
            space = await self._house.readers.home(place)
            key = await self._house.desk.engine.state(space, place.room, told, time=time)
            await self._house.store.files.note(Filed(key, place.room, "", "", person, time))
        return key

    async def _check(self, place: Place, person: str) -> None:
        store = self._house.store
        if not (await store.channels.get(place.room)).ingest:
            raise BadQuestion("Nothing of this channel is taken in: reading is switched off here.")
        direct = (await self._house.readers.channel(place)).kind == "direct"
        if not (direct or await store.rooms.announced(place.room)):
            raise BadQuestion(texts.UNREAD, hint=texts.INVITE)
        if await store.people.opted_out(place.platform, place.workspace, person):
            raise BadQuestion(texts.opted_out(place.platform))
