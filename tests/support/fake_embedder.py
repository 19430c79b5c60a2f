"""An embedder without a model: hashed words make a vector, so that texts with common words are similar."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b
from typing import TypeAlias

import numpy as np

from engine.errors import ModelError
from engine.llm.base import Embedder, QueryEmbedder
from engine.usage import UsageMeter

WORD = re.compile(r"\w+")
QUERY_MARK = "query\0"  # before the texts of questions, among the keys of stored vectors

Embed: TypeAlias = Callable[[Sequence[str], UsageMeter], Awaitable[np.ndarray]]


class HashEmbedder:
    """Bags of hashed words as unit vectors. `texts` are all embedded texts in order, `batches` those of each call.

    `failing`: a text that holds one of these parts fails with its error.
    """

    def __init__(self, dim: int = 128, name: str = "hash", max_tokens: int = 512) -> None:
        self.dim = dim
        self.name = name
        self.max_tokens = max_tokens
        self.failing: dict[str, ModelError] = {}
        self.texts: list[str] = []
        self.batches: list[list[str]] = []

    async def embed(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        self.batches.append(list(texts))
        for text in texts:
            for part, error in self.failing.items():
                if part in text:
                    raise error
        self.texts += texts
        vectors = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in WORD.findall(text.casefold()):
                row[hash_word(word) % self.dim] += 1.0
            row[0] += 0.001  # a text without words has a direction too
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


class NarrowEmbedder(HashEmbedder):
    """As HashEmbedder, but unrelated texts have a cosine of 0.75, as those of e5 have; equal ones 1."""

    async def embed(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        vectors = 0.5 * await HashEmbedder(self.dim - 1).embed(texts, meter)
        self.texts += texts
        return np.concatenate([np.full((len(texts), 1), 0.75**0.5, np.float32), vectors], axis=1)


class TwoWayEmbedder(HashEmbedder):
    """Embeds a question as the text that begins with "asked"; `asked` are all embedded questions."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def embed_queries(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        self.asked += texts
        return await HashEmbedder().embed([f"asked {text}" for text in texts], meter)


class CachingEmbedder:
    """Computes each vector of another embedder once, which saves time in many questions about the same texts."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.vectors: dict[str, np.ndarray] = {}
        self.name, self.dim, self.max_tokens = inner.name, inner.dim, inner.max_tokens

    async def embed(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        return await self._look_up(self._inner.embed, "", texts, meter)

    async def embed_queries(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        if not isinstance(self._inner, QueryEmbedder):
            return await self.embed(texts, meter)
        return await self._look_up(self._inner.embed_queries, QUERY_MARK, texts, meter)

    async def _look_up(self, embed: Embed, mark: str, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        new = [text for text in dict.fromkeys(texts) if mark + text not in self.vectors]
        if new:
            keys = [mark + text for text in new]
            self.vectors.update(zip(keys, await embed(new, meter), strict=True))
        return np.array([self.vectors[mark + text] for text in texts]).reshape(len(texts), self.dim)


def hash_word(word: str) -> int:
    return int.from_bytes(blake2b(word.encode(), digest_size=4).digest(), "big")
