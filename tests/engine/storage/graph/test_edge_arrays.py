from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.storage.column_arrays import ArraysFull, ColumnArrays
from engine.storage.graph import edge_arrays
from engine.storage.graph.base import GraphEdge, GraphNode
from engine.storage.graph.edge_arrays import EdgeArrays, PlaceIndex, select_heaviest

EDGES = st.lists(st.tuples(st.integers(0, 2**62), st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.5])), unique_by=lambda e: e[0])


@given(EDGES, st.integers(1, 20))
def test_the_heaviest_edges_are_chosen_and_ties_by_id(edges: list[tuple[int, float]], count: int) -> None:
    ids = np.array([id_ for id_, _ in edges], np.int64)
    chosen = select_heaviest(ids, np.array([weight for _, weight in edges]), count)
    expected = sorted((edge for edge in edges if edge[1] > 0), key=lambda edge: (-edge[1], edge[0]))
    assert [edges[place] for place in chosen] == expected[:count]


def test_ids_that_do_not_fit_are_left_to_the_database() -> None:
    large = 1 << 31
    nodes, edges = [GraphNode(1, 1), GraphNode(large, 1)], [GraphEdge(1, 1, large, 1.0)]
    with pytest.raises(ArraysFull):
        EdgeArrays(4).upsert(nodes, edges)
    arrays = EdgeArrays(4, np.int64)
    arrays.upsert(nodes, edges)
    assert [edge.id for edge in arrays.neighbors([large], [1], 5)] == [1]


COLUMNS = ("one", "other")
NUMBERS = st.integers(0, 12)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(st.tuples(NUMBERS, NUMBERS), max_size=4)),
        st.tuples(st.just("delete"), st.sets(NUMBERS, max_size=3)),
        st.just(("merge", ())),
    ),
    max_size=12,
)


@given(CHANGES, st.sampled_from([np.int32, np.int64]), st.integers(0, 6))
def test_rows_are_found_whatever_was_added_deleted_and_merged(
    changes: list[tuple[str, object]], type_: type[np.signedinteger], most: int
) -> None:
    rows, index = ColumnArrays({name: np.dtype(type_) for name in COLUMNS}, 64), PlaceIndex()

    def list_columns() -> list[np.ndarray]:
        return [rows[name] for name in COLUMNS]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edge_arrays, "MIN_CHANGES", most)
        patch.setattr(edge_arrays, "MAX_PARTS", 1)
        for change, given_ in changes:
            if change == "add":
                first = len(rows)
                rows.append(dict(zip(COLUMNS, np.array(given_, type_).reshape(-1, 2).T, strict=True)))
                index.note(np.arange(first, len(rows)))
            elif change == "delete":
                found = index.find(given_, list_columns())  # type: ignore[arg-type]  # numbers
                rows.delete(found)
                index.note(found)
            else:
                index.merge(list_columns())
            for number in range(13):
                expected = np.flatnonzero((rows["one"] == number) | (rows["other"] == number))
                assert index.find([number], list_columns()).tolist() == expected.tolist()


def test_numbers_beyond_a_column_are_not_found() -> None:
    index, column = PlaceIndex(), np.array([3, 1, 2], np.int32)
    index.merge([column])
    assert index.find([1 << 40, 1, (1 << 32) + 3], [column]).tolist() == [1]
