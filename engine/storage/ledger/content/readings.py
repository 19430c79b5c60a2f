"""Chunks whose facts another choice of extraction gave than today's: found, counted, and read again on request.

Their facts stay until those of the next reading replace them. The rows, and the place up to which chunks are compared,
are durable, so that both go on after a kill.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.clauses import UNPAUSED, paused_parameters, row_clause
from engine.storage.ledger.content.facts import excerpt_section
from engine.storage.ledger.records.content import ReadChunk
from engine.storage.ledger.records.query_results import OutdatedTexts
from engine.storage.ledger.work.settings import Settings
from engine.storage.ledger.work.work_queue import NOTHING_PAUSED
from engine.storage.sql.lists import id_list
from engine.storage.sql.topic import Place_co, Topic, reading, writing

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.storage.ledger.records.query_results import ScopeIds
    from engine.usage import PausedTexts

CHOICE, CHECKED = "extraction_choice", "extraction_checked"  # settings: the choice, and the last chunk compared with it
# A condition on chunks `c` of documents `d` with rows `o`: they can be read again.
QUEUED = "o.queued AND c.extraction IS NOT NULL AND NOT d.open AND c.retry_at < @infinity"


class Readings(Topic[Place_co]):
    """Chunks that another choice of extraction read."""

    @writing
    def begin_check(self, choice: str) -> None:
        """Compare all chunks from the first one on, if the choice is another one than last time."""
        if Settings(self.db).get(CHOICE) != choice:
            Settings(self.db).set(CHOICE, choice)
            Settings(self.db).set(CHECKED, 0)

    @reading
    def list_unchecked(self, limit: int) -> list[ReadChunk]:
        """The next chunks with facts to compare; those entered by hand are left out."""
        rows = self.db.execute_fetchall(
            "SELECT c.id, c.text, d.title, d.kind, c.space, c.extraction,"
            " (SELECT p.label FROM chunk_passage i JOIN passage p ON p.id = i.passage WHERE i.chunk = c.id"
            "  ORDER BY i.ordinal LIMIT 1)"
            " FROM chunk c JOIN document d ON d.id = c.document"
            " WHERE c.id > ? AND c.extraction IS NOT NULL AND d.kind <> 'manual' ORDER BY c.id LIMIT ?",
            (Settings(self.db).get_int(CHECKED), limit),
        )
        return [
            ReadChunk(id_, text, excerpt_section(kind, title, label or ""), space, kind, bytes(key))
            for id_, text, title, kind, space, key, label in rows
        ]

    @writing
    def record_check(self, checked: Collection[ReadChunk], outdated: Collection[int]) -> None:
        """Record which of the chunks another choice read; one that was read again meanwhile is left alone."""
        ids = [chunk.id for chunk in checked]
        self.db.execute(
            "DELETE FROM outdated_extraction WHERE chunk IN (SELECT value FROM @list(?))",
            (id_list([id_ for id_ in ids if id_ not in outdated]),),
        )
        self.db.executemany(
            "INSERT INTO outdated_extraction (chunk, queued) SELECT id, false FROM chunk"
            " WHERE id = ? AND extraction = ? ON CONFLICT DO NOTHING",
            [(chunk.id, chunk.key) for chunk in checked if chunk.id in outdated],
        )
        Settings(self.db).set(CHECKED, max(ids))

    def count(self, scope_ids: ScopeIds) -> int:
        """Chunks within a scope that another choice read; for all spaces without a look at the chunks."""
        if not (number := self._count_rows()) or self._is_everything(scope_ids):
            return number
        [[number]] = self.db.execute_fetchall(
            "SELECT COUNT(*) FROM outdated_extraction o JOIN chunk c ON c.id = o.chunk"
            f" WHERE c.extraction IS NOT NULL AND {row_clause(scope_ids, 'c')}"
        )
        return int(number)

    @reading
    def count_all(self) -> int:
        """All chunks that another choice read."""
        return self._count_rows()

    def _count_rows(self) -> int:
        [[number]] = self.db.execute_fetchall("SELECT COUNT(*) FROM outdated_extraction")
        return int(number)

    def _is_everything(self, scope_ids: ScopeIds) -> bool:
        """Whether a scope has all spaces."""
        return {row[0] for row in self.db.execute_fetchall("SELECT id FROM space")} <= scope_ids.spaces

    @reading
    def measure(self) -> OutdatedTexts:
        """All chunks that another choice of extraction read."""
        rows = self.db.execute_fetchall(
            "SELECT d.kind = 'conversation', COUNT(*), SUM(c.tokens) FROM outdated_extraction o"
            " JOIN chunk c ON c.id = o.chunk JOIN document d ON d.id = c.document"
            " WHERE c.extraction IS NOT NULL GROUP BY 1"
        )
        rows = list(map(tuple, rows))
        tokens = {bool(kind): int(size) for kind, _, size in rows}
        return OutdatedTexts(sum(int(row[1]) for row in rows), tokens.get(False, 0), tokens.get(True, 0))

    @writing
    def queue(self) -> int:
        """Have all chunks that another choice read be read again; returns their number."""
        rows = self.db.execute_fetchall("UPDATE outdated_extraction SET queued = true RETURNING chunk")
        return len(list(rows))

    @writing
    def take(self, limit: int, paused: PausedTexts = NOTHING_PAUSED) -> int:
        """Let the next queued chunks wait for extraction; returns their number. Search finds them meanwhile."""
        rows = self.db.execute_fetchall(
            "SELECT c.id, c.document FROM outdated_extraction o JOIN chunk c ON c.id = o.chunk"
            f" JOIN document d ON d.id = c.document WHERE {QUEUED} AND {UNPAUSED} ORDER BY c.id LIMIT ?",
            (*paused_parameters(paused), limit),
        )
        chunks, documents = [row[0] for row in rows], {row[1] for row in rows}
        if not chunks:
            return 0
        listed = (id_list(chunks),)
        self.db.execute("UPDATE chunk SET extraction = NULL WHERE id IN (SELECT value FROM @list(?))", listed)
        self.db.execute("DELETE FROM outdated_extraction WHERE chunk IN (SELECT value FROM @list(?))", listed)
        self.db.execute(
            "UPDATE document SET status = 'searchable' WHERE status = 'indexed' AND id IN (SELECT value FROM @list(?))",
            (id_list(sorted(documents)),),
        )
        return len(chunks)
