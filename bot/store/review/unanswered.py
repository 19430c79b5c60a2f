"""Questions that found nothing, or only the closest passages, or whose answer was voted down."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - a field's type
from typing import TYPE_CHECKING

from bot.platform.models import Location
from bot.store.models import CLOSEST_KEY, CONTRADICTION_PREFIX, REPORT_PREFIX, UNSEARCHED_KEY
from engine.storage.sql.fragments import EPOCH, from_micros, to_micros

if TYPE_CHECKING:
    from bot.store.database import Database, Row


@dataclass(frozen=True, slots=True)
class UnansweredQuestion:
    """A question with its answer's id. `votes_down`: of an answer that was given; 0 if nothing was found."""

    answer: str
    location: Location
    asker: str
    question: str
    time: datetime
    message_id: str
    votes_down: int


class UnansweredQuestions:
    """Reads the tables of answers and ratings.

    Private answers in the chat are never among them, nor what the language model was asked alone.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_since(
        self, platform: str, workspace: str, since: datetime, limit: int, *, outside_of_channels: bool = False
    ) -> list[UnansweredQuestion]:
        """The questions of a workspace since a time, the newest first; none of people who opted out.

        `outside_of_channels`: those, too, that were asked outside of the chat.
        """
        is_shown = "(NOT private OR channel = '')" if outside_of_channels else "NOT private"
        rows = await self._database.fetch_all(
            "SELECT id, channel, thread, asker, question, time, message, down FROM (SELECT answer.*,"
            " (SELECT COUNT(*) FROM feedback WHERE answer = id AND NOT up) AS down FROM answer"
            f" WHERE time >= ?1 AND platform = ?2 AND workspace = ?3 AND state = 'done' AND {is_shown}"
            f" AND id NOT LIKE '{REPORT_PREFIX}%' AND id NOT LIKE '{CONTRADICTION_PREFIX}%'"
            " AND question <> '' AND (stopped_by = '' OR sources <> '[]')) a"
            " WHERE (down > 0 OR (sources = '[]' AND NOT EXISTS (SELECT 1 FROM answer_provenance v"
            " WHERE v.answer = a.id AND v.key LIKE 'verified:%'))"
            f" OR EXISTS (SELECT 1 FROM answer_provenance c WHERE c.answer = a.id AND c.key = '{CLOSEST_KEY}'))"
            f" AND NOT EXISTS (SELECT 1 FROM answer_provenance u WHERE u.answer = a.id AND u.key = '{UNSEARCHED_KEY}')"
            " AND NOT EXISTS (SELECT 1 FROM opt_out o WHERE o.platform = ?2 AND o.workspace = ?3"
            " AND o.person = a.asker AND o.ended_at IS NULL)"
            f" ORDER BY time DESC, id DESC LIMIT {limit}",
            (to_micros(since), platform, workspace),
        )
        return [_to_question(platform, workspace, row) for row in rows]

    async def count_asked(self, platform: str, workspace: str, since: datetime, besides: str = "") -> dict[str, int]:
        """How many questions were asked in each room of a workspace since a time, none in private.

        `besides`: the words of a question that nobody asked.
        """
        rows = await self._database.fetch_all(
            "SELECT room, COUNT(*) FROM answer WHERE time >= ? AND platform = ? AND workspace = ? AND NOT private"
            " AND channel <> '' AND question NOT IN ('', ?) GROUP BY room ORDER BY room",
            (to_micros(since), platform, workspace, besides),
        )
        return {str(room): int(count) for room, count in rows}


def _to_question(platform: str, workspace: str, row: Row) -> UnansweredQuestion:
    id_, channel, thread, asker, text, time, message, down = row
    place = Location(platform, workspace, channel, thread)
    return UnansweredQuestion(id_, place, asker, text, from_micros(time) or EPOCH, message, down)
