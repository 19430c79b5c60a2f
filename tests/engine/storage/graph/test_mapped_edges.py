"""A graph in files finds what one in memory finds, after any changes, and keeps nothing that was deleted."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from engine.storage.graph.base import GraphEdge, GraphNode
from engine.storage.graph.edge_arrays import EdgeArrays


@pytest.mark.parametrize("seed", range(5))
def test_any_history_gives_the_results_of_memory(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    graphs = EdgeArrays(2_000), EdgeArrays(2_000, tmp_path, max_resident=100)
    for _ in range(40):
        nodes = [GraphNode(id_, chance.randrange(4)) for id_ in chance.sample(range(1, 60), 20)]
        ends = [sorted(chance.sample([node.id for node in nodes], 2)) for _ in range(15)]
        edges = [GraphEdge(one * 100 + other, one, other, chance.randint(1, 5)) for one, other in ends]
        gone = chance.sample(range(1, 60), 5)
        asked, spaces = chance.sample(range(1, 60), 10), chance.sample(range(4), 2)
        for graph in graphs:
            graph.upsert(nodes, edges)
            graph.delete(gone, edges[:4])
        in_memory, in_files = [graph.neighbors(asked, spaces, 30) for graph in graphs]
        assert in_files == in_memory
    assert not list(tmp_path.iterdir())


def test_deleted_rows_are_in_no_page(tmp_path: Path) -> None:
    graph = EdgeArrays(100, tmp_path, max_resident=1 << 20)
    graph.upsert([GraphNode(7_001, 1), GraphNode(7_002, 1)], [GraphEdge(7_003, 7_001, 7_002, 2.5)])
    sought = [np.int64(number).tobytes() for number in (7_001, 7_002, 7_003)]
    assert all(any(content in file.pages[:] for file in graph._files) for content in sought)
    graph.delete([7_001, 7_002], [])
    assert not any(content in file.pages[:] for file in graph._files for content in sought)
