"""The content that graph and vectors should have, read from the ledger to verify both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.storage.ledger.queries import stats
from engine.storage.ledger.work import stale_keys, work_queue

if TYPE_CHECKING:
    from engine.storage.graph.base import GraphEdge, GraphNode
    from engine.storage.ledger.work.stale_keys import KeyKind
    from engine.storage.sqlite.connection import Connection
    from engine.storage.vectors.base import VectorTable


@dataclass(frozen=True, slots=True)
class ExpectedState:
    """The nodes, edges and vector locations (space, room) that the ledger expects; keys in `stale` may differ."""

    nodes: dict[int, GraphNode]
    edges: dict[int, GraphEdge]
    locations: dict[VectorTable, dict[int, tuple[int, int]]]
    stale: frozenset[tuple[KeyKind, int]]


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
