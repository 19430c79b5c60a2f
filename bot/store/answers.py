"""Table of answers: start, finish with what was used, find, redact and delete."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bot.platform.models import Location
from bot.store.access.audit_log import append_event
from bot.store.control.source_titles import rename_sources
from bot.store.database import parse_rows
from bot.store.models import ANSWER_SOURCES, AnswerResult, StoredAnswer, parse_message_ids
from bot.store.redactions import (
    clear_answer_text,
    delete_answers,
    delete_answers_of,
    redact_answers,
    redact_answers_using,
    request_corrections,
)
from engine.storage.sql.fragments import EPOCH, from_micros, text_list, to_micros

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from bot.store.access.audit_log import AuditEvent
    from bot.store.database import Database, Row
    from bot.store.redactions import AnswerCorrections, PendingRedactions
    from engine import Clock
    from engine.storage.sql.connection import Connection


_COLUMNS = (
    "id, platform, workspace, channel, thread, asker, question, time, message, private,"
    " text, sources, spaces, rooms, reply_ref, state, stopped_by, attempt, suggestions,"
    " (SELECT CAST(@json_object(key, used) AS TEXT) FROM answer_provenance WHERE answer = id)"
)
_USED_ELSEWHERE = (  # answers in other channels that used a source of this channel, or whose model was shown one
    "SELECT d.answer, COUNT(*) FILTER (WHERE d.used) FROM answer_provenance d JOIN answer a ON a.id = d.answer"
    " WHERE a.room <> ?1 AND d.key >= ?1 || ':' AND d.key < ?1 || ';' GROUP BY d.answer"
)


class Answers:
    """Questions and their answers."""

    def __init__(
        self, database: Database, corrections: AnswerCorrections, pending: PendingRedactions, clock: Clock
    ) -> None:
        self._database = database
        self._clock = clock
        self._pending = pending
        self._corrections = corrections

    async def begin(self, answer: StoredAnswer) -> bool:
        """Store a question before it is answered; False if its id exists."""
        place = answer.location
        rows = await self._database.execute(
            "INSERT INTO answer (id, platform, workspace, channel, thread, room, asker, question, time, message,"
            " private) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id",
            (
                *(answer.id, place.platform, place.workspace, place.channel, place.thread, place.room),
                *(answer.asker, answer.question, to_micros(answer.time), answer.message_id, answer.private),
            ),
        )
        return bool(rows)

    async def save_reply_ref(self, id_: str, reply_ref: str) -> None:
        """Store the reference to the posted reply, and the messages that it names."""
        await self._database.write(_save_reply_ref, id_, reply_ref)

    async def finish(self, id_: str, outcome: AnswerResult, event: AuditEvent | None = None) -> bool:
        """Store a finished answer; False if a source was removed since: it is then redacted or deleted.

        `event`: what the audit log says of it, in the same transaction.
        """
        is_kept, posted = await self._database.write(_finish_answer, id_, outcome, self._clock, event)
        self._wake_corrections(posted)
        return is_kept

    async def fail(self, id_: str, event: AuditEvent | None = None) -> None:
        """Mark an answer as failed and delete its text and sources. `event` as in `finish`."""
        await self._database.write(_fail_answer, id_, self._clock, event)

    async def get(self, id_: str) -> StoredAnswer | None:
        """The answer with this id, or None."""
        return next(iter(await self._select_latest("id = ?", id_, limit=1)), None)

    async def list_in_thread(
        self, place: Location, before: datetime, limit: int, *, skip: int = 0, asker: str = ""
    ) -> list[StoredAnswer]:
        """List the latest finished answers in a thread before a time, newest first.

        Without an asker, only those that all readers of the thread see; with one, those that the asker sees.
        """
        seen = "room = ? AND thread = ? AND time < ? AND state = 'done' AND (NOT private OR asker = ?)"
        return await self._select_latest(
            seen, place.room, place.thread, to_micros(before), asker, limit=limit, skip=skip
        )

    async def has_answered_in(self, room: str, thread: str, *, finished: bool = False) -> bool:
        """Whether a question is or was answered publicly in a thread, even if the answer was redacted since.

        `finished`: answers in progress do not count.
        """
        states = "'done', 'redacted'" if finished else "'started', 'done', 'redacted'"
        seen = f"room = ? AND thread = ? AND state IN ({states}) AND NOT private"
        return await self._database.fetch_one(f"SELECT 1 FROM answer WHERE {seen} LIMIT 1", (room, thread)) is not None

    async def get_askers(self, room: str, thread: str) -> tuple[frozenset[str], datetime | None]:
        """Askers of the public answers of a thread, also of those in progress, and the time of the latest question."""
        seen = "room = ? AND thread = ? AND state IN ('started', 'done', 'redacted') AND NOT private"
        rows = await self._database.fetch_all(
            f"SELECT asker, MAX(time) FROM answer WHERE {seen} GROUP BY asker", (room, thread)
        )
        return frozenset(row[0] for row in rows), max((from_micros(row[1]) or EPOCH for row in rows), default=None)

    async def get_latest(self, room: str, thread: str, asker: str = "") -> StoredAnswer | None:
        """The latest answer of a thread (empty: of the channel) that everyone sees; with an asker: that they see."""
        seen = "room = ? AND (NOT private OR asker = ?)"
        if thread:
            return next(iter(await self._select_latest(f"{seen} AND thread = ?", room, asker, thread, limit=1)), None)
        return next(iter(await self._select_latest(seen, room, asker, limit=1)), None)

    async def get_disliked(self, place: Location, person: str) -> StoredAnswer | None:
        """The latest answer of a thread that everyone sees and a person voted down."""
        found = await self._select_latest(
            "room = ? AND thread = ? AND NOT private"
            " AND EXISTS (SELECT 1 FROM feedback f WHERE f.answer = id AND f.person = ? AND NOT f.up)",
            *(place.room, place.thread, person),
            limit=1,
        )
        return next(iter(found), None)

    async def get_by_message(self, place: Location, message: str) -> StoredAnswer | None:
        """The answer to this message, or the answer that was posted as it."""
        found = await self._select_latest(
            "id IN (SELECT id FROM answer WHERE room = ?1 AND message = ?2"
            " UNION SELECT answer FROM answer_message WHERE message = ?2) AND room || '' = ?1",
            *(place.room, message),
            limit=1,
        )
        return next(iter(found), None)

    async def list_disliked(self, platform: str, workspace: str, since: datetime, limit: int) -> list[StoredAnswer]:
        """The public answers since then with a negative rating, newest first."""
        return await self._select_latest(
            "time >= ? AND platform = ? AND workspace = ? AND state = 'done' AND NOT private"
            " AND EXISTS (SELECT 1 FROM feedback WHERE answer = id AND NOT up)",
            *(to_micros(since), platform, workspace),
            limit=limit,
        )

    async def redact(self, keys: Collection[str], part_of: str = "") -> None:
        """Redact the answers that used these documents or messages, and request the correction of posted ones.

        `part_of` as in `redact_answers_using`. Pending redactions of these keys are finished.
        """
        self._wake_corrections(await self._database.write(redact_answers_using, keys, part_of, self._clock))

    async def rename_sources(self, document: str, former: str, title: str, *, posted: bool) -> None:
        """Rename a document among the sources of answers; `former`, `title`: as these begin.

        `posted`: public answers are posted again, so that nobody reads the former title.
        """
        clock = self._clock if posted else None
        self._wake_corrections(await self._database.write(rename_sources, document, former, title, clock))

    async def redact_pending(self) -> None:
        """Finish the redactions that a process left undone when it ended. Call it before answers are written."""
        for key, part_of in await self._pending.list_abandoned():
            await self.redact([key], part_of)

    async def redact_one(self, id_: str, removed: Collection[str] = ()) -> None:
        """Redact one answer, and request the correction of its posted messages. `removed` as in `redact_answers`."""
        self._wake_corrections(await self._database.write(redact_answers, {id_}, self._clock, removed))

    async def update_question(self, id_: str, question: str) -> None:
        """Update the text of an edited question, unless its answer is redacted or being written."""
        await self._database.execute(
            "UPDATE answer SET question = ? WHERE id = ? AND state NOT IN ('redacted', 'started') AND question <> ''",
            (question, id_),
        )

    async def recheck_after_move(self, room: str, home: str, *, check: bool) -> None:
        """Request a check of answers in other channels after a channel's documents moved to another space.

        Each move is recorded with the channel, so that it is checked once. `check`: some readers of the other channels
        may not read this one.
        """
        moved = (
            "SELECT 1 FROM channel WHERE room = ?1 AND checked_space <> ?2"
            f" AND (checked_space <> '' OR EXISTS ({_USED_ELSEWHERE}))"
        )
        if not await self._database.fetch_one(moved, (room, home)):
            return  # most channels did not move: avoid a write for each of them at every start
        self._wake_corrections(await self._database.write(_recheck_answers, room, home, self._clock, check=check))

    async def list_redacted_questions(self, room: str, messages: Collection[str]) -> frozenset[str]:
        """The messages among these whose answers are redacted."""
        rows = await self._database.fetch_all(
            "SELECT message FROM answer WHERE room = ? AND message IN (SELECT value FROM @list(?))"
            " AND state = 'redacted'",
            (room, text_list(messages)),
        )
        return frozenset(row[0] for row in rows)

    async def is_used(self, key: str) -> bool:
        """Whether an answer used this document or message, or its model was shown it."""
        return (
            await self._database.fetch_one("SELECT 1 FROM answer_provenance WHERE key = ? LIMIT 1", (key,)) is not None
        )

    def _wake_corrections(self, posted: bool) -> None:  # noqa: FBT001 - what the transaction found
        if posted:
            self._corrections.updated.set()

    async def delete(self, id_: str) -> None:
        """Delete an answer and its pending correction."""
        await self._database.execute_all(
            ("DELETE FROM answer WHERE id = ?", (id_,)),
            ("DELETE FROM answer_correction WHERE answer = ?", (id_,)),
        )

    async def delete_unfinished(self, id_: str) -> None:
        """Delete an answer unless it is finished."""
        await self._database.execute("DELETE FROM answer WHERE id = ? AND state = 'started'", (id_,))

    async def delete_by_asker(self, platform: str, workspace: str, asker: str) -> None:
        """Delete the answers to a person's questions, and their ratings."""
        await self._database.write(delete_answers_of, (platform, workspace, asker))

    async def delete_by_messages(self, room: str, messages: Collection[str]) -> None:
        """Delete the answers to these messages; a correction of each public one removes what was posted of it."""
        self._wake_corrections(await self._database.write(_delete_by_messages, room, messages, self._clock))

    async def delete_in_channel(self, place: Location) -> None:
        """Delete the answers of a thread or a channel."""
        await self._database.execute(
            "DELETE FROM answer WHERE room = ?1 AND (?2 = '' OR thread = ?2)", (place.room, place.thread)
        )

    async def delete_before(self, time: float) -> None:
        """Remove answers older than a time (seconds since 1970)."""
        await self._database.write(delete_answers, "time < ?", (int(time * 1e6),))

    async def _select_latest(self, condition: str, *parameters: Any, limit: int, skip: int = 0) -> list[StoredAnswer]:
        rows = await self._database.fetch_all(
            f"SELECT {_COLUMNS} FROM answer WHERE {condition} ORDER BY time DESC, id DESC LIMIT {limit} OFFSET {skip}",
            parameters,
        )
        return parse_rows(rows, _to_stored_answer)


