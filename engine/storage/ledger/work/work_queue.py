"""The work queue: chunks to embed, failures, document statuses, and the settings of the data directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import is_outage
from engine.storage.ledger.records.projection import ChunkToEmbed, KeyKind
from engine.storage.ledger.work import embedding_failures
from engine.storage.ledger.work.embedding_failures import PERMANENT_ERRORS
from engine.storage.ledger.work.extraction_claims import release_chunks
from engine.storage.ledger.work.stale_keys import add_stale_keys, next_generation
from engine.storage.sql.lists import id_list

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.errors import EngineError
    from engine.storage.sql.connection import Connection


async def load_chunks(db: Connection, ids: Collection[int]) -> list[ChunkToEmbed]:
    """These chunks; missing ones are left out."""
    rows = await db.execute_fetchall(
        "SELECT c.id, c.space, c.room, c.text, c.text_hash, c.attempts, d.open FROM json_each(?) j"
        " CROSS JOIN chunk c ON c.id = j.value CROSS JOIN document d ON d.id = c.document",
        (id_list(ids),),
    )
    return [ChunkToEmbed(*row) for row in map(tuple, rows)]


async def record_extraction_failure(db: Connection, chunk: int, error: EngineError, retry_at: float) -> None:
    """Record a failed extraction; an infinite `retry_at` gives the chunk up and fails its document.

    An outage of the model does not count as a try. A chunk that another process has read meanwhile stays as it is.
    """
    await release_chunks(db, [chunk])
    counts = not is_outage(error)
    await db.execute(
        "UPDATE chunk SET attempts = attempts + ?, retry_at = ?, error = ?, hint = ?, permanent_failure = ?"
        " WHERE id = ? AND extraction IS NULL",
        (int(counts), retry_at, str(error), error.hint, isinstance(error, PERMANENT_ERRORS), chunk),
    )
    if retry_at == float("inf"):
        await db.execute(
            "UPDATE document SET error = ?, hint = ?"
            " WHERE id = (SELECT document FROM chunk WHERE id = ? AND extraction IS NULL)",
            (str(error), error.hint, chunk),
        )


async def list_failed_keys(db: Connection) -> list[tuple[KeyKind, int]]:
    """Chunks of failed documents, and names and pairs whose vectors may be missing."""
    rows = await db.execute_fetchall(
        "SELECT c.id FROM document d JOIN chunk c ON c.document = d.id WHERE d.status = 'failed' AND c.error <> ''"
    )
    return [(KeyKind.CHUNK, row[0]) for row in rows] + await embedding_failures.list_failed_keys(db)


async def retry_documents(db: Connection, key: str = "", *, permanent: bool = True) -> int:
    """Retry the failures of one document, or of all; returns the number of documents.

    All includes names and pairs that could not be embedded. `permanent`: also documents with a permanent error.
    """
    return await _retry(db, key, permanent=permanent, waiting=True)


async def retry_given_up(db: Connection, *, permanent: bool) -> None:
    """Retry what was given up, `permanent` also for permanent errors; what waits for its next try goes on waiting."""
    await _retry(db, "", permanent=permanent, waiting=False)
    await _retry_beside_failures(db)


async def _retry(db: Connection, key: str, *, permanent: bool, waiting: bool) -> int:
    generation = await next_generation(db)
    rows = list(
        await db.execute_fetchall(
            "UPDATE document SET status = 'pending', error = '', hint = '', generation = ?2"
            " WHERE (error <> '' OR (?4 AND id IN"
            " (SELECT c.document FROM chunk c WHERE c.extraction IS NULL AND c.error <> '' AND c.retry_at < 9e999)))"
            " AND (?1 = '' OR key = ?1)"
            " AND (?3 OR NOT EXISTS (SELECT 1 FROM chunk c WHERE c.document = document.id AND c.permanent_failure))"
            " RETURNING id",
            (key, generation, permanent, waiting),
        )
    )
    listed = id_list([row[0] for row in rows])
    failed = await db.execute_fetchall(
        "UPDATE chunk SET attempts = 0, retry_at = 0, error = '', hint = '', permanent_failure = false"
        " WHERE document IN (SELECT value FROM json_each(?)) RETURNING id",
        (listed,),
    )
    await add_stale_keys(db, KeyKind.CHUNK, [row[0] for row in failed], generation)
    if not key:
        await embedding_failures.retry_failures(db, permanent=permanent)
    return len(rows)


async def advance_documents(db: Connection, embedded: Collection[int] | None = None) -> None:
    """Update document statuses: searchable once embedded, indexed once all their keys are projected.

    `embedded`: only documents of these chunks become searchable; None checks every pending document.
    """
    of_batch = (
        ""
        if embedded is None
        else (" AND id IN (SELECT document FROM chunk WHERE id IN (SELECT value FROM json_each(?)))")
    )
    await db.execute(
        "UPDATE document SET status = 'searchable' WHERE status = 'pending' AND NOT EXISTS (SELECT 1 FROM chunk c"
        f" JOIN stale_key s ON s.kind = 0 AND s.id = c.id WHERE c.document = document.id){of_batch}",
        () if embedded is None else (id_list(embedded),),
    )
    [[first]] = await db.execute_fetchall("SELECT COALESCE(MIN(first_generation), 9e999) FROM stale_key")
    await db.execute(
        "UPDATE document SET status = 'indexed'"
        " WHERE status = 'searchable' AND unextracted_chunks = 0 AND generation < ?"
        " AND NOT open AND error = ''",
        (first,),
    )


async def requeue_due_summaries(db: Connection, now: float) -> int:
    """Mark keys stale whose failed summaries are due again; returns their number."""
    count = 0
    for kind, table in ((KeyKind.NAME, "entity"), (KeyKind.PAIR, "relation")):
        rows = list(
            await db.execute_fetchall(f"UPDATE {table} SET retry_at = NULL WHERE retry_at <= ? RETURNING id", (now,))
        )
        if rows:
            await add_stale_keys(db, kind, [row[0] for row in rows], await next_generation(db))
        count += len(rows)
    return count


async def record_graphed(db: Connection, names: Collection[int], pairs: Collection[int]) -> None:
    """Record that the graph holds these entities and relations."""
    for table, ids in (("entity", names), ("relation", pairs)):
        await db.execute(
            f"UPDATE {table} SET in_graph = true WHERE id IN (SELECT value FROM json_each(?)) AND NOT in_graph",
            (id_list(ids),),
        )


async def start_reindex(db: Connection) -> None:
    """Mark every chunk, name and pair stale, because graph and vectors are empty; lasts until `finish_reindex`."""
    await set_setting(db, "reindexing", 1)
    generation = await next_generation(db)
    await db.execute("UPDATE entity SET in_graph = false, embedding_hash = NULL")
    await db.execute("UPDATE relation SET in_graph = false, embedding_hash = NULL")
    for kind, table in ((KeyKind.CHUNK, "chunk"), (KeyKind.NAME, "name"), (KeyKind.PAIR, "pair")):
        await db.execute(
            "INSERT INTO stale_key (kind, id, space, first_generation, generation)"
            f" SELECT ?1, id, space, ?2, ?2 FROM {table} WHERE true"
            " ON CONFLICT (kind, id) DO UPDATE SET generation = excluded.generation",
            (kind, generation),
        )
    await db.execute("UPDATE document SET status = 'pending', generation = ? WHERE error = ''", (generation,))


async def record_all_graphed(db: Connection) -> None:
    """Record that the graph holds every profile."""
    await db.execute("UPDATE entity SET in_graph = true")
    await db.execute("UPDATE relation SET in_graph = true")


async def finish_reindex(db: Connection) -> None:
    """Record that graph and vectors are complete again."""
    await record_all_graphed(db)
    await db.execute("DELETE FROM meta WHERE key = 'reindexing'")


async def requeue_keys(db: Connection, keys: Collection[tuple[KeyKind, int]]) -> None:
    """Mark keys stale whose projection is wrong."""
    generation = await next_generation(db)
    for kind, table in ((KeyKind.CHUNK, ""), (KeyKind.NAME, "entity"), (KeyKind.PAIR, "relation")):
        ids = [id_ for each, id_ in keys if each == kind]
        await add_stale_keys(db, kind, ids, generation)
        if table:
            await db.executemany(f"UPDATE {table} SET embedding_hash = NULL WHERE id = ?", [(id_,) for id_ in ids])


async def resume_work(db: Connection) -> None:
    """Release held keys and retry failures at a start, except those with a permanent error."""
    await db.execute("UPDATE stale_key SET on_cooldown = 0 WHERE on_cooldown = 1")
    await retry_documents(db, permanent=False)
    await db.execute(
        "UPDATE chunk SET attempts = 0, retry_at = 0, error = '', hint = ''"
        " WHERE extraction IS NULL AND error <> '' AND retry_at < 9e999"
    )
    await _retry_beside_failures(db)


async def _retry_beside_failures(db: Connection) -> None:
    """Retry chunks of documents in which another chunk has a permanent error."""
    beside_failures = await db.execute_fetchall(
        "UPDATE chunk SET attempts = 0, retry_at = 0, error = '', hint = ''"
        " WHERE retry_at = 9e999 AND NOT permanent_failure"
        " AND document IN (SELECT document FROM chunk WHERE permanent_failure) RETURNING id"
    )
    await add_stale_keys(db, KeyKind.CHUNK, [row[0] for row in beside_failures], await next_generation(db))


async def needs_compaction(db: Connection) -> bool:
    """Whether deleted bytes may still be in the files."""
    return max(
        await get_int_setting(db, "last_removal"), await get_int_setting(db, "last_drop")
    ) > await get_int_setting(db, "last_compaction")


async def count_pending_documents(db: Connection) -> int:
    """Documents that are not completely indexed yet; conversations that are still open count only until searchable."""
    [[number]] = await db.execute_fetchall(
        "SELECT COUNT(*) FROM document WHERE status = 'pending' OR (status = 'searchable' AND NOT open)"
    )
    return int(number)


async def is_idle(db: Connection, *, skip_quiet: bool) -> bool:
    """Whether no work is left; `skip_quiet` counts keys held for a quiet period as work."""
    due = "SELECT 1 FROM stale_key"
    if not skip_quiet:  # there is an index for each
        due = f"{due} WHERE kind = 0 AND on_cooldown = 0) OR EXISTS ({due} WHERE kind > 0 AND on_cooldown = 0"
    [[busy]] = await db.execute_fetchall(
        f"SELECT EXISTS ({due}) OR EXISTS (SELECT 1 FROM document WHERE status = 'pending')"
        " OR EXISTS (SELECT 1 FROM chunk c CROSS JOIN document d ON d.id = c.document"
        " WHERE c.extraction IS NULL AND NOT d.open AND c.retry_at < 9e999)"
        " OR (NOT EXISTS (SELECT 1 FROM stale_key) AND EXISTS (SELECT 1 FROM document"
        " WHERE status = 'searchable' AND unextracted_chunks = 0 AND NOT open AND error = ''))"
    )
    return not busy


async def has_due_extraction(db: Connection, now: float) -> bool:
    """Whether any chunk waits for extraction now."""
    [[exists]] = await db.execute_fetchall(
        "SELECT EXISTS (SELECT 1 FROM chunk c CROSS JOIN document d ON d.id = c.document"
        " WHERE c.extraction IS NULL AND NOT d.open AND c.retry_at <= ?)",
        (now,),
    )
    return bool(exists)


async def has_pending_extraction(db: Connection) -> bool:
    """Whether any chunk waits for extraction, now or for its next try."""
    [[exists]] = await db.execute_fetchall(
        "SELECT EXISTS (SELECT 1 FROM chunk c CROSS JOIN document d ON d.id = c.document"
        " WHERE c.extraction IS NULL AND NOT d.open AND c.retry_at < 9e999)"
    )
    return bool(exists)


async def has_only_held_keys(db: Connection) -> bool:
    """Whether the only work left is held for a quiet period."""
    return await is_idle(db, skip_quiet=False) and not await is_idle(db, skip_quiet=True)


async def get_setting(db: Connection, key: str) -> str:
    """A setting of the data directory, "" if there is none."""
    rows = await db.execute_fetchall("SELECT value FROM meta WHERE key = ?", (key,))
    return next((str(row[0]) for row in rows), "")


async def set_setting(db: Connection, key: str, value: str | int) -> None:
    """Save a setting of the data directory."""
    await db.execute(
        "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, str(value)),
    )


async def set_embedder(db: Connection, name: str, *, reindex: bool) -> None:
    """Save the embedder's name and drop vectors of another one; `reindex` requests new vectors of everything."""
    await set_setting(db, "embedder", name)
    if reindex:
        await set_setting(db, "reindexing", 1)
    if list(await db.execute_fetchall("DELETE FROM vector WHERE embedder <> ? RETURNING parts", (name,))):
        await set_setting(db, "last_removal", await next_generation(db))


async def get_int_setting(db: Connection, key: str) -> int:
    """A numeric setting of the data directory, 0 if there is none."""
    return int(await get_setting(db, key) or 0)


async def current_generation(db: Connection) -> int:
    """The number of the last change."""
    return await get_int_setting(db, "generation")


async def count_given_up(db: Connection) -> int:
    """Documents of which a part was given up, and names and pairs whose vectors were."""
    [[number]] = await db.execute_fetchall(
        "SELECT (SELECT COUNT(*) FROM document WHERE error <> '') + (SELECT COUNT(*) FROM embedding_failure)"
    )
    return int(number)


async def retry_after_change(db: Connection, reader: str) -> bool:
    """Retry everything that was given up by another reader (program and models); returns whether it was another."""
    if await get_setting(db, "reader") == reader:
        return False
    await set_setting(db, "reader", reader)
    await retry_given_up(db, permanent=True)
    return True
