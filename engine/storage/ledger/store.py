"""What a ledger in any SQL database has: its topics, snapshots and exports."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import aclosing
from typing import TYPE_CHECKING, Generic, TypeVar

from engine.storage.ledger.cache import Cache
from engine.storage.ledger.content.amendments import Amendments
from engine.storage.ledger.content.chunks import Chunks
from engine.storage.ledger.content.documents import Documents
from engine.storage.ledger.content.facts import Facts
from engine.storage.ledger.content.readings import PeopleRemoval, Readings
from engine.storage.ledger.full_text.update import FullTextUpdate
from engine.storage.ledger.names.corrections import Corrections
from engine.storage.ledger.names.duplicates import Duplicates
from engine.storage.ledger.names.joins import Joins
from engine.storage.ledger.names.name_search import NameSearch
from engine.storage.ledger.names.names import Names
from engine.storage.ledger.names.people import People
from engine.storage.ledger.profiles import Profiles
from engine.storage.ledger.queries.erasures import Erasures
from engine.storage.ledger.queries.export import export_lines
from engine.storage.ledger.queries.search import Search
from engine.storage.ledger.queries.stats import Stats
from engine.storage.ledger.queries.walk import Walks
from engine.storage.ledger.work.claims import Claims, StaleKeys
from engine.storage.ledger.work.settings import Embedders, Settings
from engine.storage.ledger.work.work_queue import WorkQueue
from engine.storage.sql.connection import Connection
from engine.storage.sql.database import Place_co, SqlDatabase

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    from engine.models import Scope
    from engine.storage.ledger.records import ExportFormat

Result = TypeVar("Result")


class LedgerTopics(Generic[Place_co]):
    """What a ledger holds, topic by topic: on a connection, or on a database."""

    def __init__(self, place: Place_co) -> None:
        self.documents = Documents(place)
        self.amendments = Amendments(place)
        self.chunks = Chunks(place)
        self.facts = Facts(place)
        self.readings = Readings(place)
        self.names = Names(place)
        self.people = People(place)
        self.removed_people = PeopleRemoval(place)
        self.joins = Joins(place)
        self.duplicates = Duplicates(place)
        self.corrections = Corrections(place)
        self.profiles = Profiles(place)
        self.work = WorkQueue(place)
        self.claims = Claims(place)
        self.stale_keys = StaleKeys(place)
        self.settings = Settings(place)
        self.embedders = Embedders(place)
        self.cache = Cache(place)
        self.erasures = Erasures(place)
        self.search = Search(place)
        self.name_search = NameSearch(place)
        self.walks = Walks(place)
        self.stats = Stats(place)
        self.full_text = FullTextUpdate(place)


class LedgerView(LedgerTopics[Connection]):
    """The topics as of one moment."""


class LedgerStore(SqlDatabase, LedgerTopics["LedgerStore"]):
    """An open ledger: its topics, and what concerns it as a whole.

    Every method of a topic is atomic: it reads one snapshot, or writes all or nothing, and a write is durable when it
    returns. Ids are the ledger's integers; they leave the engine nowhere.
    """

    def __init__(self) -> None:
        LedgerTopics.__init__(self, self)

    async def snapshot(self, work: Callable[[LedgerView], Result]) -> Result:
        """Run several reads as of one moment, in the thread of a connection."""
        return await self.read(lambda db: work(LedgerView(db)))

    async def export(self, form: ExportFormat, scope: Scope) -> AsyncGenerator[str, None]:
        """Lines of everything in the scope's spaces: canonical JSON Lines, or the graph as GraphML."""
        async with self.stream_connection() as db, aclosing(export_lines(db, form, scope)) as lines:
            async for line in lines:
                yield line

    @abstractmethod
    async def check_integrity(self) -> None:
        """Raise CorruptLedger if structure, indexes or constraints are damaged."""

    @abstractmethod
    async def copy_to(self, path: Path) -> str:
        """Copy the ledger as of one moment into a file; returns the checksum of its content."""

    @abstractmethod
    async def compact(self) -> None:
        """Remove the bytes of deleted rows from the files. Raises StoreError if readers prevent it."""
