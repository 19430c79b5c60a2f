"""The work queue: chunks to embed, document statuses, and failures: tried again later, or given up with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import ModelRefused, NothingGiven, PromptTooLong
from engine.storage.ledger.cache import Cache
from engine.storage.ledger.clauses import row_clause
from engine.storage.ledger.records.projection import (
    ChunkToEmbed,
    EmbeddingFailure,
    KeyKind,
)
from engine.storage.ledger.work.claims import StaleKeys
from engine.storage.ledger.work.settings import Embedders, Settings
from engine.storage.sql.database import Place_co, Topic, reading, writing
from engine.storage.sql.fragments import id_list
from engine.usage import PausedTexts

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engine.storage.ledger.records.projection import StaleKey
    from engine.storage.ledger.records.query_results import ScopeIds
    from engine.usage import IndexingUsage


PERMANENT_ERRORS = (ModelRefused, NothingGiven, PromptTooLong)  # the same text fails at every start
INITIAL_WAIT, MAX_WAIT = 5.0, 600.0  # seconds until the next try; doubled with each
MAX_REASONS = 5  # listed in the problems
NOTHING_PAUSED = PausedTexts()
# Documents whose chunks are all embedded, and those whose keys are all projected, while their status is the one before.
_EMBEDDED = (
    "status = 'pending' AND NOT EXISTS (SELECT 1 FROM chunk c"
    " JOIN stale_key s ON s.kind = 0 AND s.id = c.id WHERE c.document = document.id)"
)
_PROJECTED = (
    "status = 'searchable' AND unextracted_chunks = 0 AND NOT open AND error = ''"
    " AND generation < (SELECT COALESCE(MIN(first_generation), 9223372036854775807) FROM stale_key)"
)


class WorkQueue(Topic[Place_co]):
    """Chunks to embed, document statuses, and what was given up or waits for its next try."""

    @reading
    def load_chunks(self, ids: Collection[int]) -> list[ChunkToEmbed]:
        """The chunks of these ids; missing ones are left out."""
        rows = self.db.execute_fetchall(
            "SELECT c.id, c.space, c.room, c.text, c.text_hash, c.attempts, d.open FROM @list(?, j)"
            " @then JOIN chunk c ON c.id = j.value @then JOIN document d ON d.id = c.document",
            (id_list(ids),),
        )
        return [ChunkToEmbed(*row) for row in map(tuple, rows)]

    @reading
    def list_failed_keys(self) -> list[tuple[KeyKind, int]]:
        """Chunks of failed documents, and names and pairs whose vectors may be missing."""
        rows = self.db.execute_fetchall(
            "SELECT c.id FROM document d JOIN chunk c ON c.document = d.id WHERE d.status = 'failed' AND c.error <> ''"
        )
        return [(KeyKind.CHUNK, row[0]) for row in rows] + self.list_failed_profiles()

    @writing
    def retry_documents(self, key: str = "", *, permanent: bool = True) -> int:
        """Retry the failures of one document, or of all; returns the number of documents.

        All includes names and pairs that could not be embedded. `permanent`: also documents with a permanent error.
        """
        return self._retry(key, permanent=permanent, waiting=True)

    @writing
    def retry_given_up(self, *, permanent: bool) -> None:
        """Retry what was given up, `permanent` also for permanent errors; what waits for its next try waits on."""
        self._retry("", permanent=permanent, waiting=False)
        self._retry_beside_failures()

    def _retry(self, key: str, *, permanent: bool, waiting: bool) -> int:
        generation = Settings(self.db).next_generation()
        rows = self.db.execute_fetchall(
            "UPDATE document SET status = 'pending', error = '', hint = '', generation = ?2"
            " WHERE (error <> '' OR (?4 AND id IN"
            " (SELECT c.document FROM chunk c WHERE c.extraction IS NULL AND c.error <> '' AND c.retry_at < @infinity))"
            " OR (?3 AND ?4 AND id IN (SELECT c.document FROM incomplete_chunk i JOIN chunk c ON c.id = i.chunk)))"
            " AND (?1 = '' OR key = ?1)"
            " AND (?3 OR NOT EXISTS (SELECT 1 FROM chunk c WHERE c.document = document.id AND c.permanent_failure))"
            " RETURNING id",
            (key, generation, permanent, waiting),
        )
        listed = id_list([row[0] for row in rows])
        # Facts of an earlier reading stay until those of the next one replace them.
        failed = self.db.execute_fetchall(
            "UPDATE chunk SET attempts = 0, retry_at = 0, error = '', hint = '', permanent_failure = false,"
            " extraction = CASE WHEN EXISTS (SELECT 1 FROM incomplete_chunk i WHERE i.chunk = chunk.id)"
            " THEN NULL ELSE extraction END WHERE document IN (SELECT value FROM @list(?)) RETURNING id",
            (listed,),
        )
        chunks = [row[0] for row in failed]
        self.db.execute("DELETE FROM incomplete_chunk WHERE chunk IN (SELECT value FROM @list(?))", (id_list(chunks),))
        StaleKeys(self.db).add(KeyKind.CHUNK, chunks, generation)
        if not key:
            self.retry_profiles(permanent=permanent)
        return len(rows)

    @reading
    def has_status_behind(self) -> bool:
        """Whether `advance_documents` would change any status."""
        [[exists]] = self.db.execute_fetchall(
            f"SELECT EXISTS (SELECT 1 FROM document WHERE {_EMBEDDED})"
            f" OR EXISTS (SELECT 1 FROM document WHERE {_PROJECTED})"
        )
        return bool(exists)

    @writing
    def advance_documents(self, embedded: Collection[int] | None = None) -> None:
        """Update document statuses: searchable once embedded, indexed once all their keys are projected.

        `embedded`: only documents of these chunks become searchable; None checks every pending document.
        """
        of_batch = (
            ""
            if embedded is None
            else (" AND id IN (SELECT document FROM chunk WHERE id IN (SELECT value FROM @list(?)))")
        )
        self.db.execute(
            f"UPDATE document SET status = 'searchable' WHERE {_EMBEDDED}{of_batch}",
            () if embedded is None else (id_list(embedded),),
        )
        self.db.execute(f"UPDATE document SET status = 'indexed' WHERE {_PROJECTED}")

    @writing
    def start_reindex(self) -> None:
        """Mark every chunk, name and pair stale, because graph and vectors are empty; lasts until `finish_reindex`."""
        Settings(self.db).set("reindexing", 1)
        generation = Settings(self.db).next_generation()
        self.db.execute("UPDATE entity SET in_graph = false")
        self.db.execute("UPDATE relation SET in_graph = false")
        Embedders(self.db).mark_all(generation)
        self.db.execute("UPDATE document SET status = 'pending', generation = ? WHERE error = ''", (generation,))

    @writing
    def record_all_graphed(self) -> None:
        """Record that the graph holds every profile."""
        self.db.execute("UPDATE entity SET in_graph = true")
        self.db.execute("UPDATE relation SET in_graph = true")

    @writing
    def finish_reindex(self) -> None:
        """Record that graph and vectors are complete again."""
        self.record_all_graphed()
        Settings(self.db).delete(("reindexing",))

    @writing
    def requeue_keys(self, keys: Collection[tuple[KeyKind, int]]) -> None:
        """Mark keys stale whose projection is wrong."""
        generation = Settings(self.db).next_generation()
        for kind, table in ((KeyKind.CHUNK, ""), (KeyKind.NAME, "entity"), (KeyKind.PAIR, "relation")):
            ids = [id_ for each, id_ in keys if each == kind]
            StaleKeys(self.db).add(kind, ids, generation)
            if table:
                self.db.executemany(f"UPDATE {table} SET embedding_hash = NULL WHERE id = ?", [(id_,) for id_ in ids])

    @writing
    def resume(self) -> None:
        """Release held keys and retry failures at a start, except those with a permanent error."""
        self.db.execute("UPDATE stale_key SET on_cooldown = 0 WHERE on_cooldown = 1")
        self.retry_documents(permanent=False)
        self.db.execute(
            "UPDATE chunk SET attempts = 0, retry_at = 0, error = '', hint = ''"
            " WHERE extraction IS NULL AND error <> '' AND retry_at < @infinity"
        )
        self._retry_beside_failures()

    def _retry_beside_failures(self) -> None:
        """Retry chunks of documents in which another chunk has a permanent error."""
        beside_failures = self.db.execute_fetchall(
            "UPDATE chunk SET attempts = 0, retry_at = 0, error = '', hint = ''"
            " WHERE retry_at = @infinity AND NOT permanent_failure"
            " AND document IN (SELECT document FROM chunk WHERE permanent_failure) RETURNING id"
        )
        StaleKeys(self.db).add(KeyKind.CHUNK, [row[0] for row in beside_failures], Settings(self.db).next_generation())

    @reading
    def needs_compaction(self) -> bool:
        """Whether deleted bytes may still be in the files."""
        return max(Settings(self.db).get_int("last_removal"), Settings(self.db).get_int("last_drop")) > Settings(
            self.db
        ).get_int("last_compaction")

    @reading
    def count_pending_documents(self) -> int:
        """Documents that are not completely indexed yet; open conversations count only until searchable."""
        [[number]] = self.db.execute_fetchall(
            "SELECT COUNT(*) FROM document WHERE status = 'pending' OR (status = 'searchable' AND NOT open)"
        )
        return int(number)

    @reading
    def is_idle(self, *, skip_quiet: bool, paused: PausedTexts = NOTHING_PAUSED) -> bool:
        """Whether no work is left; `skip_quiet` counts keys held for a quiet period as work.

        `paused`: texts that are not extracted now.
        """
        due = "SELECT 1 FROM stale_key"
        if not skip_quiet:  # there is an index for each
            due = f"{due} WHERE kind = 0 AND on_cooldown = 0) OR EXISTS ({due} WHERE kind > 0 AND on_cooldown = 0"
        [[busy]] = self.db.execute_fetchall(
            f"SELECT EXISTS ({due}) OR EXISTS (SELECT 1 FROM document WHERE status = 'pending')"
            " OR EXISTS (SELECT 1 FROM chunk c @then JOIN document d ON d.id = c.document"
            " WHERE c.extraction IS NULL AND NOT d.open AND c.retry_at < @infinity"
            " AND NOT (c.space IN (SELECT value FROM @list(?)) AND (d.kind <> 'conversation' OR NOT ?)))"
            " OR EXISTS (SELECT 1 FROM outdated_extraction o @then JOIN chunk c ON c.id = o.chunk"
            " @then JOIN document d ON d.id = c.document"
            " WHERE o.queued AND c.extraction IS NOT NULL AND NOT d.open AND c.retry_at < @infinity"
            " AND NOT (c.space IN (SELECT value FROM @list(?)) AND (d.kind <> 'conversation' OR NOT ?)))"
            " OR EXISTS (SELECT 1 FROM person_name WHERE evidence < 0)"
            " OR (NOT EXISTS (SELECT 1 FROM stale_key) AND EXISTS (SELECT 1 FROM document"
            " WHERE status = 'searchable' AND unextracted_chunks = 0 AND NOT open AND error = ''))",
            2 * (id_list(sorted(paused.spaces)), paused.only_files),
        )
        return not busy

    @reading
    def has_only_held_keys(self, paused: PausedTexts = NOTHING_PAUSED) -> bool:
        """Whether the only work left is held for a quiet period; `paused` texts are no work."""
        return self.is_idle(skip_quiet=False, paused=paused) and not self.is_idle(skip_quiet=True, paused=paused)

    @reading
    def count_given_up(self) -> int:
        """Documents of which a part was given up, and names and pairs whose vectors were."""
        [[number]] = self.db.execute_fetchall(
            "SELECT (SELECT COUNT(*) FROM document WHERE error <> '') + (SELECT COUNT(*) FROM embedding_failure)"
        )
        return int(number)

    @writing
    def accept_unknown(self) -> None:
        """Take chunks without facts as read, of which a former version did not record why: rules miss none."""
        self.db.execute("DELETE FROM incomplete_chunk WHERE outcome = 'unknown'")

    @writing
    def retry_after_change(self, reader: str) -> bool:
        """Retry everything that was given up by another reader (program and models); returns whether it was another."""
        if Settings(self.db).get("reader") == reader:
            return False
        Settings(self.db).set("reader", reader)
        self.retry_given_up(permanent=True)
        return True

    @writing
    def record_failures(self, failures: Sequence[EmbeddingFailure], attempts: int, now: float) -> None:
        """Count a try of each key; give up keys with too many tries or a permanent error.

        Keys that changed since are left alone: their new text is tried.
        """
        over = list[EmbeddingFailure]()
        for failure in failures:
            rows = self.db.execute_fetchall(
                "UPDATE stale_key SET attempts = attempts + 1, error = ?, hint = ?"
                " WHERE kind = ? AND id = ? AND generation = ? RETURNING attempts",
                (str(failure.error), failure.error.hint, *failure.key),
            )
            for (count,) in rows:
                retry_at = now + min(MAX_WAIT, INITIAL_WAIT * 2 ** min(count - 1, 20))
                self.db.execute(
                    "UPDATE stale_key SET retry_at = ? WHERE kind = ? AND id = ?", (retry_at, *failure.key[:2])
                )
                if count >= attempts or isinstance(failure.error, PERMANENT_ERRORS):
                    over.append(failure)
        self.db.executemany(
            "UPDATE stale_key SET claimed_by = NULL WHERE kind = ? AND id = ?",
            [failure.key[:2] for failure in failures],
        )
        for failure in over:
            self._give_up_key(failure)

    def _give_up_key(self, failure: EmbeddingFailure) -> None:
        (kind, id_, _), error = failure.key, failure.error
        reason = str(error), error.hint, isinstance(error, PERMANENT_ERRORS)
        self.db.execute("DELETE FROM stale_key WHERE kind = ? AND id = ?", (kind, id_))
        if kind != KeyKind.CHUNK:
            self.db.execute(
                "INSERT INTO embedding_failure (kind, id, error, hint, permanent) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (kind, id) DO UPDATE SET error = excluded.error, hint = excluded.hint,"
                " permanent = excluded.permanent",
                (kind, id_, *reason),
            )
            return
        self.db.execute(
            "UPDATE chunk SET error = ?, hint = ?, permanent_failure = ?, retry_at = @infinity WHERE id = ?",
            (*reason, id_),
        )
        self.db.execute(
            "UPDATE document SET status = 'failed', error = ?, hint = ?"
            " WHERE id = (SELECT document FROM chunk WHERE id = ?)",
            (*reason[:2], id_),
        )

    def clear_failures(self, embedded: Sequence[tuple[KeyKind, int]]) -> None:
        """Delete the failures of keys whose vectors are stored or deleted."""
        for kind in (KeyKind.NAME, KeyKind.PAIR):
            self.db.execute(
                "DELETE FROM embedding_failure WHERE kind = ? AND id IN (SELECT value FROM @list(?))",
                (kind, id_list([id_ for each, id_ in embedded if each == kind])),
            )

    def retry_profiles(self, *, permanent: bool = True) -> None:
        """Retry every name and pair that was given up or waits for its next try."""
        rows = self.db.execute_fetchall(
            "DELETE FROM embedding_failure WHERE ?1 OR NOT permanent RETURNING kind, id", (permanent,)
        )
        generation = Settings(self.db).next_generation()
        for kind in (KeyKind.NAME, KeyKind.PAIR):
            StaleKeys(self.db).add(kind, [id_ for each, id_ in rows if each == kind], generation)
        self.db.execute("UPDATE stale_key SET attempts = 0, retry_at = 0 WHERE attempts > 0")

    def list_failed_profiles(self) -> list[tuple[KeyKind, int]]:
        """The names and pairs that were given up."""
        return [
            (KeyKind(kind), id_) for kind, id_ in self.db.execute_fetchall("SELECT kind, id FROM embedding_failure")
        ]

    @reading
    def list_failure_reasons(self) -> list[str]:
        """One sentence for each reason why documents, chunks, names or pairs were given up, with their number."""
        rows = self.db.execute_fetchall(
            "SELECT error, COUNT(*) FROM (SELECT error FROM embedding_failure UNION ALL SELECT error FROM document"
            " WHERE error <> '') GROUP BY error ORDER BY COUNT(*) DESC LIMIT ?",
            (MAX_REASONS,),
        )
        return [f"{count} given up: {error}" for error, count in rows]

    def count_failed_keys(self, scope_ids: ScopeIds) -> tuple[int, str]:
        """The number of given-up names and pairs within a scope, and the reason of one of them."""
        rows = self.db.execute_fetchall(
            "SELECT u.error FROM embedding_failure u LEFT JOIN entity e ON u.kind = 1 AND e.id = u.id"
            " LEFT JOIN relation r ON u.kind = 2 AND r.id = u.id"
            " WHERE COALESCE(e.space, r.space) IN (SELECT value FROM @list(?))",
            (id_list(sorted(scope_ids.spaces)),),
        )
        errors = [str(row[0]) for row in rows]
        return len(errors), errors[0] if errors else ""

    def find_retry_error(self, scope_ids: ScopeIds) -> str:
        """The error of a key within a scope that is tried again, "" if there is none."""
        rows = self.db.execute_fetchall(
            "SELECT s.error FROM stale_key s LEFT JOIN chunk c ON s.kind = 0 AND c.id = s.id"
            " LEFT JOIN entity e ON s.kind = 1 AND e.id = s.id LEFT JOIN relation r ON s.kind = 2 AND r.id = s.id"
            f" WHERE s.attempts > 0 AND ({row_clause(scope_ids, 'c')} OR COALESCE(e.space, r.space) IN"
            " (SELECT value FROM @list(?))) LIMIT 1",
            (id_list(sorted(scope_ids.spaces)),),
        )
        return next((str(row[0]) for row in rows), "")

    @writing
    def finish_embedding(
        self,
        done: Sequence[StaleKey],
        failures: Sequence[EmbeddingFailure],
        attempts: int,
        usage: IndexingUsage,
        now: float,
    ) -> None:
        """Finish a batch of chunks; a failed one is given up after `attempts` tries."""
        StaleKeys(self.db).remove(done)
        self.record_failures(failures, attempts, now)
        self.advance_documents([mark.id for mark in done])
        Cache(self.db).record_indexing(usage, now)
