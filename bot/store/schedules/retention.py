"""What retention did last and whether it waits for a confirmation, and the numbers by which that is decided."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - the record is parsed
from typing import TYPE_CHECKING, Literal

from pydantic import TypeAdapter

from engine.storage.sql.fragments import from_micros, to_micros

if TYPE_CHECKING:
    from bot.store.database import Database
    from bot.store.shared.adapter_state import AdapterState

PLATFORM, NAME = "", "retention"  # of the row among the values of adapters; no adapter has this name
COUNT_OLD = (
    "SELECT (SELECT COUNT(DISTINCT document) FROM message WHERE time < ?1 AND document <> '')"
    " + (SELECT COUNT(*) FROM file WHERE time < ?1)"
)
COUNT_ALL = "SELECT (SELECT COUNT(*) FROM conversation) + (SELECT COUNT(*) FROM file)"
FIND_NEWEST_MESSAGE = "SELECT MAX(time) FROM message WHERE time <= ?"
FIND_NEWEST_FILE = "SELECT MAX(time) FROM file WHERE time <= ?"


@dataclass(frozen=True, slots=True)
class HeldDeletion:
    """A deletion that waits for a confirmation.

    `oldest`: what is older was to go. `documents` of `total` are. `since`: when it was held.
    """

    reason: Literal["amount", "clock"]
    oldest: datetime
    documents: int
    total: int
    since: datetime


@dataclass(frozen=True, slots=True)
class RetentionRecord:
    """`days`: the period of the last complete run; 0 before the first. `last_run`: its time.

    `confirmed`: what a person allowed: to delete what is older.
    """

    days: int = 0
    last_run: datetime | None = None
    held: HeldDeletion | None = None
    confirmed: datetime | None = None


_RECORD = TypeAdapter(RetentionRecord)


class RetentionRecords:
    """The record of retention, and counts of what has which age."""

    def __init__(self, database: Database, values: AdapterState) -> None:
        self._database = database
        self._values = values

    async def load(self) -> RetentionRecord:
        """The record; an empty one before the first run."""
        text = await self._values.get(PLATFORM, NAME)
        return _RECORD.validate_json(text) if text else RetentionRecord()

    async def save(self, record: RetentionRecord) -> None:
        """Replace the record."""
        await self._values.set(PLATFORM, NAME, _RECORD.dump_json(record).decode())

    async def count(self, oldest: datetime) -> tuple[int, int]:
        """The number of documents with something older than a time, and of all documents."""
        [[old]] = await self._database.fetch_all(COUNT_OLD, (to_micros(oldest),))
        [[total]] = await self._database.fetch_all(COUNT_ALL)
        return int(old), int(total)

    async def find_newest_message(self, now: datetime) -> datetime | None:
        """The time, which its platform states, of the newest message that is not in the future."""
        return await self._find_newest(FIND_NEWEST_MESSAGE, now)

    async def find_newest_file(self, now: datetime) -> datetime | None:
        """The time of the newest file that is not in the future; those of commands and uploads are by our own clock."""
        return await self._find_newest(FIND_NEWEST_FILE, now)

    async def _find_newest(self, sql: str, now: datetime) -> datetime | None:
        row = await self._database.fetch_one(sql, (to_micros(now),))
        return from_micros(row[0]) if row else None
