"""What every vector store must do; at the end, what concerns the files of the embedded one."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import BrokenProjection, OtherEmbedder, StoreError
from engine.storage.vectors import lance
from engine.storage.vectors.base import Area, Row, Vectors
from engine.storage.vectors.lance import LanceVectors
from engine.storage.vectors.lance_maintenance import Tidier
from tests.support.vectors import MemoryVectors

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

DIM = 8
ONE = frozenset({1})


@pytest.fixture(params=["lance", "memory"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Vectors]:
    vectors: Vectors = MemoryVectors(DIM) if request.param == "memory" else await LanceVectors.open(tmp_path, DIM)
    yield vectors
    await vectors.close()


def unit(*values: float) -> np.ndarray:
    """A vector that begins with the values, at length one."""
    vector = np.array([*values, *[0.0] * (DIM - len(values))], dtype=np.float32)
    vector /= np.float32(np.linalg.norm(vector))
    return vector


def random_units(count: int, dim: int = DIM, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


async def found(store: Vectors, area: Area, k: int = 10) -> list[tuple[int, int]]:
    return [(hit.id, hit.part) for hit in await store.search("chunks", unit(1), k, area)]


async def filled(store: Vectors) -> None:
    """Ids 1 to 4, ever less similar to (1, 0, …): spaces 1, 1, 2, 3; rooms 5, 6, 5, 6."""
    rows = [Row(1, 1, 5, 0), Row(2, 1, 6, 0), Row(3, 2, 5, 0), Row(4, 3, 6, 0)]
    await store.put("chunks", rows, np.stack([unit(1), unit(1, 0.2), unit(1, 0.4), unit(1, 0.6)]))


async def test_the_most_similar_come_first_with_their_cosine(store: Vectors) -> None:
    await filled(store)
    hits = await store.search("chunks", unit(1, 0.2) * 3, 3, Area(frozenset({1, 2, 3})))
    assert [hit.id for hit in hits] == [2, 3, 1]
    assert [hit.similarity for hit in hits] == pytest.approx([1.0, 1.08 / (1.04 * 1.16) ** 0.5, 1.04**-0.5], abs=1e-6)


async def test_rows_of_the_spaces_or_of_the_rooms_are_found_and_no_others(store: Vectors) -> None:
    await filled(store)
    assert await found(store, Area(ONE)) == [(1, 0), (2, 0)]
    assert await found(store, Area(frozenset(), frozenset({6}))) == [(2, 0), (4, 0)]
    assert await found(store, Area(frozenset({2}), frozenset({6}))) == [(2, 0), (3, 0), (4, 0)]


async def test_ids_narrow_the_area_and_never_widen_it(store: Vectors) -> None:
    await filled(store)
    assert await found(store, Area(ONE, frozenset({6}), ids=frozenset({2, 3}))) == [(2, 0)]
    assert await found(store, Area(ONE, ids=frozenset())) == []


async def test_no_area_no_hits(store: Vectors) -> None:
    await filled(store)
    assert await found(store, Area(frozenset())) == []
    assert await found(store, Area(frozenset(), ids=frozenset({1}))) == []
    assert await found(store, Area(ONE), k=0) == []


async def test_s1_an_empty_table_gives_nothing(store: Vectors) -> None:
    assert await found(store, Area(ONE)) == []
    assert await store.fetch("chunks", [1]) == {}
    assert await store.everything("chunks") == []


async def test_a_busy_foreign_space_does_not_starve_the_result(store: Vectors) -> None:
    await store.put("chunks", [Row(number, 9, 0, 0) for number in range(300)], np.tile(unit(1), (300, 1)))
    await store.put("chunks", [Row(1000, 1, 0, 0)], unit(0, 1)[None])
    assert await found(store, Area(ONE), k=3) == [(1000, 0)]


async def test_tables_are_apart(store: Vectors) -> None:
    await filled(store)
    await store.put("entities", [Row(7, 1, 0, 0)], unit(1)[None])
    assert [row.id for row in await store.everything("entities")] == [7]
    assert await store.everything("relations") == []
    assert await found(store, Area(ONE)) == [(1, 0), (2, 0)]


async def test_what_is_put_twice_is_there_once(store: Vectors) -> None:
    await filled(store)
    await filled(store)
    assert [row.id for row in await store.everything("chunks")] == [1, 2, 3, 4]


async def test_a_row_that_is_put_again_is_replaced(store: Vectors) -> None:
    await filled(store)
    await store.put("chunks", [Row(1, 2, 8, 0)], unit(0, 1)[None])
    assert (await store.everything("chunks"))[0] == Row(1, 2, 8, 0)
    assert await found(store, Area(ONE)) == [(2, 0)]
    assert (await store.fetch("chunks", [1]))[1] == pytest.approx(unit(0, 1)[None])


async def test_parts_are_found_apart_and_those_that_no_longer_come_go(store: Vectors) -> None:
    parts = [Row(1, 1, 5, 0), Row(1, 1, 5, 1), Row(1, 1, 5, 2), Row(2, 1, 5, 0)]
    vectors = np.stack([unit(1, 0.5), unit(1), unit(0, 1), unit(1, 0.1)])
    await store.put("chunks", parts, vectors)
    assert await found(store, Area(ONE)) == [(1, 1), (2, 0), (1, 0), (1, 2)]
    assert (await store.fetch("chunks", [1]))[1] == pytest.approx(vectors[:3])
    await store.put("chunks", parts[:1], vectors[:1])
    assert await store.everything("chunks") == [parts[0], parts[3]]


async def test_dropped_rows_are_gone_and_missing_ones_no_error(store: Vectors) -> None:
    await filled(store)
    await store.drop("chunks", [1, 77])
    await store.drop("chunks", [1])
    await store.drop("chunks", [])
    assert [row.id for row in await store.everything("chunks")] == [2, 3, 4]


async def test_v1_missing_vectors_are_absent_and_the_others_come(store: Vectors) -> None:
    await store.put("chunks", [Row(0, 1, 0, 0), Row(1, 1, 0, 0)], np.stack([unit(1), unit(0.9, 0.1)]))
    vectors = await store.fetch("chunks", [0, 1, 2])
    assert sorted(vectors) == [0, 1]
    assert {vector.shape for vector in vectors.values()} == {(1, DIM)}
    assert {vector.dtype for vector in vectors.values()} == {np.dtype(np.float32)}


@pytest.mark.parametrize("odd", [0.0, np.nan, np.inf])
async def test_v2_what_has_no_direction_is_kept_but_similar_to_nothing(store: Vectors, odd: float) -> None:
    await store.put("chunks", [Row(1, 1, 0, 0), Row(2, 1, 0, 0)], np.stack([np.full(DIM, odd, np.float32), unit(1)]))
    assert await found(store, Area(ONE)) == [(2, 0)]
    assert await store.search("chunks", np.full(DIM, odd, np.float32), 5, Area(ONE)) == []
    assert [row.id for row in await store.everything("chunks")] == [1, 2]


async def test_clear_empties_all_tables_and_the_store_goes_on(store: Vectors) -> None:
    await filled(store)
    await store.put("entities", [Row(7, 1, 0, 0)], unit(1)[None])
    await store.clear()
    assert await store.everything("chunks") == await store.everything("entities") == []
    await filled(store)
    assert await found(store, Area(ONE)) == [(1, 0), (2, 0)]


async def test_writes_to_one_key_at_once_leave_one_row(store: Vectors) -> None:
    await asyncio.gather(*(store.put("chunks", [Row(1, 1, 0, 0)], unit(1, number)[None]) for number in range(8)))
    assert await store.everything("chunks") == [Row(1, 1, 0, 0)]


async def test_searches_go_on_while_rows_are_put_dropped_and_compacted(store: Vectors) -> None:
    await filled(store)

    async def write() -> None:
        for number in range(100, 130):
            await store.put("chunks", [Row(number, 1, 0, 0)], unit(0, 1)[None])
            await store.drop("chunks", [number])
            if number % 5 == 0:
                await store.compact()

    async def read() -> None:
        for _ in range(60):
            assert (await found(store, Area(ONE)))[:2] == [(1, 0), (2, 0)]

    await asyncio.gather(write(), read(), read())


IDS = st.integers(0, 5)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "drop", "reopen", "compact", "clear"]),
        st.lists(st.tuples(IDS, st.integers(1, 3), st.integers(1, 3)), max_size=4, unique_by=lambda row: row[0]),
    ),
    max_size=7,
)


async def apply(store: Vectors, kind: str, ids: list[tuple[int, int, int]]) -> None:
    rows = [Row(number, space, 0, part) for number, space, parts in ids for part in range(parts)]
    if kind == "put":
        vectors = [unit(1, row.id, row.space, row.part) for row in rows]
        await store.put("chunks", rows, np.array(vectors).reshape(len(rows), DIM))
    elif kind == "drop":
        await store.drop("chunks", [number for number, _, _ in ids])
    elif kind == "compact":
        await store.compact()
    elif kind == "clear":
        await store.clear()


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_any_sequence_of_calls_and_restarts_equals_a_dict(steps: list[tuple[str, list[tuple[int, int, int]]]]) -> None:
    async def run(path: Path) -> None:
        model, store = MemoryVectors(DIM), await LanceVectors.open(path, DIM)
        for kind, ids in steps:
            if kind == "reopen":
                await store.close()
                store = await LanceVectors.open(path, DIM)
            await apply(store, kind, ids)
            await apply(model, kind, ids)
            assert await store.everything("chunks") == await model.everything("chunks")
            area = Area(frozenset({1, 2}))
            assert sorted(await found(store, area, 50)) == sorted(await found(model, area, 50))
        await store.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))


async def large(path: Path, rows: int = 22_000) -> tuple[LanceVectors, np.ndarray, np.ndarray]:
    """A store with an index: vectors around 100 centres; half in space 0, the rest in 1 (many), 2 (few)."""
    random = np.random.default_rng(3)
    vectors = random_units(100, 32)[random.integers(0, 100, rows)] + 0.1 * random_units(rows, 32, 1)
    spaces = random.choice([0, 1, 2], rows, p=[0.5, 0.495, 0.005])
    store = await LanceVectors.open(path, 32)
    keys = [Row(number, int(space), 0, 0) for number, space in enumerate(spaces)]
    await store.put("relations", keys, vectors)
    await store.compact()
    return store, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), spaces


def holds(path: Path, content: bytes) -> bool:
    return any(content in file.read_bytes() for file in path.rglob("*") if file.is_file())


async def recall(store: LanceVectors, vectors: np.ndarray, spaces: np.ndarray, scope: list[int]) -> float:
    """The share of the exact 20 nearest that is found, over ten questions, with the similarities checked."""
    inside = np.flatnonzero(np.isin(spaces, scope))
    area = Area(frozenset(scope), population={space: int((spaces == space).sum()) for space in scope})
    shares = []
    for query in vectors[inside[:10]]:
        exact = inside[np.argsort(-(vectors[inside] @ query))[:20]]
        hits = await store.search("relations", query, 20, area)
        assert [hit.similarity for hit in hits] == pytest.approx(
            [float(vectors[hit.id] @ query) for hit in hits], abs=1e-5
        )
        shares.append(len({hit.id for hit in hits} & set(exact.tolist())) / 20)
    return float(np.mean(shares))


async def test_above_twenty_thousand_rows_an_index_finds_what_exact_search_finds(tmp_path: Path) -> None:
    store, vectors, spaces = await large(tmp_path)
    assert store._tables["relations"].indexed
    for scope in ([0], [1], [2], [0, 2], [0, 1, 2]):
        assert await recall(store, vectors, spaces, scope) >= 0.98
    vectors[:500] = vectors[500:1000]
    await store.put("relations", [Row(number, 0, 0, 0) for number in range(500)], vectors[:500])
    spaces[:500] = 0
    assert await recall(store, vectors, spaces, [0]) >= 0.98
    await store.close()
    store = await LanceVectors.open(tmp_path, 32)
    assert await recall(store, vectors, spaces, [0, 1]) >= 0.98
    await store.close()


async def test_an_area_of_four_thousand_rows_misses_nothing_whatever_vectors_stand_outside_it(tmp_path: Path) -> None:
    own, foreign = 4_000, 8_000
    vectors = np.concatenate([random_units(1, 32) + 0.02 * random_units(own, 32, 1), random_units(foreign, 32, 2)])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    store = await LanceVectors.open(tmp_path, 32)
    await store.put("chunks", [Row(at, int(at >= own), 0, 0) for at in range(own + foreign)], vectors)
    await store.compact()
    assert store._tables["chunks"].indexed
    for query in vectors[:20]:
        exact = np.sort(vectors[:own] @ query)[::-1][:20]
        hits = await store.search("chunks", query, 20, Area(frozenset({0}), population={0: own, 1: foreign}))
        assert [hit.similarity for hit in hits] == pytest.approx(exact.tolist(), abs=1e-6)
    await store.close()


async def test_the_bytes_of_dropped_rows_leave_the_disk_with_an_index_and_without(tmp_path: Path) -> None:
    store, vectors, _ = await large(tmp_path)
    secret = random_units(1, 32, 77)
    for table in ("relations", "chunks"):
        await store.put(table, [Row(50_000, 1, 0, 0)], secret)
        await store.put(table, [Row(50_001, 1, 0, 0)], vectors[:1])
        await store.compact()
        assert holds(tmp_path / f"{table}.lance", secret.tobytes())
        await store.drop(table, [50_000])
        await store.compact()
        assert not holds(tmp_path / f"{table}.lance", secret.tobytes())
    assert len(await store.everything("relations")) == 22_001
    await store.close()


async def test_many_small_writes_are_tidied_in_the_background(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lance, "TIDY_WRITES", 10)
    store = await LanceVectors.open(tmp_path, DIM)
    for number in range(45):
        await store.put("chunks", [Row(number, 1, 0, 0)], unit(1, number)[None])
    await store.close()
    assert len(list((tmp_path / "chunks.lance" / "data").iterdir())) < 20
    store = await LanceVectors.open(tmp_path, DIM)
    assert len(await store.everything("chunks")) == 45
    await store.close()


async def test_what_is_written_while_it_is_tidied_is_tidied_once_it_rests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance, "TIDY_WRITES", 4)
    monkeypatch.setattr(lance, "FEW_WRITES", 2)
    monkeypatch.setattr(lance, "REST", 0.01)
    merged, go_on = asyncio.Semaphore(0), asyncio.Event()

    async def index(_: Tidier) -> None:
        merged.release()
        await go_on.wait()

    monkeypatch.setattr(Tidier, "_index", index)
    store = await LanceVectors.open(tmp_path, DIM)
    for number in range(4):
        await store.put("chunks", [Row(number, 1, 0, 0)], unit(1, number)[None])
    async with asyncio.timeout(30):
        await merged.acquire()
        for number in range(4, 7):
            await store.put("chunks", [Row(number, 1, 0, 0)], unit(1, number)[None])
        go_on.set()
        await merged.acquire()
    await store.close()
    assert len(list((tmp_path / "chunks.lance" / "data").iterdir())) == 1


async def test_a_few_new_rows_of_an_indexed_table_are_indexed_once_it_rests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance, "REST", 0.01)
    store, _, _ = await large(tmp_path)
    rows = [Row(30_000 + number, 1, 0, 0) for number in range(lance.FEW_ROWS)]
    await store.put("relations", rows, random_units(len(rows), 32, 5))
    async with asyncio.timeout(60):
        while (await store._tables["relations"].table.index_stats("vector_idx")).num_unindexed_rows:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    await store.close()


async def test_vectors_of_another_length_are_refused(tmp_path: Path) -> None:
    await (await LanceVectors.open(tmp_path, DIM)).close()
    with pytest.raises(OtherEmbedder, match="8 dimensions"):
        await LanceVectors.open(tmp_path, DIM + 1)


async def test_broken_files_are_told_with_the_way_out(tmp_path: Path) -> None:
    await (await LanceVectors.open(tmp_path, DIM)).close()
    for manifest in (tmp_path / "chunks.lance" / "_versions").iterdir():
        manifest.write_bytes(b"torn")
    with pytest.raises(BrokenProjection) as caught:
        await LanceVectors.open(tmp_path, DIM)
    assert "threadlore rebuild" in caught.value.hint
    await LanceVectors.erase(tmp_path)
    store = await LanceVectors.open(tmp_path, DIM)
    assert await store.everything("chunks") == []
    await store.close()


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = await LanceVectors.open(tmp_path, DIM)
    await store.close()
    await store.close()
    with pytest.raises(StoreError, match="closed"):
        await store.search("chunks", unit(1), 1, Area(ONE))
