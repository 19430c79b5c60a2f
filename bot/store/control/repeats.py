"""Questions that are answered again in place of the answer that they had."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.store.database import Database
    from engine.storage.sql.connection import Connection


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
