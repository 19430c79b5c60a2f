"""Remove the text of answers that used a removed source, and record which posted answers must be corrected."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.platform.models import Location
from bot.store.control.untouched import find_untouched, save_untouched
from bot.store.models import unknown_part_key
from bot.store.review.verified_answers import withdraw_verified_using
from bot.store.schedules.contradictions import forget_contradictions_using
from engine.storage.sql.fragments import EPOCH, from_micros, text_list

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from bot.store.database import Database
    from engine import Clock
    from engine.storage.sql.connection import Connection

_COLUMNS = (
    "answer, platform, workspace, channel, thread, asker, message, reply_ref, asked_at,"
    " requested_at, attempts, confirmed"
)

_IN_WORKSPACES = "platform || ':' || workspace IN (SELECT value FROM @list(?))"

CLEAR_TEXT = "question = '', text = '', sources = '[]', suggestions = '[]'"
SET_REDACTED = "state = CASE state WHEN 'done' THEN 'redacted' ELSE state END"
REMOVAL_TTL_SECONDS = 24 * 60 * 60  # seconds; longer than any answer takes


@dataclass(frozen=True, slots=True)
class AnswerCorrection:
    """A pending correction of posted messages (`reply_ref`); times are seconds since 1970.

    `is_confirmed`: the answer is replaced; otherwise only if its readers may no longer read its sources.
    """

    answer_id: str
    location: Location
    asker: str
    message_id: str
    reply_ref: str
    asked_at: datetime
    requested_at: float
    attempts: int
    is_confirmed: bool


class AnswerCorrections:
    """Pending corrections. `updated` is set when one is requested; times are seconds since 1970."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.updated = asyncio.Event()

    async def list_workspaces(self) -> list[str]:
        """The workspaces (`platform:workspace`) with pending corrections."""
        rows = await self._database.fetch_all("SELECT DISTINCT platform, workspace FROM answer_correction")
        return [f"{platform}:{workspace}" for platform, workspace in rows]

    async def list_due(self, now: float, workspaces: Collection[str], limit: int) -> list[AnswerCorrection]:
        """At most `limit` due corrections in these workspaces, the certain ones first."""
        rows = await self._database.fetch_all(
            f"SELECT {_COLUMNS} FROM answer_correction WHERE due_at <= ? AND {_IN_WORKSPACES}"
            f" ORDER BY confirmed DESC, due_at, answer LIMIT {limit}",
            (now, text_list(workspaces)),
        )
        return [
            AnswerCorrection(
                id_, Location(*place), asker, message, mark, from_micros(asked) or EPOCH, since, tries, bool(checked)
            )
            for id_, *place, asker, message, mark, asked, since, tries, checked in rows
        ]

    async def get_next_due(self, workspaces: Collection[str]) -> float | None:
        """The time at which the next correction in these workspaces is due; None if there is none."""
        sql = f"SELECT MIN(due_at) FROM answer_correction WHERE {_IN_WORKSPACES}"
        [(due,)] = await self._database.fetch_all(sql, (text_list(workspaces),))
        return None if due is None else float(due)

    async def delay(self, answer: str, due: float) -> None:
        """Delay a correction until a time."""
        await self._database.execute(
            "UPDATE answer_correction SET attempts = attempts + 1, due_at = ? WHERE answer = ?", (due, answer)
        )

    async def finish(self, answer: str) -> None:
        """Delete a correction that is done or impossible."""
        await self._database.execute("DELETE FROM answer_correction WHERE answer = ?", (answer,))


def request_corrections(db: Connection, answers: Collection[str], clock: Clock, *, checked: bool = True) -> bool:
    """Request the correction of the posted ones among these answers; returns whether there are any."""
    deleted = db.execute_fetchall(
        "INSERT INTO answer_correction (answer, platform, workspace, channel, thread, asker, message, reply_ref,"
        " asked_at, requested_at, due_at, confirmed)"
        " SELECT id, platform, workspace, channel, thread, asker, message, reply_ref, time, ?2, ?2, ?3 FROM answer"
        " WHERE id IN (SELECT value FROM @list(?1)) AND reply_ref <> ''"
        " ON CONFLICT (answer) DO UPDATE SET confirmed = answer_correction.confirmed OR excluded.confirmed,"
        " due_at = @least(answer_correction.due_at, excluded.due_at), attempts = answer_correction.attempts + 1"
        " RETURNING answer",
        (text_list(sorted(answers)), clock.time(), checked),
    )
    return bool(deleted)


