"""Redact stored answers within a transaction, and request the correction of posted ones."""

from __future__ import annotations

import json
import time as clock
from typing import TYPE_CHECKING, Any

from bot.store.database import fetch
from bot.store.models import unknown_part_key
from bot.store.redactions.corrections import request_corrections

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engine.storage.sqlite.connection import Connection

CLEAR_TEXT = "question = '', text = '', sources = '[]'"
SET_REDACTED = "state = CASE state WHEN 'done' THEN 'redacted' ELSE state END"
REMOVAL_TTL_SECONDS = 24 * 60 * 60  # seconds; longer than any answer takes


async def redact_answers(db: Connection, answers: Collection[str]) -> bool:
    """Delete the text of finished answers and their questions; returns whether posted ones must be corrected.

    The keys of what they used are deleted, too.
    """
    listed = json.dumps(sorted(answers))
    rows = await fetch(
        db, "SELECT id FROM answer WHERE id IN (SELECT value FROM json_each(?)) AND state <> 'started'", (listed,)
    )
    finished = {each for (each,) in rows}
    posted = await request_corrections(db, finished)
    which = (json.dumps(sorted(finished)),)
    await db.execute(
        f"UPDATE answer SET {CLEAR_TEXT}, {SET_REDACTED} WHERE id IN (SELECT value FROM json_each(?))",
        which,
    )
    await db.execute("DELETE FROM answer_provenance WHERE answer IN (SELECT value FROM json_each(?))", which)
    return posted


async def redact_answers_using(db: Connection, keys: Collection[str], part_of: str = "") -> bool:
    """Redact the answers that used these keys; returns whether posted ones must be corrected.

    An answer whose model was only shown the keys loses its text, but is not corrected. `part_of`: the document that
    contains the messages; an answer that used an unknown part of it is redacted, too.
    """
    removed = {*keys, unknown_part_key(part_of)} - {""}
    await _record_removals(db, removed)
    found = await fetch(
        db,
        "SELECT answer, used FROM answer_provenance WHERE key IN (SELECT value FROM json_each(?1))"
        " UNION SELECT answer, 1 FROM answer_provenance d WHERE key = ?2 AND ?2 <> '' AND used AND NOT EXISTS"
        " (SELECT 1 FROM answer_provenance m WHERE m.answer = d.answer AND m.used AND instr(m.key, ':message:'))",
        (json.dumps(sorted(removed)), part_of),
    )
    await clear_answer_text(db, {answer for answer, _ in found})
    await db.executemany(
        "DELETE FROM pending_redaction WHERE key = ? AND part_of = ?", [(key, part_of) for key in keys]
    )
    return await redact_answers(db, {answer for answer, used in found if used})


async def clear_answer_text(db: Connection, answers: Collection[str]) -> None:
    """Delete the text of finished answers but not their sources; they no longer count as history."""
    await db.execute(
        f"UPDATE answer SET question = '', text = '', {SET_REDACTED}"
        " WHERE id IN (SELECT value FROM json_each(?)) AND state <> 'started'",
        (json.dumps(sorted(answers)),),
    )


async def delete_answers(db: Connection, condition: str, parameters: Sequence[Any]) -> None:
    """Delete answers, except what later corrections of posted ones need.

    An answer that is being written is marked as unwanted.
    """
    stands = "NOT private AND reply_ref <> '' AND (state = 'started' OR id IN (SELECT answer FROM answer_provenance))"
    await db.execute(f"DELETE FROM answer WHERE {condition} AND NOT ({stands})", parameters)
    left = await fetch(
        db, f"UPDATE answer SET {CLEAR_TEXT}, asker = '', state = 'failed' WHERE {condition} RETURNING id", parameters
    )
    await db.executemany("DELETE FROM feedback WHERE answer = ?", left)


async def _record_removals(db: Connection, keys: Collection[str]) -> None:
    """Store for a day that these keys were removed, for answers that are being written."""
    now = clock.time()
    await db.executemany("INSERT OR REPLACE INTO recent_removal VALUES (?, ?)", [(key, now) for key in sorted(keys)])
    await db.execute("DELETE FROM recent_removal WHERE removed_at < ?", (now - REMOVAL_TTL_SECONDS,))
