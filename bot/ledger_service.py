"""A service over the ledger alone, for requests that need neither graph nor vectors nor models."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot import socket
from bot.events import Catalogued, Told
from bot.requests import Catalogue, Tell
from engine.errors import FolderInUse
from engine.folder import Folder
from engine.ledger import Ledger, census, search
from engine.records import Scope

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from bot.events import Event
    from bot.requests import Request
    from bot.service import Service
    from bot.settings import Settings


@dataclass(frozen=True, slots=True)
class LedgerService:
    """Works on Tell and Catalogue."""

    ledger: Ledger

    async def perform(self, request: Request) -> AsyncGenerator[Event]:
        """What the ledger says. Raises StoreError."""
        if not isinstance(request, Tell | Catalogue):
            raise TypeError(type(request).__name__)
        async with self.ledger.reader() as db:
            area = await search.area(db, Scope(frozenset(request.spaces), frozenset()))
            if isinstance(request, Tell):
                yield Told(await census.status(db, area))
            else:
                yield Catalogued(tuple(await census.documents(db, area)))


@asynccontextmanager
async def reach_ledger(settings: Settings) -> AsyncIterator[Service]:
    """The program that holds the data folder, or this one with the ledger alone, which takes a fraction of the time."""
    async with AsyncExitStack() as stack:
        if remote := await socket.connected(settings.root):
            yield remote
            return
        folder = Folder(settings.root)
        try:
            stack.enter_context(folder.owned())
        except FolderInUse:  # by a program that is just starting or ending
            from bot.service import reach  # noqa: PLC0415  - rarely needed

            yield await stack.enter_async_context(reach(settings))
            return
        folder.check_ledger()
        ledger = await Ledger.open(folder.ledger, settings.words)
        stack.push_async_callback(ledger.close)
        yield LedgerService(ledger)
