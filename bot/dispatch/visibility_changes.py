"""Changes of who reads what: doubted at once, believed again once rooms were moved, and made up for if that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.platform.models import Place

if TYPE_CHECKING:
    from bot.dispatch.event_queue import Inbox
    from bot.ingest.service import Listening
    from bot.permissions.resolver import Readers
    from bot.platform.events import Changed


class Changes:
    """What adapters tell of readers. A doubt that nothing else would end is ended by `make_up`, called now and then."""

    def __init__(self, readers: Readers, inbox: Inbox, listening: Listening) -> None:
        self._readers = readers
        self._inbox = inbox
        self._listening = listening
        self._unkept: set[Changed] = set()
        self._behind: set[str] = set()

    async def hear(self, changed: Changed, *keys: str) -> bool:
        """Keep a change; durable when it returns. False if it was known already by one of the keys.

        It is doubted first: an answer may be on its way to somebody who left. The doubt of one that is only told again
        is withdrawn; that of the first telling stays until it is learnt. Where only people came or went, no room moves:
        it is enough to ask anew who they are.
        """
        if changed.members_only:
            self._readers.forget(changed.place, members_only=True)
            return True
        doubted = self._readers.doubt(changed.place)
        try:
            fresh = await self._inbox.put(changed, *keys)
        except BaseException:
            self.owe(changed)
            raise
        if not fresh:
            self._readers.withdraw(changed.place, doubted)
        return fresh

    def owe(self, changed: Changed) -> None:
        """It could not be kept or learnt, and perhaps nobody tells it again."""
        self._unkept.add(changed)

    def doubt(self, platform: str) -> None:
        """Who reads what there may have changed unnoticed: no space is believed until `catch_up`, which follows."""
        self._readers.doubt(Place(platform, "", ""))

    async def catch_up(self, platform: str) -> None:
        """The connection had been lost: look for what was missed."""
        try:
            await self._listening.catch_up(platform)
        except BaseException:
            self._behind.add(platform)
            raise
        self._behind.discard(platform)

    async def make_up(self) -> None:
        """Do what failed before. Raises what still hinders it."""
        for changed in list(self._unkept):
            await self._inbox.put(changed)
            self._unkept.discard(changed)
        for platform in list(self._behind):
            await self.catch_up(platform)
