"""Use your own embedder: any object with a name, a dimension, a token limit and `embed`.

    python examples/own_embedder.py

This one hashes words. Replace `embed` by a call of your model.
"""

from __future__ import annotations

import asyncio
import tempfile
import zlib
from typing import TYPE_CHECKING

import numpy as np

from engine import Engine, Question, Scope, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine import UsageMeter

NOTES = "Mara Venn keeps the key of the village hall. Tobin Ashe repairs its roof."


class HashedWords:
    """Each word adds one to the dimension that its checksum selects; texts that share words are similar."""

    name = "hashed-words@256"  # stored with the vectors: change it whenever the vectors change
    dim = 256
    max_tokens = 512  # longer texts are embedded in parts

    async def embed(self, texts: Sequence[str], usage: UsageMeter) -> np.ndarray:
        """float32 of shape (len(texts), dim), rows of length one."""
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, zlib.crc32(word.encode()) % self.dim] += 1
        usage.record(Usage("embed", self.name, input_tokens=sum(len(text.split()) for text in texts)))
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


async def main() -> None:
    """Index a note with this embedder and print what a question retrieves."""
    with tempfile.TemporaryDirectory() as folder:
        async with Engine.open(folder, embedder=HashedWords()) as engine:
            await engine.documents.add_text("Notes", NOTES, space="village")
            await engine.wait_until_indexed()
            context = await engine.retrieve(Question("Who repairs the roof?", Scope.of("village"), mode="naive"))
            for source in context.sources:
                print(f"[{source.number}] {source.title}: {source.text}")


if __name__ == "__main__":
    asyncio.run(main())
