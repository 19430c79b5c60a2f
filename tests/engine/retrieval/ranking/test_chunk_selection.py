from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.options import RankingOptions
from engine.retrieval.ranking.chunk_selection import (
    deduplicate_items,
    deduplicate_sides,
    pick_by_vector,
    pick_by_weight,
    pick_chunks,
)
from engine.retrieval.ranking.fusion import reciprocal_rank_fusion, round_robin

RANKING = RankingOptions()


ITEMS = st.lists(st.lists(st.integers(0, 30), max_size=12), max_size=8)


@given(ITEMS, st.lists(st.sampled_from([0.5, 1.0]), min_size=8, max_size=8), st.integers(1, 6))
def test_nothing_is_lost_or_repeated(items: list[list[int]], weights: list[float], limit: int) -> None:
    keys = sorted({key for item in items for key in item})
    assert sorted(reciprocal_rank_fusion(*zip(weights, items, strict=False), damping=20)) == keys
    assert sorted(round_robin(*items)) == keys
    unique = deduplicate_items(items)
    assert (len(unique), sorted(key for item in unique for key in item)) == (len(items), keys)
    picked = pick_by_weight(unique, limit)
    quota = sum(round(limit - index / max(1, len(items) - 1) * (limit - 1)) for index in range(len(items)))
    assert len(picked) == len(set(picked)) == min(quota, sum(map(len, unique)))


@pytest.mark.parametrize(
    ("sizes", "limit", "counts"),
    [
        pytest.param((10, 10, 10), 5, (5, 3, 1), id="w1 three items"),
        pytest.param((10, 10, 10, 10, 10), 5, (5, 4, 3, 2, 1), id="w2 five items"),
        pytest.param((2, 0, 9), 4, (2, 0, 5), id="w4 the first that can makes up for the others"),
        pytest.param((3,), 2, (2,), id="w5 one item"),
        pytest.param((3,), 0, (0,), id="w5 none requested"),
        pytest.param((3,), -1, (0,), id="w5 a negative number"),
        pytest.param((), 5, (), id="w5 no items"),
    ],
)
def test_items_give_chunks_by_their_rank(sizes: tuple[int, ...], limit: int, counts: tuple[int, ...]) -> None:
    items = [[f"item {item} chunk {chunk}" for chunk in range(size)] for item, size in enumerate(sizes)]
    expected = [chunk for item, count in zip(items, counts, strict=True) for chunk in item[:count]]
    assert pick_by_weight(items, limit) == expected


def test_a_chunk_stays_with_its_first_item_and_frequent_ones_come_first() -> None:
    items = [["a", "b", "c"], ["c", "d"], ["d", "c", "b", "e"]]
    assert deduplicate_items(items) == [["c", "b", "a"], ["d"], ["e"]]


C0, C1 = {"c0": np.array([[1.0, 0]])}, {"c1": np.array([[0.9, 0.1]])}
TWO_PARTS = {"two": np.array([[0.0, 1.0], [0.6, 0.8]]), "one": np.array([[0.5, 0.9]])}


@pytest.mark.parametrize(
    ("candidates", "vectors", "limit", "picked"),
    [
        pytest.param(["c1", "c2", "c0"], C0 | C1, 5, ["c0", "c1"], id="v1 none without a vector"),
        pytest.param(["c1", "c0"], C0 | C1, 1, ["c0"], id="the limit"),
        pytest.param(["c2"], C0 | C1, 5, [], id="no vector at all"),
        pytest.param(["one", "two"], TWO_PARTS, 2, ["two", "one"], id="the best part of a chunk counts"),
    ],
)
def test_chunks_are_picked_by_vector(
    candidates: list[str], vectors: dict[str, np.ndarray], limit: int, picked: list[str]
) -> None:
    assert pick_by_vector(candidates, vectors, np.array([1.0, 0]), limit) == picked


def test_a_chunk_of_an_entity_is_not_one_of_a_relation_too() -> None:
    assert deduplicate_sides([[1, 2]], [[2, 3], [3]]) == ([[1, 2]], [[3], []])


def test_without_vectors_chunks_are_picked_by_weight() -> None:
    vectors, query = {1: np.array([[1.0, 0.0]]), 2: np.array([[0.0, 1.0]])}, np.array([0.0, 1.0])
    assert pick_chunks([[1, 2]], vectors, query, RANKING) == [2, 1]
    assert pick_chunks([[1, 2]], {}, query, RANKING) == pick_chunks([[1, 2]], vectors, None, RANKING) == [1, 2]
    assert pick_chunks([[1, 2]], vectors, query, RankingOptions(chunk_selection="weight")) == [1, 2]
