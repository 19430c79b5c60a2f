"""What every vector store must do; then what concerns PostgreSQL; at the end, the files of the embedded one."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import AsyncRawCursor
from psycopg_pool import AsyncConnectionPool

from engine.clock import SYSTEM_CLOCK
from engine.errors import CorruptProjection, EmbedderMismatch, StoreError
from engine.options import VECTOR_CACHE_BYTES
from engine.scheduling.processes import LocalProcesses
from engine.scheduling.supervisor import Supervisor
from engine.storage.vector_columns import ExactColumns
from engine.storage.vectors import lance
from engine.storage.vectors.base import VectorFilter, VectorRow, VectorStore
from engine.storage.vectors.in_memory.row_types import row_bytes
from engine.storage.vectors.lance import LanceVectors
from engine.storage.vectors.lance_maintenance import TableMaintenance
from engine.storage.vectors.pgvector import PostgresVectors
from engine.storage.vectors.pgvector_copy.store import CopiedVectors
from tests.examples.surrealdb import IS_INSTALLED
from tests.support.memory_vectors import MemoryVectors
from tests.support.patience import PATIENCE

DIM = 8
ONE = frozenset({1})


@asynccontextmanager
async def open_postgres(url: str, partitions: int) -> AsyncIterator[PostgresVectors]:
    # Connections of other repositories have raw cursors.
    options = {"autocommit": True, "cursor_factory": AsyncRawCursor} if partitions > 1 else {}
    async with AsyncConnectionPool(url, kwargs=options, min_size=1, max_size=4) as pool:
        vectors = await PostgresVectors.open(pool, DIM, Supervisor(SYSTEM_CLOCK), SYSTEM_CLOCK, partitions=partitions)
        yield vectors
        await vectors.close()


@asynccontextmanager
async def open_copied(url: str) -> AsyncIterator[CopiedVectors]:
    async with open_postgres(url, 3) as stored:
        supervisor = Supervisor(SYSTEM_CLOCK)
        vectors = CopiedVectors(stored, VECTOR_CACHE_BYTES, LocalProcesses(), supervisor)
        yield vectors
        await vectors.close()


STORES = ["lance", "lance on disk", "memory", "postgres", "postgres by space", "postgres in memory"]


@pytest.fixture(params=[*STORES, *(["surreal", "surreal on disk"] if IS_INSTALLED else [])])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[VectorStore]:
    if request.param == "postgres in memory":
        async with open_copied(request.getfixturevalue("postgres_url")) as copied:
            yield copied
        return
    if request.param.startswith("postgres"):
        partitions = 1 if request.param == "postgres" else 3
        async with open_postgres(request.getfixturevalue("postgres_url"), partitions) as opened:
            yield opened
        return
    if request.param.startswith("surreal"):
        from tests.examples.surrealdb.contract_stores import open_surreal_vectors  # noqa: PLC0415 - may be missing

        cache_bytes = VECTOR_CACHE_BYTES if request.param == "surreal" else 0
        async with open_surreal_vectors(tmp_path, DIM, cache_bytes) as surreal_vectors:
            yield surreal_vectors
        return
    vectors: VectorStore = MemoryVectors(DIM)
    if request.param != "memory":
        cache_bytes = VECTOR_CACHE_BYTES if request.param == "lance" else 0
        vectors = await LanceVectors.open(tmp_path, DIM, Supervisor(SYSTEM_CLOCK), cache_bytes=cache_bytes)
    yield vectors
    await vectors.close()


def unit_vector(*values: float) -> np.ndarray:
    """A vector that begins with the values, at length one."""
    vector = np.array([*values, *[0.0] * (DIM - len(values))], dtype=np.float32)
    vector /= np.float32(np.linalg.norm(vector))
    return vector


def random_units(count: int, dim: int = DIM, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


async def search_ids(store: VectorStore, area: VectorFilter, k: int = 10) -> list[tuple[int, int]]:
    return [(hit.id, hit.part) for hit in await store.search("chunks", unit_vector(1), k, area)]


async def fill_store(store: VectorStore) -> None:
    """Ids 1 to 4, ever less similar to (1, 0, …): spaces 1, 1, 2, 3; rooms 5, 6, 5, 6."""
    rows = [VectorRow(1, 1, 5, 0), VectorRow(2, 1, 6, 0), VectorRow(3, 2, 5, 0), VectorRow(4, 3, 6, 0)]
    await store.upsert(
        "chunks", rows, np.stack([unit_vector(1), unit_vector(1, 0.2), unit_vector(1, 0.4), unit_vector(1, 0.6)])
    )


async def test_the_most_similar_come_first_with_their_cosine(store: VectorStore) -> None:
    await fill_store(store)
    hits = await store.search("chunks", unit_vector(1, 0.2) * 3, 3, VectorFilter(frozenset({1, 2, 3})))
    assert [hit.id for hit in hits] == [2, 3, 1]
    assert [hit.similarity for hit in hits] == pytest.approx([1.0, 1.08 / (1.04 * 1.16) ** 0.5, 1.04**-0.5], abs=1e-6)


async def test_rows_of_the_spaces_or_of_the_rooms_are_found_and_no_others(store: VectorStore) -> None:
    await fill_store(store)
    assert await search_ids(store, VectorFilter(ONE)) == [(1, 0), (2, 0)]
    assert await search_ids(store, VectorFilter(frozenset(), frozenset({6}))) == [(2, 0), (4, 0)]
    assert await search_ids(store, VectorFilter(frozenset({2}), frozenset({6}))) == [(2, 0), (3, 0), (4, 0)]


async def test_ids_narrow_the_area_and_never_widen_it(store: VectorStore) -> None:
    await fill_store(store)
    assert await search_ids(store, VectorFilter(ONE, frozenset({6}), ids=frozenset({2, 3}))) == [(2, 0)]
    assert await search_ids(store, VectorFilter(ONE, ids=frozenset())) == []


async def test_no_area_no_hits(store: VectorStore) -> None:
    await fill_store(store)
    assert await search_ids(store, VectorFilter(frozenset())) == []
    assert await search_ids(store, VectorFilter(frozenset(), ids=frozenset({1}))) == []
    assert await search_ids(store, VectorFilter(ONE), k=0) == []


async def test_s1_an_empty_table_gives_nothing(store: VectorStore) -> None:
    assert await search_ids(store, VectorFilter(ONE)) == []
    assert await store.fetch("chunks", [1]) == {}
    assert await store.list_rows("chunks") == []


async def test_a_busy_foreign_space_does_not_starve_the_result(store: VectorStore) -> None:
    await store.upsert(
        "chunks", [VectorRow(number, 9, 0, 0) for number in range(300)], np.tile(unit_vector(1), (300, 1))
    )
    await store.upsert("chunks", [VectorRow(1000, 1, 0, 0)], unit_vector(0, 1)[None])
    for known in ({}, {1: 1}, {1: 1, 9: 300}):
        assert await search_ids(store, VectorFilter(ONE, rows_by_space=known), k=3) == [(1000, 0)]


async def test_tables_are_separate(store: VectorStore) -> None:
    await fill_store(store)
    await store.upsert("entities", [VectorRow(7, 1, 0, 0)], unit_vector(1)[None])
    assert [row.id for row in await store.list_rows("entities")] == [7]
    assert await store.list_rows("relations") == []
    assert await search_ids(store, VectorFilter(ONE)) == [(1, 0), (2, 0)]


async def test_repeated_upsert_leaves_one_row(store: VectorStore) -> None:
    await fill_store(store)
    await fill_store(store)
    assert [row.id for row in await store.list_rows("chunks")] == [1, 2, 3, 4]


async def test_upserted_row_is_replaced(store: VectorStore) -> None:
    await fill_store(store)
    await store.upsert("chunks", [VectorRow(1, 2, 8, 0)], unit_vector(0, 1)[None])
    assert (await store.list_rows("chunks"))[0] == VectorRow(1, 2, 8, 0)
    assert await search_ids(store, VectorFilter(ONE)) == [(2, 0)]
    assert (await store.fetch("chunks", [1]))[1] == pytest.approx(unit_vector(0, 1)[None])


async def test_parts_are_found_separately_and_missing_ones_removed(store: VectorStore) -> None:
    parts = [VectorRow(1, 1, 5, 0), VectorRow(1, 1, 5, 1), VectorRow(1, 1, 5, 2), VectorRow(2, 1, 5, 0)]
    vectors = np.stack([unit_vector(1, 0.5), unit_vector(1), unit_vector(0, 1), unit_vector(1, 0.1)])
    await store.upsert("chunks", parts, vectors)
    assert await search_ids(store, VectorFilter(ONE)) == [(1, 1), (2, 0), (1, 0), (1, 2)]
    assert (await store.fetch("chunks", [1]))[1] == pytest.approx(vectors[:3])
    await store.upsert("chunks", parts[:1], vectors[:1])
    assert await store.list_rows("chunks") == [parts[0], parts[3]]


async def test_dropped_rows_are_gone_and_missing_ones_no_error(store: VectorStore) -> None:
    await fill_store(store)
    await store.delete("chunks", [1, 77])
    await store.delete("chunks", [1])
    await store.delete("chunks", [])
    assert [row.id for row in await store.list_rows("chunks")] == [2, 3, 4]


async def test_v1_missing_vectors_are_absent_and_the_others_come(store: VectorStore) -> None:
    await store.upsert(
        "chunks", [VectorRow(0, 1, 0, 0), VectorRow(1, 1, 0, 0)], np.stack([unit_vector(1), unit_vector(0.9, 0.1)])
    )
    vectors = await store.fetch("chunks", [0, 1, 2])
    assert sorted(vectors) == [0, 1]
    assert {vector.shape for vector in vectors.values()} == {(1, DIM)}
    assert {vector.dtype for vector in vectors.values()} == {np.dtype(np.float32)}


@pytest.mark.share(3)
@pytest.mark.parametrize("odd", [0.0, np.nan, np.inf])
async def test_v2_what_has_no_direction_is_kept_but_similar_to_nothing(store: VectorStore, odd: float) -> None:
    await store.upsert(
        "chunks",
        [VectorRow(1, 1, 0, 0), VectorRow(2, 1, 0, 0)],
        np.stack([np.full(DIM, odd, np.float32), unit_vector(1)]),
    )
    assert await search_ids(store, VectorFilter(ONE)) == [(2, 0)]
    assert await store.search("chunks", np.full(DIM, odd, np.float32), 5, VectorFilter(ONE)) == []
    assert [row.id for row in await store.list_rows("chunks")] == [1, 2]


async def test_clear_empties_all_tables_and_the_store_goes_on(store: VectorStore) -> None:
    await fill_store(store)
    await store.upsert("entities", [VectorRow(7, 1, 0, 0)], unit_vector(1)[None])
    await store.clear()
    assert await store.list_rows("chunks") == await store.list_rows("entities") == []
    await fill_store(store)
    assert await search_ids(store, VectorFilter(ONE)) == [(1, 0), (2, 0)]


async def test_writes_to_one_key_at_once_leave_one_row(store: VectorStore) -> None:
    await asyncio.gather(
        *(store.upsert("chunks", [VectorRow(1, 1, 0, 0)], unit_vector(1, number)[None]) for number in range(8))
    )
    assert await store.list_rows("chunks") == [VectorRow(1, 1, 0, 0)]


@pytest.mark.share(2)
async def test_searches_continue_during_writes_and_compaction(store: VectorStore) -> None:
    await fill_store(store)

    async def write() -> None:
        for number in range(100, 130):
            await store.upsert("chunks", [VectorRow(number, 1, 0, 0)], unit_vector(0, 1)[None])
            await store.delete("chunks", [number])
            if number % 5 == 0:
                await store.compact()

    async def read() -> None:
        for _ in range(60):
            assert (await search_ids(store, VectorFilter(ONE)))[:2] == [(1, 0), (2, 0)]

    await asyncio.gather(write(), read(), read())


IDS = st.integers(0, 5)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "drop", "reopen", "compact", "clear"]),
        st.lists(st.tuples(IDS, st.integers(1, 3), st.integers(1, 3)), max_size=4, unique_by=lambda row: row[0]),
    ),
    max_size=7,
)


async def apply_step(store: VectorStore, kind: str, ids: list[tuple[int, int, int]]) -> None:
    rows = [VectorRow(number, space, 0, part) for number, space, parts in ids for part in range(parts)]
    if kind == "put":
        vectors = [unit_vector(1, row.id, row.space, row.part) for row in rows]
        await store.upsert("chunks", rows, np.array(vectors).reshape(len(rows), DIM))
    elif kind == "drop":
        await store.delete("chunks", [number for number, _, _ in ids])
    elif kind == "compact":
        await store.compact()
    elif kind == "clear":
        await store.clear()


async def compare_with_dict(
    open_store: Callable[[], Awaitable[VectorStore]], steps: list[tuple[str, list[tuple[int, int, int]]]]
) -> None:
    model, store = MemoryVectors(DIM), await open_store()
    for kind, ids in steps:
        if kind == "reopen":
            await store.close()
            store = await open_store()
        await apply_step(store, kind, ids)
        await apply_step(model, kind, ids)
        assert await store.list_rows("chunks") == await model.list_rows("chunks")
        area = VectorFilter(frozenset({1, 2}))
        assert sorted(await search_ids(store, area, 50)) == sorted(await search_ids(model, area, 50))
        found, expected = await store.fetch("chunks", range(6)), await model.fetch("chunks", range(6))
        assert list(map(sorted, (found, expected))) == [sorted(expected)] * 2
        for id_, parts in found.items():  # which may be rounded
            assert parts == pytest.approx(expected[id_], abs=0.005)
    await store.close()


@pytest.mark.long
@pytest.mark.parametrize("cache_bytes", [VECTOR_CACHE_BYTES, 32 * row_bytes(ExactColumns(DIM)), 0])
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
def test_any_sequence_of_calls_and_restarts_equals_a_dict(
    cache_bytes: int, steps: list[tuple[str, list[tuple[int, int, int]]]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(
            compare_with_dict(
                lambda: LanceVectors.open(Path(folder), DIM, Supervisor(SYSTEM_CLOCK), cache_bytes=cache_bytes), steps
            )
        )


@pytest.mark.long
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(steps=STEPS, partitions=st.integers(1, 3))
def test_any_sequence_of_calls_on_postgres_equals_a_dict(
    postgres_url: str, steps: list[tuple[str, list[tuple[int, int, int]]]], partitions: int
) -> None:
    async def run() -> None:
        async with AsyncConnectionPool(postgres_url, min_size=1, max_size=2) as pool:
            await PostgresVectors.erase(pool)
            await compare_with_dict(
                lambda: PostgresVectors.open(pool, DIM, Supervisor(SYSTEM_CLOCK), SYSTEM_CLOCK, partitions=partitions),
                steps,
            )

    asyncio.run(run())


async def open_large_store(path: Path, rows: int = 22_000) -> tuple[LanceVectors, np.ndarray, np.ndarray]:
    """A store with an index: vectors around 100 centres; half in space 0, the rest in 1 (many), 2 (few)."""
    random = np.random.default_rng(3)
    vectors = random_units(100, 32)[random.integers(0, 100, rows)] + 0.1 * random_units(rows, 32, 1)
    spaces = random.choice([0, 1, 2], rows, p=[0.5, 0.495, 0.005])
    store = await LanceVectors.open(path, 32, Supervisor(SYSTEM_CLOCK), cache_bytes=0)
    keys = [VectorRow(number, int(space), 0, 0) for number, space in enumerate(spaces)]
    await store.upsert("relations", keys, vectors)
    await store.compact()
    return store, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), spaces


def has_bytes(path: Path, content: bytes) -> bool:
    return any(content in file.read_bytes() for file in path.rglob("*") if file.is_file())


async def measure_recall(store: LanceVectors, vectors: np.ndarray, spaces: np.ndarray, scope: list[int]) -> float:
    """The share of the exact 20 nearest that is found, over ten questions, with the similarities checked."""
    inside = np.flatnonzero(np.isin(spaces, scope))
    area = VectorFilter(frozenset(scope), rows_by_space={space: int((spaces == space).sum()) for space in scope})
    shares = []
    for query in vectors[inside[:10]]:
        exact = inside[np.argsort(-(vectors[inside] @ query))[:20]]
        hits = await store.search("relations", query, 20, area)
        assert [hit.similarity for hit in hits] == pytest.approx(
            [float(vectors[hit.id] @ query) for hit in hits], abs=1e-5
        )
        shares.append(len({hit.id for hit in hits} & set(exact.tolist())) / 20)
    return float(np.mean(shares))


@pytest.mark.long
async def test_above_twenty_thousand_rows_an_index_finds_what_exact_search_finds(tmp_path: Path) -> None:
    store, vectors, spaces = await open_large_store(tmp_path)
    assert store._tables["relations"].is_indexed
    for scope in ([0], [1], [2], [0, 2], [0, 1, 2]):
        assert await measure_recall(store, vectors, spaces, scope) >= 0.98
    vectors[:500] = vectors[500:1000]
    await store.upsert("relations", [VectorRow(number, 0, 0, 0) for number in range(500)], vectors[:500])
    spaces[:500] = 0
    assert await measure_recall(store, vectors, spaces, [0]) >= 0.98
    await store.close()
    store = await LanceVectors.open(tmp_path, 32, Supervisor(SYSTEM_CLOCK), cache_bytes=0)
    assert await measure_recall(store, vectors, spaces, [0, 1]) >= 0.98
    await store.close()


@pytest.mark.long
async def test_filter_of_four_thousand_rows_finds_all_its_vectors(tmp_path: Path) -> None:
    own, foreign = 4_000, 8_000
    vectors = np.concatenate([random_units(1, 32) + 0.02 * random_units(own, 32, 1), random_units(foreign, 32, 2)])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    store = await LanceVectors.open(tmp_path, 32, Supervisor(SYSTEM_CLOCK), cache_bytes=0)
    await store.upsert("chunks", [VectorRow(at, int(at >= own), 0, 0) for at in range(own + foreign)], vectors)
    await store.compact()
    assert store._tables["chunks"].is_indexed
    for query in vectors[:20]:
        exact = np.sort(vectors[:own] @ query)[::-1][:20]
        hits = await store.search("chunks", query, 20, VectorFilter(frozenset({0}), rows_by_space={0: own, 1: foreign}))
        assert [hit.similarity for hit in hits] == pytest.approx(exact.tolist(), abs=1e-6)
    await store.close()


@pytest.mark.long
async def test_the_bytes_of_dropped_rows_leave_the_disk_with_an_index_and_without(tmp_path: Path) -> None:
    store, vectors, _ = await open_large_store(tmp_path)
    secret = random_units(1, 32, 77)
    for table in ("relations", "chunks"):
        await store.upsert(table, [VectorRow(50_000, 1, 0, 0)], secret)
        await store.upsert(table, [VectorRow(50_001, 1, 0, 0)], vectors[:1])
        await store.compact()
        assert has_bytes(tmp_path / f"{table}.lance", secret.tobytes())
        await store.delete(table, [50_000])
        await store.compact()
        assert not has_bytes(tmp_path / f"{table}.lance", secret.tobytes())
    assert len(await store.list_rows("relations")) == 22_001
    await store.close()


@pytest.mark.long
async def test_many_small_writes_are_compacted_in_the_background(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance, "MAINTENANCE_WRITES", 10)
    store = await LanceVectors.open(tmp_path, DIM, Supervisor(SYSTEM_CLOCK))
    for number in range(45):
        await store.upsert("chunks", [VectorRow(number, 1, 0, 0)], unit_vector(1, number)[None])
    await store.close()
    assert len(list((tmp_path / "chunks.lance" / "data").iterdir())) < 20
    store = await LanceVectors.open(tmp_path, DIM, Supervisor(SYSTEM_CLOCK))
    assert len(await store.list_rows("chunks")) == 45
    await store.close()


async def test_writes_during_compaction_are_compacted_when_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance, "MAINTENANCE_WRITES", 4)
    monkeypatch.setattr(lance, "IDLE_WRITES", 2)
    monkeypatch.setattr(lance, "IDLE_SECONDS", 0.01)
    merged, go_on = asyncio.Semaphore(0), asyncio.Event()

    async def index(_: TableMaintenance) -> None:
        merged.release()
        await go_on.wait()

    monkeypatch.setattr(TableMaintenance, "_build_indexes", index)
    store = await LanceVectors.open(tmp_path, DIM, Supervisor(SYSTEM_CLOCK))
    for number in range(4):
        await store.upsert("chunks", [VectorRow(number, 1, 0, 0)], unit_vector(1, number)[None])
    async with asyncio.timeout(PATIENCE):
        await merged.acquire()
        for number in range(4, 7):
            await store.upsert("chunks", [VectorRow(number, 1, 0, 0)], unit_vector(1, number)[None])
        go_on.set()
        await merged.acquire()
    await store.close()
    assert len(list((tmp_path / "chunks.lance" / "data").iterdir())) == 1


@pytest.mark.long
async def test_new_rows_of_an_indexed_table_are_indexed_when_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance, "IDLE_SECONDS", 0.01)
    store, _, _ = await open_large_store(tmp_path)
    rows = [VectorRow(30_000 + number, 1, 0, 0) for number in range(lance.IDLE_ROWS)]
    await store.upsert("relations", rows, random_units(len(rows), 32, 5))
    async with asyncio.timeout(PATIENCE):
        while (await store._tables["relations"].table.index_stats("vector_idx")).num_unindexed_rows:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    await store.close()


async def test_vectors_of_another_length_are_refused(tmp_path: Path) -> None:
    await (await LanceVectors.open(tmp_path, DIM, Supervisor(SYSTEM_CLOCK))).close()
    with pytest.raises(EmbedderMismatch, match="8 dimensions"):
        await LanceVectors.open(tmp_path, DIM + 1, Supervisor(SYSTEM_CLOCK))


async def test_broken_files_raise_an_error_with_a_fix(tmp_path: Path) -> None:
    await (await LanceVectors.open(tmp_path, DIM, Supervisor(SYSTEM_CLOCK))).close()
    for manifest in (tmp_path / "chunks.lance" / "_versions").iterdir():
        manifest.write_bytes(b"torn")
    with pytest.raises(CorruptProjection) as caught:
        await LanceVectors.open(tmp_path, DIM, Supervisor(SYSTEM_CLOCK))
    assert "threadlore reindex" in caught.value.hint
    await LanceVectors.erase(tmp_path)
    store = await LanceVectors.open(tmp_path, DIM, Supervisor(SYSTEM_CLOCK))
    assert await store.list_rows("chunks") == []
    await store.close()


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = await LanceVectors.open(tmp_path, DIM, Supervisor(SYSTEM_CLOCK))
    await store.close()
    await store.close()
    with pytest.raises(StoreError, match="closed"):
        await store.search("chunks", unit_vector(1), 1, VectorFilter(ONE))
