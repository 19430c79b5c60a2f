"""Hash the inputs of a model call to a cache key (pure)."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def hash_parts(parts: Iterable[str]) -> bytes:
    """SHA-256 of the parts, each with its length, so that no two lists of parts give the same bytes."""
    digest = sha256()
    for part in parts:
        data = part.encode(errors="surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()
