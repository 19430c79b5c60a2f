from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.storage.column_arrays import ArraysFull
from engine.storage.graph.base import GraphEdge, GraphNode
from engine.storage.graph.edge_arrays import EdgeArrays, select_heaviest

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
