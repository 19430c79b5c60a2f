"""What happens in channels becomes knowledge, or ceases to be: one method for each kind of happening.

Everything may be repeated: the inbox hands a happening over again if it was cut off. Within a room, one thing happens
after another.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING

import structlog

from bot.errors import PlatformError, Withheld
from bot.ingest.channels import Presence
from bot.ingest.conversations import author_key
from bot.ingest.documents import Shelf
from bot.ingest.files import Filing
from bot.ingest.manual_facts import Stating
from bot.ingest.messages import Hearing
from bot.ingest.sync.backfill import Past
from bot.ingest.sync.deletions import Missing
from bot.ingest.sync.jobs import Upkeep
from bot.ingest.sync.queue import LookingBack
from bot.ingest.sync.reconcile import CatchingUp
from bot.ingest.sync.retention import Retention
from bot.platform.events import Changed, Deleted, Edited, Ended, Gone, Heard, Installed, Joined, Unshared
from bot.platform.models import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from bot.context import House
    from bot.permissions.channel_lists import ChannelList
    from bot.platform.events import Happening
    from bot.platform.models import Message
    from engine.models import Document
    from engine.parsers import Reader

log = structlog.get_logger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


class Listening:
    """What the bot learns from its channels. `filing` takes their files in, `stating` what people state.

    `work` runs beside everything else: back-fill, catching up, closing and forgetting by age.
    """

    def __init__(self, house: House, reader: Reader, clock: Callable[[], datetime] = _now) -> None:
        self._house = house
        self._shelf = Shelf(house)
        self.filing = Filing(house, self._shelf, reader)
        self.stating = Stating(house, self._shelf)
        self._presence = Presence(house, self._shelf, clock)
        self._hearing = Hearing(house, self._shelf, self._presence)
        missing = Missing(house, self._shelf, self._hearing, clock)
        self._past = Past(house, self._shelf, self._hearing, self.filing)
        catching_up = CatchingUp(house, self._past, missing, clock)
        self._back = LookingBack(self._shelf, self._presence, self._past, catching_up, missing)
        self._upkeep = Upkeep(house, Retention(house, self._shelf), self._back, self._presence.news)
        self._clock = clock

    async def take(self, happening: Happening) -> None:
        """Learn from what happened; of questions and commands there is nothing to learn.

        A message that is answered although it was not addressed to the bot comes with `addressed` set.
        """
        match happening:
            case Edited(message):
                async with self._shelf.alone(message.place.room):
                    now = await self._hearing.edit(message)
                if now.uploads:
                    await self.filing.take(now, quiet=True)
            case Changed(place):
                await self._changed(place)
            case Ended():
                await self._presence.end(happening)
            case Unshared(place, uploads):
                await self._hearing.unshare(place, uploads)
            case Heard(message):
                async with self._shelf.alone(message.place.room):
                    await self._hearing.hear(message, addressed=happening.addressed)
            case Deleted(place) | Gone(place) | Joined(place) | Installed(place):
                async with self._shelf.alone(place.room):
                    await self._take_place(happening)
            case _:
                return

    async def _take_place(self, happening: Deleted | Gone | Joined | Installed) -> None:
        match happening:
            case Installed():
                await self._presence.welcome(happening)
            case Deleted(place, ids):
                await self._hearing.delete(place, ids)
            case Gone(place):
                await self._presence.leave(place)
            case Joined(place):
                await self._presence.join(place)

    async def _changed(self, place: Place) -> None:
        since = self._house.readers.clock()
        self._house.readers.forget(place)
        known = await self._house.store.rooms.known(place.platform, place.workspace)
        troubles = await self._move([place.main] if place.channel else known)
        self._house.readers.trust(place, since)
        if troubles:
            raise troubles[0]

    async def _move(self, places: Sequence[Place], found: ChannelList | None = None) -> list[PlatformError]:
        """Let rooms lie where exactly their readers find them; gives what kept that from being known of some."""
        troubles, lists = [], self._house.readers.lists
        for each in places:
            try:
                async with self._shelf.alone(each.room):
                    listed = found.channels.get(each.room) if found and each.room not in lists.stale(found) else None
                    await self._presence.move(each, listed)
            except PlatformError as error:
                log.warning("readers_unknown", room=each.room, error=type(error).__name__)
                troubles.append(error)
        return troubles

    # What people want known, and what forgotten.

    async def add(self, message: Message) -> None:
        """Take in a message that its author points at, even if nothing of that time is read of them."""
        async with self._shelf.alone(message.place.room):
            await self._hearing.hear(message, addressed=False, wished=True)

    async def learn(self, message: Message) -> None:
        """Learn from a message that was taken for a question to the bot, and is none."""
        async with self._shelf.alone(message.place.room):
            await self._hearing.hear_after_all(message)

    async def forget_document(self, document: str) -> bool:
        """Forget a file or a conversation for good; says whether there was one."""
        store = self._house.store
        known = await store.files.get(document) or await store.windows.get(document)
        if known is None:
            return await self._shelf.forget(document)
        async with self._shelf.alone(known.room):
            said = [each.id for each in await store.messages.of_document(document)]
            await store.messages.note_deleted(known.room, [document, *said], wanted=True)
            return await self._shelf.forget(document)

    async def replace_document(self, document: Document) -> bool:
        """Take in a document that was known before; says whether it changed. Then answers that used it are redacted."""
        return await self._shelf.replace(document)

    async def forget_message(self, place: Place, message: str) -> None:
        """Forget one message with its files for good, even if it stays where it is."""
        async with self._shelf.alone(place.room):
            await self._hearing.delete(place, [message], wanted=True)

    async def forget_person(self, platform: str, workspace: str, person: str) -> None:
        """Forget what somebody wrote, shared and asked, and index nothing of theirs from now on."""
        store = self._house.store
        for where in {workspace, ""}:
            await store.people.opt_out(platform, where, person)
        await self._shelf.calm()  # what was admitted before can be found now
        for where in {workspace, ""}:
            messages = sorted(await store.messages.of_author(platform, where, person), key=lambda each: each.room)
            for room, group in groupby(messages, key=lambda each: each.room):
                async with self._shelf.alone(room):
                    await self._shelf.drop(list(group))
            for file in await store.files.of_author(platform, where, person):
                async with self._shelf.alone(file.room):
                    await self._shelf.forget(file.document)
            await store.answers.blank([author_key(platform, where, person)])
            await store.answers.drop_of(platform, where, person)

    # The past.

    async def backfill(self, place: Place, days: int) -> None:
        """Take in what was said in a channel in the last days; begins soon, and goes on after a restart.

        Raises Withheld if the bot may not read there, or not say that it does.
        """
        async with self._shelf.alone(place.room):
            if not await self._presence.join(place, days):
                raise Withheld("This channel is not one that I may read.")
        since = self._presence.horizon(days)
        channel = await self._house.readers.facts(place)
        await self._house.store.rooms.note(place.main, channel.name, since)
        await self._house.store.cursors.begin(place.room, since)
        self._presence.news.set()

    async def catch_up(self, platform: str) -> None:
        """After a connection was lost: look soon for what was missed in all channels of a platform.

        At once, rooms are moved to where those who read them now can find them; until then, no shared space is
        believed. Channels that the bot was taken into meanwhile are looked at too. Raises PlatformError if channels
        cannot be listed now: then this is to be done again, and nothing is moved.
        """
        readers, everywhere = self._house.readers, Place(platform, "", "")
        since = readers.doubt(everywhere)
        lists = {each: await readers.lists.get(platform, each) for each in self._listable(platform)}
        known = await self._house.store.rooms.known(platform)
        lacking = [
            each for each in known if each.workspace in lists and each.room not in lists[each.workspace].channels
        ]
        await self._hide(lacking)
        for workspace in dict.fromkeys(each.workspace for each in known):
            here = [each for each in known if each.workspace == workspace and each not in lacking]
            await self._move(here, lists.get(workspace))
        readers.trust(everywhere, since)
        self._back.owe(lacking)  # these first: they are hidden
        await self._upkeep.owe(platform)
        await self._owe_joining(platform, lists.values())

    async def _owe_joining(self, platform: str, lists: Iterable[ChannelList]) -> None:
        """Channels that the bot was taken into while it was away are to be told so, and read."""
        told = await self._house.store.rooms.all_announced(platform)
        listed = [each for found in lists for room, each in found.channels.items() if room not in told]
        self._back.owe_joining(each.place for each in listed if not each.archived)

    def _listable(self, platform: str) -> Collection[str]:
        """The workspaces whose channels can be listed."""
        found = self._house.platforms.get(platform)
        return found.listable if found is not None else ()

    async def _hide(self, places: Sequence[Place]) -> None:
        for each in places:
            async with self._shelf.alone(each.room):
                await self._presence.hide(each)

    @property
    def owed(self) -> set[Place]:
        """The channels that are not known to be as the platform has them."""
        return self._back.owed

    async def work(self) -> None:
        """Do what is due, until cancelled."""
        await self._upkeep.work(self._clock)

    async def tick(self, now: datetime | None = None) -> None:
        """Do what time brings."""
        await self._upkeep.tick(now or self._clock())

    async def past(self) -> None:
        """Catch up with all channels that are due, and take back-fills as far as they go now."""
        await self._back.past()
