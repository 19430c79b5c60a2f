"""Rows that are loaded by space: each is there once, whatever was counted before."""

from __future__ import annotations

import numpy as np
import pytest

from engine.storage.vector_columns import RoundedColumns
from engine.storage.vectors.base import VectorFilter
from engine.storage.vectors.in_memory import row_loading
from engine.storage.vectors.in_memory.row_arrays import RowArrays
from engine.storage.vectors.in_memory.row_loading import SpaceGroups, reserve_rows, table_size
from tests.contracts.test_vectors_contract import random_units

DIM = 8


@pytest.mark.parametrize(
    "counts", [{1: 20, 2: 30, 9: 50}, {1: 25, 2: 20, 9: 50}, {}, {2: 100, 3: 7}, {1: 1, 2: 1, 3: 1, 9: 1}]
)
def test_every_row_is_there_once(counts: dict[int, int]) -> None:
    rows, vectors = RowArrays(RoundedColumns(DIM), 300), random_units(100, DIM)
    spaces = np.random.default_rng(1).permutation(np.repeat([1, 2, 9], [20, 30, 50]))
    groups = SpaceGroups(rows, counts)
    for start in range(0, 100, 17):
        part = slice(start, start + 17)
        ids = np.arange(100)[part]
        keys = {"id": ids, "space": spaces[part], "room": ids * 0, "part": ids * 0}
        groups.append(keys, vectors[part])
    groups.finish()
    assert len(rows) == 100
    found = rows.fetch(range(100))
    assert all(found[id_] == pytest.approx(vectors[[id_]], abs=0.02) for id_ in range(100))
    assert dict(zip(rows._rows["id"].tolist(), rows._rows["space"].tolist(), strict=True)) == dict(enumerate(spaces))
    if counts == {1: 20, 2: 30, 9: 50}:
        assert rows._rows["space"].tolist() == sorted(spaces)


def test_several_queries_find_together_what_each_finds_alone() -> None:
    rows, vectors = RowArrays(RoundedColumns(DIM), 40_000), random_units(30_000, DIM)
    spaces = np.random.default_rng(1).integers(1, 300, 30_000)
    groups = SpaceGroups(rows, dict(zip(*map(np.ndarray.tolist, np.unique(spaces, return_counts=True)), strict=True)))
    ids = np.arange(30_000)
    groups.append({"id": ids, "space": spaces, "room": ids * 0, "part": ids * 0}, vectors)
    searches = [(vectors[3], 5), (vectors[400], 90), (-vectors[3], 1)]
    for area in (VectorFilter(frozenset(range(300))), VectorFilter(frozenset({7, 8, 250})), VectorFilter(frozenset())):
        assert rows.search_each(searches, area) == [rows.search(*search, area) for search in searches]


@pytest.mark.parametrize("exact_share", [1.0, 0.0])
@pytest.mark.parametrize(("count", "room"), [(100, 400), (450, 562), (500, 2_000)])
def test_tables_are_loaded_again_once_they_have_enough_rows_for_codes(
    count: int, room: int, exact_share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_loading, "MIN_CODED_ROWS", 500)
    monkeypatch.setattr(row_loading, "CODED_TABLE_BYTES", 0)
    monkeypatch.setattr(row_loading, "MIN_RESERVED_ROWS", 400)
    monkeypatch.setattr(row_loading, "EXACT_SHARE", exact_share)
    assert reserve_rows(DIM, count, 1 << 20)._max_rows == room


def test_what_codes_take_beside_the_rows_is_part_of_the_memory_of_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_loading, "MIN_CODED_ROWS", 500)
    monkeypatch.setattr(row_loading, "CODED_TABLE_BYTES", 20_000)
    max_bytes = 200_000
    plan = row_loading._Plan.make(384, 1_000, max_bytes, has_file=True)
    assert plan.is_coded
    assert max_bytes - 384 < 20_000 + plan.resident * 384 + plan.max_rows * (23 + 104) <= max_bytes
    assert table_size(384, 1_000, 2.0) == 20_000 + 2_000 * (407 + 104)
    assert table_size(384, 499, 2.0) == 998 * 407
