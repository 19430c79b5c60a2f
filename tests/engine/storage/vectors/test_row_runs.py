"""Searches of many rows by sketches: how many of the nearest they find, and that nothing else decides."""

from __future__ import annotations

import numpy as np
import pytest

from engine.storage.vector_columns import ExactColumns, RoundedColumns
from engine.storage.vectors import row_arrays, row_runs
from engine.storage.vectors.base import VectorFilter
from engine.storage.vectors.row_arrays import RowArrays, SpaceGroups
from engine.storage.vectors.row_runs import Runs, SpaceRuns

DIM, COUNT, SPACES = 384, 20_000, 5
EVERYWHERE = VectorFilter(frozenset(range(SPACES)))


def draw_clusters(count: int, seed: int = 1) -> np.ndarray:
    """Vectors of length one around two hundred topics, as texts have them."""
    chance = np.random.default_rng(seed)
    topics = np.random.default_rng(7).standard_normal((200, DIM))
    vectors = topics[chance.integers(0, 200, count)] + chance.standard_normal((count, DIM)) * chance.uniform(
        0.5, 1.5, (count, 1)
    )
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


VECTORS, QUERIES = draw_clusters(COUNT), draw_clusters(20, 2)
COSINES = QUERIES @ VECTORS.T


def fill(ids: np.ndarray, *, is_grouped: bool = True, is_sketched: bool = True) -> RowArrays:
    """Rows of `VECTORS` in this order; row n is of space n modulo their number."""
    rows = RowArrays(RoundedColumns(DIM, is_sketched=is_sketched), COUNT)
    spaces, counts = np.unique(ids % SPACES, return_counts=True)
    target = SpaceGroups(rows, dict(zip(spaces.tolist(), counts.tolist(), strict=True))) if is_grouped else rows
    for part in np.array_split(ids, 20):
        target.append({"id": part, "space": part % SPACES, "room": part % 3, "part": part * 0}, VECTORS[part])
    return rows


@pytest.fixture(autouse=True)
def by_sketches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_arrays, "SKETCHED_ROWS", 1_000)
    monkeypatch.setattr(row_runs, "MIN_PROBED_ROWS", 100)


