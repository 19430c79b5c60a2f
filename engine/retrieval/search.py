"""Search: vectors, full text and graph together, each within the scope."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from engine.llm.checked_embedder import identity
from engine.retrieval.ranking import fuse
from engine.retrieval.sources import blend
from engine.storage.ledger import cache
from engine.storage.ledger.queries import lookup
from engine.storage.ledger.queries.filters import many
from engine.storage.ledger.queries.tie_order import NOTHING, identities
from engine.storage.ledger.work.stale_keys import Stale
from engine.storage.vectors import base as vector_store
from engine.storage.vectors.base import Hit, Table
from engine.text.names import canonical
from engine.text.similarity import directions

if TYPE_CHECKING:
    from collections.abc import Awaitable, Collection, Mapping, Sequence

    from engine.models import Condensed, Question
    from engine.runtime import Runtime
    from engine.storage.ledger.queries.filters import Chunks, Narrowing
    from engine.storage.ledger.queries.lookup import Area, EntityFound, RelationFound

Result = TypeVar("Result")

NEIGHBOURS = 240  # edges looked at around the local entities, the heaviest first
WORDS_DEEPER = 2  # what both searches find counts, however far down the words have it
OVERFETCH = 4  # rows asked for at once, at most, as a multiple of what is wanted, until enough names differ
DEEPEST = 64  # rows of vectors looked at, at most, as a multiple of the ids that are wanted
MORE = 8  # times more are looked at each time: another search costs more than many more rows of it
# … and of what a question is narrowed to, as a number, and how many times more are looked at each time
DEEPEST_NARROWED, DEEPER = 4096, 4
DIGITS = 6  # of a similarity: what a batch or a processor may change lies beyond them
TABLES: Mapping[Table, Stale] = {"chunks": Stale.CHUNK, "entities": Stale.NAME, "relations": Stale.PAIR}


def _rank(hit: Hit) -> float:
    """The place of a hit: the lower, the better."""
    return -round(hit.similarity, DIGITS)


@dataclass(slots=True)
class Stopwatch:
    """Milliseconds by stage; a stage that runs several times adds up."""

    spent: dict[str, float] = field(default_factory=dict)

    async def timed(self, stage: str, work: Awaitable[Result]) -> Result:
        """Wait for something, and note how long it took."""
        since = time.perf_counter()
        try:
            return await work
        finally:
            self.note(stage, since)

    def note(self, stage: str, since: float) -> None:
        """Add the time since then (perf_counter) to a stage."""
        self.spent[stage] = self.spent.get(stage, 0.0) + (time.perf_counter() - since) * 1000


@dataclass(frozen=True, slots=True)
class Where:
    """A question's area in the ledger's integers, what it is narrowed to, and the populations by table."""

    area: Area
    narrowing: Narrowing | None
    population: Mapping[Table, Mapping[int, int]]

    @property
    def facts(self) -> Chunks | None:
        """The chunks whose facts it may draw on, if it is narrowed."""
        return self.narrowing.only if self.narrowing else None

    def rows(self, table: Table) -> vector_store.Area:
        """The same for a vector search; ids only where they are few."""
        rooms = self.area.rooms if table == "chunks" else frozenset[int]()
        ids = self.narrowing.listed(TABLES[table]) if self.narrowing else None
        return vector_store.Area(self.area.spaces, rooms, self.population[table], ids)


@dataclass(frozen=True, slots=True)
class Vectors:
    """The question, all low and all high keywords, each as one vector."""

    question: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True, slots=True)
class Leg:
    """What one side of the graph search found: entities and relations in order, by id."""

    entities: tuple[int, ...] = ()
    relations: tuple[int, ...] = ()


@dataclass(slots=True)
class Known:
    """The profiles met on the way, by id, and how similar each key is to what was asked."""

    entities: dict[int, EntityFound] = field(default_factory=dict)
    relations: dict[int, RelationFound] = field(default_factory=dict)
    similarity: dict[tuple[Stale, int], float] = field(default_factory=dict)

    def canonical(self, id_: int) -> tuple[str, int]:
        """The name of an entity as it is ordered, whatever integer it got."""
        found = self.entities.get(id_)
        return (found.canonical, found.space) if found else ("", 0)

    def identity(self, id_: int) -> list[tuple[str, int]]:
        """The names of a relation's ends, as they are ordered."""
        return sorted(map(self.canonical, self.relations[id_].ends))


