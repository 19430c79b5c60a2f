"""Take the words of answers away, within a transaction, and have the posted ones corrected."""

from __future__ import annotations

import json
import time as clock
from typing import TYPE_CHECKING, Any

from bot.store.models import part_key
from bot.store.redactions.corrections import request

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bot.store.database import Transaction

WORDLESS = "question = '', text = '', sources = '[]'"
STATE = "state = CASE state WHEN 'done' THEN 'blanked' ELSE state END"
REMEMBERED = 24 * 60 * 60  # seconds for which a removal is known to answers that are being written


async def redact(db: Transaction, answers: Collection[str]) -> bool:
    """Take the words of finished answers away, with those of their questions; whether some are to be corrected.

    What they used need not be known any more.
    """
    listed = json.dumps(sorted(answers))
    rows = await db.run(
        "SELECT id FROM answer WHERE id IN (SELECT value FROM json_each(?)) AND state <> 'begun'", (listed,)
    )
    finished = {each for (each,) in rows}
    posted = await request(db, finished)
    which = (json.dumps(sorted(finished)),)
    await db.run(
        f"UPDATE answer SET {WORDLESS}, {STATE} WHERE id IN (SELECT value FROM json_each(?))",
        which,
    )
    await db.run("DELETE FROM drawn WHERE answer IN (SELECT value FROM json_each(?))", which)
    return posted


async def redact_users(db: Transaction, keys: Collection[str], part_of: str = "") -> bool:
    """Redact the answers that used these documents or messages; whether some are to be corrected.

    Answers of a model that was only shown them lose their words, and stay where they were posted.
    `part_of`: the document of which the messages are passages; an answer that used it, nobody knows which part of it,
    is redacted too.
    """
    removed = {*keys, part_key(part_of)} - {""}
    await _note_removed(db, removed)
    found = await db.run(
        "SELECT answer, used FROM drawn WHERE document IN (SELECT value FROM json_each(?1))"
        " UNION SELECT answer, 1 FROM drawn d WHERE document = ?2 AND ?2 <> '' AND used AND NOT EXISTS"
        " (SELECT 1 FROM drawn m WHERE m.answer = d.answer AND m.used AND instr(m.document, ':message:'))",
        (json.dumps(sorted(removed)), part_of),
    )
    await withhold(db, {answer for answer, _ in found})
    await db.each("DELETE FROM pending_redaction WHERE document = ? AND part_of = ?", [(key, part_of) for key in keys])
    return await redact(db, {answer for answer, used in found if used})


async def withhold(db: Transaction, answers: Collection[str]) -> None:
    """Take the words of finished answers away, but leave their sources: they are no history any more."""
    await db.run(
        f"UPDATE answer SET question = '', text = '', {STATE}"
        " WHERE id IN (SELECT value FROM json_each(?)) AND state <> 'begun'",
        (json.dumps(sorted(answers)),),
    )


async def remove(db: Transaction, condition: str, parameters: Sequence[Any]) -> None:
    """Remove answers. Of one that stands somewhere, where it stands and what it used stay, for later corrections.

    Of one that is being written it stays that it is not wanted any more.
    """
    stands = "NOT private AND mark <> '' AND (state = 'begun' OR id IN (SELECT answer FROM drawn))"
    await db.run(f"DELETE FROM answer WHERE {condition} AND NOT ({stands})", parameters)
    left = await db.run(
        f"UPDATE answer SET {WORDLESS}, asker = '', state = 'failed' WHERE {condition} RETURNING id", parameters
    )
    await db.each("DELETE FROM feedback WHERE answer = ?", left)


async def _note_removed(db: Transaction, keys: Collection[str]) -> None:
    """Remember for a day that these documents and messages were removed, for answers that are being written."""
    now = clock.time()
    await db.each("INSERT OR REPLACE INTO forgotten VALUES (?, ?)", [(key, now) for key in sorted(keys)])
    await db.run("DELETE FROM forgotten WHERE time < ?", (now - REMEMBERED,))
