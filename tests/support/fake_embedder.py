"""An embedder in process: words hashed into a vector, so that texts which share words are alike."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.errors import ModelError
    from engine.llm.base import Embedder
    from engine.usage import UsageMeter

WORD = re.compile(r"\w+")


class HashEmbedder:
    """Bags of hashed words, of length one. `failing`: a text that holds one of these fails with its error.

    `texts` are all texts that were ever embedded, in order, `batches` those of each call.
    """

    def __init__(self, dim: int = 128, name: str = "hash", max_tokens: int = 512) -> None:
        self.dim = dim
        self.name = name
        self.max_tokens = max_tokens
        self.failing: dict[str, ModelError] = {}
        self.texts: list[str] = []
        self.batches: list[list[str]] = []

    async def embed(self, texts: Sequence[str], bill: UsageMeter) -> np.ndarray:
        self.batches.append(list(texts))
        for text in texts:
            for part, error in self.failing.items():
                if part in text:
                    raise error
        self.texts += texts
        made = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(made, texts, strict=True):
            for word in WORD.findall(text.casefold()):
                row[hash_word(word) % self.dim] += 1.0
            row[0] += 0.001  # a text without words has a direction too
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        return made


class CachingEmbedder:
    """Another embedder's vectors, each made once: many questions about the same texts take a fraction of the time."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.vectors: dict[str, np.ndarray] = {}
        self.name, self.dim, self.max_tokens = inner.name, inner.dim, inner.max_tokens

    async def embed(self, texts: Sequence[str], bill: UsageMeter) -> np.ndarray:
        new = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        if new:
            self.vectors.update(zip(new, await self._inner.embed(new, bill), strict=True))
        return np.stack([self.vectors[text] for text in texts])


def hash_word(word: str) -> int:
    return int.from_bytes(blake2b(word.encode(), digest_size=4).digest(), "big")