def _save_reply_ref(db: Connection, id_: str, reply_ref: str) -> None:
    if db.execute_fetchall("UPDATE answer SET reply_ref = ? WHERE id = ? RETURNING id", (reply_ref, id_)):
        db.execute("DELETE FROM answer_message WHERE answer = ?", (id_,))
        rows = [(message_id, id_) for message_id in parse_message_ids(reply_ref)]
        db.executemany("INSERT INTO answer_message VALUES (?, ?) ON CONFLICT DO NOTHING", rows)


def _delete_by_messages(db: Connection, room: str, messages: Collection[str], clock: Clock) -> bool:
    """Delete the answers to messages; returns whether posted ones must go, too."""
    condition = "room = ? AND message IN (SELECT value FROM @list(?))"
    parameters = (room, text_list(messages))
    public = db.execute_fetchall(f"SELECT id FROM answer WHERE {condition} AND NOT private", parameters)
    posted = request_corrections(db, {each for (each,) in public}, clock)
    delete_answers(db, condition, parameters)
    return posted


def _fail_answer(db: Connection, id_: str, clock: Clock, event: AuditEvent | None) -> None:
    db.execute("UPDATE answer SET state = 'failed', text = '', sources = '[]', suggestions = '[]' WHERE id = ?", (id_,))
    if event is not None:
        append_event(db, event, clock.now())


