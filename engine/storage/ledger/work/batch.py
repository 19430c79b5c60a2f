"""Batches of stale keys and chunks: load, save the profiles, finish, and remove keys without facts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from engine.storage.ledger import cache, profiles
from engine.storage.ledger.invalidation import clear_profiles
from engine.storage.ledger.names import delete_unused_pairs
from engine.storage.ledger.records.projection import BatchResult, FoldedBatch, KeyKind, OrphanKeys, ProjectionBatch
from engine.storage.ledger.work import embedding_failures, work_queue
from engine.storage.ledger.work import stale_keys as marks
from engine.storage.ledger.work.stale_keys import next_generation
from engine.storage.sql.lists import id_list

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engine.storage.ledger.records.projection import EmbeddingFailure, StaleKey
    from engine.storage.sql.connection import Connection
    from engine.usage import IndexingUsage


async def load_batch(db: Connection, keys: Sequence[StaleKey], newest: int, now: float) -> ProjectionBatch:
    """The facts of these names and pairs, and the displayed names of the pairs' ends."""
    names, pairs = [frozenset(each.id for each in keys if each.kind == kind) for kind in (KeyKind.NAME, KeyKind.PAIR)]
    pair_facts = await profiles.load_pairs(db, pairs, newest)
    name_facts = await profiles.load_names(db, names, newest)
    return ProjectionBatch(
        tuple(keys),
        tuple(name_facts),
        tuple(pair_facts),
        names - {key.id for key in name_facts},
        pairs - {key.id for key in pair_facts},
        await profiles.load_display_names(db, {end for key in pair_facts for end in key.ends}),
        await work_queue.has_due_extraction(db, now),
        await work_queue.current_generation(db),
    )


async def write_profiles(db: Connection, folded: FoldedBatch) -> None:
    """Save the profiles of a folded batch, and delete those without facts.

    Facts may have been deleted since the batch was loaded: the profiles of keys that changed again are emptied.
    """
    await profiles.delete_profiles(db, KeyKind.PAIR, folded.removed_pairs)
    await profiles.delete_profiles(db, KeyKind.NAME, folded.removed_names)
    await profiles.upsert_entities(db, folded.entities)
    await profiles.upsert_relations(db, folded.relations)
    if await work_queue.get_int_setting(db, "last_revision") > folded.batch.generation:
        changed = await marks.find_changed_keys(db, folded.batch.stale_keys)
        await clear_profiles(
            db,
            [each.id for each in changed if each.kind == KeyKind.NAME],
            [each.id for each in changed if each.kind == KeyKind.PAIR],
        )


async def finish_batch(db: Connection, result: BatchResult, now: float) -> None:
    """Record the content of graph and vectors, and remove the stale keys.

    The vectors of keys that changed again are not recorded: a reindex may have removed them.
    """
    changed = {(key.kind, key.id) for key in await marks.find_changed_keys(db, [*result.done, *result.held])}
    entities = [each for each in result.embedded_entities if (KeyKind.NAME, each[1]) not in changed]
    relations = [each for each in result.embedded_relations if (KeyKind.PAIR, each[1]) not in changed]
    await profiles.record_embedded(db, KeyKind.NAME, entities)
    await profiles.record_embedded(db, KeyKind.PAIR, relations)
    await work_queue.record_graphed(db, result.graphed_names, result.graphed_pairs)
    await delete_unused_pairs(db, result.removed_pairs)
    await record_late_deletion(db, result.removed)
    await embedding_failures.clear_failures(db, _embedded_or_removed(result))
    await embedding_failures.record_failures(db, result.failures, result.attempts, now)
    await marks.remove_stale_keys(db, result.done)
    await marks.hold_keys(db, result.held)
    await work_queue.advance_documents(db, [])
    await _add_usage(db, result.usage, now)


async def finish_embedding(
    db: Connection,
    done: Sequence[StaleKey],
    failures: Sequence[EmbeddingFailure],
    attempts: int,
    usage: IndexingUsage,
    now: float,
) -> None:
    """Remove the stale keys of embedded chunks, record the failed ones (tried `attempts` times), advance documents."""
    await marks.remove_stale_keys(db, done)
    await embedding_failures.record_failures(db, failures, attempts, now)
    await work_queue.advance_documents(db, [mark.id for mark in done])
    await _add_usage(db, usage, now)


async def _add_usage(db: Connection, usage: IndexingUsage, now: float) -> None:
    if usage.items:
        await cache.add_indexing_usage(db, datetime.fromtimestamp(now, UTC).date().isoformat(), usage)


def _embedded_or_removed(result: BatchResult) -> list[tuple[KeyKind, int]]:
    """The keys whose vectors are stored or deleted."""
    failed = {(failure.key.kind, failure.key.id) for failure in result.failures}
    return [(mark.kind, mark.id) for mark in result.done if (mark.kind, mark.id) not in failed]


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
        (id_list(sorted(pairs)),),
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
