"""Caches of summaries, text vectors and answers, and the usage of models by day."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from engine.storage.ledger.records.projection import CachedAnswer
    from engine.storage.sql.connection import Connection
    from engine.usage import IndexingUsage, Usage

MAX_CACHED_ANSWERS = 1000
KEYS_PER_STATEMENT = 10_000  # in one statement; SQLite allows 32,766 values


async def load_summaries(db: Connection, keys: Collection[bytes]) -> dict[bytes, str]:
    """The cached summaries among these keys."""
    ordered, found = list(keys), dict[bytes, str]()
    for start in range(0, len(ordered), KEYS_PER_STATEMENT):
        some = ordered[start : start + KEYS_PER_STATEMENT]
        marks = ", ".join("?" * len(some))
        found |= dict(await db.execute_fetchall(f"SELECT key, text FROM summary WHERE key IN ({marks})", some))
    return found


async def save_summaries(db: Connection, summaries: Mapping[bytes, str]) -> None:
    """Cache summaries; compaction deletes those that no profile uses."""
    await db.executemany("INSERT INTO summary VALUES (?, ?) ON CONFLICT DO NOTHING", summaries.items())


async def delete_unused(db: Connection) -> None:
    """Delete summaries that no profile uses, and vectors of other embedders or of texts that no chunk has.

    An empty profile has lost facts and waits for its next projection: its summaries may contain the lost facts.
    """
    for kind, table in ((1, "entity"), (2, "relation")):
        await db.execute(
            f"DELETE FROM summary_usage WHERE kind = {kind} AND id IN (SELECT id FROM {table} WHERE description = '')"
        )
    await db.execute("DELETE FROM summary WHERE key NOT IN (SELECT key FROM summary_usage)")
    await db.execute(
        "DELETE FROM vector WHERE text_hash NOT IN (SELECT text_hash FROM chunk)"
        " OR embedder <> (SELECT value FROM meta WHERE key = 'embedder')"
    )


async def load_vectors(db: Connection, embedder: str, hashes: Collection[bytes]) -> dict[bytes, tuple[int, bytes]]:
    """Vectors by text hash: number of parts, and float32 bytes."""
    if not hashes:
        return {}
    marks = ", ".join("?" * len(hashes))
    rows = await db.execute_fetchall(
        f"SELECT text_hash, parts, data FROM vector WHERE embedder = ? AND text_hash IN ({marks})",
        (embedder, *hashes),
    )
    return {key: (parts, data) for key, parts, data in rows}


async def save_vectors(db: Connection, embedder: str, rows: Sequence[tuple[bytes, int, bytes]]) -> None:
    """Cache vectors by text hash, while a chunk has that text."""
    await db.executemany(
        "INSERT INTO vector (embedder, text_hash, parts, data) SELECT ?1, ?2, ?3, ?4"
        " WHERE EXISTS (SELECT 1 FROM chunk WHERE text_hash = ?2)"
        " ON CONFLICT (text_hash, embedder) DO UPDATE SET parts = excluded.parts, data = excluded.data",
        [(embedder, key, parts, data) for key, parts, data in rows],
    )


async def find_cached_answer(db: Connection, key: bytes) -> str | None:
    """The cached answer to exactly these messages, if any."""
    rows = await db.execute_fetchall("SELECT text FROM answer_cache WHERE key = ?", (key,))
    return next((row[0] for row in rows), None)


async def save_cached_answer(db: Connection, answer: CachedAnswer, now: float) -> None:
    """Cache an answer unless anything was deleted since its retrieval; drop the least recently used ones."""
    uses = (
        [(0, each) for each in answer.chunks]
        + [(1, each) for each in answer.names]
        + [(2, each) for each in answer.pairs]
    )
    removals = await db.execute_fetchall("SELECT value FROM meta WHERE key IN ('last_rechunk', 'last_removal')")
    if any(int(generation) > answer.generation for (generation,) in removals):
        return
    await db.execute("DELETE FROM answer_cache WHERE key = ?", (answer.key,))
    await db.execute("INSERT INTO answer_cache VALUES (?, ?, ?)", (answer.key, answer.text, now))
    await db.executemany(
        "INSERT INTO answer_cache_source VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [(answer.key, kind, each) for kind, each in uses],
    )
    await db.execute(
        "DELETE FROM answer_cache WHERE key NOT IN (SELECT key FROM answer_cache ORDER BY used_at DESC LIMIT ?)",
        (MAX_CACHED_ANSWERS,),
    )


async def touch_cached_answer(db: Connection, key: bytes, now: float) -> None:
    """Record that an answer was used."""
    await db.execute("UPDATE answer_cache SET used_at = ? WHERE key = ?", (now, key))


async def add_usage(db: Connection, day: str, items: Sequence[Usage]) -> None:
    """Add calls to the day's sums by purpose and model."""
    by_model = defaultdict[tuple[str, str], list["Usage"]](list)
    for each in items:
        by_model[each.purpose, each.model].append(each)
    await db.executemany(
        "INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (day, purpose, model) DO UPDATE SET"
        " calls = usage.calls + excluded.calls, input_tokens = usage.input_tokens + excluded.input_tokens,"
        " output_tokens = usage.output_tokens + excluded.output_tokens, cost = usage.cost + excluded.cost",
        [
            (
                day,
                *key,
                sum(u.calls for u in some),
                sum(u.input_tokens for u in some),
                sum(u.output_tokens for u in some),
                sum(u.cost for u in some),
            )
            for key, some in by_model.items()
        ],
    )


async def add_indexing_usage(db: Connection, day: str, usage: IndexingUsage) -> None:
    """Add calls that indexed texts to the day's sums, and to those of the texts' spaces."""
    await add_usage(db, day, usage.items)
    sums = defaultdict[tuple[int, str], tuple[int, float]](lambda: (0, 0.0))
    for each in usage.items:
        for space, tokens, cost in share_usage(each, usage.characters):
            before = sums[space, each.purpose]
            sums[space, each.purpose] = before[0] + tokens, before[1] + cost
    await db.executemany(
        "INSERT INTO space_usage (space, day, purpose, tokens, cost) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (space, day, purpose) DO UPDATE SET tokens = space_usage.tokens + excluded.tokens,"
        " cost = space_usage.cost + excluded.cost",
        [(space, day, purpose, *sums[space, purpose]) for space, purpose in sorted(sums)],
    )


def share_usage(usage: Usage, characters: Mapping[int, int]) -> list[tuple[int, int, float]]:
    """The tokens and the cost of calls by space id, in proportion to the characters. The tokens add up."""
    tokens, whole = usage.input_tokens + usage.output_tokens, sum(characters.values())
    shares, seen = list[tuple[int, int, float]](), 0
    for space, length in sorted(characters.items()):
        if length:
            share = tokens * (seen + length) // whole - tokens * seen // whole
            shares.append((space, share, usage.cost * length / whole))
            seen += length
    return shares
