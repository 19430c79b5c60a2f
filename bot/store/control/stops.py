"""Who stopped an answer while it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.platform.models import Location
    from bot.store.database import Database

_IN_PROGRESS = "room = ?1 AND (?2 = '' OR thread = ?2) AND asker = ?3 AND state = 'started' AND stopped_by = ''"


class AnswerStops:
    """Stops of answers, columns of their rows. A stop lasts, so that no process takes the answer up again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def stop(self, answer: str, person: str) -> bool:
        """Stop an answer in progress; False if it is finished or was stopped before."""
        sql = "UPDATE answer SET stopped_by = ? WHERE id = ? AND state = 'started' AND stopped_by = '' RETURNING id"
        return bool(await self._database.execute(sql, (person, answer)))

    async def stop_in_thread(self, place: Location, asker: str) -> bool:
        """Stop the answers to a person in a thread, or in the whole channel; whether there was one in progress."""
        sql = f"UPDATE answer SET stopped_by = ?3 WHERE {_IN_PROGRESS} RETURNING id"
        return bool(await self._database.execute(sql, (place.room, place.thread, asker)))

    async def has_progress_in_thread(self, place: Location, asker: str) -> bool:
        """Whether an answer to a person is in progress in a thread, or in the whole channel."""
        sql = f"SELECT 1 FROM answer WHERE {_IN_PROGRESS} LIMIT 1"
        return await self._database.fetch_one(sql, (place.room, place.thread, asker)) is not None

    async def get_stopper(self, answer: str) -> str:
        """Who stopped an answer; empty if nobody did."""
        row = await self._database.fetch_one("SELECT stopped_by FROM answer WHERE id = ?", (answer,))
        return str(row[0]) if row else ""
