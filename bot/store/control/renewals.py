"""Answers that are written anew in place because a source of them changed, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bot.platform.models import Location
from bot.store.answers import redact_removed, save_result
from bot.store.models import ANSWER_SOURCES
from engine.storage.sql.fragments import to_micros

if TYPE_CHECKING:
    from datetime import datetime

    from bot.store.database import Database
    from bot.store.models import AnswerResult, AnswerSource, StoredAnswer
    from engine import Clock
    from engine.storage.sql.connection import Connection

RenewalOutcome = Literal["renewed", "shortened", "nothing", "private", "old", "command", "failed", "marked"]


@dataclass(frozen=True, slots=True)
class CitingAnswer:
    """A posted answer; `cited_words`: its sources as JSON."""

    id: str
    location: Location
    cited_words: str

    @property
    def sources(self) -> tuple[AnswerSource, ...]:
        """The sources that the answer cited, read from their stored JSON."""
        return ANSWER_SOURCES.validate_json(self.cited_words)


class AnswerRenewals:
    """Renewals of redacted answers; the latest outcome of each."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def save(self, former: StoredAnswer, question: str, result: AnswerResult, began: float) -> bool:
        """Store the new text of an answer; False if it changed meanwhile, or a source was removed since `began`.

        `former`: as it was read, redacted with the sentences that stay, or superseded. `began`: when the new text was
        begun (seconds since 1970).
        """
        return await self._database.write(_save, former, question, result, self._clock, began)

    async def record(self, place: Location, answer: str, outcome: RenewalOutcome, tokens: int = 0) -> None:
        """Record what came of an answer, and the tokens that its new text cost today."""
        await self._database.execute(
            "INSERT INTO answer_renewal (answer, platform, workspace, day, outcome, tokens)"
            " SELECT id, ?, ?, ?, ?, ? FROM answer WHERE id = ?"
            " ON CONFLICT (answer) DO UPDATE SET outcome = excluded.outcome, day = excluded.day, tokens ="
            " excluded.tokens + CASE answer_renewal.day WHEN excluded.day THEN answer_renewal.tokens ELSE 0 END",
            (place.platform, place.workspace, self._today(), outcome, tokens, answer),
        )

    async def count_tokens(self, place: Location) -> int:
        """The tokens that new texts of a workspace cost today (UTC)."""
        sql = "SELECT COALESCE(SUM(tokens), 0) FROM answer_renewal WHERE platform = ? AND workspace = ? AND day = ?"
        [(tokens,)] = await self._database.fetch_all(sql, (place.platform, place.workspace, self._today()))
        return int(tokens)

    async def count_outcomes(self) -> dict[str, int]:
        """How many stored answers had which outcome; private ones are those that no edit may reach."""
        rows = await self._database.fetch_all(
            "SELECT outcome, COUNT(*) FROM answer_renewal WHERE outcome <> 'private' GROUP BY outcome"
            " UNION ALL SELECT 'private', COUNT(*) FROM answer WHERE state = 'redacted' AND private ORDER BY 1"
        )
        return {outcome: int(count) for outcome, count in rows if count}

    async def list_citing(self, place: Location, since: datetime, until: datetime, limit: int) -> list[CitingAnswer]:
        """The newest posted public answers of a workspace that were asked since a time and written before another."""
        rows = await self._database.fetch_all(
            "SELECT id, platform, workspace, channel, thread, sources FROM answer WHERE time >= ?1 AND time < ?2"
            " AND repeated_at < ?2 AND platform = ?3 AND workspace = ?4 AND state = 'done' AND NOT private"
            " AND reply_ref <> '' AND sources <> '[]'"
            # These quote messages, and stay right.
            " AND id NOT IN (SELECT answer FROM watch_notice UNION SELECT answer FROM contradiction_notice)"
            f" ORDER BY time DESC, id LIMIT {limit}",
            (to_micros(since), to_micros(until), place.platform, place.workspace),
        )
        return [CitingAnswer(id_, Location(*where), cited) for id_, *where, cited in rows]

    async def finish(self, answer: str, attempts: int, *, renewed: bool) -> bool:
        """Delete the correction of an answer; False if a renewed one lost another source since.

        What stays of an answer that is not renewed is deleted with it.
        """
        return await self._database.write(_finish, answer, attempts, renewed=renewed)

    def _today(self) -> str:
        return self._clock.now().date().isoformat()


def _save(
    db: Connection, former: StoredAnswer, question: str, result: AnswerResult, clock: Clock, began: float
) -> bool:
    begun = db.execute_fetchall(
        "UPDATE answer SET state = 'done', question = ?, stopped_by = '', attempt = attempt + 1,"
        " repeat_event = 'renewal', repeated_at = ?"
        " WHERE id = ? AND state = ? AND attempt = ? AND text = ? RETURNING id",
        (question, int(began * 1e6), former.id, former.state, former.attempt, former.text),
    )
    if not begun:
        return False
    db.execute("DELETE FROM feedback WHERE answer = ?", (former.id,))
    save_result(db, former.id, result)
    return redact_removed(db, former.id, clock)[0]


def _finish(db: Connection, answer: str, attempts: int, *, renewed: bool) -> bool:
    if not renewed:
        db.execute(
            "DELETE FROM answer_provenance WHERE answer = (SELECT id FROM answer WHERE id = ? AND state = 'redacted')",
            (answer,),
        )
        db.execute("UPDATE answer SET text = '', sources = '[]' WHERE id = ? AND state = 'redacted'", (answer,))
        db.execute("DELETE FROM answer_correction WHERE answer = ?", (answer,))
        return True
    lost = "EXISTS (SELECT 1 FROM answer WHERE id = ?1 AND state = 'redacted')"
    return bool(
        db.execute_fetchall(
            f"DELETE FROM answer_correction WHERE answer = ?1 AND attempts = ?2 AND NOT {lost} RETURNING answer",
            (answer, attempts),
        )
    )
