"""A graph in memory: the contract of engine.storage.graph.base in a few dicts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from engine.errors import StoreError
from engine.storage.graph.base import GraphEdge, GraphNode


class MemoryGraph:
    """Nodes by id, edges by the pair of their ends."""

    def __init__(self) -> None:
        self.nodes: dict[int, GraphNode] = {}
        self.edges: dict[tuple[int, int], GraphEdge] = {}

    async def upsert(self, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> None:
        there = self.nodes | {node.id: replace(node, exists_in_graph=True) for node in nodes}
        for edge in edges:
            if edge.source not in there or edge.target not in there:
                raise StoreError(f"Relation {edge.id} has an end that is not in the graph.")
        self.nodes = there
        self.edges |= {edge_key(edge): normalize_edge(edge) for edge in edges}

    async def delete(self, nodes: Collection[int], edges: Sequence[GraphEdge]) -> None:
        gone, pairs = set(nodes), {edge_key(edge) for edge in edges}
        self.nodes = {number: node for number, node in self.nodes.items() if number not in gone}
        self.edges = {pair: edge for pair, edge in self.edges.items() if pair not in pairs and not gone & set(pair)}

    async def neighbors(self, nodes: Collection[int], spaces: Collection[int], limit: int) -> list[GraphEdge]:
        asked = {node for node in nodes if node in self.nodes and self.nodes[node].space in set(spaces)}
        near = [edge for pair, edge in self.edges.items() if asked & set(pair)]
        return sorted(near, key=lambda edge: (-edge.weight, edge.id))[: max(0, limit)]

    async def replace_all(self, nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> None:
        self.nodes, self.edges = {}, {}
        await self.upsert(list(nodes), list(edges))

    async def list_all(self) -> tuple[list[GraphNode], list[GraphEdge]]:
        return (
            sorted(self.nodes.values(), key=lambda node: node.id),
            sorted(self.edges.values(), key=lambda edge: edge.id),
        )

    async def compact(self) -> None:
        """There is nothing to give back."""

    async def close(self) -> None:
        """There is nothing to release."""


def edge_key(edge: GraphEdge) -> tuple[int, int]:
    return min(edge.source, edge.target), max(edge.source, edge.target)


def normalize_edge(edge: GraphEdge) -> GraphEdge:
    source, target = edge_key(edge)
    return replace(edge, source=source, target=target, exists_in_graph=True)
