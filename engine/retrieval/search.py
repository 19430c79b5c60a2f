"""Search by vectors, full text and graph within the scope of a question."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from engine.retrieval.ranking.fusion import rank_entities, rank_hits, sort_key
from engine.retrieval.ranking.row_choice import RankedRelation, rank_relations
from engine.scheduling.supervisor import gather_or_cancel
from engine.storage.ledger.records import EMPTY_SORT_KEY, KeyKind
from engine.storage.vectors import base as vector_store
from engine.storage.vectors.base import VectorHit
from engine.text.names import normalize_name
from engine.text.similarity import SimilarityScale

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import numpy as np

    from engine.clock import Stopwatch
    from engine.models import Question, SearchQuery
    from engine.retrieval.ranking.pagerank import GraphNode
    from engine.retrieval.views import PastProfiles
    from engine.runtime import Runtime
    from engine.storage.ledger.records import (
        ChunkFilter,
        EntityRecord,
        ProfileKind,
        RelationRecord,
        ResolvedFilters,
        ScopeIds,
    )
    from engine.storage.vectors.base import VectorTable

Result = TypeVar("Result")
Node = TypeVar("Node", bound="GraphNode")

# How many vectors one search fetches. These bound its cost; the order is decided in `ranking`.
MAX_ROW_FACTOR = 64  # rows fetched per id wanted, at most
ROW_GROWTH = 8  # factor between two fetches; large, because another fetch costs more than many more rows
MAX_FILTERED_ROWS, FILTERED_ROW_GROWTH = 4096, 4  # for a question with filters; the first is a number of rows
MAX_COMPARED = 256  # entities, and relations, that a search as of a day compares by what was stated of them then
PROFILE_KINDS: Mapping[VectorTable, ProfileKind] = {"entities": KeyKind.NAME, "relations": KeyKind.PAIR}
KINDS_BY_TABLE: Mapping[VectorTable, KeyKind] = {"chunks": KeyKind.CHUNK, **PROFILE_KINDS}


@dataclass(frozen=True, slots=True)
class SearchScope:
    """The scope of a question as ids, its filters, and for each table the number of rows by space.

    `generation`: of the ledger at that time.
    """

    scope_ids: ScopeIds
    filters: ResolvedFilters | None
    populations: Mapping[VectorTable, Mapping[int, int]]
    generation: int

    @property
    def fact_chunks(self) -> ChunkFilter | None:
        """The chunks whose facts the question may use; None if it has no filters."""
        return self.filters.fully_matching_chunks if self.filters else None

    @property
    def chunk_spaces(self) -> frozenset[int] | None:
        """The spaces of all chunks in the scope; None if single rooms are in it, whose spaces are unknown."""
        return None if self.scope_ids.rooms else self.scope_ids.spaces

    def count_chunks(self) -> int:
        """The number of chunks in the scope's spaces; as of a day that of those until then, if they are few."""
        if (past := self.fact_chunks) is not None and past.is_past and past.ids is not None:
            return len(past.ids)
        return sum(self.populations["chunks"].get(space, 0) for space in self.scope_ids.spaces)

    def build_vector_filter(self, table: VectorTable) -> vector_store.VectorFilter:
        """The scope as a filter of a vector search; with ids only if these are few."""
        rooms = self.scope_ids.rooms if table == "chunks" else frozenset[int]()
        ids = self.filters.listed_ids(KINDS_BY_TABLE[table]) if self.filters else None
        return vector_store.VectorFilter(self.scope_ids.spaces, rooms, self.populations[table], ids)


QueryPart = Literal["question", "low", "high"]


class FormerQuery(NamedTuple):
    """The vectors of a question by a former embedder, and where to search with them."""

    store: vector_store.VectorStore
    vectors: QueryVectors


