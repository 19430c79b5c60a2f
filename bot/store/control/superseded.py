"""Posted answers that a newer message supersedes; they stay until there is a new text, since nothing was removed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.store.models import parse_message_key
from bot.store.redactions import drop_marks, request_corrections
from engine.storage.sql.fragments import text_list

if TYPE_CHECKING:
    from collections.abc import Collection

    from bot.store.database import Database
    from bot.store.redactions import AnswerCorrections
    from engine import Clock
    from engine.storage.sql.connection import Connection


@dataclass(frozen=True, slots=True)
class Supersession:
    """The key of the newer message, and of the messages that it replaces.

    `is_marked`: there is no new text, and the posted answer says, or will say, that a newer message says otherwise.
    """

    newer: str
    replaced: frozenset[str]
    is_marked: bool = False

    @property
    def room(self) -> str:
        """The room of the newer message."""
        return parse_message_key(self.newer)[0]

    @property
    def message(self) -> str:
        """The id of the newer message."""
        return parse_message_key(self.newer)[1]


class SupersededAnswers:
    """What supersedes answers, until they have a new text or are redacted; the latest of an answer counts.

    If its message goes, the one before counts again.
    """

    def __init__(self, database: Database, corrections: AnswerCorrections, clock: Clock) -> None:
        self._database = database
        self._corrections = corrections
        self._clock = clock

    async def add(self, answer: str, newer: str, replaced: Collection[str]) -> None:
        """Request a new text for a finished answer; the same message requests it once."""
        if await self._database.write(_add, answer, newer, replaced, self._clock):
            self._corrections.updated.set()

    async def get(self, answer: str) -> Supersession | None:
        """What supersedes an answer; None if nothing does."""
        sql = "SELECT newer, replaced, marked FROM supersession WHERE answer = ? ORDER BY position DESC LIMIT 1"
        row = await self._database.fetch_one(sql, (answer,))
        return Supersession(row[0], frozenset(json.loads(row[1])), bool(row[2])) if row else None

    async def mark(self, answer: str, newer: str) -> bool:
        """Record that an answer has no new text and rests on the newer message, too; False if it changed meanwhile."""
        return await self._database.write(_mark, answer, newer)

    async def unmark(self, answer: str, hidden: Collection[str]) -> bool:
        """Forget what supersedes an answer if it is among these keys, as its readers may not know of it; else False."""
        return await self._database.write(_unmark, answer, hidden, self._clock)


def _add(db: Connection, answer: str, newer: str, replaced: Collection[str], clock: Clock) -> bool:
    if _find_latest(db, answer) == newer:
        return False
    drop_marks(db, "answer = ?", (answer,))
    added = db.execute_fetchall(
        "INSERT INTO supersession (answer, newer, replaced, position) SELECT id, ?, ?,"
        " 1 + COALESCE((SELECT MAX(position) FROM supersession s WHERE s.answer = answer.id), 0) FROM answer"
        " WHERE id = ? AND state = 'done' AND reply_ref <> ''"
        " ON CONFLICT (answer, newer) DO UPDATE SET replaced = excluded.replaced, position = excluded.position"
        " RETURNING answer",
        (newer, json.dumps(sorted(replaced)), answer),
    )
    return bool(added) and request_corrections(db, {answer}, clock)


def _find_latest(db: Connection, answer: str) -> str:
    """The key of the message that superseded an answer last; empty if none did."""
    rows = db.execute_fetchall(
        "SELECT newer FROM supersession WHERE answer = ? ORDER BY position DESC LIMIT 1", (answer,)
    )
    return rows[0][0] if rows else ""


def _mark(db: Connection, answer: str, newer: str) -> bool:
    marked = _find_latest(db, answer) == newer and db.execute_fetchall(
        "UPDATE supersession SET marked = true WHERE answer = ? AND newer = ?"
        " AND answer IN (SELECT id FROM answer WHERE state = 'done') RETURNING answer",
        (answer, newer),
    )
    if marked:
        added = db.execute_fetchall(
            "INSERT INTO answer_provenance VALUES (?, ?, true) ON CONFLICT (answer, key) DO NOTHING RETURNING answer",
            (answer, newer),
        )
        sql = "UPDATE supersession SET added = ? WHERE answer = ? AND newer = ?"
        db.execute(sql, (bool(added), answer, newer))
    return bool(marked)


def _unmark(db: Connection, answer: str, hidden: Collection[str], clock: Clock) -> bool:
    condition, parameters = "answer = ? AND newer IN (SELECT value FROM @list(?))", (answer, text_list(sorted(hidden)))
    drop_marks(db, condition, parameters)
    gone = db.execute_fetchall(f"DELETE FROM supersession WHERE {condition} RETURNING answer", parameters)
    return bool(gone) and request_corrections(db, {answer}, clock)
