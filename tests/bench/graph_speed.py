"""How fast the graph takes documents in, and how fast it tells the edges around entities.

`python -m tests.bench.graph_speed --nodes 20000 --edges 300000 --documents 400`: a graph of that size is loaded, then
documents of 20 entities and 19 relations each are put, 25 at a time, names Zipf-distributed as in real text; then
the neighbourhoods of 40 entities are asked for, picked evenly, as they occur, and the 40 greatest hubs.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import multiprocessing
import random
import statistics
import tempfile
import time
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from engine.storage.graph.base import GraphEdge, GraphNode
from engine.storage.graph.kuzu import KuzuGraph

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SPACE = 1
BATCH = 25
ENTITIES = 20
ASKED = 40
LIMIT = 300


class SyntheticGraph:
    """Names by Zipf's law, pairs of them, and what the ledger would know of both."""

    def __init__(self, nodes: int, edges: int) -> None:
        self.random = random.Random(7)
        self.nodes = nodes
        self._weights = list(accumulate(1 / rank for rank in range(1, nodes + 1)))
        self.pairs: dict[tuple[int, int], int] = {}
        while len(self.pairs) < edges:
            for source, target in zip(self.draw_names(edges), self.draw_names(edges), strict=True):
                if source != target and len(self.pairs) < edges:
                    self.pairs.setdefault((min(source, target), max(source, target)), len(self.pairs))

    def draw_names(self, count: int) -> list[int]:
        return self.random.choices(range(self.nodes), cum_weights=self._weights, k=count)

    def build_initial(self) -> tuple[list[GraphNode], list[GraphEdge]]:
        return (
            [GraphNode(number, SPACE) for number in range(self.nodes)],
            [GraphEdge(number, *pair, float(self.random.randint(1, 3))) for pair, number in self.pairs.items()],
        )

    def build_document(self, *, new: bool) -> tuple[list[GraphNode], list[GraphEdge]]:
        """20 entities and a chain of 19 relations; all of them new, or as they occur."""
        if new:
            first, self.nodes = self.nodes, self.nodes + ENTITIES
            self._weights += [self._weights[-1]] * ENTITIES
            names, known = list(range(first, first + ENTITIES)), False
        else:
            names, known = sorted(set(self.draw_names(3 * ENTITIES)))[:ENTITIES], True
            self.random.shuffle(names)
        nodes = [GraphNode(name, SPACE, known) for name in names]
        return nodes, list(self._chain(names))

    def _chain(self, names: Sequence[int]) -> Iterator[GraphEdge]:
        for one, other in pairwise(names):
            pair = (min(one, other), max(one, other))
            known = pair in self.pairs
            yield GraphEdge(self.pairs.setdefault(pair, len(self.pairs)), *pair, 2.0, known)


async def measure_ingest(graph: KuzuGraph, town: SyntheticGraph, documents: int, *, new: bool) -> list[float]:
    """Milliseconds a document, by batch."""
    times = []
    for _ in range(max(1, documents // BATCH)):
        batch = [town.build_document(new=new) for _ in range(BATCH)]
        nodes = {node.id: node for nodes, _ in batch for node in nodes}
        edges = {edge.id: edge for _, edges in reversed(batch) for edge in edges}
        began = time.perf_counter()
        await graph.upsert(list(nodes.values()), list(edges.values()))
        times.append((time.perf_counter() - began) * 1000 / BATCH)
    return times


async def measure_queries(graph: KuzuGraph, town: SyntheticGraph, pick: str) -> list[float]:
    """Milliseconds of each of 25 questions."""
    times = []
    for _ in range(25):
        asked = {
            "even": lambda: town.random.sample(range(town.nodes), ASKED),
            "as they occur": lambda: list(dict.fromkeys(town.draw_names(5 * ASKED)))[:ASKED],
            "hubs": lambda: list(range(ASKED)),
        }[pick]()
        began = time.perf_counter()
        await graph.neighbours(asked, [SPACE], LIMIT)
        times.append((time.perf_counter() - began) * 1000)
    return times


async def measure(module: Literal["kuzu", "ladybug"], arguments: argparse.Namespace) -> None:
    town = SyntheticGraph(arguments.nodes, arguments.edges)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph"
        graph = await KuzuGraph.open(path, module)
        began = time.perf_counter()
        await graph.replace_all(*town.build_initial())
        print(f"{module:8} load {time.perf_counter() - began:.2f} s, {disk_size(path):.1f} MB")
        for new in (True, False):
            times = await measure_ingest(graph, town, arguments.documents, new=new)
            tenth = max(1, len(times) // 10)
            first, last = statistics.mean(times[:tenth]), statistics.mean(times[-tenth:])
            words = "new rows" if new else "as they occur"
            print(f"{module:8} put, {words:14} {statistics.mean(times):6.2f} ms a document ({first:.2f} → {last:.2f})")
        print(f"{module:8} {disk_size(path):.1f} MB before compaction", end=", ")
        await graph.compact()
        print(f"{disk_size(path):.1f} MB after")
        for pick in ("even", "as they occur", "hubs"):
            times = sorted(await measure_queries(graph, town, pick))
            print(f"{module:8} around 40, {pick:14} p50 {times[12]:6.1f} ms, worst {times[-1]:6.1f} ms")
        await graph.close()


def run(module: Literal["kuzu", "ladybug"], arguments: argparse.Namespace) -> None:
    asyncio.run(measure(module, arguments))


def disk_size(path: Path) -> float:
    return sum(file.stat().st_size for file in path.iterdir()) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--edges", type=int, default=300_000)
    parser.add_argument("--documents", type=int, default=400)
    arguments = parser.parse_args()
    for module in ("kuzu", "ladybug"):  # each in a process of its own: they cannot share one
        if importlib.util.find_spec(module):
            process = multiprocessing.get_context("spawn").Process(target=run, args=(module, arguments))
            process.start()
            process.join()


if __name__ == "__main__":
    main()
