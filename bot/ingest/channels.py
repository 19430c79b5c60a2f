"""Being in channels: taken in, told so once, put out, and moved when other people may read there."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from bot import texts
from bot.errors import NotThere, PlatformError, Withheld
from bot.ingest.conversations import thread_key
from bot.permissions import audience
from bot.platform.models import Card, Place
from engine.models import Scope

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from bot.context import House
    from bot.ingest.documents import Shelf
    from bot.platform.events import Ended, Installed
    from bot.platform.models import ListedChannel

log = structlog.get_logger(__name__)

WELCOME = "welcome"  # the hint that a workspace is given when the bot comes to it
SILENCE = 60.0  # seconds until the bot tries again to speak where it may not


class Presence:
    """Which channels the bot is in, and what that entails. `news`: there is a new one.

    The caller holds the room; `end` and `purge`, which concern many, hold each of them themselves.
    """

    def __init__(self, house: House, shelf: Shelf, clock: Callable[[], datetime]) -> None:
        self._house = house
        self._shelf = shelf
        self._store = house.store
        self._clock = clock
        self._silent: dict[str, float] = {}
        self.news = asyncio.Event()

    async def join(self, place: Place, days: int | None = None) -> bool:
        """The bot is in this channel; says whether what is said there is read at all. `days`: of its past, if new.

        It is not where it is switched off, and where the bot may not say what it does.
        """
        if not (await self._store.channels.get(place.room)).ingest:
            return False
        channel = await self._house.readers.facts(place)
        if channel.kind == "direct":
            return False
        if not await self._store.rooms.announced(place.room):
            past = self._house.settings.backfill_days if days is None else days
            if not await self._announce(place, past):
                return False
            since = self.horizon(past)
            await self._store.rooms.note(place.main, channel.name, since)
            await self._store.rooms.note_compared(place.room, self._clock())
            await self._store.cursors.begin(place.room, since)
            await self._store.rooms.note_announced(place.room)
            self.news.set()
        return True

    async def _announce(self, place: Place, days: int) -> bool:
        """Tell a channel what the bot does there, if it may speak."""
        now = time.monotonic()
        if now < self._silent.get(place.room, now):
            return False
        try:
            await self._house.platform(place).post(place.main, Card(texts.joined(place.platform, days)))
        except Withheld:
            log.warning("may_not_speak", room=place.room)
            self._silent[place.room] = now + SILENCE
            return False
        return True

    async def welcome(self, installed: Installed) -> None:
        """Tell a workspace once what the bot needs there; where it reads something already, nothing is to be told."""
        place, hints = installed.place, self._store.hints
        if not place.channel:
            log.warning("nowhere_to_speak", platform=place.platform, workspace=place.workspace)
            return
        if not await hints.first(place.platform, place.workspace, WELCOME):
            return
        if await self._store.rooms.known(place.platform, place.workspace):
            return
        try:
            card = Card(texts.installed(place.platform, installed.lacking))
            await self._house.platform(place).post(place.main, card)
        except BaseException:
            await hints.forget(place.platform, place.workspace, WELCOME)
            raise

    async def here(self, place: Place) -> bool:
        """Whether what is said in a channel is read; somebody may have taken the bot in unnoticed."""
        known = await self._store.rooms.announced(place.room)
        return (await self._store.channels.get(place.room)).ingest if known else await self.join(place)

    def horizon(self, days: int) -> datetime:
        """So many days ago, but nothing that is too old to be kept."""
        kept = self._house.settings.retention_days
        return self._clock() - timedelta(days=min(days, kept) if kept else days)

    async def returned(self, place: Place) -> bool:
        """The bot was away: let a channel lie where exactly its readers find it; False if it is gone, and so forgotten.

        Raises PutOut if the bot is not in the workspace any more, and PlatformError if nobody can say.
        """
        try:
            listed = await self._house.readers.listed(place)
            there = listed is not None or (await self._house.readers.channel(place)).inside
        except NotThere:
            there = False
        if not there:
            log.warning("channel_left", room=place.room)
            await self.leave(place)
            return False
        await self.move(place)
        return True

    async def leave(self, place: Place) -> None:
        """A thread or a channel is gone: nothing of it is known any more."""
        if place.thread:
            await self._leave_thread(place)
            return
        scope = Scope(frozenset(), frozenset({place.room}))
        for document in await self._house.desk.engine.documents(scope):
            await self._shelf.forget(document.key)
        await self._house.desk.engine.leave_room(place.room)
        await self._store.messages.drop_room(place)
        await self._store.answers.drop_in(place)
        await self._store.cursors.end(place.room)
        await self._store.rooms.drop(place)

    async def _leave_thread(self, place: Place) -> None:
        messages = await self._store.messages.of_thread(place.room, place.thread)
        ids = [each.id for each in messages]
        await self._store.messages.note_deleted(place.room, ids)
        for file in await self._store.files.of_messages(place.room, ids):
            await self._shelf.forget(file.document)
        await self._shelf.forget(thread_key(place.room, place.thread))
        await self._store.messages.drop(place.room, ids)
        await self._store.answers.drop_in(place)

    async def move(self, place: Place, listed: ListedChannel | None = None) -> None:
        """Other people may read a channel: its documents go where exactly those can. Raises PlatformError.

        Then nobody knows who can, and they are hidden from all but the channel itself. `listed`: what it is now.
        """
        trouble: PlatformError | None = None
        try:
            home = audience.home(listed) if listed else await self._house.readers.home(place)
        except PlatformError as error:
            home = place.room  # nobody says who can read it: only those who do
            trouble = None if isinstance(error, Withheld) else error
        moved = await self._house.desk.engine.move_room(place.room, home)
        if moved:
            log.info("room_moved", room=place.room, documents=moved)
        widest = home == audience.common(place.platform, place.workspace)
        await self._store.answers.recheck(place.room, home, check=not widest)
        if trouble is not None:
            raise trouble

    async def hide(self, place: Place) -> None:
        """The bot may have been put out of a channel: its documents are hidden from all but the channel itself."""
        moved = await self._house.desk.engine.move_room(place.room, place.room)
        if moved:
            log.info("room_hidden", room=place.room, documents=moved)

    async def end(self, ended: Ended) -> None:
        """The bot was put out of a workspace: its data stays until somebody says otherwise, or goes, by setting."""
        purged = self._house.settings.purge_when_removed
        log.warning("workspace_left", platform=ended.platform, workspace=ended.workspace, purged=purged)
        await self._store.hints.forget(ended.platform, ended.workspace, WELCOME)
        if purged:
            await self.purge(ended.platform, ended.workspace)

    async def purge(self, platform: str, workspace: str) -> None:
        """Nothing of a workspace is known any more."""
        for place in await self._store.rooms.known(platform, workspace):
            async with self._shelf.alone(place.room):
                await self.leave(place)
        for file in await self._store.files.of_workspace(platform, workspace):
            async with self._shelf.alone(file.room):
                await self._shelf.forget(file.document)
        await self._store.purge(platform, workspace)
