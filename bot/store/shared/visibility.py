"""Tables by which processes tell each other about changed audiences and suspended spaces.

Both are numbered in the order of commits, because the writers of all processes take turns: who has read up to a number
has seen every change up to it. A single process keeps all of this in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.platform.models import Location
from engine.storage.sql.fragments import EPOCH, MICROSECOND

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bot.store.database import Database
    from engine.storage.sql.connection import Connection


@dataclass(frozen=True, slots=True)
class VisibilityState:
    """What other processes reported: changes after a number, and all present suspensions.

    `changes`: location, and whether only its members changed. `number`: of the latest change.
    """

    number: int
    changes: Sequence[tuple[Location, bool]]
    suspended: Sequence[Location]


class SharedVisibility:
    """Changed audiences and suspensions. An empty channel or workspace of a location stands for all of them."""

    def __init__(self, database: Database, process: int) -> None:
        self._database = database
        self._process = process

    async def read(self, since: int) -> VisibilityState:
        """The changes after this number, and the suspensions."""
        return await self._database.read(_read_state, since)

    async def record_change(self, location: Location, *, members_only: bool) -> None:
        """Record that an audience changed; every process looks it up again before its next answer."""
        await self._database.write(add_change, location, members_only=members_only)

    async def suspend(self, location: Location) -> None:
        """Suspend a location until a comparison that began later has succeeded."""
        await self._database.write(_suspend, location, self._process)

    async def get_last_suspension(self) -> int:
        """The number of the latest suspension; a comparison that begins now ends those up to it."""
        row = await self._database.fetch_one("SELECT COALESCE(MAX(number), 0) FROM suspension")
        return int(row[0]) if row else 0

    async def resume(self, location: Location, until: int) -> None:
        """End the suspensions up to this number, of a location and everything within it."""
        within = "(?2 = '' OR workspace = ?2) AND (?3 = '' OR channel = ?3)"
        await self._database.execute(
            f"DELETE FROM suspension WHERE platform = ?1 AND {within} AND number <= ?4",
            (location.platform, location.workspace, location.channel, until),
        )

    async def read_time(self) -> datetime:
        """The time by the clock of the database, the only one that all processes share."""
        row = await self._database.fetch_one("SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint")
        return EPOCH + (row[0] if row else 0) * MICROSECOND

    async def list_abandoned(self) -> list[Location]:
        """The suspensions that nothing ends: of ended processes, and of events that were given up."""
        rows = await self._database.fetch_all(
            "SELECT DISTINCT platform, workspace, channel FROM suspension s WHERE process IS NULL AND NOT EXISTS"
            " (SELECT 1 FROM event e WHERE e.id = s.event AND e.state = 'waiting')"
        )
        return [Location(*row) for row in rows]


def add_change(db: Connection, location: Location, *, members_only: bool) -> None:
    """Record a change under a new number."""
    place = (location.platform, location.workspace, location.channel, members_only)
    where = "platform = ? AND workspace = ? AND channel = ? AND members_only = ?"
    db.execute(f"DELETE FROM visibility_change WHERE {where}", place)
    db.execute("INSERT INTO visibility_change (platform, workspace, channel, members_only) VALUES (?, ?, ?, ?)", place)


def add_suspension(db: Connection, location: Location, *, process: int | None = None, event: int | None = None) -> None:
    """Suspend a location until a process has compared audiences, or until an event is handled."""
    db.execute(
        "INSERT INTO suspension (platform, workspace, channel, process, event) VALUES (?, ?, ?, ?, ?)",
        (location.platform, location.workspace, location.channel, process, event),
    )


def _suspend(db: Connection, location: Location, process: int) -> None:
    add_change(db, location, members_only=False)
    add_suspension(db, location, process=process)


def _read_state(db: Connection, since: int) -> VisibilityState:
    changes = db.execute_fetchall(
        "SELECT number, platform, workspace, channel, members_only FROM visibility_change WHERE number > ?"
        " ORDER BY number",
        (since,),
    )
    suspended = db.execute_fetchall("SELECT DISTINCT platform, workspace, channel FROM suspension")
    return VisibilityState(
        changes[-1][0] if changes else since,
        [(Location(*place), bool(members_only)) for _, *place, members_only in changes],
        [Location(*place) for place in suspended],
    )
