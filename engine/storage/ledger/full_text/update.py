"""Index rows again that an earlier version indexed without separating the words of scripts without spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.full_text.index import TERM_INDEXES
from engine.storage.ledger.records.projection import KeyKind

if TYPE_CHECKING:
    from engine.storage.sql.connection import Connection

BATCH = 100  # rows in one transaction: at most half a second of the writer, if all are indexed again
_SOURCES = {KeyKind.CHUNK: ("chunk", "text"), KeyKind.NAME: ("entity", "name")}


async def count_unsegmented(db: Connection) -> int:
    """The number of ids whose rows may be indexed as an earlier version did; an upper bound of the rows."""
    [[count]] = await db.execute_fetchall("SELECT COALESCE(SUM(last_id - first_id + 1), 0) FROM unsegmented_fts")
    return int(count)


async def index_next_batch(db: Connection) -> bool:
    """Index the next rows again; returns whether there may be more."""
    ranges = await db.execute_fetchall("SELECT kind, first_id, last_id FROM unsegmented_fts ORDER BY kind LIMIT 1")
    for kind, first, last in ranges:
        table, column = _SOURCES[KeyKind(kind)]
        rows = [
            (row, text)
            for row, text in await db.execute_fetchall(
                f"SELECT id, {column} FROM {table} WHERE id >= ? AND id <= ? ORDER BY id LIMIT ?", (first, last, BATCH)
            )
        ]
        await TERM_INDEXES[db.dialect].index_again(db, KeyKind(kind), rows)
        if len(rows) < BATCH:
            await db.execute("DELETE FROM unsegmented_fts WHERE kind = ?", (kind,))
        else:
            await db.execute("UPDATE unsegmented_fts SET first_id = ? WHERE kind = ?", (rows[-1][0] + 1, kind))
    return bool(ranges)
