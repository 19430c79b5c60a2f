"""Index rows again that an earlier version indexed without the words of scripts without spaces, or without stems."""

from __future__ import annotations

from engine.storage.ledger.full_text.index import TERM_TABLES
from engine.storage.ledger.full_text.search_words import make_stems, save_languages
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.work.settings import Settings
from engine.storage.sql.database import Place_co, Topic, reading, writing
from engine.text.languages.detection import VERSION

STEMS_VERSION, NEXT_STEMMED = "stems_version", "next_stemmed_chunk"  # settings of the data directory
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
        if ranges:
            Settings(self.db).count_chunk_reindexing()
        for kind, first, last in ranges:
            table, column = _SOURCES[KeyKind(kind)]
            rows = [
                (row, text)
                for row, text in self.db.execute_fetchall(
                    f"SELECT id, {column} FROM {table} WHERE id >= ? AND id <= ? ORDER BY id LIMIT ?",
                    (first, last, BATCH),
                )
            ]
            TERM_TABLES[self.db.dialect].index_again(self.db, KeyKind(kind), rows)
            if len(rows) < BATCH:
                self.db.execute("DELETE FROM unsegmented_fts WHERE kind = ?", (kind,))
            else:
                self.db.execute("UPDATE unsegmented_fts SET first_id = ? WHERE kind = ?", (rows[-1][0] + 1, kind))
        return bool(ranges)

    @reading
    def has_old_stems(self) -> bool:
        """Whether there are chunks whose stem terms another version made, or none."""
        return Settings(self.db).get(STEMS_VERSION) != VERSION

    @writing
    def stem_next_batch(self) -> bool:
        """Make the stem terms of the next chunks again; returns whether there may be more."""
        settings = Settings(self.db)
        rows = self.db.execute_fetchall(
            "SELECT id, text, stems FROM chunk WHERE id >= ? ORDER BY id LIMIT ?",
            (settings.get_int(NEXT_STEMMED), BATCH),
        )
        made = make_stems(self.db, [row[1] for row in rows])
        save_languages(self.db, made)
        changed = [(terms, row[0]) for row, terms in zip(rows, made, strict=True) if terms != row[2]]
        self.db.executemany("UPDATE chunk SET stems = ? WHERE id = ?", changed)
        if changed:
            settings.count_chunk_reindexing()
        is_last = len(rows) < BATCH
        settings.set(NEXT_STEMMED, 0 if is_last else rows[-1][0] + 1)
        if is_last:
            settings.set(STEMS_VERSION, VERSION)
        return not is_last
