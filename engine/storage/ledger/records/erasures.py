"""What an erasure takes: its parts, and how much of the ledger goes with them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErasedPart:
    """A document by its key: all of it, or some `passages` by theirs."""

    document: str
    passages: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class ErasureSize:
    """How much of the ledger rests on what is erased, at one moment.

    `documents` go as a whole; `chunks` hold some of it; `facts` are mentions and links of these chunks. Profiles (of
    entities and relations) are removed if they rest on these chunks alone, and rebuilt if others state them, too.
    `vectors` are of these chunks and profiles. `cached_answers` and `summaries` were made of them.
    """

    documents: int = 0
    passages: int = 0
    chunks: int = 0
    facts: int = 0
    profiles_removed: int = 0
    profiles_rebuilt: int = 0
    vectors: int = 0
    cached_answers: int = 0
    summaries: int = 0
