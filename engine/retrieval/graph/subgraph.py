"""Load what is around an entity: entities in rings, the strongest first, and all relations between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.knowledge.merge import UNKNOWN_TYPE
from engine.retrieval.graph.records import Subgraph, SubgraphEdge, SubgraphNode
from engine.retrieval.search import ProfileCache
from engine.retrieval.views import ViewLoader
from engine.storage.ledger.records import KeyKind
from engine.text.names import normalize_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from engine.retrieval.graph.records import SubgraphQuery
    from engine.retrieval.search import Searcher
    from engine.retrieval.views import EntityView, RelationView
    from engine.storage.graph.base import GraphEdge

EDGES_PER_NODE = 4  # fetched for each entity wanted, because several may lead to the same one
MAX_FILTERED_EDGES = 2000  # fetched if a filter leaves out many of them
MAX_EDGES_PER_NODE = 2  # returned for each entity wanted


@dataclass(slots=True)
class SubgraphLoader:
    """Loads one subgraph; `views` and `rings` hold the entities by canonical name, the center first."""

    searcher: Searcher
    query: SubgraphQuery
    profiles: ProfileCache = field(default_factory=ProfileCache)
    views: dict[str, EntityView] = field(default_factory=dict)
    rings: dict[str, int] = field(default_factory=dict)
    has_more: bool = False

    async def load(self) -> Subgraph:
        """The subgraph; empty if nothing of the name is in the scope."""
        await self._add([await self._find_center()], 0, 1)
        for ring in range(1, self.query.depth + 1):
            if any(number == ring - 1 for number in self.rings.values()):
                # The first of several rings leaves half of the places to the others.
                places = self.query.limit if ring == self.query.depth else self.query.limit // 2
                await self._add(await self._list_candidates(ring), ring, places + 1)
        edges = self._select_edges(await self._load_relations())
        spaces = {self.profiles.entities[id_].space for view in self.views.values() for id_ in view.ids}
        named = await self.searcher.runtime.ledger.names.load_space_names(spaces) if spaces else ()
        return Subgraph(tuple(map(self._build_node, self.views)), edges, self.has_more, named)

    async def _find_center(self) -> list[int]:
        """The profiles of the name; if it is an alias in one space and a name in another one, those of the name."""
        name, search = normalize_name(self.query.name), self.searcher.runtime.ledger.search
        scope_ids = self.searcher.scope.scope_ids
        found = await search.find_entities_by_name({name}, scope_ids)
        await self.searcher.load_entities(self.profiles, found)
        names = sorted({self.profiles.entities[id_].canonical for id_ in found if id_ in self.profiles.entities})
        if not names:
            return []
        canonical = name if name in names else names[0]
        ids = await search.find_entities_by_name({canonical}, scope_ids)
        await self.searcher.load_entities(self.profiles, ids)
        return self._group_by_name(ids).get(canonical, [])

    async def _list_candidates(self, ring: int) -> list[list[int]]:
        """The profiles of each entity next to the ring before, by the weight of the relations to it."""
        query, scope = self.query, self.searcher.scope
        inner = [id_ for key, number in self.rings.items() if number == ring - 1 for id_ in self.views[key].ids]
        is_filtered = bool(query.types or scope.filters)
        most = MAX_FILTERED_EDGES if is_filtered else EDGES_PER_NODE * (query.limit + len(inner))
        edges = await self.searcher.runtime.graph.neighbors(inner, scope.scope_ids.spaces, most)
        edges = await self._filter_edges(edges)
        weights: dict[int, float] = {}
        for edge in edges:
            for end in (edge.source, edge.target):
                weights[end] = weights.get(end, 0.0) + edge.weight
        await self.searcher.load_entities(self.profiles, list(weights))
        groups = self._group_by_name(id_ for id_ in weights if id_ in self.profiles.entities)
        new = {key: ids for key, ids in groups.items() if key not in self.rings and self._has_type(ids)}
        order = sorted(new, key=lambda key: (-sum(weights[id_] for id_ in new[key]), key))
        return [new[key] for key in order]

    async def _filter_edges(self, edges: list[GraphEdge]) -> list[GraphEdge]:
        """The edges that passages of the time of the query state."""
        filters = self.searcher.scope.filters
        if filters is None or not edges:
            return edges
        ids = [edge.id for edge in edges]
        inside = await self.searcher.runtime.ledger.search.filter_ids(filters, KeyKind.PAIR, ids)
        return [edge for edge in edges if edge.id in inside]

    def _group_by_name(self, ids: Iterable[int]) -> dict[str, list[int]]:
        groups: dict[str, list[int]] = {}
        for id_ in ids:
            if id_ in self.profiles.entities:
                groups.setdefault(self.profiles.entities[id_].canonical, []).append(id_)
        return groups

    def _has_type(self, ids: Sequence[int]) -> bool:
        types = self.query.types
        return not types or any((self.profiles.entities[id_].type or UNKNOWN_TYPE) in types for id_ in ids)

    async def _add(self, candidates: Sequence[Sequence[int]], ring: int, places: int) -> None:
        """Add the first candidates that are visible, until there are so many entities in all."""
        loader = self._build_loader()
        for start in range(0, len(candidates), places):
            batch = candidates[start : start + places]
            for view in await loader.load_entities(id_ for ids in batch for id_ in ids):
                if len(self.views) >= places:
                    self.has_more = True
                    return
                self.views[view.canonical], self.rings[view.canonical] = view, ring

    def _build_loader(self) -> ViewLoader:
        return ViewLoader(self.searcher.runtime, self.profiles, self.searcher.scope.fact_chunks)

    async def _load_relations(self) -> list[RelationView]:
        """The relations between the entities, the strongest first."""
        ids: Collection[int] = [id_ for view in self.views.values() for id_ in view.ids]
        if len(self.views) < 2:
            return []
        search, scope = self.searcher.runtime.ledger.search, self.searcher.scope
        found: Collection[int] = await search.list_relations_between(ids, scope.scope_ids)
        if scope.filters is not None:
            found = await search.filter_ids(scope.filters, KeyKind.PAIR, found)
        await self.searcher.load_relations(self.profiles, found)
        views = await self._build_loader().load_relations(id_ for id_ in found if id_ in self.profiles.relations)
        return sorted(views, key=lambda view: (-view.weight, view.ends))

    def _select_edges(self, relations: Sequence[RelationView]) -> tuple[SubgraphEdge, ...]:
        """The strongest relation of each entity towards the center, then the strongest of the others."""
        kept: dict[tuple[str, str], RelationView] = {}
        inward = set[str]()
        for view in relations:
            outer = max(view.ends, key=lambda end: (self.rings[end], end))
            if outer not in inward and self.rings[view.ends[0]] != self.rings[view.ends[1]]:
                inward.add(outer)
                kept[view.ends] = view
        most = MAX_EDGES_PER_NODE * self.query.limit
        for view in relations:
            if len(kept) < most:
                kept.setdefault(view.ends, view)
        edges = [SubgraphEdge(*view.ends, view.keywords, view.description, view.weight) for view in kept.values()]
        return tuple(sorted(edges, key=lambda edge: (-edge.weight, edge.source, edge.target)))

    def _build_node(self, key: str) -> SubgraphNode:
        view, records = self.views[key], [self.profiles.entities[id_] for id_ in self.views[key].ids]
        mentions, degree = sum(record.mentions for record in records), sum(record.degree for record in records)
        return SubgraphNode(key, view.name, view.type, view.description, self.rings[key], mentions, degree)