@dataclass(frozen=True, slots=True)
class QueryVectors:
    """Vectors of length one: of the question, of all low keywords, and of all high keywords.

    `scale`: turns their cosines with stored vectors into similarities.
    """

    question: np.ndarray
    low: np.ndarray
    high: np.ndarray
    scale: SimilarityScale = SimilarityScale()  # noqa: RUF009  - frozen
    former: FormerQuery | None = None

    def find_part(self, part: QueryPart) -> np.ndarray:
        """The vector of the question itself, or of its low or high keywords."""
        return {"question": self.question, "low": self.low, "high": self.high}[part]

    def find_similarities(self, vectors: np.ndarray) -> list[float]:
        """The similarity of the question to each of the vectors, shape (n, dim), of a row."""
        similarities: list[float] = self.scale.similarities(vectors @ self.question).tolist()
        return similarities


@dataclass(frozen=True, slots=True)
class VectorQuery:
    """A search for the `count` ids of a table that are nearest to a vector; `scale`: of its embedder."""

    table: VectorTable
    vector: np.ndarray
    count: int
    scale: SimilarityScale


@dataclass(frozen=True, slots=True)
class GraphLeg:
    """The hits of one leg of the graph search: ids of entities and relations, the best first."""

    entities: tuple[int, ...] = ()
    relations: tuple[int, ...] = ()


@dataclass(slots=True)
class ProfileCache:
    """The profiles that the searches of one question loaded, by id, and each one's similarity to the question."""

    entities: dict[int, EntityRecord] = field(default_factory=dict)
    relations: dict[int, RelationRecord] = field(default_factory=dict)
    similarities: dict[tuple[KeyKind, int], float] = field(default_factory=dict)

    def entity_sort_key(self, id_: int) -> tuple[str, int]:
        """Sort key of an entity: its name. Ids would not do, because they depend on the order of ingestion."""
        entity = self.entities.get(id_)
        return (entity.canonical, entity.space) if entity else ("", 0)

    def relation_sort_key(self, id_: int) -> list[tuple[str, int]]:
        """Sort key of a relation: the sort keys of its ends."""
        return sorted(map(self.entity_sort_key, self.relations[id_].ends))

    def describe_relation(self, relation: RelationRecord, similar: Mapping[int, float]) -> RankedRelation:
        """What ranking needs of a relation; `similar`: similarity to the question by id."""
        degree = sum(self.entities[end].degree for end in relation.ends if end in self.entities)
        sort_key = self.relation_sort_key(relation.id)
        return RankedRelation(relation.id, similar.get(relation.id, 0.0), degree, relation.weight, sort_key)

    def best_similarity(self, kind: KeyKind, ids: Iterable[int]) -> float:
        """The highest similarity of these keys to the question; 0.0 for a key that was not compared with it."""
        return max(self.similarities.get((kind, id_), 0.0) for id_ in ids)


