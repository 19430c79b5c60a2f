"""One cache file of vectors for both systems: text to vector, computed once by the process that starts them.

The runner processes import this module, so it needs nothing but numpy.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from hashlib import blake2b
from pathlib import Path

import numpy as np

DIM = 384
MAX_LINE = 2**26
KEYS_PER_QUERY = 500
EmbedTexts = Callable[[Sequence[str]], Awaitable[np.ndarray]]


def hash_text(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


class VectorCache:
    """A SQLite file with one vector (float32, DIM numbers) per text."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(file, check_same_thread=False)
        self._db.execute("PRAGMA synchronous = OFF")  # what a power failure loses is computed again
        self._db.execute("CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, row BLOB)")

    def load(self, keys: Sequence[bytes]) -> dict[bytes, np.ndarray]:
        """The cached vectors among these keys."""
        found = dict[bytes, np.ndarray]()
        for start in range(0, len(keys), KEYS_PER_QUERY):
            some = keys[start : start + KEYS_PER_QUERY]
            marks = ",".join("?" * len(some))
            rows = self._db.execute(f"SELECT key, row FROM vector WHERE key IN ({marks})", some)
            found.update((key, np.frombuffer(row, np.float32)) for key, row in rows)
        return found

    def save(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        rows = [(hash_text(text), row.astype(np.float32).tobytes()) for text, row in zip(texts, vectors, strict=True)]
        with self._db:
            self._db.executemany("INSERT OR IGNORE INTO vector VALUES (?, ?)", rows)

    def close(self) -> None:
        self._db.close()


class CachedVectors:
    """Reads vectors from the cache in a runner process, and waits for the parent to compute those that are missing.

    `waited`: seconds for which this process stood still for them; `computed`: their number.
    """

    def __init__(self, file: Path, address: str) -> None:
        self._cache, self._address, self._lock = VectorCache(file), address, threading.Lock()
        self.waited, self.computed = 0.0, 0

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """float32 of shape (len(texts), DIM). Blocks the whole event loop, so that waiting can be subtracted."""
        with self._lock:
            keys = [hash_text(text) for text in texts]
            found = self._cache.load(list(dict.fromkeys(keys)))
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
            if missing:
                self._request(list(missing.values()))
                found |= self._cache.load(list(missing))
            return np.stack([found[key] for key in keys])

    def _request(self, texts: list[str]) -> None:
        began = time.perf_counter()
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(self._address)
            with link.makefile("rwb") as lines:
                lines.write(json.dumps(texts).encode() + b"\n")
                lines.flush()
                if not lines.readline():
                    raise RuntimeError("The parent process could not compute vectors.")
        self.waited += time.perf_counter() - began
        self.computed += len(texts)


@asynccontextmanager
async def serve_vectors(cache: VectorCache, address: Path, embed: EmbedTexts) -> AsyncIterator[None]:
    """Compute and cache the texts that runner processes ask for, until the block is left."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            texts = json.loads(await reader.readline())
            for some in split_into_batches(texts):
                cache.save(some, await embed(some))
            writer.write(b"done\n")
            await writer.drain()
        finally:
            writer.close()

    server = await asyncio.start_unix_server(answer, address, limit=MAX_LINE)
    async with server:
        yield


def split_into_batches(texts: Sequence[str], size: int = 256) -> Iterator[Sequence[str]]:
    for start in range(0, len(texts), size):
        yield texts[start : start + size]
