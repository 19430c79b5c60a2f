"""Nodes and edges of a graph as arrays in memory, with an index of both: a look-up takes about a millisecond."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engine.storage.column_arrays import ArraysFull, ColumnArrays, is_member
from engine.storage.graph.base import GraphEdge

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engine.storage.graph.base import GraphNode

NODE_COLUMNS, EDGE_COLUMNS, ENDS = ("id", "space"), ("id", "source", "target", "weight"), ("source", "target")
ID_TYPE = np.int32
# Places that are looked at in every search: so many, or one of so many, in so many arrays.
MIN_CHANGES, CHANGES_SHARE, MAX_PARTS = 2_048, 200, 16


class EdgeArrays:
    """At most `max_edges` edges and as many nodes, whose ids fit into `id_type`; for one thread."""

    def __init__(self, max_edges: int, id_type: type[np.signedinteger[Any]] = ID_TYPE) -> None:
        own, weight = np.dtype(id_type), np.dtype(np.float64)
        self._max_id = np.iinfo(id_type).max
        self._nodes = ColumnArrays(dict.fromkeys(NODE_COLUMNS, own), max_edges)
        self._edges = ColumnArrays({name: weight if name == "weight" else own for name in EDGE_COLUMNS}, max_edges)
        self._node_places, self._end_places = PlaceIndex(), PlaceIndex()

    def append(self, nodes: Sequence[np.ndarray], edges: Sequence[np.ndarray]) -> None:
        """Add new nodes and edges, given as columns. Raises ArraysFull."""
        if any(column.max(initial=0) > self._max_id for column in (*nodes, *edges)):
            raise ArraysFull
        first_node, first_edge = len(self._nodes), len(self._edges)
        self._nodes.append(dict(zip(NODE_COLUMNS, nodes, strict=True)))
        self._edges.append(dict(zip(EDGE_COLUMNS, edges, strict=True)))
        self._node_places.note(np.arange(first_node, len(self._nodes)))
        self._end_places.note(np.arange(first_edge, len(self._edges)))

    def index(self) -> None:
        """Sort what was added; a look-up does it, too, but this takes 0.5 s for 3.4 million edges."""
        self._node_places.merge([self._nodes["id"]])
        self._end_places.merge(self._list_ends())

    def upsert(self, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> None:
        """Create or update nodes and edges, each given once or more often. Raises ArraysFull."""
        spaces = {node.id: node.space for node in nodes}
        latest = {edge.id: edge for edge in edges}
        self._delete_nodes(spaces)
        self._delete_edges(_find(self._edges["id"], latest))
        ends = [sorted((edge.source, edge.target)) for edge in latest.values()]
        weights = np.array([edge.weight for edge in latest.values()], np.float64)
        self.append(
            [np.array([*spaces], np.int64), np.array([*spaces.values()], np.int64)],
            [np.array([*latest], np.int64), *np.array(ends, np.int64).reshape(-1, 2).T, weights],
        )

    def delete(self, nodes: Collection[int], edges: Sequence[GraphEdge]) -> None:
        """Delete edges, then nodes with their remaining edges."""
        self._delete_edges(_find(self._edges["id"], {edge.id for edge in edges}))
        self._delete_edges(self._find_touching(nodes))
        self._delete_nodes(nodes)

    def neighbors(self, nodes: Collection[int], spaces: Collection[int], limit: int) -> list[GraphEdge]:
        """The heaviest edges of these nodes within the spaces, each once; equal weights by id."""
        own = self._node_places.find(nodes, [self._nodes["id"]])
        near = self._nodes["id"][own[is_member(self._nodes["space"][own], spaces)]]
        places = self._find_touching(near.tolist())
        columns = [self._edges[name][places] for name in EDGE_COLUMNS]
        chosen = select_heaviest(columns[0], columns[3], limit)
        edges = zip(*(column[chosen].tolist() for column in columns), strict=True)
        return [build_edge(*edge) for edge in edges]

    def _list_ends(self) -> list[np.ndarray]:
        return [self._edges[name] for name in ENDS]

    def _find_touching(self, nodes: Collection[int]) -> np.ndarray:
        """The places of edges with one of the nodes as an end."""
        return self._end_places.find(nodes, self._list_ends())

    def _delete_nodes(self, ids: Collection[int]) -> None:
        places = self._node_places.find(ids, [self._nodes["id"]])
        self._nodes.delete(places)
        self._node_places.note(places)

    def _delete_edges(self, places: np.ndarray) -> None:
        self._edges.delete(places)
        self._end_places.note(places)


class PlaceIndex:
    """Finds rows by the numbers in some columns of equal types, without reading the columns; for one thread.

    The places of all numbers are sorted once. Places that are written later are kept apart and looked at in every
    search, until they are so many that they are merged into the others: 0.04 s for 3.4 million edges. Whoever writes
    rows calls `note`; those that are added at the end, or left out there, are noticed.
    """

    def __init__(self) -> None:
        self._numbers = self._places = np.empty(0, np.int32)  # of all columns, by number
        self._end = 0  # rows at the time of the last merge
        self._changed: list[np.ndarray] = []
        self._change_count = 0

    def note(self, places: np.ndarray) -> None:
        """Take note of rows that were written."""
        known = places[places < self._end]
        if len(known):
            self._changed.append(known)
            self._change_count += len(known)

    def find(self, numbers: Collection[int], columns: Sequence[np.ndarray]) -> np.ndarray:
        """The places, ascending, where any of the columns has any of the numbers."""
        count = len(columns[0])
        if self._change_count + max(0, count - self._end) > max(MIN_CHANGES, count // CHANGES_SHARE):
            self.merge(columns)
        if len(self._changed) > MAX_PARTS:
            self._changed = [np.concatenate(self._changed)]
        wanted = np.unique(np.fromiter(numbers, np.int64, len(numbers)))
        if not len(wanted):
            return np.empty(0, np.int64)
        looked_at = (self._list_known(wanted), *self._changed, np.arange(self._end, count))
        return np.unique(np.concatenate([_select(places[places < count], columns, wanted) for places in looked_at]))

    def merge(self, columns: Sequence[np.ndarray]) -> None:
        """Sort the places that were written since the last time into the others."""
        count = len(columns[0])
        if not len(self._numbers):
            numbers = np.concatenate(columns)
            order = np.argsort(numbers)
            self._numbers = numbers[order]
            self._places = np.remainder(order, max(1, count), out=order).astype(np.int32)
            self._end, self._changed, self._change_count = count, [], 0
            return
        is_kept = np.ones(max(self._end, count), np.bool_)
        is_kept[count:] = False
        for places in self._changed:
            is_kept[places] = False
        added = np.concatenate([np.flatnonzero(~is_kept[: min(self._end, count)]), np.arange(self._end, count)])
        kept = is_kept[self._places]
        numbers = np.concatenate([column[added] for column in columns])
        known = self._numbers[kept].astype(numbers.dtype, copy=False)
        order = np.argsort(numbers)
        at = np.searchsorted(known, numbers[order])
        self._numbers = np.insert(known, at, numbers[order])
        self._places = np.insert(self._places[kept], at, np.tile(added.astype(np.int32), len(columns))[order])
        self._end, self._changed, self._change_count = count, [], 0

    def _list_known(self, wanted: np.ndarray) -> np.ndarray:
        """The places that had one of these numbers at the last merge."""
        own = wanted[wanted <= np.iinfo(self._numbers.dtype).max].astype(self._numbers.dtype)  # else all are converted
        first, last = (np.searchsorted(self._numbers, own, side) for side in ("left", "right"))
        counts = last - first
        offsets = np.repeat(first - np.cumsum(counts) + counts, counts)
        found: np.ndarray = self._places[offsets + np.arange(len(offsets))]
        return found


def select_heaviest(ids: np.ndarray, weights: np.ndarray, count: int) -> np.ndarray:
    """The indices of the `count` highest positive weights, highest first; equal weights by id."""
    places = np.flatnonzero(weights > 0.0)
    if len(places) > count:
        cutoff = np.partition(weights[places], len(places) - count)[len(places) - count]
        heavier, ties = places[weights[places] > cutoff], places[weights[places] == cutoff]
        missing = count - len(heavier)
        last_id = np.partition(ids[ties], missing - 1)[missing - 1]
        places = np.concatenate([heavier, ties[ids[ties] <= last_id]])
    return places[np.lexsort((ids[places], -weights[places]))][:count]


def build_edge(id_: int, source: int, target: int, weight: float) -> GraphEdge:
    """An edge that the graph holds."""
    return GraphEdge(id_, source, target, weight, exists_in_graph=True)


def _select(places: np.ndarray, columns: Sequence[np.ndarray], wanted: np.ndarray) -> np.ndarray:
    """The places where any of the columns has any of the wanted numbers, which ascend."""
    is_found = np.zeros(len(places), np.bool_)
    for column in columns:
        own = column[places]  # a table of all numbers, as `is_member` makes, would take longer
        is_found |= wanted[np.minimum(np.searchsorted(wanted, own), len(wanted) - 1)] == own
    return places[is_found]


def _find(ids: np.ndarray, wanted: Collection[int]) -> np.ndarray:
    return np.flatnonzero(is_member(ids, wanted))