@dataclass(slots=True)
class Searcher:
    """Runs the searches of one question. Failures are raised, never reported as no hits."""

    runtime: Runtime
    question: Question
    scope: SearchScope
    stopwatch: Stopwatch
    past: PastProfiles | None = None  # of a question as of a day

    def find_threshold(self) -> float:
        """The least similarity of a hit."""
        asked = self.question.threshold
        return self.runtime.embedder.least_similarity if asked is None else asked

    async def search_vectors(
        self, table: VectorTable, vectors: QueryVectors, part: QueryPart, count: int
    ) -> list[VectorHit]:
        """The best vector of each id above the threshold, with its similarity; ties are broken by names, not ids.

        Vectors by a former embedder are searched first: whatever is made again meanwhile is then found twice at worst.
        """
        query = VectorQuery(table, vectors.find_part(part), count, vectors.scale)
        if self.past is not None and table != "chunks":
            return (await self._search_past(self.past, query))[:count]
        hits: dict[int, VectorHit] = {}
        if (former := vectors.former) is not None:
            earlier = replace(query, vector=former.vectors.find_part(part), scale=former.vectors.scale)
            hits |= {hit.id: hit for hit in await self._search_store(former.store, earlier)}
        hits |= {hit.id: hit for hit in await self._search_store(self.runtime.vectors, query)}
        found = list(hits.values()) if former is None else sorted(hits.values(), key=lambda hit: -hit.similarity)
        return (await self._sort_hits(KINDS_BY_TABLE[table], found))[:count]

    async def measure_similarities(
        self, table: VectorTable, ids: Sequence[int], vectors: QueryVectors, spaces: Collection[int] | None
    ) -> dict[int, list[float]]:
        """The similarity of the question to each vector of these rows, by id; `spaces`: as of `VectorStore.fetch`."""
        if self.past is not None and table != "chunks":
            kind = PROFILE_KINDS[table]
            similar = await self.past.measure(kind, ids, vectors.question, vectors.scale)
            return {id_: [value] for id_, value in similar.items()}
        found, stores = dict[int, list[float]](), [(self.runtime.vectors, vectors)]
        for store, query in ([vectors.former] if vectors.former else []) + stores:
            rows = await self.stopwatch.measure(f"fetch {table}", store.fetch(table, ids, spaces))
            found |= {id_: query.find_similarities(parts) for id_, parts in rows.items()}
        return found

    async def _search_past(self, past: PastProfiles, query: VectorQuery) -> list[VectorHit]:
        """The keys of a table by what was stated of them until the day of the question, best first.

        Of many, those are compared that are nearest by what is stated today.
        """
        kind = PROFILE_KINDS[query.table]
        listed = self.scope.filters.listed_ids(kind) if self.scope.filters else None
        ids: Collection[int] = listed or ()
        if listed is None or len(listed) > MAX_COMPARED:
            ids = [hit.id for hit in await self._search_store(self.runtime.vectors, replace(query, count=MAX_COMPARED))]
        similar, threshold = await past.measure(kind, ids, query.vector, query.scale), self.find_threshold()
        hits = [VectorHit(id_, 0, value) for id_, value in similar.items() if value >= threshold]
        return await self._sort_hits(kind, sorted(hits, key=lambda hit: -hit.similarity))

    async def _search_store(self, store: vector_store.VectorStore, query: VectorQuery) -> list[VectorHit]:
        """The best vector of each id in one store, best first."""
        kind, area = KINDS_BY_TABLE[query.table], self.scope.build_vector_filter(query.table)
        found, whole = await self._fetch_nearest(store, query, area)
        if len(found) < query.count and not whole and self.scope.filters and area.ids is None:
            listing = self.runtime.ledger.search.list_matching_ids(self.question.filters, self.scope.scope_ids, kind)
            found, _ = await self._fetch_nearest(store, query, replace(area, ids=await listing))
        return found

    async def _fetch_nearest(
        self, store: vector_store.VectorStore, query: VectorQuery, area: vector_store.VectorFilter
    ) -> tuple[list[VectorHit], bool]:
        """The best vector of each id, best first, and whether no better one can be missing.

        More rows are fetched until there are enough *distinct* ids, and no omitted row can be as good as the last one:
        a chunk may have many vectors, and the store's order of equal rows depends on its other content. Filters that
        match too many ids to list are applied to the fetched rows.
        """
        count, kind, threshold = query.count, KINDS_BY_TABLE[query.table], self.find_threshold()
        rows = count * 2 + 1
        filters = self.scope.filters if area.ids is None else None
        deepest = MAX_ROW_FACTOR * count if filters is None else MAX_FILTERED_ROWS
        await asyncio.sleep(0)  # a search in memory does not give way: first let others send theirs to the database
        while True:
            searching = store.search(query.table, query.vector, rows, area)
            found_rows = await self.stopwatch.measure(f"vectors {query.table}", searching)
            hits = [VectorHit(hit.id, hit.part, query.scale.similarity(hit.similarity)) for hit in found_rows]
            best: dict[int, VectorHit] = {}
            for hit in hits:
                if hit.similarity >= threshold:
                    best.setdefault(hit.id, hit)
            inside = await self._filter_ids(kind, best) if filters else best.keys()
            found = [hit for id_, hit in best.items() if id_ in inside]
            enough = len(found) > count and sort_key(found[count - 1].similarity) < sort_key(hits[-1].similarity)
            whole = enough or len(hits) < rows or hits[-1].similarity < threshold
            if whole or rows >= deepest:
                return found, whole
            rows *= ROW_GROWTH if filters is None else FILTERED_ROW_GROWTH

    async def _filter_ids(self, kind: KeyKind, ids: Collection[int]) -> Collection[int]:
        """The ids that match the filters of the question."""
        if self.scope.filters is None or not ids:
            return ids
        return await self.runtime.ledger.search.filter_ids(self.scope.filters, kind, list(ids))

    async def _sort_hits(self, kind: KeyKind, hits: list[VectorHit]) -> list[VectorHit]:
        """Best first; ties by name."""
        if len({sort_key(hit.similarity) for hit in hits}) == len(hits):
            return hits
        sort_keys = await self.runtime.ledger.search.load_sort_keys(kind, [hit.id for hit in hits])
        return rank_hits(hits, sort_keys)

    async def sort_by_count(self, counts: Mapping[Node, float]) -> list[Node]:
        """Nodes of a walk, those with the highest count first; ties by content, since ids differ in equal ledgers."""
        tied = len(set(counts.values())) < len(counts)
        chunks = [node for node in counts if isinstance(node, int)] if tied else []
        keys = await self.runtime.ledger.search.load_sort_keys(KeyKind.CHUNK, chunks) if chunks else {}

        def order(node: Node) -> tuple[float, tuple[str, str, str]]:
            return -counts[node], ("", node, "") if isinstance(node, str) else keys.get(node, EMPTY_SORT_KEY)

        return sorted(counts, key=order)

    async def find_entities(self, query: SearchQuery, vectors: QueryVectors, profiles: ProfileCache) -> tuple[int, ...]:
        """Entities for the low keywords: exact names first, then by similarity and by full text."""
        exact, named, hits = await gather_or_cancel(
            self._find_exact_names(query),
            self._find_names_by_words(query),
            self._find_distinct_entities(vectors, profiles),
        )
        profiles.similarities.update({(KeyKind.NAME, hit.id): hit.similarity for hit in hits})
        order = rank_entities(exact, [hit.id for hit in hits], named, self.runtime.options.ranking)
        await self.load_entities(profiles, order)
        names: dict[str, list[int]] = {}
        for id_ in order:
            if id_ in profiles.entities:
                names.setdefault(profiles.entities[id_].canonical, []).append(id_)
        return tuple(id_ for ids in list(names.values())[: self.question.top_k] for id_ in ids)

    async def local_leg(self, query: SearchQuery, vectors: QueryVectors, profiles: ProfileCache) -> GraphLeg:
        """The local leg: entities for the low keywords, and the relations around them."""
        entities = await self.find_entities(query, vectors, profiles)
        return GraphLeg(entities, await self._find_relations(entities, vectors, profiles))

    async def _find_exact_names(self, query: SearchQuery) -> list[int]:
        """Entities whose name or alias is a keyword."""
        names = {normalize_name(keyword) for keyword in (*query.low, *query.high)} - {""}
        found = await self.runtime.ledger.search.find_entities_by_name(names, self.scope.scope_ids) if names else []
        inside = await self._filter_ids(KeyKind.NAME, found)
        return [id_ for id_ in found if id_ in inside]

    async def _find_names_by_words(self, query: SearchQuery) -> list[int]:
        """The ids of entities whose names contain words of the query."""
        words = " ".join(query.low) or query.question
        limit, where = int(self.runtime.options.ranking.entity_fulltext_share * self.question.top_k), self.scope
        searching = self.runtime.ledger.search.search_entities(words, limit, where.scope_ids, where.filters)
        return await self.stopwatch.measure("names", searching)

    async def _find_distinct_entities(self, vectors: QueryVectors, profiles: ProfileCache) -> list[VectorHit]:
        """Entities by similarity; fetches more until there are enough *distinct* names, as spaces may share names."""
        count = self.question.top_k
        most = self.runtime.options.ranking.max_entity_overfetch * count
        asked = count if len(self.scope.scope_ids.spaces) < 2 else 2 * count
        while True:
            hits = await self.search_vectors("entities", vectors, "low", asked)
            await self.load_entities(profiles, [hit.id for hit in hits])
            names = {profiles.entities[hit.id].canonical for hit in hits if hit.id in profiles.entities}
            if len(names) >= count or len(hits) < asked or asked >= most:
                return hits
            asked *= 2

    async def _find_relations(
        self, ids: Sequence[int], vectors: QueryVectors, profiles: ProfileCache
    ) -> tuple[int, ...]:
        """Relations of these entities, ranked by similarity to the question, degree and weight."""
        if not ids:
            return ()
        options = self.runtime.options.ranking
        searching = self.runtime.graph.neighbors(ids, self.scope.scope_ids.spaces, options.max_neighbor_edges)
        near = await self.stopwatch.measure("graph", searching)
        inside = await self._filter_ids(KeyKind.PAIR, [edge.id for edge in near])
        edges = [edge for edge in near if edge.id in inside]
        spaces = self.scope.scope_ids.spaces
        compared = await self.measure_similarities("relations", [edge.id for edge in edges], vectors, spaces)
        similar = {id_: max(parts) for id_, parts in compared.items()}
        for id_, similarity in similar.items():
            profiles.similarities.setdefault((KeyKind.PAIR, id_), similarity)
        await self.load_entities(profiles, {end for edge in edges for end in (edge.source, edge.target)})
        await self.load_relations(profiles, [edge.id for edge in edges])
        found = [profiles.relations[edge.id] for edge in edges if edge.id in profiles.relations]
        return tuple(rank_relations([profiles.describe_relation(relation, similar) for relation in found], options))

    async def global_leg(self, vectors: QueryVectors, profiles: ProfileCache) -> GraphLeg:
        """The global leg: relations for the high keywords, and the entities at their ends."""
        hits = await self.search_vectors("relations", vectors, "high", self.question.top_k)
        profiles.similarities.update({(KeyKind.PAIR, hit.id): hit.similarity for hit in hits})
        await self.load_relations(profiles, [hit.id for hit in hits])
        relations = [hit.id for hit in hits if hit.id in profiles.relations]
        await self.load_entities(profiles, {end for id_ in relations for end in profiles.relations[id_].ends})
        ends = dict.fromkeys(
            end for id_ in relations for end in sorted(profiles.relations[id_].ends, key=profiles.entity_sort_key)
        )
        return GraphLeg(tuple(end for end in ends if end in profiles.entities), tuple(relations))

    async def load_entities(self, profiles: ProfileCache, ids: Collection[int]) -> None:
        missing = [id_ for id_ in ids if id_ not in profiles.entities]
        if missing:
            found = await self.runtime.ledger.search.load_entities(missing, self.scope.scope_ids)
            if self.past is not None:
                stated = await self.runtime.ledger.walks.count_stated(found, self.scope.fact_chunks)
                found |= {
                    id_: replace(found[id_], mentions=count.mentions, degree=count.degree)
                    for id_, count in stated.items()
                }
            profiles.entities.update(found)

    async def load_relations(self, profiles: ProfileCache, ids: Collection[int]) -> None:
        missing = [id_ for id_ in ids if id_ not in profiles.relations]
        if missing:
            found = await self.runtime.ledger.search.load_relations(missing, self.scope.scope_ids)
            if self.past is not None:
                weights = await self.runtime.ledger.walks.weigh_stated(found, self.scope.fact_chunks)
                found |= {id_: replace(found[id_], weight=weight) for id_, weight in weights.items()}
            profiles.relations.update(found)