def _finish_answer(
    db: Connection, id_: str, outcome: AnswerResult, clock: Clock, event: AuditEvent | None
) -> tuple[bool, bool]:
    """Store a finished answer; returns whether it is kept, and whether posted answers are to be corrected."""
    if event is not None:
        append_event(db, event, clock.now())
    state = [row[0] for row in db.execute_fetchall("SELECT state FROM answer WHERE id = ?", (id_,))]
    if state != ["started"]:  # the question was removed while it was answered: what was posted of the answer goes too
        return False, request_corrections(db, {id_}, clock)
    save_result(db, id_, outcome)
    return redact_removed(db, id_, clock)


def _recheck_answers(db: Connection, room: str, home: str, clock: Clock, *, check: bool) -> bool:
    """Have answers of other channels checked that used a moved channel; returns whether posted ones are among them."""
    posted = False
    if check:
        found = db.execute_fetchall(_USED_ELSEWHERE, (room,))
        posted = request_corrections(db, {answer for answer, used in found if used}, clock, checked=False)
        clear_answer_text(db, {answer for answer, used in found if not used})
    db.execute("UPDATE channel SET checked_space = ? WHERE room = ?", (home, room))
    return posted


def _to_stored_answer(row: Row) -> StoredAnswer:
    id_, platform, workspace, channel, thread, asker, question, time, message, private, *rest = row
    text, sources, spaces, rooms, reply_ref, state, stopped_by, attempt, suggestions, stored_keys = rest
    keys: dict[str, bool] = json.loads(stored_keys or "{}")
    return StoredAnswer(
        id=id_,
        location=Location(platform, workspace, channel, thread),
        asker=asker,
        question=question,
        time=from_micros(time) or EPOCH,
        message_id=message,
        private=bool(private),
        text=text,
        sources=ANSWER_SOURCES.validate_json(sources),
        documents=frozenset(key for key, used in keys.items() if used),
        spaces=frozenset(json.loads(spaces)),
        rooms=frozenset(json.loads(rooms)),
        shown_keys=frozenset(keys),
        reply_ref=reply_ref,
        state=state,
        stopped_by=stopped_by,
        attempt=attempt,
        suggestions=tuple(json.loads(suggestions)),
    )