def count_compared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each search compares after those that sketches left out."""
    compared, compare = list[int](), RowArrays._compare_runs

    def count(rows: RowArrays, prepared: dict[str, np.ndarray], runs: Runs) -> np.ndarray:
        compared.append(len(runs))
        return compare(rows, prepared, runs)

    monkeypatch.setattr(RowArrays, "_compare_runs", count)
    return compared


def share_found(rows: RowArrays, area: VectorFilter, k: int) -> float:
    """The mean share of the k rows that are nearest by exact cosines."""
    ids = rows._rows["id"]
    inside = ids[np.isin(ids % SPACES, list(area.spaces)) | np.isin(ids % 3, list(area.rooms))]
    shares = list[float]()
    for query, cosines in zip(QUERIES, COSINES, strict=True):
        exact = inside[np.argsort(-cosines[inside])[:k]].tolist()
        shares.append(len({hit.id for hit in rows.search(query, k, area)} & set(exact)) / k)
    return float(np.mean(shares))


@pytest.mark.parametrize("spaces", [{2}, {0, 3, 4}, set(range(SPACES))])
def test_nearly_all_of_the_nearest_rows_are_found(monkeypatch: pytest.MonkeyPatch, spaces: set[int]) -> None:
    rows, compared, total = fill(np.arange(COUNT)), count_compared(monkeypatch), COUNT * len(spaces) // SPACES
    for k in (5, 20, 40, 100):
        compared.clear()
        assert share_found(rows, VectorFilter(frozenset(spaces)), k) >= 0.97
        assert np.median(compared) * 8 < total or max(k, row_runs.MIN_RANK) * 200 >= total


@pytest.mark.parametrize("rooms", [frozenset[int](), frozenset({1})])
def test_scattered_rows_are_found_alike(rooms: frozenset[int]) -> None:
    rows, grouped = fill(np.arange(COUNT), is_grouped=False), fill(np.arange(COUNT))
    area = VectorFilter(frozenset({1, 4}), rooms)
    for query in QUERIES:
        assert rows.search(query, 20, area) == grouped.search(query, 20, area)


def test_neither_order_nor_rows_outside_the_scope_decide() -> None:
    chance, area = np.random.default_rng(5), VectorFilter(frozenset({0, 2, 3}))
    inside = np.flatnonzero(np.isin(np.arange(COUNT) % SPACES, list(area.spaces)))
    first, others = fill(np.arange(COUNT)), fill(chance.permutation(inside))
    changed = fill(chance.permutation(COUNT))
    changed.delete(range(1, COUNT, SPACES))
    for query in QUERIES:
        expected = first.search(query, 30, area)
        assert others.search(query, 30, area) == changed.search(query, 30, area) == expected


def test_rows_are_compared_as_without_sketches_where_these_tell_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, exact, query = fill(np.arange(COUNT)), fill(np.arange(COUNT), is_sketched=False), VECTORS[0] * -1
    compared = count_compared(monkeypatch)
    for k in (20, COUNT - 1, COUNT, COUNT + 1):  # nothing is near, or all is wanted
        assert rows.search(query, k, EVERYWHERE) == exact.search(query, k, EVERYWHERE)
    assert compared == [COUNT] * 8


def test_exact_rows_have_sketches_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    ids, compared = np.arange(COUNT), count_compared(monkeypatch)
    rows = RowArrays(ExactColumns(DIM, is_sketched=True), COUNT)
    rows.append({"id": ids, "space": ids % SPACES, "room": ids * 0, "part": ids * 0}, VECTORS)
    assert share_found(rows, EVERYWHERE, 20) >= 0.97
    assert np.median(compared) * 8 < COUNT
    hits = rows.search(QUERIES[0], 20, EVERYWHERE)
    assert [hit.similarity for hit in hits] == pytest.approx([COSINES[0, hit.id] for hit in hits])


def test_small_scopes_are_compared_as_without_sketches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_arrays, "SKETCHED_ROWS", COUNT // SPACES + 1)
    rows, exact = fill(np.arange(COUNT)), fill(np.arange(COUNT), is_sketched=False)
    for query in QUERIES:
        area = VectorFilter(frozenset({3}))
        assert rows.search(query, 20, area) == exact.search(query, 20, area)


def test_equal_rows_and_rows_without_a_direction_are_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.concatenate([VECTORS[:500], np.zeros((2_000, DIM), np.float32), VECTORS[[9] * 2_000]])
    rows, exact = (RowArrays(RoundedColumns(DIM, is_sketched=is_sketched), 5_000) for is_sketched in (True, False))
    ids = np.arange(len(vectors))
    for each in (rows, exact):
        each.append({"id": ids, "space": ids * 0, "room": ids * 0, "part": ids * 0}, vectors)
    for k in (5, 20, 600, 2_400, 4_000):
        found = rows.search(VECTORS[9], k, EVERYWHERE)
        assert found[: min(k, 2_001)] == exact.search(VECTORS[9], k, EVERYWHERE)[: min(k, 2_001)]
        assert not {hit.id for hit in found} & set(range(500, 2_500))


def test_sketches_of_deleted_and_replaced_vectors_are_gone() -> None:
    rows = fill(np.arange(COUNT))
    names = [name for name in rows._rows._arrays if name.startswith("sketch")]
    assert len(names) == DIM // 64
    former = {name: rows._rows[name][rows._rows["id"].argsort()].copy() for name in names}
    gone = np.arange(0, COUNT, 3)
    rows.delete(gone.tolist())
    for name in names:
        held = rows._rows._arrays[name]
        assert not held[len(rows) :].any()
        assert not np.isin(former[name][gone], held).any()
        assert np.isin(former[name][1::3], held).all()


def test_runs_know_their_rows() -> None:
    places = np.array([3, 4, 5, 9, 11, 12])
    runs = Runs.of_places(places)
    assert runs.starts.tolist() == [3, 9, 11]
    assert runs.ends.tolist() == [6, 10, 13]
    assert len(runs) == 6
    assert (runs.find_places(np.arange(6)) == places).all()
    empty = Runs.of_places(places[:0])
    assert (len(empty), empty.list_long(), len(empty.find_places(places[:0]))) == (0, [], 0)
    spaces = SpaceRuns.find(np.array([1, 1, 2, 3, 1]))
    assert spaces.choose({1, 2}).starts.tolist() == [0, 4]
    assert spaces.choose({1, 2}).ends.tolist() == [3, 5]
    assert len(spaces.choose({7})) == 0
