"""Table of links to answers that their askers share; each goes with its answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - a field's type
from typing import TYPE_CHECKING

from engine.storage.sql.fragments import EPOCH, from_micros, to_micros

if TYPE_CHECKING:
    from bot.platform.models import Location
    from bot.store.database import Database

MAX_LISTED = 100


@dataclass(frozen=True, slots=True)
class AnswerLink:
    """A link to an answer: its id, the answer's id, its question, and since when it is shared."""

    id: str
    answer: str
    question: str
    time: datetime


class SharedAnswers:
    """Links to answers, at most one for each."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, id_: str, answer: str, time: datetime) -> str:
        """Share an answer under an id; returns the id under which it is shared, "" if it is not finished (anymore)."""
        sql = (
            "INSERT INTO shared_answer (id, answer, time) SELECT ?, id, ? FROM answer WHERE id = ? AND state = 'done'"
            " ON CONFLICT (answer) DO UPDATE SET time = shared_answer.time RETURNING id"
        )
        rows = await self._database.execute(sql, (id_, to_micros(time), answer))
        return rows[0][0] if rows else ""

    async def get_answer(self, id_: str) -> str:
        """The id of the answer that is shared under an id; empty if none is."""
        row = await self._database.fetch_one("SELECT answer FROM shared_answer WHERE id = ?", (id_,))
        return row[0] if row else ""

    async def remove(self, answer: str) -> bool:
        """Share an answer no more; returns whether it was shared."""
        return bool(await self._database.execute("DELETE FROM shared_answer WHERE answer = ? RETURNING id", (answer,)))

    async def list_of(self, place: Location, asker: str) -> list[AnswerLink]:
        """The newest links to the answers of a person of a workspace, or of a space, that are not redacted."""
        rows = await self._database.fetch_all(
            "SELECT s.id, a.id, a.question, s.time FROM shared_answer s JOIN answer a ON a.id = s.answer"
            " WHERE a.platform = ? AND a.workspace = ? AND a.asker = ? AND a.state = 'done'"
            f" ORDER BY s.time DESC, s.id LIMIT {MAX_LISTED}",
            (place.platform, place.workspace, asker),
        )
        return [AnswerLink(id_, answer, question, from_micros(time) or EPOCH) for id_, answer, question, time in rows]
