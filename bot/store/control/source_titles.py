"""Give the sources of stored answers the title that their conversation has now."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.store.models import ANSWER_SOURCES
from bot.store.redactions import request_corrections
from engine.storage.sql.fragments import text_list

if TYPE_CHECKING:
    from bot.store.models import AnswerSource
    from engine import Clock
    from engine.storage.sql.connection import Connection

_CUT_OFF = " …"


def rename_sources(db: Connection, document: str, former: str, title: str, clock: Clock | None) -> bool:
    """Rename a document in stored and verified answers that cite it; returns whether posted ones must be corrected.

    `former`, `title`: as they begin the titles of sources. `clock`: None if what is posted stays.
    """
    changed = _rename_in(db, "answer", "answer_provenance", "answer", (document, former, title))
    _rename_in(db, "verified_answer", "verified_provenance", "verified", (document, former, title))
    if clock is None:
        return False
    public = db.execute_fetchall(
        "SELECT id FROM answer WHERE id IN (SELECT value FROM @list(?)) AND NOT private AND state = 'done'",
        (text_list(sorted(changed)),),
    )
    return request_corrections(db, {id_ for (id_,) in public}, clock)


def _rename_in(db: Connection, table: str, keys: str, key_column: str, renaming: tuple[str, str, str]) -> set[str]:
    document, former, title = renaming
    rows = db.execute_fetchall(
        f"SELECT id, sources FROM {table} WHERE sources <> '[]' AND id IN"
        f" (SELECT {key_column} FROM {keys} WHERE key = ?)",
        (document,),
    )
    changed = set[str]()
    for id_, stored in rows:
        sources = ANSWER_SOURCES.validate_json(stored)
        renamed = tuple(_rename(each, former, title) if each.document == document else each for each in sources)
        if renamed != sources:
            words = ANSWER_SOURCES.dump_json(renamed).decode()
            db.execute(f"UPDATE {table} SET sources = ? WHERE id = ?", (words, id_))
            changed.add(id_)
    return changed


def _rename(source: AnswerSource, former: str, title: str) -> AnswerSource:
    if source.title.startswith(former):
        return replace(source, title=title + source.title.removeprefix(former))
    shown = source.title.removesuffix(_CUT_OFF)
    return replace(source, title=title) if shown != source.title and former.startswith(shown) else source