def save_result(db: Connection, id_: str, outcome: AnswerResult) -> None:
    """Store the text of an answer, and the keys of what it used in place of those before."""
    rows = [(id_, key, key in outcome.used_keys) for key in sorted(outcome.used_keys | outcome.shown_keys)]
    db.execute("DELETE FROM answer_provenance WHERE answer = ?", (id_,))  # of the answer that it replaces
    db.execute("DELETE FROM supersession WHERE answer = ?", (id_,))
    db.executemany("INSERT INTO answer_provenance VALUES (?, ?, ?)", rows)
    sources = ANSWER_SOURCES.dump_json(outcome.sources).decode()
    db.execute(
        "UPDATE answer SET state = 'done', text = ?, sources = ?, spaces = ?, rooms = ?, suggestions = ? WHERE id = ?",
        (
            *(outcome.text, sources, json.dumps(sorted(outcome.spaces)), json.dumps(sorted(outcome.rooms))),
            *(json.dumps(outcome.suggestions, ensure_ascii=False), id_),
        ),
    )


def redact_removed(db: Connection, id_: str, clock: Clock) -> tuple[bool, bool]:
    """Redact an answer if what it used was removed since it was begun.

    Returns whether it is kept, and whether posted answers are to be corrected.
    """
    removed = db.execute_fetchall(
        "SELECT COUNT(*) FILTER (WHERE d.used) FROM answer JOIN answer_provenance d ON d.answer = answer.id"
        " JOIN recent_removal f ON f.key = d.key"
        " WHERE answer.id = ? AND f.removed_at * 1e6 >= CASE attempt WHEN 0 THEN time ELSE repeated_at END"
        " HAVING COUNT(*) > 0",
        (id_,),
    )
    clear_answer_text(db, {id_} if removed else ())
    if not any(used for (used,) in removed):
        return True, False
    return False, redact_answers(db, {id_}, clock)
