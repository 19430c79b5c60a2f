"""The ledger as the rest of the engine sees it: repositories of records, as Protocols.

Another database implements these Protocols; nothing outside this package knows SQL, a connection or a class of a
store. Every method is atomic: it reads one snapshot, or writes all or nothing, and a write is durable when it returns.
Ids are the ledger's integers; they leave the engine nowhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from engine.storage.ledger.api.content import Corrections, Documents, Facts
from engine.storage.ledger.api.duplicates import Duplicates
from engine.storage.ledger.api.projection import Cache, Profiles, WorkQueue
from engine.storage.ledger.api.queries import Search, Stats

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from engine.models import Scope

__all__ = [
    "Cache",
    "Corrections",
    "Documents",
    "Duplicates",
    "ExportFormat",
    "Facts",
    "LedgerStore",
    "LedgerView",
    "Profiles",
    "Search",
    "Stats",
    "WorkQueue",
]

ExportFormat = Literal["jsonl", "graphml"]


class LedgerView(Protocol):
    """The reading repositories as of one moment."""

    @property
    def search(self) -> Search: ...
    @property
    def stats(self) -> Stats: ...


class LedgerStore(LedgerView, Protocol):
    """An open ledger: its repositories, and what concerns it as a whole."""

    @property
    def documents(self) -> Documents: ...
    @property
    def facts(self) -> Facts: ...
    @property
    def profiles(self) -> Profiles: ...
    @property
    def work(self) -> WorkQueue: ...
    @property
    def cache(self) -> Cache: ...
    @property
    def corrections(self) -> Corrections: ...
    @property
    def duplicates(self) -> Duplicates: ...

    @property
    def waited_seconds(self) -> float:
        """Seconds that reads have waited for a connection, in all."""

    def snapshot(self) -> AbstractAsyncContextManager[LedgerView]:
        """Several reads as of one moment; hold it for a few of them only."""

    def export(self, form: ExportFormat, scope: Scope) -> AsyncGenerator[str, None]:
        """Lines of everything in the scope's spaces: canonical JSON Lines, or the graph as GraphML."""

    def abandon(self) -> None:
        """Make all calls fail from now on: other processes may have taken over the work of this one."""

    def check_open(self) -> None:
        """Raise EngineClosed once the ledger is closed, or about to be."""

    async def check_integrity(self) -> None:
        """Raise CorruptLedger if structure, indexes or constraints are damaged."""

    async def copy_to(self, path: Path) -> str:
        """Copy the ledger as of one moment into a file; returns the checksum of its content."""

    async def compact(self) -> None:
        """Remove the bytes of deleted rows from the files. Raises StoreError if readers prevent it."""

    async def close(self) -> None:
        """Finish waiting writes, and release the files."""
