"""Caches of summaries, text vectors and answers, and the usage of models by day."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from engine.storage.sql.database import Place_co, Topic, reading, writing

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from engine.storage.ledger.records.projection import CachedAnswer
    from engine.usage import IndexingUsage, Usage


MAX_CACHED_ANSWERS = 1000
KEYS_PER_STATEMENT = 10_000  # in one statement; SQLite allows 32,766 values


class Cache(Topic[Place_co]):
    """Summaries, vectors of texts and answers that need not be made twice; usage of models by day."""

    @reading
    def load_summaries(self, keys: Collection[bytes]) -> dict[bytes, str]:
        """The cached summaries among these keys."""
        ordered, found = list(keys), dict[bytes, str]()
        for start in range(0, len(ordered), KEYS_PER_STATEMENT):
            some = ordered[start : start + KEYS_PER_STATEMENT]
            marks = ", ".join("?" * len(some))
            found |= dict(self.db.execute_fetchall(f"SELECT key, text FROM summary WHERE key IN ({marks})", some))
        return found

    @writing
    def save_summaries(self, summaries: Mapping[bytes, str]) -> None:
        """Cache summaries; compaction deletes those that no profile uses."""
        self.db.executemany("INSERT INTO summary VALUES (?, ?) ON CONFLICT DO NOTHING", summaries.items())

    @writing
    def delete_unused(self) -> None:
        """Delete summaries that no profile uses, and vectors of other embedders or of texts that no chunk has.

        An empty profile has lost facts and waits for its next projection: its summaries may contain the lost facts.
        """
        for kind, table in ((1, "entity"), (2, "relation")):
            self.db.execute(
                f"DELETE FROM summary_usage WHERE kind = {kind}"
                f" AND id IN (SELECT id FROM {table} WHERE description = '')"
            )
        self.db.execute("DELETE FROM summary WHERE key NOT IN (SELECT key FROM summary_usage)")
        self.db.execute(
            "DELETE FROM vector WHERE text_hash NOT IN (SELECT text_hash FROM chunk)"
            " OR embedder <> (SELECT value FROM meta WHERE key = 'embedder')"
        )

    @reading
    def load_vectors(self, embedder: str, hashes: Collection[bytes]) -> dict[bytes, tuple[int, bytes]]:
        """Vectors by text hash: number of parts, and float32 bytes."""
        if not hashes:
            return {}
        marks = ", ".join("?" * len(hashes))
        rows = self.db.execute_fetchall(
            f"SELECT text_hash, parts, data FROM vector WHERE embedder = ? AND text_hash IN ({marks})",
            (embedder, *hashes),
        )
        return {key: (parts, data) for key, parts, data in rows}

    @writing
    def save_vectors(self, embedder: str, rows: Sequence[tuple[bytes, int, bytes]]) -> None:
        """Cache vectors by text hash, while a chunk has that text."""
        self.db.executemany(
            "INSERT INTO vector (embedder, text_hash, parts, data) SELECT ?1, ?2, ?3, ?4"
            " WHERE EXISTS (SELECT 1 FROM chunk WHERE text_hash = ?2)"
            " ON CONFLICT (text_hash, embedder) DO UPDATE SET parts = excluded.parts, data = excluded.data",
            [(embedder, key, parts, data) for key, parts, data in rows],
        )

    @reading
    def find_answer(self, key: bytes) -> str | None:
        """The cached answer to exactly these messages, if any."""
        rows = self.db.execute_fetchall("SELECT text FROM answer_cache WHERE key = ?", (key,))
        return next((row[0] for row in rows), None)

    @writing
    def save_answer(self, answer: CachedAnswer, now: float) -> None:
        """Cache an answer unless anything was deleted since its retrieval; drop the least recently used ones."""
        uses = (
            [(0, chunk) for chunk in answer.chunks]
            + [(1, name) for name in answer.names]
            + [(2, pair) for pair in answer.pairs]
        )
        removals = self.db.execute_fetchall("SELECT value FROM meta WHERE key IN ('last_rechunk', 'last_removal')")
        if any(int(generation) > answer.generation for (generation,) in removals):
            return
        self.db.execute("DELETE FROM answer_cache WHERE key = ?", (answer.key,))
        self.db.execute("INSERT INTO answer_cache VALUES (?, ?, ?)", (answer.key, answer.text, now))
        self.db.executemany(
            "INSERT INTO answer_cache_source VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [(answer.key, kind, each) for kind, each in uses],
        )
        self.db.execute(
            "DELETE FROM answer_cache WHERE key NOT IN (SELECT key FROM answer_cache ORDER BY used_at DESC LIMIT ?)",
            (MAX_CACHED_ANSWERS,),
        )

    @writing
    def touch_answer(self, key: bytes, now: float) -> None:
        """Record that an answer was used."""
        self.db.execute("UPDATE answer_cache SET used_at = ? WHERE key = ?", (now, key))

    @writing
    def add_usage(self, day: str, items: Sequence[Usage]) -> None:
        """Add calls to the day's sums by purpose and model."""
        by_model = defaultdict[tuple[str, str], list["Usage"]](list)
        for item in items:
            by_model[item.purpose, item.model].append(item)
        self.db.executemany(
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

    @writing
    def add_indexing_usage(self, day: str, usage: IndexingUsage) -> None:
        """Add calls that indexed texts to the day's sums, and to those of the texts' spaces."""
        self.add_usage(day, usage.items)
        sums = defaultdict[tuple[int, str], tuple[int, float]](lambda: (0, 0.0))
        for item in usage.items:
            for space, tokens, cost in share_usage(item, usage.characters):
                before = sums[space, item.purpose]
                sums[space, item.purpose] = before[0] + tokens, before[1] + cost
        self.db.executemany(
            "INSERT INTO space_usage (space, day, purpose, tokens, cost) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (space, day, purpose) DO UPDATE SET tokens = space_usage.tokens + excluded.tokens,"
            " cost = space_usage.cost + excluded.cost",
            [(space, day, purpose, *sums[space, purpose]) for space, purpose in sorted(sums)],
        )

    def record_indexing(self, usage: IndexingUsage, now: float) -> None:
        """Add calls that indexed texts, if there were any, to the sums of the present day."""
        if usage.items:
            self.add_indexing_usage(datetime.fromtimestamp(now, UTC).date().isoformat(), usage)


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
