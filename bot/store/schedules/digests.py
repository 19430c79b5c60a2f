"""Tables of scheduled digests and of the reports of a week."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.platform.models import Location
from bot.store.database import parse_rows
from engine.storage.sql.fragments import EPOCH, from_micros, to_micros

if TYPE_CHECKING:
    from datetime import datetime

    from bot.store.database import Database


_DIGEST_COLUMNS = "platform, workspace, channel, person, personal, schedule, since, due_at, posted, failures"


@dataclass(frozen=True, slots=True)
class Digest:
    """A digest of `location`, or, if it is `personal`, of all that `person` can read, sent to them there.

    `person` asked for it, empty if that person was forgotten. `since`: what happened before was in an earlier one.
    `posted`: the message above the digest that is being written, if there is one. `failures`: consecutive failed
    attempts to write it.
    """

    location: Location
    person: str
    personal: bool
    schedule: str
    since: datetime
    due_at: datetime
    posted: str = ""
    failures: int = 0


class Digests:
    """Scheduled digests; one for each channel, and one for each person in their direct messages."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, digest: Digest) -> None:
        """Store a digest, in place of the one of the same channel."""
        place = digest.location
        await self._database.execute(
            f"INSERT INTO digest (room, {_DIGEST_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (room) DO UPDATE SET person = excluded.person, personal = excluded.personal,"
            " schedule = excluded.schedule, since = excluded.since, due_at = excluded.due_at, posted = excluded.posted,"
            " failures = excluded.failures",
            (
                *(place.room, place.platform, place.workspace, place.channel, digest.person, digest.personal),
                *(digest.schedule, to_micros(digest.since), to_micros(digest.due_at), digest.posted, digest.failures),
            ),
        )

    async def update_progress(self, digest: Digest) -> None:
        """Store how far a digest got, unless it was ended or scheduled differently in the meantime."""
        progress = to_micros(digest.since), to_micros(digest.due_at), digest.posted, digest.failures
        await self._database.execute(
            "UPDATE digest SET since = ?, due_at = ?, posted = ?, failures = ?"
            " WHERE room = ? AND person IN (?, '') AND schedule = ?",
            (*progress, digest.location.room, digest.person, digest.schedule),
        )

    async def delete_person(self, platform: str, workspace: str, person: str) -> None:
        """Delete the digests that a person gets in direct messages, and their name from those of channels."""
        where = "platform = ? AND workspace = ? AND person = ?"
        await self._database.execute_all(
            (f"DELETE FROM digest WHERE {where} AND personal", (platform, workspace, person)),
            (f"UPDATE digest SET person = '' WHERE {where}", (platform, workspace, person)),
        )

    async def get(self, room: str) -> Digest | None:
        """The digest of a channel."""
        row = await self._database.fetch_one(f"SELECT {_DIGEST_COLUMNS} FROM digest WHERE room = ?", (room,))
        return _to_digest(row) if row else None

    async def list_due(self, now: datetime) -> list[Digest]:
        """The digests that are due, the oldest first."""
        rows = await self._database.fetch_all(
            f"SELECT {_DIGEST_COLUMNS} FROM digest WHERE due_at <= ? ORDER BY due_at, room", (to_micros(now),)
        )
        return parse_rows(rows, _to_digest)

    async def delete(self, room: str) -> bool:
        """Delete the digest of a channel; returns whether there was one."""
        return bool(await self._database.execute("DELETE FROM digest WHERE room = ? RETURNING room", (room,)))


def _to_digest(row: tuple[object, ...]) -> Digest:
    platform, workspace, channel, person, personal, schedule, since, due_at, posted, failures = row
    return Digest(
        Location(str(platform), str(workspace), str(channel)),
        str(person),
        bool(personal),
        str(schedule),
        from_micros(since),  # type: ignore[arg-type]
        from_micros(due_at),  # type: ignore[arg-type]
        str(posted),
        int(failures),  # type: ignore[call-overload]
    )


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
