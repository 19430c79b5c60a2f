"""Table of the questions of the last minute, which count against the limit of a person on every process."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from engine.errors import WRITES_REFUSED

if TYPE_CHECKING:
    from bot.store.database import Database
    from engine.storage.sql.connection import Connection

MINUTE = 60.0  # seconds


class RecentQuestions:
    """Questions with the times at which they were asked, in seconds since 1970."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._uncounted: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)

    async def count_if_below(self, person: tuple[str, str, str], limit: int, now: float) -> bool:
        """Count a question of a person (platform, workspace, id); False if they asked `limit` within a minute.

        While the database takes no changes, this process counts alone.
        """
        try:
            return await self._database.write(_count_if_below, person, limit, now)
        except WRITES_REFUSED:
            asked = self._uncounted[person] = [at for at in self._uncounted[person] if at > now - MINUTE]
            if len(asked) >= limit:
                return False
            asked.append(now)
            return True


def _count_if_below(db: Connection, person: tuple[str, str, str], limit: int, now: float) -> bool:
    # A clock that was set back must not count what it calls the future for as long.
    db.execute("DELETE FROM recent_question WHERE asked_at <= ?1 - ?2 OR asked_at > ?1 + ?2", (now, MINUTE))
    sql = "SELECT COUNT(*) FROM recent_question WHERE platform = ? AND workspace = ? AND person = ?"
    [(asked,)] = db.execute_fetchall(sql, person)
    if asked >= limit:
        return False
    db.execute("INSERT INTO recent_question VALUES (?, ?, ?, ?)", (*person, now))
    return True