@dataclass(slots=True)
class Searcher:
    """Runs the searches of one question. Failures are raised, never turned into "nothing found"."""

    runtime: Runtime
    question: Question
    where: Where
    watch: Stopwatch

    async def chunks(self, text: str, vector: np.ndarray) -> tuple[int, ...]:
        """The vector leg: chunks by similarity and by words, fused."""
        options, wanted = self.runtime.options, self.question.chunk_top_k
        hits, words = await asyncio.gather(
            self._vectors("chunks", vector, wanted), self._words(text, WORDS_DEEPER * wanted)
        )
        fused = fuse((options.vector_weight, [hit.id for hit in hits]), (options.word_weight, words))
        return tuple(fused[:wanted])

    async def _words(self, text: str, wanted: int) -> list[int]:
        area, narrowing = self.where.area, self.where.narrowing
        searching = self.runtime.ledger.read(lookup.chunks_by_words, text, wanted, area, narrowing)
        return await self.watch.timed("words", searching)

    async def _vectors(self, table: Table, vector: np.ndarray, wanted: int) -> list[Hit]:
        """The best row of each id, above the threshold; of equal ones those that come first by what they are."""
        kind, area = TABLES[table], self.where.rows(table)
        found, whole = await self._nearest(table, vector, wanted, area)
        if len(found) < wanted and not whole and self.where.narrowing and area.ids is None:
            listing = self.runtime.ledger.read(many, self.question.within, self.where.area, kind)
            found, _ = await self._nearest(table, vector, wanted, replace(area, ids=await listing))
        return (await self._in_order(kind, found))[:wanted]

    async def _nearest(
        self, table: Table, vector: np.ndarray, wanted: int, area: vector_store.Area
    ) -> tuple[list[Hit], bool]:
        """The best row of each id, best first, and whether these are all that were wanted.

        More rows are fetched until there are enough *distinct* ids, and none that was left out is as good as the last:
        one chunk may have many vectors, and which of equal rows the store gives first depends on what else it holds.
        What a question is narrowed to, if it is too much to be listed, is held against what was fetched.
        """
        rows = wanted * 2 + 1
        narrowing = self.where.narrowing if area.ids is None else None
        deepest = DEEPEST * wanted if narrowing is None else DEEPEST_NARROWED
        while True:
            searching = self.runtime.vectors.search(table, vector, rows, area)
            hits = await self.watch.timed(f"vectors {table}", searching)
            best: dict[int, Hit] = {}
            for hit in hits:
                if hit.similarity >= self.question.threshold:
                    best.setdefault(hit.id, hit)
            inside = await self._inside(TABLES[table], best) if narrowing else best.keys()
            found = [hit for id_, hit in best.items() if id_ in inside]
            enough = len(found) > wanted and _rank(found[wanted - 1]) < _rank(Hit(0, 0, hits[-1].similarity))
            whole = enough or len(hits) < rows or hits[-1].similarity < self.question.threshold
            if whole or rows >= deepest:
                return found, whole
            rows *= MORE if narrowing is None else DEEPER

    async def _inside(self, kind: Stale, ids: Collection[int]) -> Collection[int]:
        """Those of the ids that a narrowed question may draw on."""
        if self.where.narrowing is None or not ids:
            return ids
        async with self.runtime.ledger.reader() as db:
            return await self.where.narrowing.among(db, kind, list(ids))

    async def _in_order(self, kind: Stale, hits: list[Hit]) -> list[Hit]:
        """Best first; equal ones by what they are."""
        if len({_rank(hit) for hit in hits}) == len(hits):
            return hits
        known = await self.runtime.ledger.read(identities, kind, [hit.id for hit in hits])
        return sorted(hits, key=lambda hit: (_rank(hit), known.get(hit.id, NOTHING)))

    async def chunk_vectors(self, ids: Sequence[int]) -> dict[int, np.ndarray]:
        """The vectors of chunks, each of shape (parts, dim): they are remembered beside the texts, which is near."""
        embedder, store = self.runtime.embedder, self.runtime.vectors
        kept = await self.runtime.ledger.read(cache.vectors_of_chunks, identity(embedder), ids)
        found = {
            id_: directions(np.frombuffer(data, np.float32).reshape(-1, embedder.dim)) for id_, data in kept.items()
        }
        missing = [id_ for id_ in ids if id_ not in found]
        return found | (await store.fetch("chunks", missing) if missing else {})

    async def named(self, asked: Condensed, vectors: Vectors, known: Known) -> tuple[int, ...]:
        """Entities by the low keywords, exact names first."""
        exact, named, hits = await asyncio.gather(
            self._exact(asked), self._by_words(asked), self._distinct(vectors.low, known)
        )
        known.similarity.update({(Stale.NAME, hit.id): hit.similarity for hit in hits})
        order = list(dict.fromkeys([*exact, *fuse((1.0, [hit.id for hit in hits]), (0.5, named))]))
        await self._profiles(known, order)
        names: dict[str, list[int]] = {}
        for id_ in order:
            if id_ in known.entities:
                names.setdefault(known.entities[id_].canonical, []).append(id_)
        return tuple(id_ for ids in list(names.values())[: self.question.top_k] for id_ in ids)

    async def local(self, entities: tuple[int, ...], vectors: Vectors, known: Known) -> Leg:
        """These entities, and the relations around them."""
        return Leg(entities, await self._around(entities, vectors, known))

    async def _exact(self, asked: Condensed) -> list[int]:
        """Entities that are named outright, or by an alias."""
        names = {canonical(keyword) for keyword in (*asked.low, *asked.high)} - {""}
        found = await self.runtime.ledger.read(lookup.names_exactly, names, self.where.area) if names else []
        inside = await self._inside(Stale.NAME, found)
        return [id_ for id_ in found if id_ in inside]

    async def _by_words(self, asked: Condensed) -> list[int]:
        words = " ".join(asked.low) or asked.question
        wanted, where = self.question.top_k // 2, self.where
        searching = self.runtime.ledger.read(lookup.names_by_words, words, wanted, where.area, where.narrowing)
        return await self.watch.timed("names", searching)

    async def _distinct(self, vector: np.ndarray, known: Known) -> list[Hit]:
        """Fetch more until enough *distinct* names are there: many spaces may know the same one."""
        wanted = self.question.top_k
        asked = wanted if len(self.where.area.spaces) < 2 else 2 * wanted
        while True:
            hits = await self._vectors("entities", vector, asked)
            await self._profiles(known, [hit.id for hit in hits])
            names = {known.entities[hit.id].canonical for hit in hits if hit.id in known.entities}
            if len(names) >= wanted or len(hits) < asked or asked >= OVERFETCH * wanted:
                return hits
            asked *= 2

    async def _around(self, ids: Sequence[int], vectors: Vectors, known: Known) -> tuple[int, ...]:
        """Relations of these entities, by similarity to the question mixed with degree and weight."""
        if not ids:
            return ()
        looking = self.runtime.graph.around(ids, self.where.area.spaces, NEIGHBOURS)
        near = await self.watch.timed("graph", looking)
        inside = await self._inside(Stale.PAIR, [edge.id for edge in near])
        edges = [edge for edge in near if edge.id in inside]
        fetching = self.runtime.vectors.fetch("relations", [edge.id for edge in edges])
        rows = await self.watch.timed("fetch relations", fetching)
        similar = {id_: float((vector @ vectors.question).max()) for id_, vector in rows.items()}
        for id_, similarity in similar.items():
            known.similarity.setdefault((Stale.PAIR, id_), similarity)
        await self._profiles(known, {end for edge in edges for end in (edge.source, edge.target)})
        await self._relations(known, [edge.id for edge in edges])

        def score(id_: int) -> float:
            relation = known.relations[id_]
            degrees = sum(known.entities[end].degree for end in relation.ends if end in known.entities)
            return -round(blend(similar.get(id_, 0.0), degrees, relation.weight), DIGITS)

        ids = [edge.id for edge in edges if edge.id in known.relations]
        return tuple(sorted(ids, key=lambda id_: (score(id_), known.identity(id_))))

    async def world(self, vectors: Vectors, known: Known) -> Leg:
        """Relations by the high keywords; then the entities at their ends."""
        hits = await self._vectors("relations", vectors.high, self.question.top_k)
        known.similarity.update({(Stale.PAIR, hit.id): hit.similarity for hit in hits})
        await self._relations(known, [hit.id for hit in hits])
        relations = [hit.id for hit in hits if hit.id in known.relations]
        await self._profiles(known, {end for id_ in relations for end in known.relations[id_].ends})
        ends = dict.fromkeys(end for id_ in relations for end in sorted(known.relations[id_].ends, key=known.canonical))
        return Leg(tuple(end for end in ends if end in known.entities), tuple(relations))

    async def _profiles(self, known: Known, ids: Collection[int]) -> None:
        missing = [id_ for id_ in ids if id_ not in known.entities]
        if missing:
            known.entities.update(await self.runtime.ledger.read(lookup.entities, missing, self.where.area))

    async def _relations(self, known: Known, ids: Collection[int]) -> None:
        missing = [id_ for id_ in ids if id_ not in known.relations]
        if missing:
            known.relations.update(await self.runtime.ledger.read(lookup.relations, missing, self.where.area))
