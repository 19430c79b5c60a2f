"""Codes of rows: what they find, and that they follow every change."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from structlog.testing import capture_logs

from engine.clock import SYSTEM_CLOCK
from engine.scheduling.supervisor import Supervisor
from engine.storage.vector_columns import RoundedColumns
from engine.storage.vectors.base import VectorFilter, VectorRow
from engine.storage.vectors.in_memory import row_arrays, row_codes, row_loading
from engine.storage.vectors.in_memory.row_arrays import RowArrays
from engine.storage.vectors.in_memory.row_codes import RowCodes, code_bytes
from engine.storage.vectors.in_memory.row_loading import SpaceGroups, extend_codes, row_size
from engine.storage.vectors.lance import LanceVectors
from engine.storage.vectors.lance_table import LanceTable
from engine.text.similarity import unit_vectors
from tests.contracts.test_vectors_contract import random_units
from tests.support.patience import PATIENCE

DIM, SPACES = 16, 5
LIST_ROWS = 64
ALL = VectorFilter(frozenset(range(SPACES)))


@pytest.fixture(autouse=True)
def small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give tables of 500 rows codes, and search these in every scope."""
    monkeypatch.setattr(row_loading, "MIN_CODED_ROWS", 500)
    monkeypatch.setattr(row_loading, "CODED_TABLE_BYTES", 0)
    monkeypatch.setattr(row_arrays, "MIN_CODED_SCOPE", 1)
    monkeypatch.setattr(row_arrays, "FEW_ROWS_SHARE", 1_000_000)
    monkeypatch.setattr(row_codes, "LIST_BYTES", LIST_ROWS * DIM // row_codes.PACKED)


async def load_rows(vectors: np.ndarray, *, is_coded: bool = True, max_rows: int = 2_000) -> RowArrays:
    """Rows whose ids are their numbers, in spaces by turns."""
    rows = RowArrays(RoundedColumns(vectors.shape[1]), max_rows, is_coded=is_coded)
    ids = np.arange(len(vectors))
    groups = SpaceGroups(rows, {space: int((ids % SPACES == space).sum()) for space in range(SPACES)})
    groups.append({"id": ids, "space": ids % SPACES, "room": ids * 0, "part": ids * 0}, vectors)
    groups.finish()
    while await extend_codes(rows):
        pass
    return rows


async def wait_for_rows(table: LanceTable) -> RowArrays:
    """The loaded rows of a table, once they have the codes that they are to have."""
    async with asyncio.timeout(PATIENCE):
        while not table.is_cached:
            await table.fetch([0])
        assert table._cache._improving is not None
        await table._cache._improving
    assert table._cache.rows is not None
    return table._cache.rows


def have_their_codes(rows: RowArrays) -> bool:
    """Whether the code of each row is that of its vector; rounding changes a few parts."""
    assert rows._codes is not None
    places = np.arange(len(rows))
    equal = rows._codes[places] == rows._codes.encode(rows._decode(places))
    return bool((equal.sum(axis=1) >= DIM // row_codes.PACKED - 2).all() and equal.mean() > 0.97)


def find_ids(rows: RowArrays, query: np.ndarray, k: int, area: VectorFilter) -> Sequence[int]:
    return [hit.id for hit in rows.search(query, k, area)]


@pytest.mark.parametrize("seed", range(4))
async def test_any_history_of_rows_with_codes_gives_the_results_of_rows_without(seed: int) -> None:
    chance, vectors = np.random.default_rng(seed), random_units(1_400, DIM, seed)
    vectors[::50] = 0
    coded, plain = [await load_rows(vectors[:700], is_coded=is_coded) for is_coded in (True, False)]
    assert coded._codes is not None
    assert plain._codes is None
    for _ in range(40):
        ids = chance.choice(1_400, chance.integers(1, 60), replace=False).tolist()
        added = [VectorRow(id_, int(chance.integers(SPACES)), int(chance.integers(3)), 0) for id_ in ids]
        for rows in (coded, plain):
            if len(ids) % 2:
                rows.delete(ids)
            else:
                rows.upsert(added, vectors[ids][::-1])
        assert have_their_codes(coded)
        spaces = frozenset(chance.choice(SPACES, chance.integers(1, SPACES + 1)).tolist())
        rooms = frozenset({int(chance.integers(3))} if chance.random() < 0.2 else ())
        area = VectorFilter(spaces, rooms, ids=frozenset(range(900)) if chance.random() < 0.2 else None)
        for k in (1, 20, 2_000):
            query = vectors[chance.integers(1, 49)]
            assert coded.search(query, k, area) == plain.search(query, k, area)


@pytest.mark.parametrize("seed", range(3))
async def test_rows_change_while_their_codes_are_made(seed: int) -> None:
    vectors, chance = random_units(1_400, DIM, seed), np.random.default_rng(seed)
    rows = RowArrays(RoundedColumns(DIM), 2_000, is_coded=True)
    ids = np.arange(1_000)
    groups = SpaceGroups(rows, {0: 1_000})
    groups.append({"id": ids, "space": ids * 0, "room": ids * 0, "part": ids * 0}, vectors[:1_000])
    while await extend_codes(rows):
        chosen = chance.choice(1_400, chance.integers(1, 80), replace=False).tolist()
        if chance.random() < 0.5:
            rows.delete(chosen)
        else:
            rows.upsert([VectorRow(id_, 0, 0, 0) for id_ in chosen], vectors[chosen])
        found = rows.search(vectors[5], 10, ALL)
        present = rows._rows["id"]
        nearest = np.sort(vectors[present] @ vectors[5])[::-1][:10]
        assert [hit.similarity for hit in found] == pytest.approx(nearest.tolist(), abs=0.006)
    assert rows._codes is not None
    assert rows._codes.filled == math.inf
    assert have_their_codes(rows)


async def test_rows_whose_codes_cannot_be_made_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError("no memory")

    monkeypatch.setattr(RowCodes, "fill_list", fail)
    with capture_logs() as logs:
        rows = await load_rows(random_units(700, DIM, 2))
    assert [entry["event"] for entry in logs] == ["vectors.no_codes"]
    assert len(find_ids(rows, random_units(700, DIM, 2)[3], 12, ALL)) == 12


@pytest.mark.parametrize("error", [RuntimeError("posix_memalign failed"), MemoryError()])
async def test_rows_are_compared_where_the_library_fails_to_search(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = random_units(700, DIM, 2)
    rows, plain = [await load_rows(vectors, is_coded=is_coded) for is_coded in (True, False)]

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(RowCodes, "_search_lists", fail)
    with capture_logs() as logs:
        for query in vectors[:3]:
            assert rows.search(query, 12, ALL) == plain.search(query, 12, ALL)
    assert [(entry["event"], entry["rows"], bool(entry["error"])) for entry in logs] == [
        ("vectors.no_codes", 700, True)
    ]
    rows.upsert([VectorRow(3, 1, 0, 0)], vectors[5:6])
    assert rows.search(vectors[5], 2, ALL)[0].id == 3


@pytest.mark.parametrize("name", ["encode", "_reserve_lists"])
async def test_rows_are_loaded_again_where_codes_cannot_follow_a_change(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = random_units(700, DIM, 16)
    store = await LanceVectors.open(tmp_path, DIM, Supervisor(SYSTEM_CLOCK), 10_000_000)
    await store.upsert("chunks", [VectorRow(id_, 1, 0, 0) for id_ in range(700)], vectors)
    await wait_for_rows(table := store._tables["chunks"])

    def fail(*_: object) -> None:
        raise RuntimeError("posix_memalign failed")

    with monkeypatch.context() as patched, capture_logs() as logs:
        patched.setattr(RowCodes, name, fail)
        await store.upsert("chunks", [VectorRow(900, 1, 0, 0)], vectors[3:4])
    assert [entry["event"] for entry in logs] == ["vectors.no_codes"]
    assert not table.is_cached
    await wait_for_rows(table)
    assert {hit.id for hit in await store.search("chunks", vectors[3], 2, ALL)} == {3, 900}
    await store.close()


async def test_a_change_waits_for_the_codes_that_are_made_of_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = random_units(700, DIM, 13)
    rows, fill, began, go_on = await load_rows(vectors), RowCodes.fill_list, threading.Event(), threading.Event()
    assert rows._codes is not None
    rows._codes.filled = 0

    def pause(codes: RowCodes, number: int, read: np.ndarray, *, is_last: bool) -> None:
        began.set()
        go_on.wait(PATIENCE)
        fill(codes, number, read, is_last=is_last)

    monkeypatch.setattr(RowCodes, "fill_list", pause)
    step = asyncio.create_task(extend_codes(rows))
    await asyncio.to_thread(began.wait, PATIENCE)
    changing = threading.Thread(target=rows.upsert, args=([VectorRow(0, 0, 0, 0)], vectors[-1:]))
    changing.start()
    changing.join(0.05)
    assert changing.is_alive()
    go_on.set()
    while await step:
        step = asyncio.create_task(extend_codes(rows))
    await asyncio.to_thread(changing.join)
    assert have_their_codes(rows)


async def test_the_thread_that_fits_codes_ends_before_one_that_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, began, go_on, made = (
        RowArrays(RoundedColumns(DIM), 700, is_coded=True),
        threading.Event(),
        threading.Event(),
        [],
    )
    rows.append({name: np.arange(600) for name in ("id", "space", "room", "part")}, random_units(600, DIM, 14))

    def fit(max_rows: int, sample: np.ndarray) -> RowCodes:
        began.set()
        go_on.wait(PATIENCE)
        made.append(max_rows)
        return RowCodes(max_rows, sample)

    monkeypatch.setattr(row_arrays, "RowCodes", fit)
    step = asyncio.create_task(extend_codes(rows))
    await asyncio.to_thread(began.wait, PATIENCE)
    step.cancel()
    asyncio.get_running_loop().call_soon(go_on.set)
    with pytest.raises(asyncio.CancelledError):
        await step
    assert made == [700]


async def test_codes_of_rows_in_a_file_are_searched_in_large_scopes_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, searched = random_units(700, DIM, 15), list[int]()
    search = RowCodes._search_lists

    def count(codes: RowCodes, queries: np.ndarray, *args: Any) -> Any:
        searched.append(len(queries))
        return search(codes, queries, *args)

    monkeypatch.setattr(RowCodes, "_search_lists", count)
    monkeypatch.setattr(row_loading, "check_space", lambda *_: None)
    for spare, least, is_expected in ((400, 701, False), (400, 700, True), (1_000_000, 701, True)):
        monkeypatch.setattr(row_arrays, "MIN_CODED_FILE_SCOPE", least)
        rows = row_loading.reserve_rows(DIM, 700, 735 * (row_size(DIM, is_coded=True) - DIM) + spare * DIM, tmp_path)
        groups = SpaceGroups(rows, {0: 700})
        groups.append({"id": np.arange(700), **dict.fromkeys(("space", "room", "part"), np.zeros(700, int))}, vectors)
        while await extend_codes(rows):
            pass
        searched.clear()
        rows.search(vectors[0], 3, ALL)
        assert bool(searched) == is_expected


async def test_codes_that_followed_changes_lead_to_the_nearest_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_codes, "LIST_BYTES", 8 * LIST_ROWS * 8)
    monkeypatch.setattr(row_codes, "MIN_CANDIDATES", 600)
    monkeypatch.setattr(row_codes, "SURE_DEVIATIONS", -1_000)  # no row is compared for safety
    vectors, chance = random_units(9_000, 32, 12), np.random.default_rng(12)
    rows = await load_rows(vectors[:6_000], max_rows=10_000)
    rows.delete(chance.choice(6_000, 2_000, replace=False).tolist())
    rows.upsert([VectorRow(id_, id_ % SPACES, 0, 0) for id_ in range(5_000, 9_000)], vectors[5_000:])
    present = rows._rows["id"]
    shares = list[float]()
    for query in vectors[:9_000:300]:
        nearest = present[np.argsort(-(vectors[present] @ query))[:20]]
        shares.append(np.isin(nearest, find_ids(rows, query, 20, ALL)).mean())
    assert np.mean(shares) > 0.97


async def test_hardly_any_row_is_missed_where_few_rows_are_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_codes, "LIST_BYTES", 8 * LIST_ROWS * 8)
    monkeypatch.setattr(row_codes, "MIN_CANDIDATES", 400)
    monkeypatch.setattr(row_codes, "CANDIDATE_FACTOR", 1)
    vectors, chance = random_units(12_000, 32, 21), np.random.default_rng(21)
    coded, plain = [await load_rows(vectors[:9_000], is_coded=is_coded, max_rows=12_000) for is_coded in (True, False)]
    shares = dict[int, list[float]]()
    for _ in range(15):
        ids = chance.choice(12_000, 300, replace=False).tolist()
        for rows in (coded, plain):
            rows.delete(ids[:200])
            rows.upsert([VectorRow(id_, id_ % SPACES, 0, 0) for id_ in ids[100:]], vectors[ids[100:]])
        area = VectorFilter(frozenset(chance.choice(SPACES, chance.integers(1, SPACES + 1)).tolist()))
        [query] = unit_vectors(vectors[[chance.integers(12_000)]] + 0.1 * random_units(1, 32, len(shares)))
        for k in (1, 20):
            found, expected = ({hit.id for hit in rows.search(query, k, area)} for rows in (coded, plain))
            shares.setdefault(k, []).append(len(found & expected) / k)
    assert all(np.mean(each) > 0.98 for each in shares.values())


async def test_few_rows_are_compared_with_each_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_codes, "LIST_BYTES", 10 * LIST_ROWS * 8)
    monkeypatch.setattr(row_codes, "MIN_CANDIDATES", 500)
    vectors, compared = random_units(20_000, 32, 3), list[int]()
    rows = await load_rows(vectors, max_rows=30_000)
    compare = RoundedColumns.compare

    def count(columns: RoundedColumns, *args: np.ndarray) -> None:
        compared.append(args[2].size)
        compare(columns, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(RoundedColumns, "compare", count)
    query = vectors[7]
    found = find_ids(rows, query, 20, ALL)
    assert sum(compared) < 2_000
    assert set(found) == set(np.argsort(-(vectors @ query))[:20].tolist())


@pytest.mark.parametrize("cosine", [0.8, 0.95, 1.0])
async def test_rows_that_codes_hardly_tell_apart_are_compared(cosine: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_codes, "LIST_BYTES", 8 * LIST_ROWS * 8)
    monkeypatch.setattr(row_codes, "MIN_CANDIDATES", 1_000)
    vectors = random_units(12_000, 32, 4)
    vectors[::2] = unit_vectors(np.sqrt(cosine) * vectors[1] + np.sqrt(1 - cosine) * vectors[::2])
    rows = await load_rows(vectors, max_rows=13_000)
    for query in vectors[:40:2]:
        found, nearest = rows.search(query, 20, ALL), np.sort(vectors @ query)[::-1][:20]
        assert [hit.similarity for hit in found] == pytest.approx(nearest.tolist(), abs=0.004)
    if cosine == 1.0:
        assert {hit.id for hit in rows.search(vectors[0], 20, ALL)} == {1, *range(0, 38, 2)}


async def test_rows_without_a_direction_are_not_found_and_hide_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_codes, "MIN_CANDIDATES", 60)
    monkeypatch.setattr(row_codes, "CANDIDATE_FACTOR", 1)
    vectors = random_units(3_000, DIM, 11)
    vectors[np.arange(3_000) % 100 != 0] = 0
    coded, plain = [await load_rows(vectors, is_coded=is_coded, max_rows=4_000) for is_coded in (True, False)]
    for k in (5, 20, 50):
        found = coded.search(vectors[0], k, ALL)
        assert len(found) == min(k, 30)
        assert found == plain.search(vectors[0], k, ALL)


@pytest.mark.parametrize("count", [0, 1, 3, 6])
async def test_few_rows_with_a_direction_are_found_among_many_without(count: int) -> None:
    vectors = random_units(1_000, DIM, 24)
    vectors[count:] = 0
    rows = await load_rows(vectors)
    assert sorted(find_ids(rows, random_units(1, DIM, 25)[0], 20, ALL)) == list(range(count))


async def test_rows_of_other_spaces_never_take_the_place_of_those_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_codes, "MIN_CANDIDATES", 40)
    monkeypatch.setattr(row_codes, "CANDIDATE_FACTOR", 1)
    monkeypatch.setattr(row_arrays, "LEAST_COVERAGE", 0.0)
    vectors = random_units(1_000, DIM, 5)
    vectors[1::SPACES] = vectors[0]  # those of space 1 are nearest to the query
    rows = await load_rows(vectors)
    found = rows.search(vectors[0], 20, VectorFilter(frozenset({0, 2})))
    assert len(found) == 20
    assert {hit.id % SPACES for hit in found} <= {0, 2}


async def test_the_code_of_a_deleted_row_leaves_the_memory() -> None:
    rows = await load_rows(random_units(700, DIM, 6))
    assert rows._codes is not None
    rows.delete(range(0, 700, 2))
    assert not rows._codes[np.arange(len(rows), 700)].any()
    assert have_their_codes(rows)


@pytest.mark.parametrize("dim", [8, 384])
def test_codes_are_written_and_read_wherever_the_library_keeps_them(dim: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_codes, "LIST_BYTES", LIST_ROWS * dim // row_codes.PACKED)
    vectors = random_units(300, dim, 7)
    by_list, by_row = RowCodes(300, vectors), RowCodes(300, vectors)
    for number, start in enumerate(range(0, 300, LIST_ROWS)):
        by_list.fill_list(number, vectors[start : start + LIST_ROWS], is_last=False)
    by_row.filled = math.inf
    by_row[np.arange(300)[::-1]] = by_row.encode(vectors)[::-1]
    places = np.array([299, 0, 63, 64, 65, 130])
    for codes in (by_list, by_row):
        assert (codes[places] == codes.encode(vectors[places])).all()
    assert all((one == other).all() for one, other in zip(by_list._blocks, by_row._blocks, strict=True))
    assert code_bytes(dim) == dim // 4 + 8


def test_vectors_that_no_codes_fit_have_none() -> None:
    assert code_bytes(1_023) == code_bytes(6) == 0
    assert not row_loading.has_codes(6, 1_000_000)


@pytest.mark.parametrize(
    ("max_bytes", "has_file", "expected"),
    [
        (3_000 * 560, True, "codes, all in memory"),
        (1_000 * 450, True, "codes, some in memory"),
        (1_000 * 140, True, "codes, few in memory"),
        (1_000 * 130, True, "some in memory"),
        (1_070 * 407, False, "all in memory"),
    ],
)
def test_codes_come_before_rows_in_memory(max_bytes: int, *, has_file: bool, expected: str) -> None:
    plan = row_loading._Plan.make(384, 1_000, max_bytes, has_file=has_file)
    share = plan.resident / plan.max_rows
    amount = "all" if share == 1 else "some" if share > 0.1 else "few"
    assert f"{'codes, ' if plan.is_coded else ''}{amount} in memory" == expected
    assert plan.resident * 384 + plan.max_rows * (23 + 104 * plan.is_coded) <= max_bytes


async def test_a_store_gives_large_tables_codes_and_finds_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = random_units(700, DIM, 8)
    store = await LanceVectors.open(tmp_path, DIM, Supervisor(SYSTEM_CLOCK), 10_000_000)
    await store.upsert("chunks", [VectorRow(id_, id_ % SPACES, 0, 0) for id_ in range(700)], vectors)
    table = store._tables["chunks"]
    for is_coded in (True, False):
        monkeypatch.setattr(row_loading, "MIN_CODED_ROWS", 500 if is_coded else 1_000)
        await table.drop_cache()
        rows = await wait_for_rows(table)
        assert (rows._codes is not None) == is_coded
        found = await store.search("chunks", vectors[3], 12, ALL)
        assert [hit.id for hit in found] == np.argsort(-(vectors @ vectors[3]))[:12].tolist()
    await store.close()
