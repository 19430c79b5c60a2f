"""What the worker takes up and puts down: chunks to embed, failures, statuses, and the folder's own settings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.ledger.marks import Stale, mark, next_generation

if TYPE_CHECKING:
    from collections.abc import Collection

    import aiosqlite

    from engine.errors import EngineError


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A chunk whose vectors must be made or moved."""

    id: int
    space: int
    room: int
    text: str
    text_hash: bytes
    tries: int


async def chunks(db: aiosqlite.Connection, ids: Collection[int]) -> list[Unembedded]:
    """These chunks, as far as they still stand."""
    rows = await db.execute_fetchall(
        "SELECT c.id, c.space, c.room, c.text, c.text_hash, c.tries FROM json_each(?) j"
        " CROSS JOIN chunk c ON c.id = j.value",
        (json.dumps(list(ids)),),
    )
    return [Unembedded(*row) for row in map(tuple, rows)]


async def fail(db: aiosqlite.Connection, chunk: int, error: EngineError, retry_at: float) -> None:
    """Note that reading a chunk failed; once given up (an infinite `retry_at`) its document says so, and stays."""
    await db.execute(
        "UPDATE chunk SET tries = tries + 1, retry_at = ?, error = ?, hint = ? WHERE id = ?",
        (retry_at, str(error), error.hint, chunk),
    )
    if retry_at == float("inf"):
        await db.execute(
            "UPDATE document SET error = ?, hint = ? WHERE id = (SELECT document FROM chunk WHERE id = ?)",
            (str(error), error.hint, chunk),
        )


async def fail_embedding(db: aiosqlite.Connection, ids: Collection[int], error: EngineError) -> None:
    """Give up embedding these chunks: their documents are failed, and stay so until they are tried again."""
    listed = json.dumps(list(ids))
    await db.execute(
        "UPDATE document SET status = 'failed', error = ?, hint = ? WHERE id IN"
        " (SELECT document FROM chunk WHERE id IN (SELECT value FROM json_each(?)))",
        (str(error), error.hint, listed),
    )
    await db.execute(
        "UPDATE chunk SET error = ?, hint = ?, retry_at = 9e999 WHERE id IN (SELECT value FROM json_each(?))",
        (str(error), error.hint, listed),
    )
    await db.execute("DELETE FROM stale WHERE kind = 0 AND id IN (SELECT value FROM json_each(?))", (listed,))


async def retry(db: aiosqlite.Connection, key: str = "") -> int:
    """Take up again what failed, of one document or of all; gives the number of documents."""
    generation = await next_generation(db)
    rows = list(
        await db.execute_fetchall(
            "UPDATE document SET status = 'pending', error = '', hint = '', generation = ?2"
            " WHERE error <> '' AND (?1 = '' OR key = ?1) RETURNING id",
            (key, generation),
        )
    )
    listed = json.dumps([row[0] for row in rows])
    failed = await db.execute_fetchall(
        "UPDATE chunk SET tries = 0, retry_at = 0, error = '', hint = ''"
        " WHERE document IN (SELECT value FROM json_each(?)) RETURNING id",
        (listed,),
    )
    await mark(db, Stale.CHUNK, [row[0] for row in failed], generation)
    return len(rows)


async def advance(db: aiosqlite.Connection) -> None:
    """Move documents on: searchable once embedded, indexed once every key they touch is projected."""
    await db.execute(
        "UPDATE document SET status = 'searchable' WHERE status = 'pending' AND NOT EXISTS (SELECT 1 FROM chunk c"
        " JOIN stale s ON s.kind = 0 AND s.id = c.id WHERE c.document = document.id)"
    )
    [[first]] = await db.execute_fetchall("SELECT COALESCE(MIN(since), 9e999) FROM stale")
    await db.execute(
        "UPDATE document SET status = 'indexed' WHERE status = 'searchable' AND NOT open AND error = ''"
        " AND generation < ? AND NOT EXISTS (SELECT 1 FROM chunk c WHERE c.document = document.id"
        " AND c.reading IS NULL)",
        (first,),
    )


async def due_summaries(db: aiosqlite.Connection, now: float) -> int:
    """Mark the keys whose failed summaries are due again; gives their number."""
    count = 0
    for kind, table in ((Stale.NAME, "entity"), (Stale.PAIR, "relation")):
        rows = list(
            await db.execute_fetchall(f"UPDATE {table} SET retry_at = NULL WHERE retry_at <= ? RETURNING id", (now,))
        )
        if rows:
            await mark(db, kind, [row[0] for row in rows], await next_generation(db))
        count += len(rows)
    return count


async def graphed(db: aiosqlite.Connection, names: Collection[int], pairs: Collection[int]) -> None:
    """Say that these entities and relations stand in the graph."""
    await db.executemany("UPDATE entity SET graphed = 1 WHERE id = ?", [(each,) for each in names])
    await db.executemany("UPDATE relation SET graphed = 1 WHERE id = ?", [(each,) for each in pairs])


async def mark_everything(db: aiosqlite.Connection) -> None:
    """Mark every chunk, name and pair: the projections are to be made anew."""
    generation = await next_generation(db)
    await db.execute("UPDATE entity SET graphed = 0, embedded = NULL")
    await db.execute("UPDATE relation SET graphed = 0, embedded = NULL")
    for kind, table in ((Stale.CHUNK, "chunk"), (Stale.NAME, "name"), (Stale.PAIR, "pair")):
        await db.execute(
            f"INSERT INTO stale SELECT ?1, id, ?2, ?2 FROM {table} WHERE true"
            " ON CONFLICT DO UPDATE SET generation = excluded.generation",
            (kind, generation),
        )
    await db.execute("UPDATE document SET status = 'pending', generation = ? WHERE error = ''", (generation,))


async def setting(db: aiosqlite.Connection, key: str) -> str:
    """A setting of the folder, "" if there is none."""
    rows = await db.execute_fetchall("SELECT value FROM meta WHERE key = ?", (key,))
    return next((str(row[0]) for row in rows), "")


async def set_setting(db: aiosqlite.Connection, key: str, value: str) -> None:
    """Keep a setting of the folder."""
    await db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


async def generation(db: aiosqlite.Connection) -> int:
    """The number of the last change."""
    rows = await db.execute_fetchall("SELECT value FROM meta WHERE key = 'generation'")
    return next((int(row[0]) for row in rows), 0)
