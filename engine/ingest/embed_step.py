"""Embed and store stale chunks, and delete vectors of removed ones; a text that cannot be embedded fails alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import EngineError, StoreError
from engine.llm.checked_embedder import embedder_identity
from engine.projection.embedding_text import KeyClaims, split_into_parts
from engine.scheduling.foreground import NextStep
from engine.storage.ledger.records import EmbeddingFailure, KeyKind, PartialVectors
from engine.storage.vectors.base import VectorRow
from engine.usage import IndexingUsage, UsageMeter, sum_characters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.runtime import Runtime
    from engine.storage.ledger.records import ChunkToEmbed, StaleKey

CachedVectors = tuple[int, bytes]  # number of parts of a text, and their vectors as float32


@dataclass(slots=True)
class EmbedStep:
    """Keeps the vectors of chunks in step with the ledger."""

    runtime: Runtime
    _claims: KeyClaims = field(init=False)

    def __post_init__(self) -> None:
        self._claims = KeyClaims(self.runtime, KeyKind.CHUNK)

    async def step(self) -> NextStep:
        """Embed one batch; returns the next step. Raises errors that stop the embedder as a whole."""
        most = self.runtime.options.embed_batch_size
        keys = await self._claims.claim(most)
        if not keys:
            if await self.runtime.ledger.work.has_status_behind():
                await self.runtime.ledger.work.advance_documents()
            return NextStep.IDLE
        try:
            await self._embed_keys(keys)
        except EngineError:
            await self._claims.release()
            raise
        return NextStep.after_batch(len(keys), most)

    async def _embed_keys(self, keys: Sequence[StaleKey]) -> None:
        ledger = self.runtime.ledger
        chunks = await ledger.work.load_chunks([key.id for key in keys])
        gone = {key.id for key in keys} - {chunk.id for chunk in chunks}
        if gone:
            await self.runtime.vectors.delete("chunks", gone)
        if chunks:
            self.runtime.reserve.check_room()
        meter = UsageMeter()
        failed = await self._embed_with_isolation(chunks, meter)
        done = [key for key in keys if key.id not in failed]
        failures = [EmbeddingFailure(key, failed[key.id]) for key in keys if key.id in failed]
        usage = IndexingUsage(meter.items, sum_characters((chunk.space, chunk.text) for chunk in chunks))
        tries, now = self.runtime.options.max_embed_attempts, self.runtime.clock.time()
        await ledger.work.finish_embedding(done, failures, tries, usage, now)

    async def _embed_with_isolation(self, chunks: Sequence[ChunkToEmbed], meter: UsageMeter) -> dict[int, EngineError]:
        """Embed and store chunks; returns the error of each chunk whose own text cannot be embedded."""
        try:
            await self._embed_chunks(chunks, meter)
        except StoreError:
            raise
        except EngineError as error:
            if not await self.runtime.embedder.is_text_at_fault(error, meter):
                raise
            if len({chunk.text_hash for chunk in chunks}) == 1:
                return {chunk.id: error for chunk in chunks}
        else:
            return {}
        half = len(chunks) // 2
        return await self._embed_with_isolation(chunks[:half], meter) | await self._embed_with_isolation(
            chunks[half:], meter
        )

    async def _embed_chunks(self, chunks: Sequence[ChunkToEmbed], meter: UsageMeter) -> None:
        cached = await self._load_cached({chunk.text_hash for chunk in chunks})
        growing = [chunk for chunk in chunks if chunk.is_growing and chunk.text_hash not in cached]
        fresh = {c.text_hash: c.text for c in chunks if c.text_hash not in cached and not c.is_growing}
        if fresh:
            cached |= await self._embed_texts(fresh, meter)
        vectors_by_id = {chunk.id: cached[chunk.text_hash] for chunk in chunks if chunk.text_hash in cached}
        vectors_by_id |= await self._embed_growing(growing, meter)
        if chunks:
            rows = [VectorRow(c.id, c.space, c.room, part) for c in chunks for part in range(vectors_by_id[c.id][0])]
            data = b"".join(vectors_by_id[chunk.id][1] for chunk in chunks)
            vectors = np.frombuffer(data, np.float32).reshape(len(rows), self.runtime.embedder.dim)
            await self.runtime.vectors.upsert("chunks", rows, vectors)

    async def _embed_growing(self, chunks: Sequence[ChunkToEmbed], meter: UsageMeter) -> dict[int, CachedVectors]:
        """Vectors of chunks of open conversations: those stored before, and those of the text added since."""
        if not chunks:
            return {}
        embedder, tokenizer = self.runtime.embedder, self.runtime.tokenizer
        ledger, name = self.runtime.ledger, embedder_identity(embedder)
        earlier = await ledger.chunks.load_partial_vectors(name, [chunk.id for chunk in chunks])
        new = {c.id: (c.text[earlier[c.id].covered_chars :] if c.id in earlier else c.text).strip() for c in chunks}
        split = {
            id_: split_into_parts(text, embedder.max_tokens, tokenizer) if text else [] for id_, text in new.items()
        }
        texts = [part for some in split.values() for part in some]
        vectors = await embedder.embed(texts, meter) if texts else np.empty((0, embedder.dim), np.float32)
        by_id, at = dict[int, PartialVectors](), 0
        for chunk in chunks:
            some, before = len(split[chunk.id]), earlier.get(chunk.id)
            data = (before.data if before else b"") + vectors[at : at + some].tobytes()
            count = (before.parts if before else 0) + some
            whole = before is None or (bool(before.embedded_at_once) and not some)
            by_id[chunk.id] = PartialVectors(name, len(chunk.text), whole, count, data)
            at += some
        await ledger.chunks.save_partial_vectors(by_id)
        return {id_: (each.parts, each.data) for id_, each in by_id.items()}

    async def _load_cached(self, hashes: set[bytes]) -> dict[bytes, CachedVectors]:
        """Cached vectors; those that would fail today's checks are embedded again."""
        embedder = self.runtime.embedder
        rows = await self.runtime.ledger.cache.load_vectors(embedder_identity(embedder), hashes)
        return {
            key: (count, data)
            for key, (count, data) in rows.items()
            if count and len(data) == 4 * count * embedder.dim and np.isfinite(np.frombuffer(data, np.float32)).all()
        }

    async def _embed_texts(self, texts: dict[bytes, str], meter: UsageMeter) -> dict[bytes, CachedVectors]:
        embedder, tokenizer = self.runtime.embedder, self.runtime.tokenizer
        split = {key: split_into_parts(text, embedder.max_tokens, tokenizer) for key, text in texts.items()}
        vectors = await embedder.embed([part for some in split.values() for part in some], meter)
        by_hash, at = dict[bytes, CachedVectors](), 0
        for key, some in split.items():
            by_hash[key] = (len(some), vectors[at : at + len(some)].tobytes())
            at += len(some)
        rows = [(key, *kept) for key, kept in by_hash.items()]
        await self.runtime.ledger.cache.save_vectors(embedder_identity(embedder), rows)
        return by_hash
