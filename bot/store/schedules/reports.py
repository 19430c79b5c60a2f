"""Table of the managers who want a weekly report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.platform.models import Location
from engine.storage.sql.fragments import EPOCH, from_micros, to_micros

if TYPE_CHECKING:
    from datetime import datetime

    from bot.store.models import Database


@dataclass(frozen=True, slots=True)
class DueReport:
    """A report for a person of a workspace `place`, and when it is due."""

    place: Location
    person: str
    due_at: datetime


class ManagerReports:
    """Weekly reports by person."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def schedule(self, place: Location, person: str, due: datetime) -> None:
        """Let the next report of a person be due at a time."""
        await self._database.execute(
            "INSERT INTO manager_report VALUES (?, ?, ?, ?)"
            " ON CONFLICT (platform, workspace, person) DO UPDATE SET due_at = excluded.due_at",
            (place.platform, place.workspace, person, to_micros(due)),
        )

    async def list_due(self, now: datetime) -> list[DueReport]:
        """The reports that are due, the oldest first."""
        rows = await self._database.fetch_all(
            "SELECT platform, workspace, person, due_at FROM manager_report WHERE due_at <= ?"
            " ORDER BY due_at, platform, workspace, person",
            (to_micros(now),),
        )
        return [
            DueReport(Location(platform, workspace, ""), person, from_micros(due) or EPOCH)
            for platform, workspace, person, due in rows
        ]

    async def is_scheduled(self, place: Location, person: str) -> bool:
        """Whether a person wants reports."""
        sql = "SELECT 1 FROM manager_report WHERE platform = ? AND workspace = ? AND person = ?"
        return await self._database.fetch_one(sql, (place.platform, place.workspace, person)) is not None

    async def delete(self, platform: str, workspace: str, person: str) -> bool:
        """End the reports of a person; returns whether there were any."""
        sql = "DELETE FROM manager_report WHERE platform = ? AND workspace = ? AND person = ? RETURNING person"
        return bool(await self._database.execute(sql, (platform, workspace, person)))
