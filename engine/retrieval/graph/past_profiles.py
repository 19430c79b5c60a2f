"""Similarities of entities and relations as of a day: to what was stated of them until then, not to what is today."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import EngineError
from engine.projection.embedding_text import embed_with_isolation, truncate_to_tokens
from engine.retrieval.search import ProfileCache
from engine.retrieval.views import ViewLoader
from engine.storage.ledger.records import KeyKind
from engine.text.similarity import unit_vectors

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from engine.retrieval.search import SearchScope
    from engine.runtime import Runtime
    from engine.storage.ledger.records import ProfileKind
    from engine.text.similarity import SimilarityScale
    from engine.usage import UsageMeter


@dataclass(frozen=True, slots=True)
class PastProfiles:
    """The vectors of one question's entities and relations; a text that is the present one has its stored vector."""

    runtime: Runtime
    scope: SearchScope
    meter: UsageMeter
    _vectors: dict[tuple[ProfileKind, int], np.ndarray | None] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def measure(
        self, kind: ProfileKind, ids: Collection[int], query: np.ndarray, scale: SimilarityScale
    ) -> dict[int, float]:
        """The similarity of a vector to each of these keys; none for a key of which nothing was stated."""
        async with self._lock:
            if missing := [id_ for id_ in ids if (kind, id_) not in self._vectors]:
                await self._load(kind, missing)
        known = {id_: vector for id_ in ids if (vector := self._vectors[kind, id_]) is not None}
        return {id_: scale.similarity(float(vector @ query)) for id_, vector in known.items()}

    async def _load(self, kind: ProfileKind, ids: Collection[int]) -> None:
        self._vectors.update(((kind, id_), None) for id_ in ids)
        texts, present = await self._load_texts(kind, ids)
        kept = [id_ for id_, text in texts.items() if text == present.get(id_)]
        stored = await self.runtime.vectors.fetch(
            "entities" if kind == KeyKind.NAME else "relations", kept, self.scope.scope_ids.spaces
        )
        self._vectors.update(((kind, id_), rows[0]) for id_, rows in stored.items())
        await self._embed(kind, {id_: text for id_, text in texts.items() if id_ not in stored})

    async def _load_texts(self, kind: ProfileKind, ids: Collection[int]) -> tuple[Mapping[int, str], Mapping[int, str]]:
        """What was embedded of each key that day, and of those whose profile is up to date what is embedded now."""
        search, area, profiles = self.runtime.ledger.search, self.scope.scope_ids, ProfileCache()
        if kind == KeyKind.PAIR:
            profiles.relations.update(await search.load_relations(ids, area))
        ends = {end for relation in profiles.relations.values() for end in relation.ends}
        profiles.entities.update(await search.load_entities(ends if kind == KeyKind.PAIR else ids, area))
        past = ViewLoader(self.runtime, profiles, self.scope.fact_chunks)
        return await past.load_embedded_texts(kind), past.list_present_texts(kind)

    async def _embed(self, kind: ProfileKind, texts: Mapping[int, str]) -> None:
        embedder, tokenizer = self.runtime.embedder, self.runtime.tokenizer
        clipped = [truncate_to_tokens(text, embedder.max_tokens, tokenizer) for text in texts.values()]
        for id_, vector in zip(texts, await embed_with_isolation(embedder, clipped, self.meter), strict=True):
            if not isinstance(vector, EngineError):
                self._vectors[kind, id_] = unit_vectors(vector[np.newaxis])[0]
