"""What lists lack: only what the platform, asked for that very message, says to be deleted is forgotten.

What it cannot say is asked again the next time, each message in its turn, until it can.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from bot.errors import PlatformError
from bot.permissions.provenance import place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime

    from bot.context import House
    from bot.ingest.documents import Shelf
    from bot.ingest.messages import Hearing
    from bot.platform.models import Place
    from bot.platform.ports import Listing
    from bot.store import Filed, Known

log = structlog.get_logger(__name__)

YOUNG = timedelta(minutes=1)  # within which a message may not be in every list yet
ASKED = 200  # messages of a channel that are asked for one by one at a time
UNANSWERED = 10  # of them, after which the others are left for the next time
FILES = 50  # of a platform, outside of what is read
LIVELY = timedelta(days=7)  # how much older than the latest one these may be


class Missing:
    """Finds out what became of messages, and forgets what is gone."""

    def __init__(self, house: House, shelf: Shelf, hearing: Hearing, clock: Callable[[], datetime]) -> None:
        self._house = house
        self._shelf = shelf
        self._hearing = hearing
        self._store = house.store
        self._clock = clock

    async def ask(self, place: Place, lacking: Sequence[Known]) -> bool:
        """Ask for messages of a channel which its lists lack, and for those about which nobody could say before.

        False if some are too young for that to mean anything, or could not be asked for yet.
        """
        room, old = place.room, [each for each in lacking if not self._young(each)]
        await self._store.missing.note(room, [each.id for each in old])
        there, gone, unanswered = await self._asked(place)
        await self._store.missing.note_asked(room, [*there, *gone, *unanswered])
        await self._store.missing.drop(room, there - {each.id for each in old})
        await self.remove(place, gone)
        return len(old) == len(lacking) and not await self._store.missing.unasked(room)

    async def _asked(self, place: Place) -> tuple[set[str], set[str], set[str]]:
        """Those that are there, those that were surely deleted, and those of which that cannot be said."""
        platform = self._house.platform(place)
        there, gone, unanswered = set[str](), set[str](), set[str]()
        for id_ in await self._store.missing.first(place.room, ASKED):
            known = await self._store.messages.get(place.room, id_)
            thread = known.thread if known else ""
            try:
                found = await platform.message(replace(place, thread=thread), id_)
            except PlatformError as error:
                log.warning("message_not_looked_for", room=place.room, error=type(error).__name__)
                unanswered.add(id_)
            else:
                (gone if found is None else there).add(id_)
            if len(unanswered) >= UNANSWERED:
                break
        return there, gone, unanswered

    async def look_for_files(self, platform: str) -> bool:
        """Forget files that nobody finds any more where the bot reads nothing else: in DMs, and with questions.

        False if some are too young for that to mean anything.
        """
        latest, sure = await self._store.files.unread(platform, FILES), True
        for file in [each for each in latest if each.time >= latest[0].time - LIVELY]:
            try:
                sure &= await self._look_for(file)
            except PlatformError as error:
                log.warning("file_not_looked_for", room=file.room, error=type(error).__name__)
        return sure

    async def _look_for(self, file: Filed) -> bool:
        known = await self._store.messages.get(file.room, file.message)
        if known is None:
            return True  # it came with a command, of which nothing can be deleted
        place = replace(place_of(file.room), thread=known.thread)
        message = await self._house.platform(place).message(place, file.message)
        if message is None:
            young = self._young(known)
            await self.remove(place, [] if young else [file.message])
            return not young
        async with self._shelf.alone(place.room):
            await self._hearing.compare_files(message)
        return True

    async def remove(self, place: Place, ids: Collection[str]) -> None:
        """Messages are surely gone."""
        if ids:
            log.info("deletions_found", room=place.room, messages=len(ids))
            async with self._shelf.alone(place.room):
                await self._hearing.remove(place, ids)

    def _young(self, message: Known) -> bool:
        return message.time > self._clock() - YOUNG


def lost(listing: Listing, known: Sequence[Known]) -> list[Known]:
    """Those of a thread's known messages, its root among them, that its listing should have. Pure.

    One that is whole should have all. Otherwise they are looked for no further back than the listing reaches.
    """
    listed = {each.id for each in listing.messages}
    lacking = [each for each in known if each.id not in listed]
    if listing.whole:
        return lacking
    replies = [each for each in listing.messages if each.place.thread not in {"", each.id}]
    reach = min((each.time for each in replies), default=None)
    return [each for each in lacking if reach is not None and each.time >= reach and each.id != each.thread]