class PendingRedactions:
    """Documents and messages whose answers must be redacted; `Answers.redact` removes the finished ones.

    `part_of`: the document that contains the messages. `process`: the one that changes the documents; None if it is
    alone.
    """

    def __init__(self, database: Database, process: int | None) -> None:
        self._database = database
        self._process = process

    async def add(self, keys: Collection[str], part_of: str) -> None:
        """Add keys before the engine changes their documents."""
        rows = [(key, part_of, self._process) for key in sorted(set(keys))]
        sql = (
            "INSERT INTO pending_redaction VALUES (?, ?, ?)"
            " ON CONFLICT (key, part_of) DO UPDATE SET claimed_by = excluded.claimed_by"
        )
        await self._database.execute_many(sql, rows)

    async def cancel(self, keys: Collection[str], part_of: str) -> None:
        """Remove keys whose documents did not change."""
        sql = "DELETE FROM pending_redaction WHERE key = ? AND part_of = ?"
        await self._database.execute_many(sql, [(key, part_of) for key in keys])

    async def is_pending(self, key: str) -> bool:
        """Whether an earlier attempt to change a document or message was interrupted."""
        sql = "SELECT 1 FROM pending_redaction WHERE key = ? LIMIT 1"
        return await self._database.fetch_one(sql, (key,)) is not None

    async def list_abandoned(self) -> list[tuple[str, str]]:
        """The rows that no running process finishes, as (key, part_of)."""
        sql = "SELECT key, part_of FROM pending_redaction WHERE claimed_by IS NULL ORDER BY 1, 2"
        rows = await self._database.fetch_all(sql)
        return [(key, part_of) for key, part_of in rows]


def redact_answers(db: Connection, answers: Collection[str], clock: Clock, removed: Collection[str] = ()) -> bool:
    """Delete the text of finished answers and their questions; returns whether posted ones must be corrected.

    The keys of what they used are deleted, too. `removed`: with these keys alone, sentences of posted answers that rest
    on none of them stay until the correction.
    """
    untouched = find_untouched(db, answers, removed) if removed else ()
    listed = text_list(sorted(answers))
    rows = db.execute_fetchall(
        "SELECT id FROM answer WHERE id IN (SELECT value FROM @list(?)) AND state <> 'started'", (listed,)
    )
    finished = {each for (each,) in rows}
    posted = request_corrections(db, finished, clock)
    which = (text_list(sorted(finished)),)
    db.execute(
        f"UPDATE answer SET {CLEAR_TEXT}, {SET_REDACTED} WHERE id IN (SELECT value FROM @list(?))",
        which,
    )
    _clear_comments(db, answers)
    db.execute("DELETE FROM answer_provenance WHERE answer IN (SELECT value FROM @list(?))", which)
    db.execute("DELETE FROM supersession WHERE answer IN (SELECT value FROM @list(?))", which)
    save_untouched(db, untouched)
    return posted


def redact_answers_using(db: Connection, keys: Collection[str], part_of: str, clock: Clock) -> bool:
    """Redact the answers that used these keys; returns whether posted ones must be corrected.

    An answer whose model was only shown the keys loses its text, but is not corrected. `part_of`: the document that
    contains the messages; an answer that used an unknown part of it is redacted, too. Verified answers that rest on the
    keys are withdrawn.
    """
    removed = {*keys, unknown_part_key(part_of)} - {""}
    _record_removals(db, removed, clock)
    withdraw_verified_using(db, keys, part_of)
    forget_contradictions_using(db, removed)
    is_unmarked = _end_supersessions(db, removed, clock)
    found = db.execute_fetchall(
        "SELECT answer, used FROM answer_provenance WHERE key IN (SELECT value FROM @list(?1))"
        " UNION SELECT answer, true FROM answer_provenance d WHERE key = ?2 AND ?2 <> '' AND used"
        " AND NOT EXISTS (SELECT 1 FROM answer_provenance m"
        " WHERE m.answer = d.answer AND m.used AND @position(m.key, ':message:') > 0)",
        (text_list(sorted(removed)), part_of),
    )
    using = {answer for answer, used in found if used}
    clear_answer_text(db, {answer for answer, _ in found} - using)
    db.executemany("DELETE FROM pending_redaction WHERE key = ? AND part_of = ?", [(key, part_of) for key in keys])
    return redact_answers(db, using, clock, removed) or is_unmarked


