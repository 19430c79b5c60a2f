"""Where the data of an engine is: in files of its data directory, or in a PostgreSQL database."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from engine.errors import StoreError
from engine.projection.embedder_change import share_cache
from engine.projection.open_stores import StoreFiles
from engine.scheduling.processes import LocalProcesses, Processes
from engine.storage.files import remove_tree
from engine.storage.ledger import MISSING_LIBRARY_HINT, Ledger
from engine.storage.sqlite.database import FileAccess

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from engine.clock import Clock
    from engine.data_dir import DataDir, FolderClaim
    from engine.llm.base import Embedder
    from engine.options import EngineOptions
    from engine.projection.open_stores import Stores
    from engine.scheduling.supervisor import Supervisor
    from engine.storage.ledger import LedgerStore

BOTH_HINT = "Leave THREADLORE_DATABASE or THREADLORE_STORES empty."


class Storage(Protocol):
    """Opens the stores of an engine; `stack` closes them. `processes`: those that work on the data."""

    @property
    def processes(self) -> Processes: ...

    async def open_ledger(self, stack: AsyncExitStack) -> LedgerStore:
        """Open or create the ledger. Raises StoreError."""

    def has_vectors(self, place: int) -> bool:
        """Whether vectors were stored before in the place with a number."""

    async def open_stores(
        self, ledger: LedgerStore, embedder: Embedder, former: Embedder | None, stack: AsyncExitStack
    ) -> Stores:
        """Open the graph and the vectors of that embedder, and those by a `former` one that are left."""


@dataclass(frozen=True, slots=True)
class EmbeddedStorage:
    """Files of a data directory, which this process has locked."""

    folder: DataDir
    options: EngineOptions
    supervisor: Supervisor
    claim: FolderClaim
    clock: Clock
    processes: Processes = field(default_factory=LocalProcesses)

    async def open_ledger(self, stack: AsyncExitStack) -> LedgerStore:
        self.folder.check_ledger()
        if self.claim.refusal is not None and not self.folder.ledger_path.exists():
            raise self.claim.refusal
        ledger = await Ledger.open(
            self.folder.ledger_path,
            self.options.fts_tokenizer,
            self.supervisor,
            clock=self.clock,
            access=FileAccess(self.claim.reserve.release, self.claim.refusal),
        )
        stack.push_async_callback(ledger.close)
        return ledger

    def has_vectors(self, place: int) -> bool:
        # The content of those of a plug-in is compared.
        return self.folder.find_vectors(place).exists() or self.options.open_stores is not None

    async def open_stores(
        self, ledger: LedgerStore, embedder: Embedder, former: Embedder | None, stack: AsyncExitStack
    ) -> Stores:
        if self.claim.refusal is not None and self.options.open_stores:  # a plug-in may not know how to read alone
            raise self.claim.refusal
        options = share_cache(self.options, await ledger.embedders.load_places())
        files = StoreFiles(self.folder, options, self.supervisor)
        if self.claim.refusal is not None:
            return await files.open_read_only(ledger, embedder.dim, former, stack)
        if opener := self.options.open_stores:
            return await files.open_plugged(opener, ledger, embedder, stack)
        for path in self.folder.plugged_paths:
            remove_tree(path)
        return await files.open(ledger, embedder.dim, former, stack)


async def open_storage(
    folder: DataDir,
    options: EngineOptions,
    supervisor: Supervisor,
    claim: FolderClaim,
    clock: Clock,
    stack: AsyncExitStack,
) -> Storage:
    """The storage in the database of the options, or in the folder if there is none. Raises StoreError.

    `stack` ends the registration of this process with the database.
    """
    if options.database and options.open_stores:
        raise StoreError("PostgreSQL cannot be combined with other stores.", hint=BOTH_HINT)
    if not options.database:
        return EmbeddedStorage(folder, options, supervisor, claim, clock)
    try:
        from engine.projection.postgres_storage import PostgresStorage  # noqa: PLC0415 - it needs the extra `postgres`
    except ImportError as error:
        raise StoreError("The library for PostgreSQL is not installed.", hint=MISSING_LIBRARY_HINT) from error
    return await PostgresStorage.open(options, supervisor, clock, stack)
