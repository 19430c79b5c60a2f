"""How long a question waits for the relations around its entities, by backend and scope.

`python -m benchmarks.graph_neighbors --entities 100000 --relations 300000 --backends kuzu postgres`: entities in 200
spaces (one open space with half of them, the others by Zipf's law) whose relations prefer hubs. Each call asks for the
300 heaviest relations of 60 entities of the scope. `kuzu` holds the edges in memory, `kuzu-disk` reads
its files. The server of `postgres` is started for the run, with its data in memory where there is enough.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import numpy as np
from psycopg_pool import AsyncConnectionPool

from benchmarks.plumbing import open_postgres, temporary_folder
from engine.storage.graph.base import GraphEdge, GraphNode, GraphStore
from engine.storage.graph.kuzu import CACHED_EDGES, KuzuGraph
from engine.storage.graph.ledger_graph import LedgerGraph
from tests.support.ledger_rows import TABLES

SPACES = 200
ASKED = 60
LIMIT = 300
CALLS = 60
SCOPES = {"the open space": [0], "1 small of 200": [150], "20 of 200": list(range(20)), "all 200": list(range(SPACES))}


class SyntheticGraph:
    """Entities of spaces, and relations between two of one space: one end by popularity, the other by chance."""

    def __init__(self, entities: int, relations: int) -> None:
        random = np.random.default_rng(5)
        zipf = 1 / np.arange(1, SPACES)
        spaces = np.sort(random.choice(SPACES, size=entities, p=np.r_[0.5, 0.5 * zipf / zipf.sum()]))
        starts, counts = np.searchsorted(spaces, np.arange(SPACES)), np.bincount(spaces, minlength=SPACES)
        ends = random.integers(0, entities, relations)
        popular = np.minimum(random.pareto(0.7, relations) * 3, 1e9).astype(np.int64)
        hubs = starts[spaces[ends]] + popular % counts[spaces[ends]]
        pairs = np.unique(np.sort(np.stack([ends, hubs], axis=1)[ends != hubs], axis=1), axis=0)
        weights = np.minimum(1 + random.pareto(1.5, len(pairs)), 500).astype(np.int64)
        self.spaces = spaces
        self.nodes = [GraphNode(id_, space) for id_, space in enumerate(spaces.tolist())]
        self.edges = [
            GraphEdge(id_, a, b, float(weight))
            for id_, ((a, b), weight) in enumerate(zip(pairs.tolist(), weights.tolist(), strict=True))
        ]


@asynccontextmanager
async def open_kuzu(graph: SyntheticGraph, cached_edges: int = CACHED_EDGES) -> AsyncIterator[GraphStore]:
    with temporary_folder() as folder:
        store = await KuzuGraph.open(Path(folder) / "graph", cached_edges=cached_edges)
        await store.replace_all(graph.nodes, graph.edges)
        yield store
        await store.close()


@asynccontextmanager
async def open_kuzu_disk(graph: SyntheticGraph) -> AsyncIterator[GraphStore]:
    async with open_kuzu(graph, cached_edges=0) as store:
        yield store


@asynccontextmanager
async def open_ledger(graph: SyntheticGraph) -> AsyncIterator[GraphStore]:
    async with open_postgres() as pool:
        await copy_rows(pool, graph)
        yield LedgerGraph(pool)


async def copy_rows(pool: AsyncConnectionPool, graph: SyntheticGraph) -> None:
    async with pool.connection() as connection:
        await connection.execute(TABLES)
        async with connection.cursor() as cursor:
            async with cursor.copy("COPY entity FROM STDIN") as copy:
                for node in graph.nodes:
                    await copy.write_row((node.id, node.space))
            async with cursor.copy("COPY relation FROM STDIN") as copy:
                for edge in graph.edges:
                    space = graph.nodes[edge.source].space
                    await copy.write_row((edge.id, space, edge.source, edge.target, int(edge.weight)))
        await connection.execute("ANALYZE")


BACKENDS: dict[str, Callable[[SyntheticGraph], AbstractAsyncContextManager[GraphStore]]] = {
    "kuzu": open_kuzu,
    "kuzu-disk": open_kuzu_disk,
    "postgres": open_ledger,
}


async def measure(graph: SyntheticGraph, backend: str) -> dict[str, list[int]]:
    """Print the times of a backend; returns the numbers of relations found in each scope."""
    random, found = np.random.default_rng(9), dict[str, list[int]]()
    async with BACKENDS[backend](graph) as store:
        for name, scope in SCOPES.items():
            inside, times = np.flatnonzero(np.isin(graph.spaces, scope)), list[float]()
            for _ in range(CALLS):
                nodes = random.choice(inside, ASKED).tolist()
                began = time.perf_counter()
                edges = await store.neighbors(nodes, scope, LIMIT)
                times.append((time.perf_counter() - began) * 1000)
                found.setdefault(name, []).append(sum(edge.id for edge in edges))
            p95 = statistics.quantiles(times, n=20)[-1]
            print(f"{backend:10} {name:16} {np.median(times):8.1f} {p95:8.1f}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=100_000)
    parser.add_argument("--relations", type=int, default=300_000)
    parser.add_argument("--backends", nargs="+", choices=list(BACKENDS), default=list(BACKENDS))
    options = parser.parse_args()
    graph = SyntheticGraph(options.entities, options.relations)
    print(f"{len(graph.nodes)} entities, {len(graph.edges)} relations; {ASKED} entities a call")
    print(f"{'backend':10} {'scope':16} {'p50 ms':>8} {'p95 ms':>8}")
    found = [asyncio.run(measure(graph, backend)) for backend in options.backends]
    assert all(each == found[0] for each in found), "the backends found different relations"


if __name__ == "__main__":
    main()