def _end_supersessions(db: Connection, removed: Collection[str], clock: Clock) -> bool:
    """Request no new text of answers any more because of messages that are gone; what was requested besides stays.

    Posted marks go with them, and nothing else of these answers; returns whether there are any. What an earlier message
    supersedes still is: it is considered again.
    """
    gone, parameters = "newer IN (SELECT value FROM @list(?))", (text_list(sorted(removed)),)
    is_latest = "position = (SELECT MAX(position) FROM supersession s WHERE s.answer = supersession.answer)"
    latest = db.execute_fetchall(f"SELECT answer FROM supersession WHERE {gone} AND {is_latest}", parameters)
    ended = {answer for (answer,) in latest}
    marked = drop_marks(db, gone, parameters)
    db.execute(f"DELETE FROM supersession WHERE {gone}", parameters)
    listed = (text_list(sorted(ended)),)
    rows = db.execute_fetchall("SELECT answer FROM supersession WHERE answer IN (SELECT value FROM @list(?))", listed)
    earlier = {answer for (answer,) in rows}
    db.execute(
        "UPDATE answer_correction SET confirmed = false WHERE answer IN (SELECT id FROM answer WHERE state = 'done')"
        " AND answer IN (SELECT value FROM @list(?))",
        (text_list(sorted(ended - earlier - marked)),),
    )
    return request_corrections(db, marked | earlier, clock)


def drop_marks(db: Connection, condition: str, parameters: Sequence[Any]) -> set[str]:
    """Let answers rest no more on what only their marks name; returns those with marks. `condition`: of the marks."""
    which = f"WHERE {condition} AND marked"
    rows = db.execute_fetchall(f"SELECT answer, newer, added FROM supersession {which}", parameters)
    db.execute(f"UPDATE supersession SET marked = false, added = false {which}", parameters)
    added = [(answer, newer) for answer, newer, is_added in rows if is_added]
    db.executemany("DELETE FROM answer_provenance WHERE answer = ? AND key = ?", added)
    return {answer for answer, _, _ in rows}


def clear_answer_text(db: Connection, answers: Collection[str]) -> None:
    """Delete the text of finished answers but not their sources; they no longer count as history."""
    db.execute(
        f"UPDATE answer SET question = '', text = '', suggestions = '[]', {SET_REDACTED}"
        " WHERE id IN (SELECT value FROM @list(?)) AND state <> 'started'",
        (text_list(sorted(answers)),),
    )
    _clear_comments(db, answers)


def _clear_comments(db: Connection, answers: Collection[str]) -> None:
    """Delete what people wrote about answers, because it may quote them."""
    db.execute(
        "UPDATE feedback SET comment = '' WHERE answer IN (SELECT value FROM @list(?)) AND comment <> ''",
        (text_list(sorted(answers)),),
    )


def delete_answers(db: Connection, condition: str, parameters: Sequence[Any]) -> None:
    """Delete answers, except what later corrections of posted ones need.

    An answer that is being written is marked as unwanted.
    """
    stands = "NOT private AND reply_ref <> '' AND (state = 'started' OR id IN (SELECT answer FROM answer_provenance))"
    db.execute(f"DELETE FROM answer WHERE {condition} AND NOT ({stands})", parameters)
    cleared = f"{CLEAR_TEXT}, asker = '', stopped_by = '', state = 'failed'"
    left = db.execute_fetchall(f"UPDATE answer SET {cleared} WHERE {condition} RETURNING id", parameters)
    db.executemany("DELETE FROM feedback WHERE answer = ?", left)


def delete_answers_of(db: Connection, asker: tuple[str, str, str]) -> None:
    """Delete the answers to a person's questions, and their ratings; `asker`: platform, workspace, id."""
    of_workspace = "platform = ?1 AND workspace = ?2"
    delete_answers(db, f"{of_workspace} AND asker = ?3", asker)
    sql = f"DELETE FROM feedback WHERE person = ?3 AND answer IN (SELECT id FROM answer WHERE {of_workspace})"
    db.execute(sql, asker)
    stopped = f"{of_workspace} AND stopped_by = ?3 AND state <> 'started'"
    db.execute(f"UPDATE answer SET stopped_by = '' WHERE {stopped}", asker)


def _record_removals(db: Connection, keys: Collection[str], clock: Clock) -> None:
    """Store for a day that these keys were removed, for answers that are being written.

    The time is that of the transaction: what was read before it began is older.
    """
    now = clock.time()
    db.executemany(
        "INSERT INTO recent_removal VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET removed_at = excluded.removed_at",
        [(key, now) for key in sorted(keys)],
    )
    db.execute("DELETE FROM recent_removal WHERE removed_at < ?", (now - REMOVAL_TTL_SECONDS,))
