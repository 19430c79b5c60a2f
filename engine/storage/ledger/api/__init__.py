"""The ledger as the rest of the engine sees it: repositories of records, as Protocols.

Another database implements these Protocols; nothing outside this package knows SQL, a connection or a class of a
store. Every method is atomic: it reads one snapshot, or writes all or nothing, and a write is durable when it returns.
Ids are the ledger's integers; they leave the engine nowhere.
"""

from engine.storage.ledger.api.content import Corrections, Documents, Facts
from engine.storage.ledger.api.projection import Cache, Profiles, WorkQueue
from engine.storage.ledger.api.queries import Search, Stats
from engine.storage.ledger.api.store import ExportFormat, LedgerStore, LedgerView

__all__ = [
    "Cache",
    "Corrections",
    "Documents",
    "ExportFormat",
    "Facts",
    "LedgerStore",
    "LedgerView",
    "Profiles",
    "Search",
    "Stats",
    "WorkQueue",
]
