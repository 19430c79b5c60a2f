"""Statuses, open work, and the content that graph and vectors should have, to verify or to recognize them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import NotFound
from engine.storage.graph.base import GraphEdge, GraphNode
from engine.storage.ledger.clauses import LAST_CHARACTER, row_clause
from engine.storage.ledger.content.readings import PeopleRemoval, Readings
from engine.storage.ledger.queries.search import Search
from engine.storage.ledger.records.content import SMALL_TALK_KEY, decode_omissions
from engine.storage.ledger.records.projection import ExpectedSample, ExpectedState
from engine.storage.ledger.records.query_results import (
    DocumentInfo,
    DocumentStatus,
    IndexingDay,
    IndexProblem,
    IndexStatus,
)
from engine.storage.ledger.work.claims import StaleKeys
from engine.storage.ledger.work.work_queue import WorkQueue
from engine.storage.sql.connection import Dialect
from engine.storage.sql.database import Place_co, Topic, reading
from engine.storage.sql.fragments import from_micros, id_list, text_list
from engine.usage import SpaceUsage

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from engine.models import Scope
    from engine.storage.ledger.records.query_results import ScopeIds


_LAST_CHUNK_ID = {
    Dialect.SQLITE: "SELECT seq FROM sqlite_sequence WHERE name = 'chunk'",
    Dialect.POSTGRES: "SELECT last_value FROM chunk_id_seq WHERE is_called",
}

LAST_GRAPHED_LIMIT = 20
MAX_PROBLEMS = 500  # listed at once
UNKNOWN = "unknown"  # a former version extracted nothing, and did not record why


class Stats(Topic[Place_co]):
    """Numbers and lists: of a scope, and of the whole ledger to compare graph and vectors with."""

    @reading
    def sample_texts(self, count: int) -> list[str]:
        """The texts of the newest `count` chunks, and of as many others, evenly spread over all ids."""
        newest = self.db.execute_fetchall("SELECT id, text FROM chunk ORDER BY id DESC LIMIT ?", (count,))
        first = newest[-1][0] if len(newest) == count else 0
        ids = [first * place // count for place in range(count)] if first else []
        spread = self.db.execute_fetchall(
            "SELECT c.text FROM @list(?, j) @then JOIN chunk c"
            " ON c.id = (SELECT MIN(o.id) FROM chunk o WHERE o.id > j.value) WHERE c.id < ?",
            (id_list(sorted(set(ids))), first),
        )
        return [text for _, text in newest] + [text for (text,) in spread]

    @reading
    def load_document_status(self, key: str, scope: Scope) -> DocumentStatus:
        """The progress of a document within a scope. Raises NotFound."""
        within = row_clause(Search(self.db).resolve_scope(scope), "d")
        rows = self.db.execute_fetchall(
            f"SELECT d.status, d.error, d.hint, d.omissions, d.coverage FROM document d WHERE d.key = ?1 AND {within}",
            (key,),
        )
        for status, error, hint, omissions, coverage in rows:
            return DocumentStatus(status, error, hint, decode_omissions(omissions), coverage)
        raise NotFound(f"There is no document “{key}”.")

    @reading
    def load_index_status(self, scope: Scope) -> IndexStatus:
        """Numbers of documents, facts and open work within a scope."""
        scope_ids = Search(self.db).resolve_scope(scope)
        in_scope = row_clause(scope_ids, "d")
        documents = self.db.execute_fetchall(
            f"SELECT d.status, COUNT(*) FROM document d WHERE {in_scope} GROUP BY d.status ORDER BY d.status"
        )
        [[passages]] = self.db.execute_fetchall(
            f"SELECT COUNT(*) FROM passage p JOIN document d ON d.id = p.document WHERE {in_scope}"
        )
        [[chunks]] = self.db.execute_fetchall(f"SELECT COUNT(*) FROM chunk d WHERE {in_scope}")
        [[entities, relations]] = self.db.execute_fetchall(
            "SELECT SUM(row_count) FILTER (WHERE kind = 1), SUM(row_count) FILTER (WHERE kind = 2)"
            " FROM corpus_stats WHERE space IN"
            " (SELECT value FROM @list(?))",
            (id_list(sorted(scope_ids.spaces)),),
        )
        unread, stale = self.count_unextracted(scope_ids), self.count_stale(scope_ids)
        [[failed]] = self.db.execute_fetchall(f"SELECT COUNT(*) FROM document d WHERE d.error <> '' AND {in_scope}")
        return IndexStatus(
            {row[0]: row[1] for row in documents},
            passages,
            chunks,
            entities or 0,
            relations or 0,
            unread,
            stale,
            failed,
            self.find_extraction_error(scope_ids) or WorkQueue(self.db).find_retry_error(scope_ids),
            *WorkQueue(self.db).count_failed_keys(scope_ids),
            small_talk=self.count_small_talk(scope_ids),
            outdated=Readings(self.db).count(scope_ids),
            people=PeopleRemoval(self.db).describe(scope_ids.spaces),
        )

    @reading
    def count_incomplete(self) -> dict[str, int]:
        """The chunks of which facts may be missing, by what the model gave instead."""
        rows = self.db.execute_fetchall("SELECT outcome, COUNT(*) FROM incomplete_chunk GROUP BY outcome")
        return {str(outcome): int(count) for outcome, count in sorted(map(tuple, rows))}

    @reading
    def list_problems(self, scope: Scope) -> list[IndexProblem]:
        """What was not read of the documents within a scope, by title; the texts of former versions in one row."""
        rows = self.db.execute_fetchall(
            "SELECT d.key, d.title, COALESCE(i.outcome, ''), c.error, c.hint, COUNT(*) FROM chunk c"
            " JOIN document d ON d.id = c.document LEFT JOIN incomplete_chunk i ON i.chunk = c.id"
            f" WHERE (c.error <> '' OR i.chunk IS NOT NULL) AND {row_clause(Search(self.db).resolve_scope(scope), 'c')}"
            " GROUP BY d.key, d.title, COALESCE(i.outcome, ''), c.error, c.hint ORDER BY d.title, d.key, c.error"
        )
        found = [IndexProblem(*row) for row in map(tuple, rows)]
        unknown = sum(problem.chunks for problem in found if problem.outcome == UNKNOWN and not problem.error)
        listed = [problem for problem in found if problem.outcome != UNKNOWN or problem.error][:MAX_PROBLEMS]
        return [*listed, *([IndexProblem("", "", UNKNOWN, "", "", unknown)] if unknown else [])]

    def count_unextracted(self, scope_ids: ScopeIds) -> int:
        """Chunks within a scope that wait for extraction, without given-up ones and those of open conversations."""
        [[unread]] = self.db.execute_fetchall(
            "SELECT COUNT(*) FROM chunk c JOIN document d ON d.id = c.document"
            f" WHERE c.extraction IS NULL AND NOT d.open AND c.retry_at < @infinity AND {row_clause(scope_ids, 'c')}"
        )
        return int(unread)

    def count_small_talk(self, scope_ids: ScopeIds) -> int:
        """Messages within a scope that were not read for facts, because they state nothing."""
        [[count]] = self.db.execute_fetchall(
            "SELECT COUNT(*) FROM chunk c JOIN chunk_passage i ON i.chunk = c.id"
            f" WHERE c.extraction = ? AND {row_clause(scope_ids, 'c')}",
            (SMALL_TALK_KEY,),
        )
        return int(count)

    def find_extraction_error(self, scope_ids: ScopeIds) -> str:
        """The error of a chunk within a scope whose extraction is tried again, "" if there is none."""
        rows = self.db.execute_fetchall(
            "SELECT c.error FROM chunk c WHERE c.extraction IS NULL AND c.error <> '' AND c.retry_at < @infinity"
            f" AND {row_clause(scope_ids, 'c')} ORDER BY c.retry_at DESC LIMIT 1"
        )
        return next((str(row[0]) for row in rows), "")

    def count_stale(self, scope_ids: ScopeIds) -> int:
        """Stale chunks, names and pairs within a scope; deleted ones belong to no scope."""
        [[stale]] = self.db.execute_fetchall(
            "SELECT COUNT(*) FROM stale_key s LEFT JOIN chunk c ON s.kind = 0 AND c.id = s.id"
            " LEFT JOIN name n ON s.kind = 1 AND n.id = s.id LEFT JOIN pair p ON s.kind = 2 AND p.id = s.id"
            f" WHERE {row_clause(scope_ids, 'c')} OR COALESCE(n.space, p.space) IN (SELECT value FROM @list(?))",
            (id_list(sorted(scope_ids.spaces)),),
        )
        return int(stale)

    @reading
    def list_documents(self, scope: Scope, status_: str = "") -> list[DocumentInfo]:
        """The documents within a scope, by title."""
        scope_ids = Search(self.db).resolve_scope(scope)
        rows = self.db.execute_fetchall(
            "SELECT d.key, s.name, r.name, d.kind, d.title, d.link, d.time, d.open, d.status, d.error, d.hint,"
            " (SELECT COUNT(*) FROM chunk c WHERE c.document = d.id),"
            " (SELECT COUNT(*) FROM passage p WHERE p.document = d.id), d.omissions, d.coverage"
            " FROM document d JOIN space s ON s.id = d.space JOIN room r ON r.id = d.room"
            f" WHERE {row_clause(scope_ids, 'd')} AND (?1 = '' OR d.status = ?1) ORDER BY d.title, d.key",
            (status_,),
        )
        return [
            DocumentInfo(
                *(key, space, room, kind, title, link, from_micros(time), bool(open_)),
                *(*rest, decode_omissions(omissions), coverage),
            )
            for key, space, room, kind, title, link, time, open_, *rest, omissions, coverage in map(tuple, rows)
        ]

    @reading
    def list_kinds(self, keys: Collection[str], scope: Scope) -> dict[str, str]:
        """The kinds of documents within a scope, by these keys."""
        scope_ids = Search(self.db).resolve_scope(scope)
        rows = self.db.execute_fetchall(
            "SELECT d.key, d.kind FROM document d WHERE d.key IN (SELECT value FROM @list(?1))"
            f" AND {row_clause(scope_ids, 'd')}",
            (text_list(sorted({*keys})),),
        )
        return {str(key): str(kind) for key, kind in rows}

    @reading
    def count_documents(self) -> tuple[int, datetime | None]:
        """The number of all documents, and the time of the newest; None if there are none."""
        [(count, newest)] = self.db.execute_fetchall("SELECT COUNT(*), MAX(time) FROM document")
        return int(count), from_micros(newest) if count and newest is not None else None

    @reading
    def count_by_room(self, scope: Scope, kind: str = "") -> dict[str, int]:
        """The documents within a scope by room, of one kind or of all."""
        scope_ids = Search(self.db).resolve_scope(scope)
        rows = self.db.execute_fetchall(
            "SELECT r.name, COUNT(*) FROM document d JOIN room r ON r.id = d.room"
            f" WHERE {row_clause(scope_ids, 'd')} AND (?1 = '' OR d.kind = ?1) GROUP BY r.name",
            (kind,),
        )
        return {str(name): int(count) for name, count in rows}

    @reading
    def find_last_chunk_id(self) -> int:
        """The highest id that any chunk ever had, 0 if there was none."""
        rows = self.db.execute_fetchall(_LAST_CHUNK_ID[self.db.dialect])
        return next((int(row[0]) for row in rows), 0)

    @reading
    def list_nodes(self) -> list[GraphNode]:
        """Every entity, as the graph should hold it."""
        rows = self.db.execute_fetchall("SELECT id, space FROM entity ORDER BY id")
        return [GraphNode(*row) for row in map(tuple, rows)]

    @reading
    def list_edges(self) -> list[GraphEdge]:
        """Every relation, as the graph should hold it."""
        rows = self.db.execute_fetchall("SELECT id, a, b, weight FROM relation ORDER BY id")
        return [GraphEdge(*row) for row in map(tuple, rows)]

    @reading
    def list_last_graphed(self) -> tuple[list[int], list[GraphEdge]]:
        """The newest entities and relations that the graph must hold."""
        nodes = self.db.execute_fetchall(
            f"SELECT id FROM entity WHERE in_graph ORDER BY id DESC LIMIT {LAST_GRAPHED_LIMIT}"
        )
        edges = self.db.execute_fetchall(
            f"SELECT id, a, b, weight FROM relation WHERE in_graph ORDER BY id DESC LIMIT {LAST_GRAPHED_LIMIT}"
        )
        return [row[0] for row in nodes], [GraphEdge(*row) for row in map(tuple, edges)]

    def load_chunk_locations(self) -> dict[int, tuple[int, int]]:
        """The (space, room) of each chunk, as its vectors should have them."""
        rows = self.db.execute_fetchall("SELECT id, space, room FROM chunk")
        return {row[0]: (row[1], row[2]) for row in rows}

    def load_profile_locations(self, table: str) -> dict[int, tuple[int, int]]:
        """The (space, 0) of each profile, as its vector should have them."""
        return {row[0]: (row[1], 0) for row in self.db.execute_fetchall(f"SELECT id, space FROM {table}")}

    @reading
    def load_expected(self) -> ExpectedState:
        """Read the expected state of both projections."""
        return ExpectedState(
            {node.id: node for node in self.list_nodes()},
            {edge.id: edge for edge in self.list_edges()},
            {
                "chunks": self.load_chunk_locations(),
                "entities": self.load_profile_locations("entity"),
                "relations": self.load_profile_locations("relation"),
            },
            frozenset(StaleKeys(self.db).list_all() + WorkQueue(self.db).list_failed_keys()),
        )

    @reading
    def load_sample(self, embedder: str, limit: int) -> ExpectedSample:
        """The newest chunk vectors and edges that were written to vectors and graph, at most `limit` of each."""
        rows = self.db.execute_fetchall(
            "SELECT c.id, v.data FROM chunk c @then JOIN vector v ON v.text_hash = c.text_hash AND v.embedder = ?"
            " WHERE v.parts > 0 AND c.error = ''"
            " AND NOT EXISTS (SELECT 1 FROM stale_key s WHERE s.kind = 0 AND s.id = c.id)"
            " ORDER BY c.id DESC LIMIT ?",
            (embedder, limit),
        )
        edges = self.db.execute_fetchall(
            "SELECT r.id, r.a, r.b, r.weight, r.space, a.degree + b.degree FROM relation r"
            " @then JOIN entity a ON a.id = r.a @then JOIN entity b ON b.id = r.b"
            " WHERE r.in_graph AND NOT EXISTS (SELECT 1 FROM stale_key s WHERE s.kind = 2 AND s.id = r.id)"
            " ORDER BY r.id DESC LIMIT ?",
            (limit,),
        )
        return ExpectedSample(
            dict(rows),
            [GraphEdge(*row[:4]) for row in edges],
            frozenset(row[4] for row in edges),
            sum(row[5] for row in edges),
        )

    @reading
    def list_chunk_vectors(self, embedder: str, after: int, limit: int) -> list[tuple[int, bytes]]:
        """The vectors (float32, parts × dim) that chunks with ids above one should have; not of growing ones."""
        rows = self.db.execute_fetchall(
            "SELECT c.id, v.data FROM chunk c JOIN vector v ON v.text_hash = c.text_hash AND v.embedder = ?"
            " WHERE c.id > ? AND v.parts > 0 AND c.error = ''"
            " AND NOT EXISTS (SELECT 1 FROM open_chunk_vector o WHERE o.chunk = c.id AND o.embedder = v.embedder)"
            " ORDER BY c.id LIMIT ?",
            (embedder, after, limit),
        )
        return [(row[0], bytes(row[1])) for row in rows]

    @reading
    def list_space_usage(self, day: str, month: str) -> list[SpaceUsage]:
        """What extraction and summaries of every space took on a day, and since the first day of its month."""
        rows = self.db.execute_fetchall(
            "SELECT s.id, s.name, COALESCE(SUM(u.tokens) FILTER (WHERE u.day >= ?1), 0),"
            " COALESCE(SUM(u.cost) FILTER (WHERE u.day >= ?1), 0.0),"
            " COALESCE(SUM(u.tokens), 0), COALESCE(SUM(u.cost), 0.0)"
            " FROM space s LEFT JOIN space_usage u ON u.space = s.id AND u.day >= ?2"
            " AND u.purpose IN ('extract', 'summarize') GROUP BY s.id, s.name ORDER BY s.id",
            (day, month),
        )
        return [SpaceUsage(*row) for row in map(tuple, rows)]

    @reading
    def list_indexing_usage(self, space: str, prefix: str, since: str) -> list[IndexingDay]:
        """What indexing took on each day since one (ISO dates): of a space, or of those whose names have a prefix."""
        found, parameters = "s.name = ?1", [space, since]
        if prefix:
            found, parameters = "s.name >= ?1 AND s.name < ?3", [prefix, since, prefix + LAST_CHARACTER]
        rows = self.db.execute_fetchall(
            "SELECT u.day, SUM(u.tokens), SUM(u.cost) FROM space s @then JOIN space_usage u ON u.space = s.id"
            f" WHERE {found} AND u.day >= ?2 GROUP BY u.day ORDER BY u.day",
            parameters,
        )
        return [IndexingDay(day, int(tokens), float(cost)) for day, tokens, cost in rows]
