"""Index rows again that an earlier version indexed without separating the words of scripts without spaces."""

from __future__ import annotations

from engine.storage.ledger.full_text.index import TERM_INDEXES
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.sql.topic import Place_co, Topic, reading, writing

BATCH = 100  # rows in one transaction: at most half a second of the writer, if all are indexed again
_SOURCES = {KeyKind.CHUNK: ("chunk", "text"), KeyKind.NAME: ("entity", "name")}


class FullTextUpdate(Topic[Place_co]):
    """Rows whose full text is indexed again."""

    @reading
    def count_unsegmented(self) -> int:
        """The number of ids whose rows may be indexed as an earlier version did; an upper bound of the rows."""
        [[count]] = self.db.execute_fetchall("SELECT COALESCE(SUM(last_id - first_id + 1), 0) FROM unsegmented_fts")
        return int(count)

    @writing
    def index_next_batch(self) -> bool:
        """Index the next rows again; returns whether there may be more."""
        ranges = self.db.execute_fetchall("SELECT kind, first_id, last_id FROM unsegmented_fts ORDER BY kind LIMIT 1")
        for kind, first, last in ranges:
            table, column = _SOURCES[KeyKind(kind)]
            rows = [
                (row, text)
                for row, text in self.db.execute_fetchall(
                    f"SELECT id, {column} FROM {table} WHERE id >= ? AND id <= ? ORDER BY id LIMIT ?",
                    (first, last, BATCH),
                )
            ]
            TERM_INDEXES[self.db.dialect].index_again(self.db, KeyKind(kind), rows)
            if len(rows) < BATCH:
                self.db.execute("DELETE FROM unsegmented_fts WHERE kind = ?", (kind,))
            else:
                self.db.execute("UPDATE unsegmented_fts SET first_id = ? WHERE kind = ?", (rows[-1][0] + 1, kind))
        return bool(ranges)
