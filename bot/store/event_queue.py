"""The rows of the inbox."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.store.database import Database


@dataclass(frozen=True, slots=True)
class QueuedEvent:
    """An event that is not handled yet: its record's class, and the record as JSON."""

    id: int
    event_type: str
    payload: str
    attempts: int
    due_at: float


class EventQueueTable:
    """Events, stored before they are worked on. Times are seconds since 1970."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def enqueue(self, kind: str, payload: str, keys: Sequence[str], now: float) -> bool:
        """Keep an event; False if it is known by one of its keys: then the others are known from now on too."""
        async with self._database.transaction() as db:
            known = None
            for key in keys:
                known = known or next(
                    iter(await db.execute("SELECT event FROM idempotency_key WHERE key = ?", (key,))), None
                )
            [(row,)] = (
                [known]
                if known
                else await db.execute(
                    "INSERT INTO event (event_type, payload, due_at, received_at) VALUES (?, ?, ?, ?) RETURNING id",
                    (kind, payload, now, now),
                )
            )
            await db.execute_many("INSERT OR IGNORE INTO idempotency_key VALUES (?, ?)", [(key, row) for key in keys])
        return known is None

    async def list_waiting(self, after: int = 0) -> list[QueuedEvent]:
        """What came after this event and is not handled yet, in order."""
        rows = await self._database.fetch_all(
            "SELECT id, event_type, payload, attempts, due_at FROM event"
            " WHERE state = 'waiting' AND id > ? ORDER BY id",
            (after,),
        )
        return [QueuedEvent(*row) for row in rows]

    async def finish(self, id_: int) -> None:
        """It is handled; its keys stay."""
        await self._database.execute("UPDATE event SET state = 'done', payload = NULL WHERE id = ?", (id_,))

    async def delay(self, id_: int, due: float, error: str, tries: int) -> None:
        """It failed with an error of this class after so many tries that count, and is tried again at that time."""
        await self._database.execute(
            "UPDATE event SET attempts = ?, due_at = ?, error = ? WHERE id = ?", (tries, due, error, id_)
        )

    async def fail(self, id_: int, error: str) -> None:
        """It is given up."""
        await self._database.execute(
            "UPDATE event SET state = 'failed', payload = NULL, attempts = attempts + 1, error = ? WHERE id = ?",
            (error, id_),
        )

    async def count_waiting(self) -> int:
        """How many events wait."""
        [(count,)] = await self._database.fetch_all("SELECT COUNT(*) FROM event WHERE state = 'waiting'")
        return int(count)

    async def count_failures(self) -> dict[str, int]:
        """How many events were given up and are still remembered, by the class of the error."""
        rows = await self._database.fetch_all("SELECT error, COUNT(*) FROM event WHERE state = 'failed' GROUP BY error")
        return {str(error): int(count) for error, count in rows}

    async def prune(self, before: float) -> None:
        """Forget the keys of what was received before that time and is not waiting."""
        await self._database.execute("DELETE FROM event WHERE state <> 'waiting' AND received_at < ?", (before,))
