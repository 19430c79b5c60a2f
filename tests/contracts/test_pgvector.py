"""What the vector store on PostgreSQL promises beyond the contract of all: indexes, partitions, many processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg import sql
from psycopg_pool import AsyncConnectionPool

from engine.clock import SYSTEM_CLOCK
from engine.errors import EmbedderMismatch, StoreError
from engine.scheduling.supervisor import Supervisor
from engine.storage.vectors import pgvector, pgvector_statements, pgvector_tables
from engine.storage.vectors.base import VectorFilter, VectorRow
from engine.storage.vectors.pgvector import PostgresVectors

DIM = 32
ROWS = 6_000


@asynccontextmanager
async def open_store(
    url: str, dim: int = DIM, partitions: int = 1, connections: int = 4
) -> AsyncIterator[PostgresVectors]:
    async with AsyncConnectionPool(url, min_size=1, max_size=connections) as pool:
        store = await PostgresVectors.open(pool, dim, Supervisor(SYSTEM_CLOCK), SYSTEM_CLOCK, partitions=partitions)
        yield store
        await store.close()


@pytest.fixture
def small_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of 1,000 rows gets an index, and 300 matching rows are searched with it."""
    monkeypatch.setattr(pgvector_tables, "INDEX_ABOVE", 1_000)
    monkeypatch.setattr(pgvector_statements, "MIN_EXACT_ROWS", 300)
    monkeypatch.setattr(pgvector_statements, "EXACT_ROW_FACTOR", 10)


