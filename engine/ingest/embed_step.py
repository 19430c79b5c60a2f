"""Stale chunks are embedded and put; those that are gone are dropped; a text that cannot be embedded fails alone."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import BadKey, EngineError, NoSuchModel, StoreError
from engine.llm.checked_embedder import identity
from engine.projection.embedding_text import parts
from engine.scheduling.batch_gate import Then
from engine.storage.ledger import cache
from engine.storage.ledger.content import open_vectors
from engine.storage.ledger.work import embedding_failures, stale_keys, work_queue
from engine.storage.ledger.work.embedding_failures import Failure
from engine.storage.ledger.work.stale_keys import Stale
from engine.storage.vectors.base import Row
from engine.usage import Bill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.runtime import Runtime
    from engine.storage.ledger.work.stale_keys import Mark
    from engine.storage.ledger.work.work_queue import Unembedded
    from engine.storage.sqlite.connection import Connection

Kept = tuple[int, bytes]  # the parts of a text, and their vectors as float32


@dataclass(slots=True)
class ChunkEmbedder:
    """Keeps the vectors of chunks in step with the ledger."""

    runtime: Runtime

    async def step(self) -> Then:
        """Embed one batch; says what follows. Raises what keeps the embedder from working at all."""
        ledger, most = self.runtime.ledger, self.runtime.options.embed_batch
        found = await ledger.read(stale_keys.stale_marks, Stale.CHUNK, most)
        if not found:
            await ledger.write(work_queue.advance)
            return Then.REST
        chunks = await ledger.read(work_queue.chunks, [mark.id for mark in found])
        gone = {mark.id for mark in found} - {chunk.id for chunk in chunks}
        if gone:
            await self.runtime.vectors.drop("chunks", gone)
        bill = Bill()
        failed = await self._embed(chunks, bill)
        done = [mark for mark in found if mark.id not in failed]
        failures = [Failure(mark, failed[mark.id]) for mark in found if mark.id in failed]
        await ledger.write(_finished, done, failures, self.runtime.options.embed_attempts, bill)
        return Then.after(len(found), most)

    async def _embed(self, chunks: Sequence[Unembedded], bill: Bill) -> dict[int, EngineError]:
        """Embed and put chunks; gives those whose own text cannot be embedded, with the reason."""
        try:
            await self._put(chunks, bill)
        except StoreError:
            raise
        except EngineError as error:
            if isinstance(error, BadKey | NoSuchModel):
                await self.runtime.ledger.write(work_queue.fail_embedding, [chunk.id for chunk in chunks], error)
                return {}
            if not await self.runtime.embedder.blames_the_text(error, bill):
                raise
            if len({chunk.text_hash for chunk in chunks}) == 1:
                return {chunk.id: error for chunk in chunks}
        else:
            return {}
        half = len(chunks) // 2
        return await self._embed(chunks[:half], bill) | await self._embed(chunks[half:], bill)

    async def _put(self, chunks: Sequence[Unembedded], bill: Bill) -> None:
        known = await self._remembered({chunk.text_hash for chunk in chunks})
        growing = [chunk for chunk in chunks if chunk.grows and chunk.text_hash not in known]
        fresh = {c.text_hash: c.text for c in chunks if c.text_hash not in known and not c.grows}
        if fresh:
            known |= await self._made(fresh, bill)
        made = {chunk.id: known[chunk.text_hash] for chunk in chunks if chunk.text_hash in known}
        made |= await self._grown(growing, bill)
        if chunks:
            rows = [Row(c.id, c.space, c.room, part) for c in chunks for part in range(made[c.id][0])]
            data = b"".join(made[chunk.id][1] for chunk in chunks)
            vectors = np.frombuffer(data, np.float32).reshape(len(rows), self.runtime.embedder.dim)
            await self.runtime.vectors.put("chunks", rows, vectors)

    async def _grown(self, chunks: Sequence[Unembedded], bill: Bill) -> dict[int, Kept]:
        """Vectors of chunks of open conversations: of what was embedded before, and of what came since."""
        if not chunks:
            return {}
        embedder, tokenizer = self.runtime.embedder, self.runtime.tokenizer
        ledger, name = self.runtime.ledger, identity(embedder)
        known = await ledger.read(open_vectors.partials, name, [chunk.id for chunk in chunks])
        new = {c.id: (c.text[known[c.id].covered :] if c.id in known else c.text).strip() for c in chunks}
        split = {id_: parts(text, embedder.max_tokens, tokenizer) if text else [] for id_, text in new.items()}
        texts = [part for some in split.values() for part in some]
        vectors = await embedder.embed(texts, bill) if texts else np.empty((0, embedder.dim), np.float32)
        made, at = dict[int, open_vectors.Partial](), 0
        for chunk in chunks:
            some, before = len(split[chunk.id]), known.get(chunk.id)
            data = (before.data if before else b"") + vectors[at : at + some].tobytes()
            count = (before.parts if before else 0) + some
            whole = before is None or (bool(before.whole) and not some)
            made[chunk.id] = open_vectors.Partial(name, len(chunk.text), int(whole), count, data)
            at += some
        await ledger.write(open_vectors.keep_partials, made)
        return {id_: (each.parts, each.data) for id_, each in made.items()}

    async def _remembered(self, hashes: set[bytes]) -> dict[bytes, Kept]:
        """The vectors that are known; what was remembered unchecked, and would not pass now, is made anew."""
        embedder = self.runtime.embedder
        known = await self.runtime.ledger.read(cache.vectors, identity(embedder), hashes)
        return {
            key: (count, data)
            for key, (count, data) in known.items()
            if count and len(data) == 4 * count * embedder.dim and np.isfinite(np.frombuffer(data, np.float32)).all()
        }

    async def _made(self, texts: dict[bytes, str], bill: Bill) -> dict[bytes, Kept]:
        embedder, tokenizer = self.runtime.embedder, self.runtime.tokenizer
        split = {key: parts(text, embedder.max_tokens, tokenizer) for key, text in texts.items()}
        vectors = await embedder.embed([part for some in split.values() for part in some], bill)
        made, at = dict[bytes, Kept](), 0
        for key, some in split.items():
            made[key] = (len(some), vectors[at : at + len(some)].tobytes())
            at += len(some)
        rows = [(key, *kept) for key, kept in made.items()]
        await self.runtime.ledger.write(cache.keep_vectors, identity(embedder), rows)
        return made


async def _finished(
    db: Connection, done: Sequence[Mark], failures: Sequence[Failure], attempts: int, bill: Bill
) -> None:
    await stale_keys.unmark(db, done)
    await embedding_failures.record(db, failures, attempts, time.time())
    await work_queue.advance(db, [mark.id for mark in done])
    if bill.items:
        await cache.add_usage(db, datetime.now(UTC).date().isoformat(), bill.items)
