"""Claims: which process works on which stale keys. What an ended process had claimed is free.

The only process on files claims without a trace: nobody else could take its work.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from engine.storage.ledger.records.projection import ClaimedKeys, KeyKind, SpaceTurn, StaleKey
from engine.storage.ledger.work.turns import list_due_spaces, share_out
from engine.storage.ledger.work.work_queue import current_generation
from engine.storage.sql.lists import id_list

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from engine.storage.sql.connection import Connection

MAX_SPACES = 64  # that a batch of keys comes from
_FREE = "on_cooldown = 0 AND retry_at <= ? AND (claimed_by IS NULL OR claimed_by = ?)"
_CHUNKS, _PROFILES = "kind = 0", "kind > 0"


async def has_due_keys(db: Connection, kind: KeyKind, now: float, process: int) -> bool:
    """Whether chunks, or else names or pairs, are due that no other process has claimed."""
    queue = _CHUNKS if kind == KeyKind.CHUNK else _PROFILES
    sql = f"SELECT 1 FROM stale_key WHERE {queue} AND {_FREE} LIMIT 1"
    rows = await db.execute_fetchall(sql, (now, process))
    return bool(list(rows))


async def claim_chunk_keys(
    db: Connection, limit: int, now: float, turn: SpaceTurn, skip: Collection[StaleKey] = ()
) -> ClaimedKeys:
    """Claim stale chunks that are due except `skip`, the oldest of each space."""
    chosen = await _choose_keys(db, _CHUNKS, limit, now, turn, skip)
    await _claim(db, chosen.keys, turn.process)
    return chosen


async def claim_profile_keys(
    db: Connection, limit: int, now: float, turn: SpaceTurn, skip: Collection[StaleKey] = ()
) -> ClaimedKeys:
    """Claim stale names and pairs that are due except `skip`, the oldest of each space; names come first.

    Names at the ends of these pairs that have no profile are claimed, too. A pair is left for later if another process
    has one of them.
    """
    keys, last_space = await _choose_keys(db, _PROFILES, limit, now, turn, skip)
    lacking = await _find_lacking_ends(db, [key.id for key in keys if key.kind == KeyKind.PAIR])
    ends = await _mark_stale(db, {end for _, end in lacking}, turn.process)
    taken = {end for _, end in lacking} - {key.id for key in ends}
    left = {pair for pair, end in lacking if end in taken}
    kept = dict.fromkeys(key for key in keys if key.kind != KeyKind.PAIR or key.id not in left)
    await _claim(db, kept | dict.fromkeys(ends), turn.process)
    return ClaimedKeys((*kept, *(key for key in ends if key not in kept)), last_space)


async def release_keys(db: Connection, kind: KeyKind, process: int) -> None:
    """Free the chunks, or else the names and pairs, that this process has claimed."""
    queue = _CHUNKS if kind == KeyKind.CHUNK else _PROFILES
    await db.execute(f"UPDATE stale_key SET claimed_by = NULL WHERE {queue} AND claimed_by = ?", (process,))


async def _choose_keys(
    db: Connection, queue: str, limit: int, now: float, turn: SpaceTurn, skip: Collection[StaleKey]
) -> ClaimedKeys:
    """Due keys of a queue, the oldest of each space."""
    free: list[Any] = [now, turn.process]
    skipped = id_list(4 * key.id + key.kind for key in skip)
    find_next = f"(SELECT MIN(space) FROM stale_key WHERE {queue} AND {_FREE} AND space > due.space)"
    spaces = await list_due_spaces(db, find_next, free, turn.after, min(limit, MAX_SPACES))

    async def load(space: int, count: int) -> list[tuple[int, StaleKey]]:
        rows = await db.execute_fetchall(
            f"SELECT kind, id, generation FROM stale_key WHERE {queue} AND {_FREE} AND space = ?"
            " AND 4 * id + kind NOT IN (SELECT value FROM json_each(?)) ORDER BY kind, first_generation LIMIT ?",
            (*free, space, skipped, count),
        )
        return [(space, StaleKey(KeyKind(kind), id_, generation)) for kind, id_, generation in rows]

    found = await share_out(spaces, limit, load)
    return ClaimedKeys(tuple(key for _, key in found), found[-1][0] if found else 0)


async def _claim(db: Connection, keys: Iterable[StaleKey], process: int) -> None:
    if not process:
        return
    by_kind = defaultdict[KeyKind, list[int]](list)
    for key in keys:
        by_kind[key.kind].append(key.id)
    for kind, ids in by_kind.items():
        await db.execute(
            "UPDATE stale_key SET claimed_by = ? WHERE kind = ? AND id IN (SELECT value FROM json_each(?))",
            (process, kind, id_list(ids)),
        )


async def _find_lacking_ends(db: Connection, pairs: Sequence[int]) -> list[tuple[int, int]]:
    """(pair, name at its end) of names without a profile."""
    if not pairs:
        return []
    rows = await db.execute_fetchall(
        "SELECT p.id, n.id FROM json_each(?) j CROSS JOIN pair p ON p.id = j.value"
        " CROSS JOIN name n ON n.id IN (p.a, p.b) WHERE NOT EXISTS (SELECT 1 FROM entity e WHERE e.id = n.id)",
        (id_list(pairs),),
    )
    return [(pair, name) for pair, name in rows]


async def _mark_stale(db: Connection, names: Collection[int], process: int) -> list[StaleKey]:
    """Mark names stale that are not; returns those that no other process has claimed."""
    if not names:
        return []
    listed = id_list(sorted(names))
    await db.execute(
        "INSERT INTO stale_key (kind, id, space, first_generation, generation)"
        " SELECT 1, n.id, n.space, ?2, ?2 FROM json_each(?1) j CROSS JOIN name n ON n.id = j.value WHERE true"
        " ON CONFLICT DO NOTHING",
        (listed, await current_generation(db)),
    )
    rows = await db.execute_fetchall(
        "SELECT s.id, s.generation FROM json_each(?) j CROSS JOIN stale_key s ON s.kind = 1 AND s.id = j.value"
        " WHERE s.claimed_by IS NULL OR s.claimed_by = ?",
        (listed, process),
    )
    return [StaleKey(KeyKind.NAME, id_, generation) for id_, generation in rows]
