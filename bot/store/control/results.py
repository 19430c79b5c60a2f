"""Store the text of an answer with what it used, and redact it if that was removed meanwhile."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bot.store.models import ANSWER_SOURCES
from bot.store.redactions import clear_answer_text, redact_answers

if TYPE_CHECKING:
    from bot.store.models import AnswerResult
    from engine import Clock
    from engine.storage.sql.connection import Connection


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
