"""Looking back: at all channels to which that is owed, and at the past of those that are new to the bot."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import structlog

from bot.errors import PutOut
from bot.ingest.sync.pending import Owed
from bot.platform.events import Ended

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.ingest.channels import Presence
    from bot.ingest.documents import Shelf
    from bot.ingest.sync.backfill import Past
    from bot.ingest.sync.deletions import Missing
    from bot.ingest.sync.pending import Debt
    from bot.ingest.sync.reconcile import CatchingUp
    from bot.platform.models import Place

log = structlog.get_logger(__name__)


class LookingBack:
    """Catches up with channels one after another. A place without a channel stands for what lies in none that is read.

    `owed`: the places that are not known to be as the platform has them.
    """

    def __init__(self, shelf: Shelf, presence: Presence, past: Past, catching_up: CatchingUp, missing: Missing) -> None:
        self._shelf = shelf
        self._presence = presence
        self._past = past
        self._catching_up = catching_up
        self._missing = missing
        self._owed = Owed()
        self._unannounced: set[Place] = set()
        self._alone = asyncio.Lock()

    @property
    def owed(self) -> set[Place]:
        return self._owed.places

    def owe(self, places: Iterable[Place]) -> None:
        """These are to be looked at soon."""
        self._owed.owe(places)
        self._presence.news.set()

    def owe_joining(self, places: Iterable[Place]) -> None:
        """The bot was taken into these while it was away: they are to be told, and read, soon."""
        fresh = set(places)
        self._unannounced |= fresh
        self.owe(fresh)

    async def past(self) -> None:
        """Look at all that is due, and take back-fills as far as they go now."""
        async with self._alone:
            await self._look()
            while await self._past.fill():
                await self._look()

    async def _look(self) -> None:
        for debt in self._owed.due(time.monotonic()):
            if self._owed.stands(debt):  # or else its workspace was found to have been left
                await self._look_at(debt)

    async def _look_at(self, debt: Debt) -> None:
        place = debt.place
        try:
            sure = await self._compare(place)
        except PutOut:
            await self._presence.end(Ended(place.platform, place.workspace, "removed while nobody listened"))
            self._owed.drop(place.platform, place.workspace)
        except Exception as error:  # noqa: BLE001 - one channel that cannot be read must not keep the others waiting
            log.warning("catching_up_delayed", room=place.room, error=type(error).__name__)
            self._owed.delay(debt, time.monotonic())
        else:
            if sure:
                self._owed.settle(debt)
            else:
                self._owed.delay(debt, time.monotonic())

    async def _compare(self, place: Place) -> bool:
        """Look what became of a channel; false if it is to be looked at again."""
        if not place.channel:
            return await self._missing.look_for_files(place.platform)
        async with self._shelf.alone(place.room):
            there = await self._presence.returned(place)
            if there and place in self._unannounced:
                await self._presence.here(place)
                self._unannounced.discard(place)
        return await self._catching_up.catch_up(place) if there else True
