"""A service that opens only the ledger, for requests without graph, vectors and models."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bot.capabilities.answers.renewals import count_renewals
from bot.capabilities.documents.listing import select_documents, wants_unread
from bot.capabilities.documents.lookup import LOCAL_SPACE
from bot.capabilities.documents.unread import count_unread, list_unread
from bot.capabilities.requests import AtSpace, GetStatus, ListDocuments
from bot.capabilities.results import StatusResult
from bot.context import build_indexing_limits
from bot.rpc import socket
from bot.store import BotStore
from bot.store.shared.adapter_state import read_imported_scope
from engine import ParserLimits, Scope
from engine.data_dir import DataDir
from engine.errors import DataDirInUse
from engine.parsers.sandbox.probe import SandboxProbe
from engine.scheduling.indexing_budget import IndexingBudget
from engine.storage.ledger import Ledger
from engine.storage.sqlite.database import FileAccess

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from bot.capabilities.requests import OperationRequest
    from bot.capabilities.results import OperationResult
    from bot.rpc.service import AdminService
    from bot.settings import Settings
    from engine import Clock


@dataclass(frozen=True, slots=True)
class LedgerService:
    """Performs GetStatus and ListDocuments. `imported`: what the local space shows besides its own documents.

    `store`: of the bot, if there is one; `problems`: of the disk.
    """

    ledger: Ledger
    sandbox: SandboxProbe
    imported: Scope
    budget: IndexingBudget
    problems: tuple[str, ...] = ()
    store: BotStore | None = None

    async def perform(self, request: OperationRequest) -> AsyncGenerator[OperationResult]:
        """Yield the result from the ledger. Raises StoreError."""
        match request:
            case AtSpace(space, GetStatus() as inner):
                sandbox = await self.sandbox.get_state() if inner.with_sandbox else None
                scope = self._scope_of(space)
                found = await self.ledger.stats.load_index_status(scope)
                unread = await self.ledger.stats.list_problems(scope) if inner.with_problems else None
                await self.budget.refresh()
                spent = self.budget.describe_spent(scope.spaces) if found.unextracted else ""
                status = replace(found, background=self.problems, spent_budget=spent)
                problems = None if unread is None else tuple(unread)
                counts = await count_unread(self.store, scope), await count_renewals(self.store)
                yield StatusResult(status, sandbox, problems, *counts)
            case AtSpace(space, ListDocuments() as inner):
                store, scope = self.store if wants_unread(inner) else None, self._scope_of(space)
                files = await list_unread(store, scope, inner.search)
                yield select_documents(await self.ledger.stats.list_documents(scope), inner, files)
            case _:
                raise TypeError(type(request).__name__)

    def _scope_of(self, space: str) -> Scope:
        """The same as when the engine is open."""
        if space != LOCAL_SPACE:
            return Scope.of(space)
        return Scope(self.imported.spaces | {space}, self.imported.rooms)


@asynccontextmanager
async def connect_or_open_ledger(settings: Settings, clock: Clock) -> AsyncIterator[AdminService]:
    """Connect to the process that holds the data directory, or else open only the ledger, which is much faster."""
    async with AsyncExitStack() as stack:
        if remote := await socket.find_service(settings.data_path):
            yield remote
            return
        if settings.database.get_secret_value():
            from bot.rpc.service import connect_or_open  # noqa: PLC0415  - takes a second

            yield await stack.enter_async_context(connect_or_open(settings, clock))
            return
        folder = DataDir(settings.data_path)
        try:
            claim = stack.enter_context(folder.claim(settings.disk_reserve_mb << 20))
        except DataDirInUse:  # by a process that is starting or stopping
            from bot.rpc.service import connect_or_open  # noqa: PLC0415  - rarely needed

            yield await stack.enter_async_context(connect_or_open(settings, clock))
            return
        folder.check_ledger()
        access = FileAccess(claim.reserve.release, claim.refusal)
        ledger = await Ledger.open(folder.ledger_path, settings.fulltext_tokenizer, clock=clock, access=access)
        stack.push_async_callback(ledger.close)
        place, store, imported = settings.store_place, None, Scope.of()
        if isinstance(place, Path) and place.exists():
            imported = await asyncio.to_thread(read_imported_scope, place)
            store = await stack.enter_async_context(BotStore.open(place, clock, access=access))
        budget = IndexingBudget(build_indexing_limits(settings), clock, ledger.stats.list_space_usage)
        probe = SandboxProbe(ParserLimits())
        yield LedgerService(ledger, probe, imported, budget, tuple(claim.list_problems()), store)
