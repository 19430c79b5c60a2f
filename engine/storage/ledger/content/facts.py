"""Mentions and links: facts extracted from chunks, saved and deleted with them, and chunks that wait for extraction.

Only a database that several processes share has claims of chunks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import NothingGiven, is_outage
from engine.models import Extraction, Link, Mention
from engine.storage.ledger.clauses import UNPAUSED, free_text_clause, paused_parameters
from engine.storage.ledger.content.fact_rows import FactRows
from engine.storage.ledger.names.joins import Joins
from engine.storage.ledger.names.names import Invalidation
from engine.storage.ledger.names.people import People
from engine.storage.ledger.records.content import UnextractedChunk, incomplete_key
from engine.storage.ledger.records.projection import KeyKind, SpaceTurn
from engine.storage.ledger.work.claims import StaleKeys, list_due_spaces, share_out
from engine.storage.ledger.work.settings import Settings
from engine.storage.ledger.work.work_queue import NOTHING_PAUSED, PERMANENT_ERRORS
from engine.storage.sql.connection import Dialect
from engine.storage.sql.database import Place_co, Topic, reading, writing
from engine.storage.sql.fragments import id_list

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from engine.errors import EngineError
    from engine.usage import PausedTexts

FIRST_TURN = SpaceTurn()
CUT_OFF = "cut_off"
PEOPLE_BATCH = 50  # chunks whose facts are looked at for people in one transaction
INCOMPLETE_HINT = "Raise THREADLORE_LLM_MAX_OUTPUT_TOKENS and read the text again with `threadlore retry`."
MAX_EXTRACTED_SPACES = 16  # whose chunks are listed at once, with their texts


class Facts(Topic[Place_co]):
    """Mentions and links of chunks, and the chunks that wait for extraction."""

    @writing
    def record_extraction_failure(self, chunk: int, error: EngineError, retry_at: float) -> None:
        """Record a failed extraction; an infinite `retry_at` gives the chunk up and fails its document.

        An outage of the model does not count as a try. A chunk that another process has read meanwhile stays as it is.
        """
        self.release_chunks([chunk])
        counts = not is_outage(error)
        self.db.execute(
            "UPDATE chunk SET attempts = attempts + ?, retry_at = ?, error = ?, hint = ?, permanent_failure = ?"
            " WHERE id = ? AND extraction IS NULL",
            (int(counts), retry_at, str(error), error.hint, isinstance(error, PERMANENT_ERRORS), chunk),
        )
        if isinstance(error, NothingGiven):
            self._record_outcome(chunk, error.outcome, "extraction IS NULL")
        if retry_at == float("inf"):
            self.db.execute(
                "UPDATE document SET error = ?, hint = ?"
                " WHERE id = (SELECT document FROM chunk WHERE id = ? AND extraction IS NULL)",
                (str(error), error.hint, chunk),
            )

    @reading
    def has_due_extraction(self, now: float) -> bool:
        """Whether any chunk waits for extraction now."""
        [[exists]] = self.db.execute_fetchall(
            "SELECT EXISTS (SELECT 1 FROM chunk c @then JOIN document d ON d.id = c.document"
            " WHERE c.extraction IS NULL AND NOT d.open AND c.retry_at <= ?)",
            (now,),
        )
        return bool(exists)

    @reading
    def has_pending_extraction(self, paused: PausedTexts = NOTHING_PAUSED) -> bool:
        """Whether any chunk waits for extraction, now or for its next try; `paused` texts do not."""
        [[exists]] = self.db.execute_fetchall(
            "SELECT EXISTS (SELECT 1 FROM chunk c @then JOIN document d ON d.id = c.document"
            f" WHERE c.extraction IS NULL AND NOT d.open AND c.retry_at < @infinity AND {UNPAUSED})",
            paused_parameters(paused),
        )
        return bool(exists)

    @writing
    def claim_chunks(self, ids: Collection[int], process: int) -> set[int]:
        """Claim chunks for extraction; returns those that were free.

        A chunk is not free while another process extracts the same text: its facts can be copied afterwards.
        """
        if self.db.dialect is Dialect.SQLITE:
            return set(ids)
        rows = self.db.execute_fetchall(
            "INSERT INTO extraction_claim (chunk, process) SELECT c.id, ?2 FROM @list(?1, j)"
            " @then JOIN chunk c ON c.id = j.value"
            f" WHERE c.extraction IS NULL AND {free_text_clause(self.db, process)}"
            " ON CONFLICT (chunk) DO UPDATE SET process = excluded.process"
            " WHERE extraction_claim.process = excluded.process RETURNING chunk",
            (id_list(sorted(ids)), process),
        )
        return {row[0] for row in rows}

    @writing
    def release_chunks(self, ids: Collection[int]) -> None:
        """Free chunks that were claimed for extraction."""
        if self.db.dialect is Dialect.POSTGRES:
            self.db.execute("DELETE FROM extraction_claim WHERE chunk IN (SELECT value FROM @list(?))", (id_list(ids),))

    @writing
    def save_extraction(self, chunk: int, key: bytes, extraction: Extraction) -> bool:
        """Save the facts of a chunk; returns False if the chunk is gone or was extracted before."""
        return chunk in self.save_extractions({chunk: (key, extraction)})

    @writing
    def save_extractions(self, found: Mapping[int, tuple[bytes, Extraction]]) -> set[int]:
        """Save the facts of chunks, with their keys; returns those that still exist and were not extracted before.

        They replace those of an earlier reading that is repeated. A chunk whose facts may be incomplete gets an error,
        and a key of its own, so that no other chunk reuses them.
        """
        replaced = FactRows(self.db).begin_replacing(
            {id_: each for id_, (_, each) in found.items()}, "c.extraction IS NULL"
        )()
        saved = [chunk.id for chunk in replaced.chunks]
        if not saved:
            return set()
        kept, outdated = People(self.db).keep_out({id_: found[id_][1] for id_ in saved}, is_new=True)
        for id_ in saved:
            People(self.db).copy_losses(id_, found[id_][0])
        # A chunk given up by the embedder keeps its error.
        self.db.executemany(
            "UPDATE chunk SET extraction = ?, error = CASE WHEN retry_at < @infinity THEN '' ELSE error END,"
            " hint = CASE WHEN retry_at < @infinity THEN '' ELSE hint END,"
            " retry_at = CASE WHEN retry_at < @infinity THEN 0 ELSE retry_at END WHERE id = ?",
            [(found[id_][0], id_) for id_ in saved],
        )
        self.db.execute("DELETE FROM incomplete_chunk WHERE chunk IN (SELECT value FROM @list(?))", (id_list(saved),))
        self.db.execute(
            "DELETE FROM outdated_extraction WHERE chunk IN (SELECT value FROM @list(?))", (id_list(saved),)
        )
        self.release_chunks(saved)
        FactRows(self.db).replace(kept, replaced)
        for id_ in saved:
            if found[id_][1].missing:
                self._record_missing(id_, *found[id_])
        self.drop_people(outdated)
        return set(saved)

    def drop_people(self, chunks: Collection[int], last: float = float("inf")) -> None:
        """Keep people out of the stored facts of chunks, and of others up to the id `last` that name the same ones.

        Those beyond a batch are marked, and have their turn in other transactions.
        """
        waiting, done = sorted(chunks), 0
        while waiting and done < PEOPLE_BATCH:
            batch, waiting = waiting[: PEOPLE_BATCH - done], waiting[PEOPLE_BATCH - done :]
            done += len(batch)
            stored = {id_: self._load_facts(id_) for id_ in batch}
            kept, outdated = People(self.db).keep_out(stored)
            waiting = sorted({*waiting, *(chunk for chunk in outdated if chunk <= last)})
            if changed := {id_: facts for id_, facts in kept.items() if facts != stored[id_]}:
                FactRows(self.db).replace(changed, FactRows(self.db).begin_replacing(changed)())
                Settings(self.db).set("last_removal", Settings(self.db).get_int("generation"))
        People(self.db).mark_unchecked(waiting)

    def _record_missing(self, chunk: int, key: bytes, extraction: Extraction) -> None:
        """Record that a chunk was not read to its end."""
        self.db.execute(
            "UPDATE chunk SET extraction = ?, error = ?, hint = ?, permanent_failure = true WHERE id = ?",
            (incomplete_key(key), extraction.missing, INCOMPLETE_HINT, chunk),
        )
        self.db.execute(
            "UPDATE document SET error = ?, hint = ? WHERE id = (SELECT document FROM chunk WHERE id = ?)",
            (extraction.missing, INCOMPLETE_HINT, chunk),
        )
        self._record_outcome(chunk, CUT_OFF)

    def _record_outcome(self, chunk: int, outcome: str, condition: str = "true") -> None:
        """Record what the model gave instead of all facts, if the chunk is as the condition says."""
        self.db.execute(
            f"INSERT INTO incomplete_chunk (chunk, outcome) SELECT id, ?2 FROM chunk WHERE id = ?1 AND {condition}"
            " ON CONFLICT (chunk) DO UPDATE SET outcome = excluded.outcome",
            (chunk, outcome),
        )

    @reading
    def find_extraction(self, keys: tuple[bytes, bytes], chunk: int) -> tuple[bytes, Extraction] | None:
        """Facts extracted from the same text by the same extractor, in the space of the chunk, with their key.

        Other spaces are left out: a saved extraction would reveal that they contain the text.
        """
        first = (
            "SELECT id, extraction FROM chunk WHERE extraction = ?"
            " AND @unindexed space = (SELECT space FROM chunk WHERE id = ?)"
        )
        rows = self.db.execute_fetchall(
            f"SELECT * FROM ({first} LIMIT 1) x UNION ALL SELECT * FROM ({first} LIMIT 1) y",
            [value for key in keys for value in (key, chunk)],
        )
        by_key = {bytes(key): id_ for id_, key in rows}
        for key in keys:
            if key in by_key:
                return key, self._load_facts(by_key[key])
        return None

    def _load_facts(self, chunk: int) -> Extraction:
        mentions = self.db.execute_fetchall(
            "SELECT surface, type, description FROM mention WHERE chunk = ? AND type <> '' ORDER BY number", (chunk,)
        )
        links = self.db.execute_fetchall(
            "SELECT x.canonical, y.canonical, f.keywords, f.description FROM link f JOIN pair p ON p.id = f.pair"
            " JOIN name x ON x.id = p.a JOIN name y ON y.id = p.b WHERE f.chunk = ? ORDER BY f.number",
            (chunk,),
        )
        surfaces = self.db.execute_fetchall(
            "SELECT n.canonical, m.surface FROM mention m JOIN name n ON n.id = m.name WHERE m.chunk = ?", (chunk,)
        )
        shown = {row[0]: row[1] for row in surfaces}  # the ends of links are keys like those of mentions
        return Extraction(
            tuple(Mention(*row) for row in mentions),
            tuple(Link(shown.get(a, a), shown.get(b, b), keywords, text) for a, b, keywords, text in links),
        )

    def delete_chunks(self, chunks: Collection[int], *, removed: bool) -> None:
        """Delete chunks with their facts, and every cached vector and answer that depends on them.

        `removed`: text was deleted and must leave the files; otherwise other chunks of the document contain it.
        """
        if not chunks:
            return
        listed = (id_list(chunks),)
        generation = Settings(self.db).next_generation()
        for key in ("last_rechunk", "last_removal") if removed else ("last_rechunk",):
            Settings(self.db).set(key, generation)
        shown = People(self.db).list_shown(chunks)
        names, pairs = FactRows(self.db).delete(chunks)
        defined = Joins(self.db).find_defined_keys(chunks)
        Invalidation(self.db).delete_cached_answers(KeyKind.CHUNK, chunks)
        gone = self.db.execute_fetchall(
            "DELETE FROM chunk WHERE id IN (SELECT value FROM @list(?)) RETURNING text_hash", listed
        )
        self.db.executemany(
            "DELETE FROM vector WHERE text_hash = ?1 AND NOT EXISTS (SELECT 1 FROM chunk WHERE text_hash = ?1)",
            [tuple(row) for row in gone],
        )
        StaleKeys(self.db).add(KeyKind.CHUNK, chunks, generation)
        Joins(self.db).refresh_by_id(names, defined)
        Invalidation(self.db).invalidate_keys(names, pairs, generation)
        People(self.db).doubt(shown)

    @reading
    def list_unextracted(
        self, limit: int, now: float, skip: Collection[int], turn: SpaceTurn = FIRST_TURN, least: int = 1
    ) -> list[UnextractedChunk]:
        """Chunks of closed documents that may be extracted at the time `now`, the oldest of each space.

        About `limit` ones, of some spaces in turn; each may have `least`. Those that other processes extract are left
        out.
        """
        free = (
            f"c.extraction IS NULL AND NOT d.open AND c.retry_at <= ? AND {UNPAUSED}"
            f" AND {free_text_clause(self.db, turn.process)}"
        )
        find_next = (
            "(SELECT c.space FROM chunk c @then JOIN document d ON d.id = c.document"
            f" WHERE {free}"
            " AND c.space > due.space ORDER BY c.space LIMIT 1)"
        )
        parameters = now, *paused_parameters(turn.paused)
        spaces = list_due_spaces(self.db, find_next, parameters, turn.after, MAX_EXTRACTED_SPACES)

        def load(space: int, count: int) -> list[UnextractedChunk]:
            rows = self.db.execute_fetchall(
                "SELECT c.id, c.document, c.text, d.title, d.kind, c.attempts, c.space, c.tokens,"
                " (SELECT p.label FROM chunk_passage i JOIN passage p ON p.id = i.passage WHERE i.chunk = c.id"
                "  ORDER BY i.ordinal LIMIT 1)"
                f" FROM chunk c JOIN document d ON d.id = c.document WHERE {free} AND c.space = ?"
                " AND c.id NOT IN (SELECT value FROM @list(?)) ORDER BY c.id LIMIT ?",
                (*parameters, space, id_list(skip), count),
            )
            return [
                UnextractedChunk(
                    id_, document, text, excerpt_section(kind, title, label or ""), attempts, space, tokens, kind
                )
                for id_, document, text, title, kind, attempts, _, tokens, label in rows
            ]

        return share_out(spaces, limit, load, least)


def excerpt_section(kind: str, title: str, label: str) -> str:
    """The headings above a chunk, for the prompt, each once; "" for conversations."""
    place = label.removeprefix(title).lstrip(" ›")
    return "" if kind == "conversation" else " › ".join(part for part in (title, place) if part)
