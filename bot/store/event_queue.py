"""Table of platform events that are stored before they are handled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.store.database import fetch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.store.database import Database
    from engine.storage.sql.connection import Connection


@dataclass(frozen=True, slots=True)
class QueuedEvent:
    """An event that is not handled yet: class name and JSON."""

    id: int
    event_type: str
    payload: str
    attempts: int
    due_at: float


class EventQueueTable:
    """Stored events. Times are seconds since 1970."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def enqueue(self, kind: str, payload: str, keys: Sequence[str], now: float) -> bool:
        """Store an event with its idempotency keys; False if one of them exists: then the others are added to it."""
        return await self._database.write(_enqueue, (kind, payload, now, now), keys)

    async def list_waiting(self, after: int = 0) -> list[QueuedEvent]:
        """The unhandled events after this one, in order."""
        rows = await self._database.fetch_all(
            "SELECT id, event_type, payload, attempts, due_at FROM event"
            " WHERE state = 'waiting' AND id > ? ORDER BY id",
            (after,),
        )
        return [QueuedEvent(*row) for row in rows]

    async def finish(self, id_: int) -> None:
        """Mark an event as handled; its keys are kept."""
        await self._database.execute("UPDATE event SET state = 'done', payload = NULL WHERE id = ?", (id_,))

    async def delay(self, id_: int, due: float, error: str, tries: int) -> None:
        """Record a failed attempt and the time of the next one."""
        await self._database.execute(
            "UPDATE event SET attempts = ?, due_at = ?, error = ? WHERE id = ?", (tries, due, error, id_)
        )

    async def fail(self, id_: int, error: str) -> None:
        """Mark an event as permanently failed."""
        await self._database.execute(
            "UPDATE event SET state = 'failed', payload = NULL, attempts = attempts + 1, error = ? WHERE id = ?",
            (error, id_),
        )

    async def count_waiting(self) -> int:
        """Number of unhandled events."""
        [(count,)] = await self._database.fetch_all("SELECT COUNT(*) FROM event WHERE state = 'waiting'")
        return int(count)

    async def count_failures(self) -> dict[str, int]:
        """Number of permanently failed events by error class."""
        rows = await self._database.fetch_all("SELECT error, COUNT(*) FROM event WHERE state = 'failed' GROUP BY error")
        return {str(error): int(count) for error, count in rows}

    async def prune(self, before: float) -> None:
        """Delete handled events received before this time, with their keys."""
        await self._database.execute("DELETE FROM event WHERE state <> 'waiting' AND received_at < ?", (before,))


async def _enqueue(db: Connection, event: tuple[str, str, float, float], keys: Sequence[str]) -> bool:
    """Store an event (type, payload, due, received) unless one of its keys exists; returns whether it is new."""
    known = [row for key in keys for row in await fetch(db, "SELECT event FROM idempotency_key WHERE key = ?", (key,))]
    insert = "INSERT INTO event (event_type, payload, due_at, received_at) VALUES (?, ?, ?, ?) RETURNING id"
    [(id_,), *_] = known or await fetch(db, insert, event)
    await db.executemany(
        "INSERT INTO idempotency_key VALUES (?, ?) ON CONFLICT DO NOTHING", [(key, id_) for key in keys]
    )
    return not known
