"""Tables of experts, and of the questions that they were asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.platform.models import Location
from engine.storage.sql.fragments import text_list

if TYPE_CHECKING:
    from collections.abc import Collection

    from bot.store.database import Database
    from engine.storage.sql.connection import Connection

HOUR, DAY, WEEK = 60 * 60.0, 24 * 60 * 60.0, 7 * 24 * 60 * 60.0  # seconds
MAX_PER_ASKER = 3  # requests of one person in an hour
MAX_PER_EXPERT = 10  # requests to one person in a day


@dataclass(frozen=True, slots=True)
class Expert:
    """A person to ask about a topic, named in the channel `location`."""

    location: Location
    person: str
    topic: str


class Experts:
    """Experts of the channels of all workspaces; times are seconds since 1970."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, expert: Expert) -> None:
        """Add an expert, unless they have the topic already."""
        place = expert.location
        await self._database.execute(
            "INSERT INTO expert VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (place.room, expert.person, expert.topic, place.platform, place.workspace),
        )

    async def remove(self, room: str, person: str, topic: str = "") -> bool:
        """Remove one topic of a person in a room, or all of them; returns whether there was one."""
        sql = "DELETE FROM expert WHERE room = ?1 AND person = ?2 AND (?3 = '' OR topic = ?3) RETURNING topic"
        return bool(await self._database.execute(sql, (room, person, topic)))

    async def list_in_workspace(self, platform: str, workspace: str) -> list[Expert]:
        """The experts of a workspace by topic."""
        rows = await self._database.fetch_all(
            "SELECT room, person, topic FROM expert WHERE platform = ? AND workspace = ? ORDER BY topic, person, room",
            (platform, workspace),
        )
        return [Expert(Location.from_room(room), person, topic) for room, person, topic in rows]

    async def delete_in_channel(self, room: str) -> None:
        """Delete the experts of a channel."""
        await self._database.execute("DELETE FROM expert WHERE room = ?", (room,))

    async def delete_person(self, platform: str, workspace: str, person: str) -> None:
        """Delete a person's topics, and what they asked and were asked."""
        whose = (platform, workspace, person)
        await self._database.execute_all(
            ("DELETE FROM expert WHERE platform = ? AND workspace = ? AND person = ?", whose),
            (
                "DELETE FROM expert_request WHERE platform = ?1 AND workspace = ?2 AND (person = ?3 OR asker = ?3)",
                whose,
            ),
        )

    async def count_requests(self, rooms: Collection[str], since: float) -> int:
        """How often an expert was asked about an answer that others saw in one of these rooms, in the last week.

        `since`: seconds since 1970.
        """
        row = await self._database.fetch_one(
            "SELECT COUNT(*) FROM expert_request r JOIN answer a ON a.id = r.answer"
            " WHERE a.room IN (SELECT value FROM @list(?)) AND NOT a.private AND r.asked_at >= ?",
            (text_list(sorted(rooms)), since),
        )
        return int(row[0]) if row else 0

    async def begin_request(self, answer: str, expert: Expert, asker: str, now: float) -> str:
        """Record that an expert is asked about an answer.

        Returns why that may not be: "repeated", "asker" or "expert" (too many requests); empty if it may.
        """
        return await self._database.write(_begin_request, (answer, expert, asker, now))

    async def cancel_request(self, answer: str, person: str) -> None:
        """Delete the record of a request that could not be posted."""
        await self._database.execute("DELETE FROM expert_request WHERE answer = ? AND person = ?", (answer, person))


def _begin_request(db: Connection, request: tuple[str, Expert, str, float]) -> str:
    answer, expert, asker, now = request
    place = expert.location
    db.execute("DELETE FROM expert_request WHERE asked_at <= ?", (now - WEEK,))
    repeated = "SELECT 1 FROM expert_request WHERE answer = ? AND person = ? AND asked_at > ?"
    if db.execute_fetchall(repeated, (answer, expert.person, now - DAY)):
        return "repeated"
    for column, person, since, limit in (
        ("asker", asker, now - HOUR, MAX_PER_ASKER),
        ("person", expert.person, now - DAY, MAX_PER_EXPERT),
    ):
        condition = f"platform = ? AND workspace = ? AND {column} = ? AND asked_at > ?"
        sql = f"SELECT COUNT(*) FROM expert_request WHERE {condition}"
        [(count,)] = db.execute_fetchall(sql, (place.platform, place.workspace, person, since))
        if count >= limit:
            return "asker" if column == "asker" else "expert"
    row = (answer, expert.person, place.platform, place.workspace, asker, now)
    db.execute("DELETE FROM expert_request WHERE answer = ? AND person = ?", row[:2])
    db.execute("INSERT INTO expert_request VALUES (?, ?, ?, ?, ?, ?)", row)
    return ""
