"""Embed and store entities and relations whose text is new; a text that cannot be embedded fails alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import EngineError
from engine.llm.checked_embedder import embedder_identity
from engine.projection.embedding_text import embed_with_isolation, text_hash, truncate_to_tokens
from engine.storage.ledger.records import KeyKind
from engine.storage.vectors.base import VectorRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.llm.checked_embedder import CheckedEmbedder
    from engine.projection.embedding_text import Vector
    from engine.storage.ledger.records import EmbeddedKey, Profile, ProfileKind
    from engine.storage.vectors.base import VectorStore, VectorTable
    from engine.text.windows import Tokenizer
    from engine.usage import UsageMeter

VECTOR_TABLES: Mapping[ProfileKind, VectorTable] = {KeyKind.NAME: "entities", KeyKind.PAIR: "relations"}


@dataclass(frozen=True, slots=True)
class ProfileEmbeddingResult:
    """Text hashes of the vectors that are up to date, and the errors of keys without a vector."""

    embedded: list[EmbeddedKey] = field(default_factory=list)
    failed: dict[tuple[KeyKind, int], EngineError] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProfileEmbedder:
    """Keeps the vectors of one kind of key in step with its profiles."""

    embedder: CheckedEmbedder
    tokenizer: Tokenizer
    vectors: VectorStore
    kind: ProfileKind

    async def upsert(
        self, texts: Sequence[tuple[Profile, str]], former: Mapping[int, bytes | None], meter: UsageMeter
    ) -> ProfileEmbeddingResult:
        """Embed and store new texts; `former` has the hashes of those embedded before.

        If a text cannot be embedded, its label is embedded instead; if that fails too, the key has no vector.
        """
        result, name = ProfileEmbeddingResult(), embedder_identity(self.embedder)
        changed: list[tuple[Profile, str]] = []
        for row, text in texts:
            digest = text_hash(name, text)
            if digest == former.get(row.id):
                result.embedded.append((digest, row.id))
            else:
                changed.append((row, text))
        vectors = await self._embed_truncated([text for _, text in changed], meter)
        failed = [index for index, vector in enumerate(vectors) if isinstance(vector, EngineError)]
        labels = await self._embed_truncated([changed[index][0].label for index in failed], meter)
        for index, vector in zip(failed, labels, strict=True):
            vectors[index], changed[index] = vector, (changed[index][0], changed[index][0].label)
        await self._store(changed, vectors, result)
        return result

    async def _embed_truncated(self, texts: Sequence[str], meter: UsageMeter) -> list[Vector | EngineError]:
        clipped = [truncate_to_tokens(text, self.embedder.max_tokens, self.tokenizer) for text in texts]
        return await embed_with_isolation(self.embedder, clipped, meter)

    async def _store(
        self,
        changed: Sequence[tuple[Profile, str]],
        vectors: Sequence[Vector | EngineError],
        result: ProfileEmbeddingResult,
    ) -> None:
        rows, data = list[VectorRow](), list[np.ndarray]()
        for (row, text), vector in zip(changed, vectors, strict=True):
            if isinstance(vector, EngineError):
                result.failed[self.kind, row.id] = vector
                result.embedded.append((None, row.id))
            else:
                rows.append(VectorRow(row.id, row.space, 0, 0))
                data.append(vector)
                result.embedded.append((text_hash(embedder_identity(self.embedder), text), row.id))
        if rows:
            # Names and pairs of names never move to another space.
            await self.vectors.upsert(VECTOR_TABLES[self.kind], rows, np.stack(data), {row.space for row in rows})
        if result.failed:  # the old vector may rest on forgotten documents
            spaces = {row.space for row, _ in changed}
            await self.vectors.delete(VECTOR_TABLES[self.kind], {id_ for _, id_ in result.failed}, spaces)