def random_units(count: int, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((count, DIM)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


class Content:
    """Vectors around 60 centres: half in space 0, the rest in 1 (many), 2 (few); rooms 10 and 11 in turn."""

    def __init__(self) -> None:
        random = np.random.default_rng(3)
        self.vectors = random_units(60)[random.integers(0, 60, ROWS)] + 0.8 * random_units(ROWS, 1)
        self.vectors /= np.linalg.norm(self.vectors, axis=1, keepdims=True)
        self.spaces = random.choice([0, 1, 2], ROWS, p=[0.5, 0.48, 0.02])

    @property
    def rows(self) -> list[VectorRow]:
        return [VectorRow(id_, int(space), 10 + id_ % 2, 0) for id_, space in enumerate(self.spaces)]

    def build_filter(self, scope: list[int]) -> VectorFilter:
        return VectorFilter(
            frozenset(scope), rows_by_space={number: int((self.spaces == number).sum()) for number in scope}
        )

    async def measure_recall(self, store: PostgresVectors, area: VectorFilter, inside: np.ndarray) -> float:
        """The share of the exact 20 nearest rows that is found, with the similarities checked."""
        shares = []
        for query in self.vectors[inside[:10]]:
            exact = inside[np.argsort(-(self.vectors[inside] @ query))[:20]]
            hits = await store.search("relations", query, 20, area)
            similarities = [float(self.vectors[hit.id] @ query) for hit in hits]
            assert [hit.similarity for hit in hits] == pytest.approx(similarities, abs=1e-6)
            assert similarities == sorted(similarities, reverse=True)
            shares.append(len({hit.id for hit in hits} & set(exact.tolist())) / 20)
        return float(np.mean(shares))


async def has_index(store: PostgresVectors) -> bool:
    async with store.connection() as connection:
        return any(leaf.is_indexed for leaf in await pgvector_tables.list_leaves(connection, "relations"))


@pytest.mark.long
@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.usefixtures("small_index")
async def test_a_large_table_gets_an_index_that_finds_what_exact_search_finds(
    postgres_url: str, partitions: int
) -> None:
    content = Content()
    async with open_store(postgres_url, partitions=partitions) as store:
        await store.upsert("relations", content.rows, content.vectors)
        await store.compact()
        assert await has_index(store)
        for scope in ([0], [1], [2], [0, 2], [0, 1, 2]):
            inside = np.flatnonzero(np.isin(content.spaces, scope))
            assert await content.measure_recall(store, content.build_filter(scope), inside) >= 0.98
        inside = np.flatnonzero((content.spaces == 2) | (np.arange(ROWS) % 2 == 1))
        of_rooms = VectorFilter(frozenset({2}), frozenset({11}))
        assert await content.measure_recall(store, of_rooms, inside) >= 0.98


@pytest.mark.usefixtures("small_index")
async def test_many_small_spaces_need_no_index(postgres_url: str) -> None:
    vectors = random_units(4_000)
    async with open_store(postgres_url) as store:
        await store.upsert("relations", [VectorRow(id_, id_ // 20, 0, 0) for id_ in range(2_500)], vectors[:2_500])
        await store.compact()
        assert not await has_index(store)
        await store.upsert("relations", [VectorRow(id_, 900, 0, 0) for id_ in range(2_500, 4_000)], vectors[2_500:])
        await store.compact()
        assert await has_index(store)


@pytest.mark.usefixtures("small_index")
async def test_the_index_is_used_and_too_few_hits_are_completed_exactly(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = Content()
    async with open_store(postgres_url, connections=1) as store:
        await store.upsert("relations", content.rows, content.vectors)
        await store.compact()
        area, query = content.build_filter([0]), content.vectors[0]
        former = await count_scans(store, "vector_relations_nearest")
        with monkeypatch.context() as patched:
            patched.setattr(pgvector_statements, "SEARCH_EXACT", sql.SQL("an exact search"))
            expected = await store.search("relations", query, 20, area)
        assert await count_scans(store, "vector_relations_nearest") == former + 1
        # Without iterative scans, an index under a filter finds only some of its candidates.
        settings = "SELECT set_config('hnsw.ef_search', '8', true), %(candidates)s::text"
        monkeypatch.setattr(pgvector_statements, "SEARCH_SETTINGS", sql.SQL(settings))
        assert await store.search("relations", query, 20, area) == expected


async def count_scans(store: PostgresVectors, index: str) -> int:
    rows = await read_statistics(store, "SELECT indexrelname, idx_scan FROM pg_stat_user_indexes")
    return int(rows[index])


async def read_statistics(store: PostgresVectors, statement: str) -> dict[Any, Any]:
    """Names and counts of the activity of the store's only connection."""
    async with store.connection() as connection:
        await connection.execute("SELECT pg_stat_force_next_flush()")
        await connection.commit()
        return dict(await (await connection.execute(sql.SQL(statement))).fetchall())


@pytest.mark.usefixtures("small_index")
async def test_many_written_rows_start_the_index_in_the_background(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pgvector, "MAINTENANCE_ROWS", 3_000)
    content = Content()
    async with open_store(postgres_url) as store:
        for start in range(0, ROWS, 1_000):
            rows = content.rows[start : start + 1_000]
            await store.upsert("relations", rows, content.vectors[start : start + 1_000])
        await store._wait_for_maintenance("relations")
        assert await has_index(store)
        await store.clear()
        assert not await has_index(store)


ACTIVITY = (
    "SELECT relname, COALESCE(seq_scan, 0) + COALESCE(idx_scan, 0) + n_tup_ins + n_tup_upd + n_tup_del"
    " FROM pg_stat_user_tables WHERE relname ~ '^vector_chunks_[0-9]+$'"
)


FIND_PARTITION = (
    "SELECT min(n) FROM generate_series(0, 7) n WHERE satisfies_hash_partition('vector_chunks'::regclass, 8, n, 1)"
)


async def test_calls_with_known_spaces_touch_only_their_partitions(postgres_url: str) -> None:
    async with open_store(postgres_url, partitions=8, connections=1) as store:
        async with store.connection() as connection:
            [[partition]] = await (await connection.execute(FIND_PARTITION)).fetchall()
        rows, vectors = [VectorRow(id_, 1, 5, 0) for id_ in range(50)], random_units(50)
        before = await read_statistics(store, ACTIVITY)
        for _ in range(8):  # enough for prepared statements with generic plans
            await store.upsert("chunks", rows, vectors, {1})
            await store.search("chunks", vectors[0], 5, VectorFilter(frozenset({1}), rows_by_space={1: 50}))
            narrow = VectorFilter(frozenset({1}), ids=frozenset({1, 2}))
            assert len(await store.search("chunks", vectors[0], 5, narrow)) == 2
            assert len(await store.fetch("chunks", range(9), {1})) == 9
            await store.delete("chunks", [3], {1})
        after = await read_statistics(store, ACTIVITY)
    assert len(before) == 8
    assert {name for name in after if after[name] != before[name]} == {f"vector_chunks_{partition}"}


async def test_two_writers_of_a_key_leave_all_parts_of_one_of_them(postgres_url: str) -> None:
    vectors = random_units(3)
    async with open_store(postgres_url) as one, open_store(postgres_url) as other:
        for id_ in range(25):
            parts = [VectorRow(id_, 1, 0, part) for part in range(3)]
            await asyncio.gather(
                one.upsert("chunks", parts, vectors),
                other.upsert("chunks", parts[:1], vectors[2:]),
                one.upsert("chunks", parts[:2], vectors[1:]),
            )
            found = (await other.fetch("chunks", [id_]))[id_]
            written = [each for each in (vectors, vectors[2:], vectors[1:]) if len(each) == len(found)]
            assert found == pytest.approx(written[0], abs=1e-6)


async def test_writers_of_the_same_rows_in_any_order_all_succeed(postgres_url: str) -> None:
    rows, vectors = [VectorRow(id_, 1, 0, 0) for id_ in range(200)], random_units(200)

    async def write(store: PostgresVectors, seed: int) -> None:
        for number in range(5):
            order = np.random.default_rng([seed, number]).permutation(200)
            await store.upsert("chunks", [rows[place] for place in order], vectors[order] * (1 if number % 2 else -1))
            await store.delete("chunks", order[:100].tolist())

    async with open_store(postgres_url) as one, open_store(postgres_url) as other:
        await asyncio.gather(write(one, 1), write(other, 2), write(one, 3))
        await one.upsert("chunks", rows, vectors)
        assert await other.list_rows("chunks") == rows


async def test_an_unchanged_row_is_not_written_again(postgres_url: str) -> None:
    rows, vectors = [VectorRow(id_, 1, 0, 0) for id_ in range(20)], random_units(20)
    async with open_store(postgres_url, connections=1) as store:
        for room in (0, 0, 7):
            await store.upsert("chunks", [row._replace(room=room) for row in rows], vectors)
        written = "SELECT relname, ARRAY[n_tup_ins, n_tup_upd] FROM pg_stat_user_tables"
        assert (await read_statistics(store, written))["vector_chunks"] == [20, 20]


async def test_compaction_leaves_no_deleted_row_in_table_and_indexes(postgres_url: str) -> None:
    rows, vectors = [VectorRow(id_, 1, 0, 0) for id_ in range(400)], random_units(400)
    async with open_store(postgres_url) as store:
        await store.upsert("chunks", rows, vectors)
        await store.delete("chunks", range(0, 400, 2))
        await store.compact()
        async with store.connection() as connection:
            statement = "SELECT reltuples FROM pg_class WHERE relname LIKE 'vector_chunks%%' AND reltuples <> 0"
            found = await (await connection.execute(statement)).fetchall()
        assert {count for (count,) in found} == {200.0}


async def test_vectors_of_another_length_are_refused_until_the_tables_are_erased(postgres_url: str) -> None:
    async with open_store(postgres_url):
        pass
    with pytest.raises(EmbedderMismatch, match="32 dimensions"):
        async with open_store(postgres_url, DIM + 1):
            pass
    async with AsyncConnectionPool(postgres_url, min_size=1) as pool:
        await PostgresVectors.erase(pool)
    async with open_store(postgres_url, DIM + 1) as store:
        assert await store.list_rows("chunks") == []


async def test_many_processes_may_create_the_tables_at_once(postgres_url: str) -> None:
    async with AsyncConnectionPool(postgres_url, min_size=4) as pool:
        await asyncio.gather(
            *(PostgresVectors.open(pool, DIM, Supervisor(SYSTEM_CLOCK), SYSTEM_CLOCK, partitions=2) for _ in range(4))
        )


@pytest.mark.parametrize("dim", [2_500, 4_500])
async def test_long_vectors_are_stored_and_found(postgres_url: str, dim: int) -> None:
    vectors = np.eye(3, dim, dtype=np.float32)
    async with open_store(postgres_url, dim) as store:
        await store.upsert("chunks", [VectorRow(id_, 1, 0, 0) for id_ in range(3)], vectors)
        await store.compact()
        hits = await store.search("chunks", vectors[1], 1, VectorFilter(frozenset({1})))
        assert [(hit.id, hit.similarity) for hit in hits] == [(1, 1.0)]


async def test_a_closed_store_says_so(postgres_url: str) -> None:
    async with open_store(postgres_url) as store:
        await store.close()
        await store.close()
        with pytest.raises(StoreError, match="closed"):
            await store.list_rows("chunks")
        with pytest.raises(StoreError, match="closed"):
            await store.delete("chunks", [1])


async def test_a_lost_table_and_a_lost_server_are_errors_with_a_fix(postgres_url: str) -> None:
    async with open_store(postgres_url) as store:
        await store.list_rows("chunks")
        with psycopg.connect(postgres_url, autocommit=True) as admin:
            admin.execute("DROP TABLE vector_chunks")
        with pytest.raises(StoreError, match="cannot be read") as caught:
            await store.list_rows("chunks")
        assert "threadlore reindex" in caught.value.hint
    async with AsyncConnectionPool(
        "host=/nowhere dbname=none", min_size=0, max_size=1, open=False, timeout=0.2
    ) as pool:
        with pytest.raises(StoreError, match="could not be reached") as caught:
            await PostgresVectors.open(pool, DIM, Supervisor(SYSTEM_CLOCK), SYSTEM_CLOCK)
        assert "server runs" in caught.value.hint
