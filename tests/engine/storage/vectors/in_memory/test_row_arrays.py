"""Rows in arrays: their order, their filters, and the memory that they take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.storage.column_arrays import ArraysFull
from engine.storage.vector_columns import ExactColumns, RoundedColumns, VectorColumns
from engine.storage.vectors.base import VectorFilter, VectorHit, VectorRow
from engine.storage.vectors.in_memory.row_arrays import COPY_SHARE, RowArrays
from engine.storage.vectors.in_memory.row_loading import reserve_rows
from engine.storage.vectors.in_memory.row_types import row_bytes
from tests.contracts.test_vectors_contract import random_units

DIM = 4
ALL = VectorFilter(frozenset({1, 2}))


def fill_arrays(count: int, max_rows: int = 1_000) -> tuple[RowArrays, np.ndarray]:
    """Rows of space 1, every 20th of space 2."""
    arrays, vectors = RowArrays(ExactColumns(DIM), max_rows), np.random.default_rng(1).standard_normal((count, DIM))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    arrays.upsert([VectorRow(at, 1 + (at % 20 == 0), 0, 0) for at in range(count)], vectors)
    return arrays, vectors


def test_equal_rows_come_by_id_and_part_and_the_lowest_are_chosen() -> None:
    arrays = RowArrays(ExactColumns(DIM), 10)
    for id_ in (7, 3, 5):
        arrays.upsert([VectorRow(id_, 1, 0, part) for part in (1, 0)], np.eye(DIM, dtype=np.float32)[[0, 0]])
    found = arrays.search(np.eye(DIM, dtype=np.float32)[0], 3, ALL)
    assert found == [VectorHit(3, 0, 1.0), VectorHit(3, 1, 1.0), VectorHit(5, 0, 1.0)]


@pytest.mark.parametrize("space", [1, 2])
def test_few_rows_and_many_are_compared_alike(space: int) -> None:
    arrays, vectors = fill_arrays(500)
    inside = [at for at in range(500) if 1 + (at % 20 == 0) == space]
    assert (len(inside) * COPY_SHARE < 500) == (space == 2)
    exact = sorted(inside, key=lambda at: -float(vectors[at].astype(float) @ vectors[13]))[:12]
    found = arrays.search(vectors[13], 12, VectorFilter(frozenset({space})))
    assert [hit.id for hit in found] == exact
    assert [hit.similarity for hit in found] == pytest.approx([float(vectors[at] @ vectors[13]) for at in exact])


def test_the_exact_vectors_of_few_rows_are_read_and_none_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, read = random_units(4_000, 128, 22), list[int]()
    rows = reserve_rows(128, 4_000, 1_000_000, tmp_path)
    rows.append({name: np.arange(4_000) for name in ("id", "space", "room", "part")}, vectors)
    decode = RowArrays._decode

    def count(arrays: RowArrays, places: np.ndarray) -> np.ndarray:
        read.append(len(places))
        return decode(arrays, places)

    monkeypatch.setattr(RowArrays, "_decode", count)
    for query in random_units(9, 128, 23):
        found = rows.search(query, 200, VectorFilter(frozenset(range(4_000))))
        nearest = np.sort(vectors @ query)[::-1][:200]
        assert [hit.similarity for hit in found] == pytest.approx(nearest.tolist(), abs=0.00005)
        assert read.pop() < 320


def test_deletion_keeps_every_other_row() -> None:
    arrays, vectors = fill_arrays(200)
    gone = {0, 1, 57, 100, 198, 199}
    arrays.delete(gone)
    arrays.delete(gone)
    assert len(arrays) == 194
    found = arrays.fetch(range(300))
    assert list(found) == [at for at in range(200) if at not in gone]
    assert all((parts == vectors[[id_]]).all() for id_, parts in found.items())
    arrays.delete(range(200))
    assert arrays.fetch(range(300)) == {}
    assert arrays.search(vectors[0], 5, ALL) == []


@pytest.mark.parametrize("columns", [ExactColumns(DIM), RoundedColumns(DIM)])
def test_emptied_arrays_find_nothing(columns: VectorColumns) -> None:
    arrays, query = RowArrays(columns, 10), np.eye(DIM, dtype=np.float32)[0]
    arrays.upsert([VectorRow(1, 1, 0, 0)], query[None])
    arrays.delete([1])
    for area in (ALL, VectorFilter(frozenset({1}), rows_by_space={1: 1}), VectorFilter(frozenset(), frozenset({0}))):
        assert arrays.search(query, 5, area) == []
    assert arrays.fetch([1]) == {}


def test_what_was_fetched_does_not_change_with_the_rows() -> None:
    arrays, vectors = fill_arrays(3)
    before = arrays.fetch([1])[1]
    arrays.upsert([VectorRow(1, 1, 0, 0)], -vectors[[1]])
    assert (before == vectors[[1]]).all()


def test_too_many_rows_are_refused() -> None:
    arrays, vectors = fill_arrays(10, max_rows=10)
    arrays.upsert([VectorRow(3, 1, 0, 0)], vectors[[0]])
    with pytest.raises(ArraysFull):
        arrays.upsert([VectorRow(10, 1, 0, 0)], vectors[[0]])


def test_rounded_rows_give_nearly_the_exact_similarities_and_vectors() -> None:
    vectors = np.random.default_rng(1).standard_normal((5_000, 384), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[7] = 0.0
    arrays = RowArrays(RoundedColumns(384), 5_000)
    arrays.upsert([VectorRow(at, 1 + (at % 20 == 0), 0, 0) for at in range(5_000)], vectors)
    for query in vectors[:7]:
        for scope in ({1, 2}, {2}):
            inside = [at for at in range(5_000) if at != 7 and 1 + (at % 20 == 0) in scope]
            exact = sorted(inside, key=lambda at: -float(vectors[at] @ query))[:20]
            found = arrays.search(query, 20, VectorFilter(frozenset(scope)))
            assert len({hit.id for hit in found} & set(exact)) >= 19
            assert [hit.similarity for hit in found] == pytest.approx(
                [float(vectors[hit.id] @ query) for hit in found], abs=0.005
            )
    fetched = arrays.fetch([3, 7])
    assert fetched[3][0] == pytest.approx(vectors[3], abs=0.002)
    assert not fetched[7].any()


def test_remainders_make_rounded_vectors_nearly_exact() -> None:
    vectors = np.random.default_rng(1).standard_normal((2_000, 384), np.float32)
    vectors[5:500] *= np.random.default_rng(2).random((495, 384), np.float32) > 0.95  # few dimensions dominate
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[3] = 0.0
    columns = RoundedColumns(384, is_refined=True)
    decoded = columns.decode(columns.encode(vectors))
    assert np.abs(decoded @ vectors.T - vectors @ vectors.T).max() < 0.00003
    assert not decoded[3].any()


def test_rows_are_exact_where_they_take_little_of_the_memory() -> None:
    space = 1_000 * row_bytes(RoundedColumns(384))
    few, many = reserve_rows(384, 60, space), reserve_rows(384, 950, space)
    vector = np.random.default_rng(2).standard_normal((1, 384), np.float32)
    vector /= np.linalg.norm(vector)
    for arrays in (few, many):
        arrays.upsert([VectorRow(1, 1, 0, 0)], vector)
    assert (few.fetch([1])[1] == vector).all()
    assert not (many.fetch([1])[1] == vector).all()


def test_arrays_are_reserved_with_room_for_more_rows() -> None:
    """Else a table at its limit would be read again after each deletion, and be full after the next row."""
    space = 1_000 * row_bytes(RoundedColumns(DIM))
    arrays = reserve_rows(DIM, 950, space)
    keys = {name: np.zeros(950, int) for name in VectorRow._fields}
    arrays.append(keys, np.ones((950, DIM), np.float32))
    arrays.upsert([VectorRow(at, 1, 0, 0) for at in range(1, 51)], np.ones((50, DIM), np.float32))
    with pytest.raises(ArraysFull):
        reserve_rows(DIM, 990, space)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the memory of the process from Linux")
def test_room_for_rows_takes_no_memory_before_they_come() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    before = resident()
    arrays = RowArrays(ExactColumns(384), 100_000)
    assert resident() - before < 10 << 20
    keys = {name: np.zeros(20_000, int) for name in VectorRow._fields}
    arrays.append(keys, np.ones((20_000, 384), np.float32))
    assert 25 << 20 < resident() - before < 60 << 20
    del arrays
    assert resident() - before < 10 << 20
