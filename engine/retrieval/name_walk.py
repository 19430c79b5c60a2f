"""Rank chunks by a random walk that starts at the entities and files that a question names.

The edges are loaded in a few rounds, each around the nodes that the walk visits most, so that the cost does not depend
on the size of the store.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.retrieval.ranking.fusion import sort_key
from engine.retrieval.ranking.pagerank import WalkGraph
from engine.retrieval.ranking.walk_seeds import (
    SeedFact,
    add_nearest_chunks,
    build_name_seeds,
    count_expandable,
    least_ranked_visits,
    max_seed_mentions,
    most_visited,
)
from engine.scheduling.supervisor import gather_or_cancel
from engine.text.names import find_name_spans, is_name_like, longest_spans, normalize_name

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from engine.models import SearchQuery
    from engine.options import RankingOptions
    from engine.retrieval.ranking.pagerank import GraphNode
    from engine.retrieval.search import ProfileCache, QueryVectors, Searcher
    from engine.storage.ledger.records import EntityMatch


@dataclass(frozen=True, slots=True)
class NamedNodes:
    """What a question names: entities, and chunks of files by canonical title."""

    entities: Sequence[EntityMatch]
    titled_chunks: Mapping[str, Sequence[int]]

    def __bool__(self) -> bool:
        return bool(self.entities or self.titled_chunks)


@dataclass(frozen=True, slots=True)
class WalkStarts:
    """Where a walk starts, without the nearest chunks: seeds with weights, and the degrees that are known."""

    seeds: Mapping[GraphNode, float] = field(default_factory=dict)
    degrees: Mapping[GraphNode, float] = field(default_factory=dict)


@dataclass(slots=True)
class NameWalk:
    """The walk of one question."""

    searcher: Searcher
    query: SearchQuery

    async def find_starts(self, named: NamedNodes, near: Mapping[int, float], profiles: ProfileCache) -> WalkStarts:
        """The names and near relations at which the walk starts; none if the question names nothing rare enough.

        `near`: the similarity of relations in `profiles` to the question.
        """
        if not named:
            return WalkStarts()
        facts = await self._choose_seed_facts(named, near, profiles)
        degrees: dict[GraphNode, float] = {}
        degrees |= {entity.canonical: float(entity.mentions + entity.degree) for entity in named.entities}
        degrees |= {entity.canonical: float(entity.mentions + entity.degree) for entity in profiles.entities.values()}
        return WalkStarts(build_name_seeds(named.entities, facts, named.titled_chunks), degrees)

    async def rank_chunks(self, starts: WalkStarts, similarity: Mapping[int, float]) -> tuple[int, ...]:
        """The chunks that the walk visits most, best first; none without starts.

        `similarity`: of the chunks nearest to the question.
        """
        if not starts.seeds:
            return ()
        seeds = add_nearest_chunks(starts.seeds, similarity, self._options)
        graph, visits = await self._walk(seeds, starts.degrees)
        from_names = {node: n for node, n in self._count_visits(graph, starts.seeds).items() if isinstance(node, int)}
        chunks: dict[GraphNode, float] = {node: visits[node] for node in from_names}
        best = await self._sort_visited(chunks, frozenset(), self._options.max_walk_chunks)
        least = least_ranked_visits(from_names.values(), self._options)
        return tuple(node for node in best if isinstance(node, int) and from_names[node] >= least)

    @property
    def _options(self) -> RankingOptions:
        return self.searcher.runtime.options.ranking

    async def find_named_nodes(self) -> NamedNodes:
        """The entities and files that the question names, without names that are part of longer ones."""
        walks, scope = self.searcher.runtime.ledger.walks, self.searcher.scope
        spans = find_name_spans(self.query.question)
        keywords = {normalize_name(text) for text in self.query.low if " " in text or is_name_like(text)} - {""}
        names = {span.name for span in spans}
        limit = self._options.max_titled_chunks
        entities, titled = await gather_or_cancel(
            walks.find_named_entities(names | keywords, scope.scope_ids, scope.fact_chunks),
            walks.find_titled_chunks(names, scope.scope_ids, limit, scope.fact_chunks),
        )
        known = {entity.alias for entity in entities} | titled.keys()
        chosen = {span.name for span in longest_spans(spans, known)}
        rare = max_seed_mentions(scope.count_chunks(), self._options)
        return NamedNodes(
            [entity for entity in entities if entity.alias in chosen | keywords and entity.mentions <= rare],
            {title: chunks for title, chunks in titled.items() if title in chosen and len(chunks) < limit},
        )

    async def search_relations(self, vectors: QueryVectors, profiles: ProfileCache) -> dict[int, float]:
        """The relations nearest to the question, with their similarity; they are loaded into `profiles`."""
        wanted = self._options.seed_fact_candidates
        hits = await self.searcher.search_vectors("relations", vectors, "question", wanted)
        await self.searcher.load_relations(profiles, [hit.id for hit in hits])
        return {hit.id: hit.similarity for hit in hits if hit.id in profiles.relations}

    async def _choose_seed_facts(
        self, named: NamedNodes, near: Mapping[int, float], profiles: ProfileCache
    ) -> list[SeedFact]:
        """The ends of the relations nearest to the question among those with a named end."""
        ids = {entity.id for entity in named.entities}
        facts = [id_ for id_ in near if ids & set(profiles.relations[id_].ends)]
        best = sorted(facts, key=lambda id_: sort_key(near[id_]))[: self._options.max_seed_facts]
        await self.searcher.load_entities(profiles, {end for id_ in best for end in profiles.relations[id_].ends})
        rare = max_seed_mentions(self.searcher.scope.count_chunks(), self._options)
        return [
            SeedFact(entity.canonical, entity.mentions, near[id_])
            for id_ in best
            for end in profiles.relations[id_].ends
            if (entity := profiles.entities.get(end)) is not None and entity.mentions <= rare
        ]

    async def _walk(
        self, seeds: Mapping[GraphNode, float], degrees: Mapping[GraphNode, float]
    ) -> tuple[WalkGraph, dict[GraphNode, float]]:
        """The edges around the nodes that walks from the seeds visit most, and how often they visit each node."""
        options, graph = self._options, WalkGraph(seeds)
        graph.add({}, degrees)
        visits = dict(seeds)
        loaded: set[GraphNode] = set()
        for _ in range(options.walk_rounds):
            nodes = await self._sort_visited(visits, loaded, options.walk_batch)
            known = map(graph.known_degree, nodes)
            nodes = nodes[: count_expandable(known, options.max_walk_edges - graph.edge_count)]
            if not nodes:
                break
            loaded.update(nodes)
            found = await self.searcher.runtime.ledger.walks.load_walk_edges(
                [node for node in nodes if isinstance(node, str)],
                [node for node in nodes if isinstance(node, int)],
                self.searcher.scope.scope_ids,
                options.max_walk_degree,
                self.searcher.scope.fact_chunks,
            )
            graph.add(found.edges, {name: float(degree) for name, degree in found.degrees.items()})
            visits = self._count_visits(graph)
        return graph, visits

    def _count_visits(self, graph: WalkGraph, seeds: Mapping[GraphNode, float] | None = None) -> dict[GraphNode, float]:
        return graph.count_visits(self._options.walk_restart_probability, self._options.walk_iterations, seeds)

    async def _sort_visited(
        self, visits: Mapping[GraphNode, float], excluded: Container[GraphNode], limit: int
    ) -> list[GraphNode]:
        """The nodes that are visited most, the best first; ties by content, not by ids."""
        best = most_visited(visits, excluded, limit)
        return (await self.searcher.sort_by_count(best))[:limit]
