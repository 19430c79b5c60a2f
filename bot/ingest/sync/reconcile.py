"""After the bot was away: what was said, edited and deleted meanwhile, by comparing with the platform's history.

Each channel is compared from somewhat before the last time that it was compared as a whole: what is heard meanwhile,
and a comparison that was cut off, change nothing about that.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from bot.errors import NotThere, PlatformError, PutOut, Withheld
from bot.ingest.conversations import digest, parted
from bot.ingest.sync.deletions import lost
from bot.platform.ports import Listing
from engine.storage.sqlite.timestamps import EPOCH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from bot.context import House
    from bot.ingest.sync.backfill import Past
    from bot.ingest.sync.deletions import Missing
    from bot.platform.models import Message, Place
    from bot.store import Filed, Known

log = structlog.get_logger(__name__)

LOOKED_AT = timedelta(days=1)  # how far before the last comparison edits and deletions are looked for
LIVELY = timedelta(days=7)  # how long after its last message a thread is looked at
THREADS = 50  # of a channel
REPLIES = 200  # of a thread
OWED = 50  # files of a channel


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a channel. `told`: the digests that were known before; `oldest`: from when on messages are taken in.

    `seen`: what is there; `sharing`: those of it with files.
    """

    place: Place
    told: Mapping[str, str]
    oldest: datetime
    seen: set[str] = field(default_factory=set)
    sharing: dict[str, Message] = field(default_factory=dict)


class CatchingUp:
    """Compares what is known of channels with what the platform has. `missing` asks for what lists lack."""

    def __init__(self, house: House, past: Past, missing: Missing, clock: Callable[[], datetime]) -> None:
        self._house = house
        self._past = past
        self._missing = missing
        self._store = house.store
        self._clock = clock

    async def catch_up(self, place: Place) -> bool:
        """Take in what is new in a channel, and what changed lately. Raises PlatformError.

        False if not all of it could be known or had: look again soon.
        """
        room, began = place.room, self._clock()
        compared = await self._store.rooms.compared(room)
        if compared is None or not await self._reads(room):
            return True
        newest = await self._store.messages.newest(room) or compared
        until = min(newest, compared)
        before = await self._store.messages.between(room, until - LOOKED_AT, newest)
        look = Look(place, _digests(before), await self._oldest(room))
        await self._read(look, until - LOOKED_AT)
        lacking = await self._read_threads(look, until - LIVELY)
        lacking += [each for each in before if each.thread in {"", each.id}]
        sure = await self._missing.ask(place, [each for each in lacking if each.id not in look.seen])
        had = await self._fetch(look)
        await self._store.rooms.note_compared(room, began)
        return sure and had

    async def _reads(self, room: str) -> bool:
        """Whether a channel is read, or was until that was switched off: what is known of it must still be true."""
        return (await self._store.channels.get(room)).ingest or await self._store.rooms.announced(room)

    async def _oldest(self, room: str) -> datetime:
        """From when on messages of a channel are of interest."""
        since = await self._store.rooms.horizon(room) or EPOCH
        kept = self._house.settings.retention_days
        return max(since, self._clock() - timedelta(days=kept)) if kept else since

    async def _read(self, look: Look, since: datetime) -> None:
        """Compare a channel's messages of some time with what was known of them."""
        held: list[Message] = []
        async for page in self._house.platform(look.place).history(look.place, since):
            look.seen.update(each.id for each in page)
            whole, held = parted([*held, *page])
            await self._compare(look, whole)
        await self._compare(look, held)

    async def _read_threads(self, look: Look, since: datetime) -> list[Known]:
        """Compare the threads in which something was said since some time; gives what they lack."""
        room, lacking = look.place.room, []
        for window in await self._store.windows.lively(room, since, THREADS):
            inside = await self._store.messages.of_thread(room, window.thread)
            root = await self._store.messages.several(room, [window.thread])
            known = list({each.id: each for each in [*inside, *root]}.values())
            place = replace(look.place, thread=window.thread)
            listing = await self._read_thread(replace(look, place=place, told=_digests(known)))
            if listing.there:
                lacking += lost(listing, known)
            else:
                lacking += root
                await self._missing.remove(look.place, [each.id for each in inside])
        return lacking

    async def _read_thread(self, look: Look) -> Listing:
        """Compare a thread's newest messages with what was known of it. One that is hidden tells nothing."""
        try:
            listing = await self._house.platform(look.place).thread(look.place, REPLIES)
        except (NotThere, PutOut):
            raise
        except Withheld as error:
            log.warning("thread_hidden", room=look.place.room, error=type(error).__name__)
            return Listing(whole=False)
        look.seen.update(each.id for each in listing.messages)
        await self._compare(replace(look, place=look.place.main), listing.messages)
        return listing

    async def _compare(self, look: Look, messages: Sequence[Message]) -> None:
        """Take in what changed since it was told, what is new, and what was cut off while it was taken in."""
        for message in messages:
            if look.told.get(message.id, digest(message)) != digest(message):
                await self._past.correct(message, look.told[message.id])
        await self._past.read(look.place, [each for each in messages if each.time >= look.oldest])
        look.sharing.update({each.id: each for each in messages if each.uploads})

    async def _fetch(self, look: Look) -> bool:
        """Take in the files that came with what was taken in, now or before; False if some could not be had."""
        had, after = True, ""
        while owed := await self._store.files.owed(look.place.room, OWED, after):
            after = owed[-1].document
            for file in {each.message: each for each in owed}.values():
                had &= await self._had(look, file)
        return had

    async def _had(self, look: Look, file: Filed) -> bool:
        try:
            message = look.sharing.get(file.message) or await self._shared(look.place, file)
            if message is not None:
                await self._past.fetch(message)
        except PlatformError as error:
            log.warning("file_not_fetched", room=file.room, error=type(error).__name__)
            return False
        return True

    async def _shared(self, place: Place, file: Filed) -> Message | None:
        """The message that a file came with, as it is now; it is forgotten if it was deleted."""
        known = await self._store.messages.get(file.room, file.message)
        thread = known.thread if known else ""
        message = await self._house.platform(place).message(replace(place, thread=thread), file.message)
        if message is None:
            await self._missing.remove(place, [file.message])
        return message


def _digests(known: Sequence[Known]) -> dict[str, str]:
    return {each.id: each.digest for each in known}
