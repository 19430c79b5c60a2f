"""After the bot was away: what was said, edited and deleted meanwhile, by comparing with the platform's history."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from bot.basis import place_of
from bot.conversations import digest, parted
from bot.errors import PlatformError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from bot.chat import Message, Place
    from bot.hearing import Hearing
    from bot.house import House
    from bot.past import Past
    from bot.shelving import Shelf
    from bot.store import Filed, Known

log = structlog.get_logger(__name__)

LOOKED_AT = timedelta(days=1)  # how far before the newest known message edits and deletions are looked for
LIVELY = timedelta(days=7)  # how long after its last message a thread is looked at
THREADS = 50  # of a channel
REPLIES = 200  # of a thread
FILES = 50  # of a platform, outside of what is read


class CatchingUp:
    """Compares what is known of channels with what the platform has."""

    def __init__(self, house: House, shelf: Shelf, hearing: Hearing, past: Past) -> None:
        self._house = house
        self._shelf = shelf
        self._hearing = hearing
        self._past = past
        self._store = house.store

    async def catch_up(self, place: Place) -> None:
        """Take in what is new in a channel, and what changed lately. Raises PlatformError."""
        room = place.room
        newest = await self._store.messages.newest(room) or await self._store.rooms.horizon(room)
        if newest is None or not await self._reads(room):
            return
        since = newest - LOOKED_AT
        before = await self._store.messages.between(room, since, newest)
        seen = await self._read(place, since)
        for window in await self._store.windows.lively(room, newest - LIVELY, THREADS):
            seen |= await self._read_thread(replace(place, thread=window.thread), before)
        gone = [each.id for each in before if each.id not in seen and each.thread in {"", each.id}]
        await self._delete(place, gone)

    async def look_for_files(self, platform: str) -> None:
        """Forget files that nobody finds any more where the bot reads nothing else: in DMs, and with questions."""
        latest = await self._store.files.unread(platform, FILES)
        for file in [each for each in latest if each.time >= latest[0].time - LIVELY]:
            try:
                await self._look_for(file)
            except PlatformError as error:
                log.warning("file_not_looked_for", room=file.room, error=type(error).__name__)

    async def _look_for(self, file: Filed) -> None:
        known = await self._store.messages.get(file.room, file.message)
        if known is None:
            return  # it came with a command, of which nothing can be deleted
        place = replace(place_of(file.room), thread=known.thread)
        message = await self._house.platform(place).message(place, file.message)
        if message is None:
            await self._delete(place, [file.message])
            return
        async with self._shelf.alone(place.room):
            await self._hearing.compare_files(message)

    async def _reads(self, room: str) -> bool:
        """Whether a channel is read, or was until that was switched off: what is known of it must still be true."""
        return (await self._store.channels.get(room)).ingest or await self._store.rooms.announced(room)

    async def _read(self, place: Place, since: datetime) -> set[str]:
        """Compare a channel's messages of some time; gives all that are there."""
        seen: set[str] = set()
        held: list[Message] = []
        async for page in self._house.platform(place).history(place, since):
            seen |= {each.id for each in page}
            whole, held = parted([*held, *page])
            await self._compare(place, whole)
        await self._compare(place, held)
        return seen

    async def _read_thread(self, place: Place, before: Iterable[Known]) -> set[str]:
        """Compare a thread's newest messages; its known ones of that time which are missing were deleted."""
        listed = await self._house.platform(place).thread(place, REPLIES)
        await self._compare(place.main, listed)
        seen = {each.id for each in listed}
        if any(each.place.thread for each in listed):
            since = min(each.time for each in listed) if len(listed) >= REPLIES else None
            mine = [each for each in before if each.thread == place.thread and each.id != place.thread]
            mine = [each for each in mine if each.id not in seen and (since is None or each.time >= since)]
        else:  # but for what it began on, the whole thread was deleted
            mine = await self._store.messages.of_thread(place.room, place.thread)
        await self._delete(place.main, [each.id for each in mine])
        return seen

    async def _compare(self, place: Place, messages: Sequence[Message]) -> None:
        known = {
            each.id: each.digest
            for each in await self._store.messages.several(place.room, [each.id for each in messages])
        }
        for message in messages:
            if known.get(message.id, digest(message)) != digest(message):
                async with self._shelf.alone(place.room):
                    await self._hearing.edit(message)
        await self._past.take(place, [each for each in messages if each.id not in known])

    async def _delete(self, place: Place, ids: Sequence[str]) -> None:
        if ids:
            log.info("deletions_found", room=place.room, messages=len(ids))
            async with self._shelf.alone(place.room):
                await self._hearing.delete(place, ids)
