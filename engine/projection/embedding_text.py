"""Embed entities and relations: their texts, the splitting of long ones, and the stale keys that are claimed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from math import ceil
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from engine.errors import EngineError
from engine.knowledge.merge import SEPARATOR
from engine.llm.checked_embedder import embedder_identity
from engine.storage.ledger.records import KeyKind, SpaceTurn
from engine.storage.vectors.base import VectorRow
from engine.text.tokenizer import token_windows

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from engine.llm.checked_embedder import CheckedEmbedder
    from engine.runtime import Runtime
    from engine.storage.ledger.records import EmbeddedKey, Profile, ProfileKind, StaleKey
    from engine.storage.vectors.base import VectorStore, VectorTable
    from engine.text.tokenizer import Tokenizer
    from engine.usage import UsageMeter


VECTOR_TABLES: Mapping[ProfileKind, VectorTable] = {KeyKind.NAME: "entities", KeyKind.PAIR: "relations"}
PART_OVERLAP = 16
MAX_TEXTS_PER_CALL = 512  # texts per call; if one of them fails, at most this many are embedded again

Vector: TypeAlias = np.ndarray


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


def text_hash(embedder: str, text: str) -> bytes:
    """Hash that shows whether a vector belongs to a text."""
    return blake2b(f"{embedder}\0{text}".encode(), digest_size=16).digest()


def truncate_to_tokens(text: str, tokens: int, tokenizer: Tokenizer) -> str:
    """The text, or its first tokens up to the limit."""
    if len(text.encode()) <= tokens:  # a token has at least one byte
        return text
    return tokenizer.decode(tokenizer.encode(text)[:tokens]).rstrip("\ufffd")


def entity_text(row: Profile) -> str:
    """The text that is embedded for an entity."""
    return f"{row.label}{SEPARATOR}{row.description}"


def relation_text(row: Profile, names: Mapping[int, str]) -> str:
    """The text that is embedded for a relation."""
    ends = sorted(names.get(end, "") for end in row.ends)
    return SEPARATOR.join((row.label, *ends, row.description))


async def embed_with_isolation(
    embedder: CheckedEmbedder, texts: Sequence[str], meter: UsageMeter
) -> list[Vector | EngineError]:
    """The vector of each text, or the error of that text alone. Raises errors that affect all texts."""
    vectors: list[Vector | EngineError] = []
    for start in range(
        0, len(texts), MAX_TEXTS_PER_CALL
    ):  # in turn: otherwise a question would wait behind all of them
        vectors += await _embed_isolated(embedder, texts[start : start + MAX_TEXTS_PER_CALL], meter)
    return vectors


async def _embed_isolated(
    embedder: CheckedEmbedder, texts: Sequence[str], meter: UsageMeter
) -> list[Vector | EngineError]:
    try:
        return list(await embedder.embed(texts, meter))
    except EngineError as error:
        if not await embedder.is_text_at_fault(error, meter):
            raise
        if len(texts) == 1:
            return [error]
    half = len(texts) // 2
    return [
        *await _embed_isolated(embedder, texts[:half], meter),
        *await _embed_isolated(embedder, texts[half:], meter),
    ]


def split_into_parts(text: str, tokens: int, tokenizer: Tokenizer) -> list[str]:
    """Split a chunk into slightly overlapping parts that the embedder takes whole; one part if it fits.

    All parts have about equal length: the vector of a short rest would be similar to too many questions.
    """
    if len(text.encode()) <= tokens:
        return [text]
    overlap = min(PART_OVERLAP, tokens // 2)
    count = ceil(max(1, tokenizer.count(text) - overlap) / max(1, tokens - overlap))
    even = ceil((tokenizer.count(text) + overlap * (count - 1)) / count)
    spans = token_windows(text, tokenizer, max(overlap + 1, min(tokens, even)), overlap)
    return [text[span.start : span.stop] for span in spans] or [truncate_to_tokens(text, tokens, tokenizer)]


@dataclass(slots=True)
class KeyClaims:
    """Claims chunks, or else names and pairs, of all spaces in turn."""

    runtime: Runtime
    kind: KeyKind
    _last_space: int = 0

    async def claim(self, limit: int, skip: Collection[StaleKey] = ()) -> tuple[StaleKey, ...]:
        """Claim keys that are due, except `skip`."""
        ledger, process, now = self.runtime.ledger, self.runtime.processes.id, self.runtime.clock.time()
        if not await ledger.claims.has_due_keys(self.kind, now, process):
            return ()
        turn = SpaceTurn(process, self._last_space)
        claim = ledger.claims.claim_chunks if self.kind == KeyKind.CHUNK else ledger.claims.claim_profiles
        keys, self._last_space = await claim(limit, now, turn, skip)
        return keys

    async def release(self) -> None:
        """Free all that is claimed, after a failure; if that fails too, only this process can claim it again."""
        with suppress(EngineError):
            await self.runtime.ledger.claims.release_keys(self.kind, self.runtime.processes.id)
