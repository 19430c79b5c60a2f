"""After the bot was away: what was said, edited and deleted meanwhile, by comparing with the platform's history.

What a list lacks is not gone for that: only what the platform, asked for that very message, says to be deleted is
forgotten, and it comes back if it is shown again.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from bot.basis import place_of
from bot.conversations import digest, parted
from bot.errors import NotThere, PlatformError, PutOut, Withheld
from bot.ports import Listing
from engine.ledger.times import EPOCH

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
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
YOUNG = timedelta(minutes=1)  # within which a message may not be in every list yet
ASKED = 200  # messages of a channel that are asked for one by one
UNANSWERED = 10  # of them, after which the others are left for the next time


class CatchingUp:
    """Compares what is known of channels with what the platform has."""

    def __init__(self, house: House, shelf: Shelf, hearing: Hearing, past: Past, clock: Callable[[], datetime]) -> None:
        self._house = house
        self._shelf = shelf
        self._hearing = hearing
        self._past = past
        self._store = house.store
        self._clock = clock

    async def catch_up(self, place: Place) -> bool:
        """Take in what is new in a channel, and what changed lately. Raises PlatformError.

        False if something is missing that is too young for that to mean anything: look again in a minute.
        """
        room = place.room
        newest = await self._store.messages.newest(room) or await self._store.rooms.horizon(room)
        if newest is None or not await self._reads(room):
            return True
        since = newest - LOOKED_AT
        before = await self._store.messages.between(room, since, newest)
        seen = await self._read(place, since, before)
        missing: list[Known] = []
        for window in await self._store.windows.lively(room, newest - LIVELY, THREADS):
            known = await self._store.messages.of_thread(room, window.thread)
            root = await self._store.messages.several(room, [window.thread])
            listing = await self._read_thread(replace(place, thread=window.thread), [*known, *root])
            seen |= {each.id for each in listing.messages}
            if listing.there:
                missing += lost(listing, known, since)
            else:
                missing += root
                await self._remove(place, [each.id for each in known])
        missing += [each for each in before if each.thread in {"", each.id}]
        missing = [each for each in missing if each.id not in seen]
        settled = [each for each in missing if not self._young(each)]
        await self._remove(place, await self._gone(place, settled))
        return len(settled) == len(missing)

    async def look_for_files(self, platform: str) -> bool:
        """Forget files that nobody finds any more where the bot reads nothing else: in DMs, and with questions.

        False as with `catch_up`.
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
            await self._remove(place, [] if young else [file.message])
            return not young
        async with self._shelf.alone(place.room):
            await self._hearing.compare_files(message)
        return True

    async def _reads(self, room: str) -> bool:
        """Whether a channel is read, or was until that was switched off: what is known of it must still be true."""
        return (await self._store.channels.get(room)).ingest or await self._store.rooms.announced(room)

    async def _read(self, place: Place, since: datetime, before: Sequence[Known]) -> set[str]:
        """Compare a channel's messages of some time with what was known of them; gives all that are there."""
        seen: set[str] = set()
        held: list[Message] = []
        async for page in self._house.platform(place).history(place, since):
            seen |= {each.id for each in page}
            whole, held = parted([*held, *page])
            await self._compare(place, whole, before)
        await self._compare(place, held, before)
        return seen

    async def _read_thread(self, place: Place, before: Sequence[Known]) -> Listing:
        """Compare a thread's newest messages with what was known of it. One that is hidden tells nothing."""
        try:
            listing = await self._house.platform(place).thread(place, REPLIES)
        except (NotThere, PutOut):
            raise
        except Withheld as error:
            log.warning("thread_hidden", room=place.room, error=type(error).__name__)
            return Listing(whole=False)
        await self._compare(place.main, listing.messages, before)
        return listing

    async def _compare(self, place: Place, messages: Sequence[Message], before: Sequence[Known]) -> None:
        """Take in what changed, and what is new. `before` was known before the messages were asked for."""
        told = {each.id: each.digest for each in before}
        for message in messages:
            if told.get(message.id, digest(message)) != digest(message):
                await self._edit(message, told)
        known = {each.id for each in await self._store.messages.several(place.room, [each.id for each in messages])}
        oldest = await self._oldest(place.room)
        await self._past.take(place, [each for each in messages if each.id not in known and each.time >= oldest])

    async def _edit(self, message: Message, told: Mapping[str, str]) -> None:
        """A message has other words than it had, unless something newer was heard of it meanwhile."""
        room = message.place.room
        async with self._shelf.alone(room):
            known = await self._store.messages.get(room, message.id)
            if known is not None and known.digest == told[message.id]:
                await self._hearing.edit(message)

    async def _oldest(self, room: str) -> datetime:
        """From when on messages of a channel are of interest."""
        since = await self._store.rooms.horizon(room) or EPOCH
        kept = self._house.settings.retention_days
        return max(since, self._clock() - timedelta(days=kept)) if kept else since

    async def _gone(self, place: Place, missing: Sequence[Known]) -> list[str]:
        """Those of some messages that were surely deleted; of others it is asked again the next time."""
        platform, gone, unanswered = self._house.platform(place), [], 0
        for each in sorted(missing, key=lambda each: each.time, reverse=True)[:ASKED]:
            try:
                if await platform.message(replace(place, thread=each.thread), each.id) is None:
                    gone.append(each.id)
            except PlatformError as error:
                log.warning("message_not_looked_for", room=place.room, error=type(error).__name__)
                unanswered += 1
            if unanswered >= UNANSWERED:
                break
        return gone

    def _young(self, message: Known) -> bool:
        return message.time > self._clock() - YOUNG

    async def _remove(self, place: Place, ids: Collection[str]) -> None:
        if ids:
            log.info("deletions_found", room=place.room, messages=len(ids))
            async with self._shelf.alone(place.room):
                await self._hearing.remove(place, ids)


def lost(listing: Listing, known: Sequence[Known], since: datetime) -> list[Known]:
    """Those of a thread's known messages that its listing should have; of one that is empty, all. Pure.

    Otherwise they are looked for since some time, and no further back than the listing reaches.
    """
    inside = [each for each in listing.messages if each.place.thread]
    if not inside:
        return list(known) if listing.whole else []
    edge = since if listing.whole else max(since, min(each.time for each in inside))
    return [each for each in known if each.time >= edge and each.id != each.thread]
