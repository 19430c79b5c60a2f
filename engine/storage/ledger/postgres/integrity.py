"""Checks of a ledger in PostgreSQL: invalid indexes, failed page checksums, and counters that differ from the rows.

The server itself checks constraints as it writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.storage.sql.connection import Connection

_CHECKS = {
    "index {} is invalid": "SELECT indexrelid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
    " WHERE c.relnamespace = current_schema()::regnamespace AND NOT i.indisvalid",
    "{} pages of the database failed their checksums": "SELECT checksum_failures FROM pg_stat_database"
    " WHERE datname = current_database() AND checksum_failures > 0",
    "the number of chunks of space {} is wrong": "SELECT space FROM"
    " (SELECT space, room, COUNT(*) AS rows, SUM(tokens) AS length FROM chunk GROUP BY space, room) c"
    " FULL JOIN (SELECT space, room, row_count, total_length FROM corpus_stats WHERE kind = 0) s USING (space, room)"
    " WHERE COALESCE(rows, 0) <> COALESCE(row_count, 0) OR COALESCE(length, 0) <> COALESCE(total_length, 0)",
    "the number of relations of entity {} is wrong": "SELECT e.id FROM entity e"
    " WHERE e.degree <> (SELECT COUNT(*) FROM relation r WHERE r.a = e.id OR r.b = e.id)",
    "the number of unread chunks of document {} is wrong": "SELECT d.key FROM document d WHERE d.unextracted_chunks"
    " <> (SELECT COUNT(*) FROM chunk c WHERE c.document = d.id AND c.extraction IS NULL)",
}


def find_problems(db: Connection) -> list[str]:
    """Everything that is wrong, in words."""
    return [words.format(row[0]) for words, sql in _CHECKS.items() for row in db.execute_fetchall(sql)]
