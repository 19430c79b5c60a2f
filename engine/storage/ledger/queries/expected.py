"""The content that graph and vectors should have, read from the ledger to verify both or to recognize them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.graph.base import GraphEdge
from engine.storage.ledger.queries import stats
from engine.storage.ledger.records.projection import ExpectedSample, ExpectedState
from engine.storage.ledger.work import stale_keys, work_queue

if TYPE_CHECKING:
    from engine.storage.sqlite.connection import Connection


async def load_expected(db: Connection) -> ExpectedState:
    """Read the expected state of both projections."""
    return ExpectedState(
        {node.id: node for node in await stats.list_nodes(db)},
        {edge.id: edge for edge in await stats.list_edges(db)},
        {
            "chunks": await stats.load_chunk_locations(db),
            "entities": await stats.load_profile_locations(db, "entity"),
            "relations": await stats.load_profile_locations(db, "relation"),
        },
        frozenset(await stale_keys.list_all_stale(db) + await work_queue.list_failed_keys(db)),
    )


async def load_sample(db: Connection, embedder: str, limit: int) -> ExpectedSample:
    """The newest chunk vectors and edges that were written to vectors and graph, at most `limit` of each."""
    rows = await db.execute_fetchall(
        "SELECT c.id, v.data FROM chunk c CROSS JOIN vector v ON v.text_hash = c.text_hash AND v.embedder = ?"
        " WHERE v.parts > 0 AND c.error = ''"
        " AND NOT EXISTS (SELECT 1 FROM stale_key s WHERE s.kind = 0 AND s.id = c.id)"
        " ORDER BY c.id DESC LIMIT ?",
        (embedder, limit),
    )
    edges = await db.execute_fetchall(
        "SELECT r.id, r.a, r.b, r.weight, r.space, a.degree + b.degree FROM relation r"
        " CROSS JOIN entity a ON a.id = r.a CROSS JOIN entity b ON b.id = r.b"
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
