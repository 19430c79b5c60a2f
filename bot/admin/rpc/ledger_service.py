"""A service over the ledger alone, for requests that need neither graph nor vectors nor models."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.admin.requests import Catalogue, Tell
from bot.admin.results import Catalogued, Told
from bot.admin.rpc import socket
from engine.data_dir import Folder
from engine.errors import FolderInUse
from engine.models import Scope
from engine.storage.ledger import Ledger
from engine.storage.ledger.queries import lookup, stats

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from bot.admin.requests import Request
    from bot.admin.results import Event
    from bot.admin.rpc.service import Service
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
            area = await lookup.area(db, Scope(frozenset(request.spaces), frozenset()))
            if isinstance(request, Tell):
                yield Told(await stats.status(db, area))
            else:
                yield Catalogued(tuple(await stats.documents(db, area)))


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
            from bot.admin.rpc.service import reach  # noqa: PLC0415  - rarely needed

            yield await stack.enter_async_context(reach(settings))
            return
        folder.check_ledger()
        ledger = await Ledger.open(folder.ledger, settings.words)
        stack.push_async_callback(ledger.close)
        yield LedgerService(ledger)
