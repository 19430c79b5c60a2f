"""Table of platform events that are stored before they are handled.

Where several processes share the database, each claims the events that it handles; what a process had claimed when it
ended is free again. In a file there is one process, which holds its events in memory alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.store.shared.visibility import add_change, add_suspension
from engine.storage.sql.fragments import id_list

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bot.platform.models import Location
    from bot.store.database import Database
    from engine.storage.sql.connection import Connection

TOPIC = "events"  # of notifications about new ones
NO_PROCESS = -1  # as a parameter; no process has it
# The lowest workspace with waiting events after another one: as many look-ups as there are workspaces.
_LIST_WORKSPACES = """
    WITH RECURSIVE found (workspace) AS (
        SELECT MIN(workspace) FROM event WHERE state = 'waiting'
        UNION ALL
        SELECT (SELECT MIN(e.workspace) FROM event e WHERE e.state = 'waiting' AND e.workspace > found.workspace)
        FROM found WHERE found.workspace IS NOT NULL
    )
    SELECT workspace FROM found WHERE workspace IS NOT NULL"""
_FREE = (
    "SELECT e.id, e.event_type, e.payload, e.attempts, e.due_at FROM event e"
    " WHERE e.state = 'waiting' AND e.workspace = ?1 AND e.due_at <= ?2"
    " AND (e.claimed_by IS NULL OR e.claimed_by = ?3) AND e.id NOT IN (SELECT value FROM @list(?4))"
)
_UNORDERED = f"{_FREE} AND e.ordering_key = '' ORDER BY e.id LIMIT ?5"
_ORDERED = (
    f"{_FREE} AND e.ordering_key <> '' AND NOT EXISTS (SELECT 1 FROM event other"
    " WHERE other.ordering_key = e.ordering_key AND other.claimed_by IS NOT NULL AND other.claimed_by <> ?3)"
    " ORDER BY e.id LIMIT ?5"
)


@dataclass(frozen=True, slots=True)
class QueuedEvent:
    """An event that is not handled yet: class name and JSON."""

    id: int
    event_type: str
    payload: str
    attempts: int
    due_at: float


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to store. `workspace`: its key (`platform:workspace`); `ordering_key`: empty if it needs no order."""

    event_type: str
    payload: str
    workspace: str = ""
    ordering_key: str = ""


@dataclass(frozen=True, slots=True)
class EventClaim:
    """What a process takes: due events of these workspaces in turn, the first of each before the second of any.

    `held`: the events that it has. `ordered`, `unordered`: at most so many with an ordering key, and without one.
    """

    workspaces: Sequence[str]
    held: Collection[int]
    ordered: int
    unordered: int
    now: float


class EventQueueTable:
    """Stored events. Times are seconds since 1970. `process`: the number of this process; None if it is alone."""

    def __init__(self, database: Database, process: int | None) -> None:
        self._database = database
        self._process = process

    async def enqueue(self, event: NewEvent, keys: Sequence[str], now: float, suspend: Location | None = None) -> bool:
        """Store an event with its idempotency keys; False if one of them exists: then the others are added to it.

        `suspend`: also tell other processes that the audience of this location changed, and suspend it for all of them
        if the event is new.
        """
        shared = None if self._process is None else suspend
        return await self._database.write(_enqueue, event, keys, now, shared)

    async def list_workspaces(self) -> list[str]:
        """The keys of the workspaces with unhandled events."""
        return [workspace for (workspace,) in await self._database.fetch_all(_LIST_WORKSPACES)]

    async def find_ages(self, now: float) -> dict[str, float]:
        """The age in seconds of each workspace's oldest unhandled event, by the workspace's key."""
        sql = "SELECT workspace, MIN(received_at) FROM event WHERE state = 'waiting' GROUP BY workspace"
        return {str(workspace): now - float(since) for workspace, since in await self._database.fetch_all(sql)}

    async def claim(self, claim: EventClaim) -> list[QueuedEvent]:
        """Take events that no other process has, in order of arrival.

        Of an ordering key that another process has events of, none are taken.
        """
        found = await self._database.read(_find_free, claim, NO_PROCESS if self._process is None else self._process)
        if self._process is None or not found:
            return found
        return await self._database.write(_claim, claim, self._process)

    async def get_next_due(self, now: float) -> float | None:
        """The time at which the next delayed event is due; None if none is delayed."""
        sql = "SELECT MIN(due_at) FROM event WHERE state = 'waiting' AND due_at > ?"
        row = await self._database.fetch_one(sql, (now,))
        return None if row is None or row[0] is None else float(row[0])

    async def make_due(self, now: float) -> None:
        """Let all delayed events be due."""
        await self._database.execute("UPDATE event SET due_at = ?1 WHERE state = 'waiting' AND due_at > ?1", (now,))

    async def finish(self, id_: int) -> None:
        """Mark an event as handled; its keys are kept."""
        sql = "UPDATE event SET state = 'done', payload = NULL, claimed_by = NULL WHERE id = ?"
        await self._database.execute(sql, (id_,))

    async def delay(self, id_: int, due: float, error: str, tries: int) -> None:
        """Record a failed attempt and the time of the next one, which any process may make."""
        await self._database.execute(
            "UPDATE event SET attempts = ?, due_at = ?, error = ?, claimed_by = NULL WHERE id = ?",
            (tries, due, error, id_),
        )

    async def fail(self, id_: int, error: str) -> None:
        """Mark an event as permanently failed."""
        await self._database.execute(
            "UPDATE event SET state = 'failed', payload = NULL, claimed_by = NULL, attempts = attempts + 1, error = ?"
            " WHERE id = ?",
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


def _find_free(db: Connection, claim: EventClaim, process: int) -> list[QueuedEvent]:
    """The events of a claim."""
    taken = list[QueuedEvent]()
    for sql, limit in ((_UNORDERED, claim.unordered), (_ORDERED, claim.ordered)):
        found = list[tuple[int, QueuedEvent]]()  # with its turn within the workspace
        for workspace in claim.workspaces if limit > 0 else ():
            parameters = (workspace, claim.now, process, id_list(claim.held), limit)
            found += enumerate(QueuedEvent(*row) for row in db.execute_fetchall(sql, parameters))
        found.sort(key=lambda each: (each[0], each[1].id))
        taken += [event for _, event in found[:limit]]
    return sorted(taken, key=lambda event: event.id)


def _claim(db: Connection, claim: EventClaim, process: int) -> list[QueuedEvent]:
    """Take the events of a claim; writers of all processes take turns."""
    taken = _find_free(db, claim, process)
    db.execute(
        "UPDATE event SET claimed_by = ? WHERE id IN (SELECT value FROM @list(?))",
        (process, id_list(event.id for event in taken)),
    )
    return taken


def _enqueue(db: Connection, event: NewEvent, keys: Sequence[str], now: float, suspend: Location | None = None) -> bool:
    """Store an event unless one of its keys exists; returns whether it is new."""
    known = [
        row for key in keys for row in db.execute_fetchall("SELECT event FROM idempotency_key WHERE key = ?", (key,))
    ]
    insert = (
        "INSERT INTO event (event_type, payload, workspace, ordering_key, due_at, received_at)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?5) RETURNING id"
    )
    values = (event.event_type, event.payload, event.workspace, event.ordering_key, now)
    [(id_,), *_] = known or db.execute_fetchall(insert, values)
    db.executemany("INSERT INTO idempotency_key VALUES (?, ?) ON CONFLICT DO NOTHING", [(key, id_) for key in keys])
    if suspend is not None:
        add_change(db, suspend, members_only=False)
        if not known:
            add_suspension(db, suspend, event=id_)
    return not known
