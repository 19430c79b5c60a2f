"""The graph store on SurrealDB: records of nodes and edges. Small graphs are also kept in memory."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import CorruptProjection
from engine.storage.column_arrays import ArraysFull
from engine.storage.graph.base import GraphNode
from engine.storage.graph.edge_arrays import EdgeArrays, build_edge
from engine.storage.memory_copy import MemoryCopy
from surrealdb_stores.database import record_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

    from engine.storage.graph.base import GraphEdge
    from surrealdb_stores.database import SurrealDatabase

CACHED_EDGES = 500_000
SCHEMA = (
    "DEFINE TABLE IF NOT EXISTS graph_node SCHEMALESS",
    "DEFINE TABLE IF NOT EXISTS graph_edge SCHEMALESS",
    "DEFINE INDEX IF NOT EXISTS graph_edge_source ON graph_edge FIELDS source",
    "DEFINE INDEX IF NOT EXISTS graph_edge_target ON graph_edge FIELDS target",
)
NODES = "SELECT VALUE [number, space] FROM graph_node"
EDGES = "SELECT VALUE [number, source, target, weight] FROM graph_edge"
NEAR_NODES = "SELECT VALUE number FROM $nodes WHERE space IN $spaces"
NEIGHBORS = f"{EDGES} WHERE source IN $near OR target IN $near"
UPSERT = (  # deleting a record takes 3 ms, updating one 0.5 ms
    "BEGIN; INSERT INTO graph_node $nodes ON DUPLICATE KEY UPDATE space = $input.space RETURN NONE;"
    " INSERT INTO graph_edge $edges ON DUPLICATE KEY UPDATE source = $input.source, target = $input.target,"
    " weight = $input.weight RETURN NONE; COMMIT;"
)
DELETE = (
    "BEGIN; DELETE $edge_keys RETURN NONE; DELETE graph_edge WHERE source IN $nodes OR target IN $nodes RETURN NONE;"
    " DELETE $node_keys RETURN NONE; COMMIT;"
)
REPLACE = (
    f"BEGIN; REMOVE TABLE IF EXISTS graph_node; REMOVE TABLE IF EXISTS graph_edge; {'; '.join(SCHEMA)};"
    " INSERT INTO graph_node $nodes RETURN NONE; INSERT INTO graph_edge $edges RETURN NONE; COMMIT;"
)


class SurrealGraph:
    """A graph in a database that the caller closes."""

    def __init__(self, database: SurrealDatabase, cached_edges: int) -> None:
        self._database = database
        self._max_cached_edges = cached_edges
        self._lock = asyncio.Lock()
        self._cache = MemoryCopy[EdgeArrays](self._load_arrays)

    @classmethod
    async def open(cls, database: SurrealDatabase, cached_edges: int = CACHED_EDGES) -> SurrealGraph:
        """Open or create the graph. Up to `cached_edges` edges, and as many nodes, are also kept in memory."""
        for statement in SCHEMA:
            await database.run(statement)
        return cls(database, cached_edges)

    async def upsert(self, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> None:
        """Create or update nodes, then edges, or nothing if an end is missing. Raises CorruptProjection."""
        if not nodes and not edges:
            return
        async with self._lock:
            await self._check_ends(nodes, edges)
            with self._cache.follow(lambda cached: cached.upsert(nodes, edges)):
                await self._database.run(UPSERT, _build_rows(nodes, edges))

    async def delete(self, nodes: Collection[int], edges: Sequence[GraphEdge]) -> None:
        """Delete edges, then nodes with their remaining edges, at once. Missing ones are no error."""
        if nodes or edges:
            parameters = {
                "edge_keys": [record_id("graph_edge", edge.id) for edge in edges],
                "node_keys": [record_id("graph_node", node) for node in nodes],
                "nodes": sorted(nodes),
            }
            async with self._lock:
                with self._cache.follow(lambda cached: cached.delete(nodes, edges), deletes=True):
                    await self._database.run(DELETE, parameters)

    async def neighbors(self, nodes: Collection[int], spaces: Collection[int], limit: int) -> list[GraphEdge]:
        """The heaviest edges of these nodes within the spaces, each once; equal weights by id."""
        if not nodes or not spaces or limit <= 0:
            return []
        if (cached := await self._cache.get()) is not None:
            return cached.neighbors(nodes, spaces, limit)
        keys = [record_id("graph_node", node) for node in set(nodes)]
        near = await self._database.run(NEAR_NODES, {"nodes": keys, "spaces": sorted(spaces)})
        edges = [build_edge(*row) for row in await self._database.run(NEIGHBORS, {"near": near})]
        return sorted(edges, key=lambda edge: (-edge.weight, edge.id))[:limit]

    async def replace_all(self, nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> None:
        """Replace the whole content in one transaction."""
        try:
            async with self._lock:
                await self._database.run(REPLACE, _build_rows(list(nodes), list(edges)))
        finally:
            self._cache.drop()

    async def list_all(self) -> tuple[list[GraphNode], list[GraphEdge]]:
        """Every node and edge, by id."""
        nodes = [GraphNode(id_, space, exists_in_graph=True) for id_, space in await self._database.run(NODES)]
        edges = [build_edge(*row) for row in await self._database.run(EDGES)]
        return sorted(nodes, key=lambda node: node.id), sorted(edges, key=lambda edge: edge.id)

    async def compact(self) -> None:
        """Do nothing: vectors in the same database compact its files."""

    async def close(self) -> None:
        """Free the memory. May be called twice."""
        self._cache.drop()

    async def _check_ends(self, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> None:
        ends = {end for edge in edges for end in (edge.source, edge.target)} - {node.id for node in nodes}
        if ends:
            keys = [record_id("graph_node", end) for end in ends]
            missing = ends - set(await self._database.run("SELECT VALUE number FROM $keys", {"keys": keys}))
            if missing:
                raise CorruptProjection(f"Entity {min(missing)} is an end of a relation and is not in the graph.")

    async def _load_arrays(self) -> EdgeArrays:
        """All nodes and edges. Raises ArraysFull."""
        for table in ("graph_node", "graph_edge"):
            counted = await self._database.run(f"SELECT count() FROM {table} GROUP ALL")
            if counted and counted[0]["count"] > self._max_cached_edges:
                raise ArraysFull
        arrays = EdgeArrays(self._max_cached_edges)
        nodes, edges = await self._database.run(NODES), await self._database.run(EDGES)
        arrays.append(_columns(nodes, 2), _columns(edges, 4))
        return arrays


def _columns(rows: Sequence[Sequence[Any]], count: int) -> list[np.ndarray]:
    return [np.array(column) for column in zip(*rows, strict=True)] or [np.empty(0)] * count


def _build_rows(nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> dict[str, Any]:
    """The parameters of statements that write; of equal ids the last counts."""
    spaces = {node.id: node.space for node in nodes}
    latest = {edge.id: edge for edge in edges}
    return {
        "nodes": [{"id": record_id("graph_node", id_), "number": id_, "space": each} for id_, each in spaces.items()],
        "edges": [
            {
                "id": record_id("graph_edge", edge.id),
                "number": edge.id,
                "source": min(edge.source, edge.target),
                "target": max(edge.source, edge.target),
                "weight": float(edge.weight),
            }
            for edge in latest.values()
        ],
    }
