"""Stale keys without facts: they leave profiles, graph and vectors without a model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from engine.storage.ledger import profiles
from engine.storage.ledger.records.projection import KeyKind, OrphanKeys
from engine.storage.ledger.work import work_queue
from engine.storage.ledger.work.stale_keys import next_generation

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.storage.ledger.records.projection import StaleKey
    from engine.storage.sqlite.connection import Connection


async def find_orphans(db: Connection) -> OrphanKeys:
    """All stale keys without facts. They remain stale: a running batch may write some of them once more."""
    chunks, names, pairs = [
        frozenset(
            row[0] for row in await db.execute_fetchall(f"SELECT s.id FROM stale_key s WHERE s.kind = {kind}{without}")
        )
        for kind, without in (
            (KeyKind.CHUNK.value, " AND NOT EXISTS (SELECT 1 FROM chunk WHERE id = s.id)"),
            (KeyKind.NAME.value, _WITHOUT_FACT.format(key="name", fact="mention")),
            (KeyKind.PAIR.value, _WITHOUT_FACT.format(key="pair", fact="link")),
        )
    ]
    edges = await db.execute_fetchall(
        "SELECT r.id, r.a, r.b FROM json_each(?) j CROSS JOIN relation r ON r.id = j.value",
        (json.dumps(sorted(pairs)),),
    )
    return OrphanKeys(chunks, names, pairs, tuple((id_, a, b) for id_, a, b in edges))


_WITHOUT_FACT = " AND NOT EXISTS (SELECT 1 FROM {key} k CROSS JOIN {fact} f ON f.{key} = k.id WHERE k.target = s.id)"


async def delete_orphan_profiles(db: Connection, orphans: OrphanKeys) -> None:
    """Delete the profiles of those that still have no facts."""
    current = await find_orphans(db)
    await profiles.delete_profiles(db, KeyKind.PAIR, orphans.pairs & current.pairs)
    await profiles.delete_profiles(db, KeyKind.NAME, orphans.names & current.names)


async def record_late_deletion(db: Connection, dropped: Collection[StaleKey]) -> None:
    """Request another compaction if one ran between the deletion of keys and their removal from graph and vectors."""
    compacted = await work_queue.get_int_setting(db, "last_compaction")
    if any(mark.generation <= compacted for mark in dropped):
        await work_queue.set_setting(db, "last_drop", await next_generation(db))
