"""The content that graph and vectors should have, read from the ledger to verify both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.queries import stats
from engine.storage.ledger.records.projection import ExpectedState
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
