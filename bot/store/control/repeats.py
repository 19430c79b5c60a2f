"""Questions that are answered again in place of their answer, and who stopped an answer while it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.platform.models import Location
    from bot.store.database import Database
    from engine.storage.sql.connection import Connection


_IN_PROGRESS = "room = ?1 AND (?2 = '' OR thread = ?2) AND asker = ?3 AND state = 'started' AND stopped_by = ''"


class AnswerRepeats:
    """Repeats of answers, columns of their rows."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, answer: str, attempt: int, event: str, now: float, question: str = "") -> bool:
        """Begin a finished answer again, after so many attempts; false if another event did, or it is in progress.

        True again for the same event until the answer is finished. Ratings of the answer are deleted. What it used
        stays until the next one is finished, which is a new message where only the asker sees it. `question`: its new
        words, if it has any.
        """
        return await self._database.write(_begin, answer, attempt, event, int(now * 1e6), question)


def _begin(db: Connection, answer: str, attempt: int, event: str, now: int, question: str) -> bool:
    begun = db.execute_fetchall(
        "UPDATE answer SET state = 'started', stopped_by = '', attempt = attempt + 1, repeat_event = ?3,"
        " question = CASE WHEN ?5 <> '' THEN ?5 ELSE question END, repeated_at = ?4,"
        " reply_ref = CASE WHEN private THEN '' ELSE reply_ref END"
        " WHERE id = ?1 AND attempt = ?2 AND state IN ('done', 'failed') AND question <> '' RETURNING id",
        (answer, attempt, event, now, question),
    )
    if begun:
        db.execute("DELETE FROM feedback WHERE answer = ?", (answer,))
        return True
    sql = "SELECT 1 FROM answer WHERE id = ? AND attempt = ? AND repeat_event = ? AND state = 'started'"
    return bool(db.execute_fetchall(sql, (answer, attempt + 1, event)))


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
