"""Rank the chunks that state the entities and relations of a question (local, global and hybrid)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.retrieval.name_walk import NameWalk
from engine.retrieval.ranking.fusion import order_mix, sort_key
from engine.retrieval.ranking.graph_chunks import count_chunk_visits
from engine.storage.ledger.records import KeyKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.retrieval.ranking.graph_chunks import EntityNode, FactEdge
    from engine.retrieval.results import SearchHits
    from engine.retrieval.search import QueryVectors, Searcher


@dataclass(frozen=True, slots=True)
class StatedChunkRanking:
    """Ranks chunks that were found as evidence, and no others: so that a mode keeps its meaning."""

    searcher: Searcher
    hits: SearchHits
    vectors: QueryVectors

    async def rank(
        self, entities: Sequence[EntityNode], facts: Sequence[FactEdge], similarity: Mapping[int, float]
    ) -> list[int]:
        """The chunk nearest to the question, those that a walk from its names visits, and those near its facts.

        `similarity`: of chunks to the question.
        """
        with self.searcher.stopwatch.record("walk"):
            visits = count_chunk_visits(entities, facts, similarity, self.searcher.runtime.options.ranking)
            nearest = await self._sort_nearest(similarity)
            by_names = await self._walk_from_names(nearest, similarity, visits)
            return order_mix(nearest[:1], by_names, await self.searcher.sort_by_count(visits))

    async def _sort_nearest(self, similarity: Mapping[int, float]) -> list[int]:
        """The chunks nearest to the question, as many as a walk starts at."""
        ranked = await self.searcher.sort_by_count({chunk: -sort_key(own) for chunk, own in similarity.items()})
        return ranked[: self.searcher.runtime.options.ranking.prior_chunks]

    async def _walk_from_names(
        self, nearest: Sequence[int], similarity: Mapping[int, float], stated: Mapping[int, float]
    ) -> list[int]:
        """The stated chunks that a walk from the names of the question visits; none without names."""
        walk = NameWalk(self.searcher, self.hits.query)
        named = await walk.find_named_nodes()
        starts = await walk.find_starts(named, self._list_found_relations(), self.hits.profile_cache)
        ranked = await walk.rank_chunks(starts, {chunk: similarity[chunk] for chunk in nearest})
        return [chunk for chunk in ranked if chunk in stated]

    def _list_found_relations(self) -> dict[int, float]:
        """The similarity of the relations that both legs found; equal ones by content."""
        profiles = self.hits.profile_cache
        found = {*self.hits.local_leg.relations, *self.hits.global_leg.relations}
        return {
            id_: profiles.similarities.get((KeyKind.PAIR, id_), 0.0)
            for id_ in sorted(found, key=profiles.relation_sort_key)
        }
