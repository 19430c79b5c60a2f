"""Which chunks share an extraction call: small ones of one space. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.storage.ledger.facts import UnextractedChunk

MAX_EXCERPTS = 32
FILE_LINGER_SECONDS = 1.0  # seconds
FULL_SHARE = 0.75  # of the tokens that may share a call, from which on a batch waits for nothing more


@dataclass(frozen=True, slots=True)
class ExtractionBatch:
    """Chunks of one space, the oldest first; `full`: nothing more would fit into it."""

    chunks: tuple[UnextractedChunk, ...]
    is_full: bool

    @property
    def space(self) -> int:
        """The space of all of them."""
        return self.chunks[0].space

    def linger_seconds(self, longest: float) -> float:
        """Seconds that it may wait for more to share its call; people wait for a file, and for no conversation."""
        if self.is_full:
            return 0.0
        return (
            longest if all(chunk.kind == "conversation" for chunk in self.chunks) else min(longest, FILE_LINGER_SECONDS)
        )


def build_batches(unread: Iterable[UnextractedChunk], shared_tokens: int) -> list[ExtractionBatch]:
    """Chunks by the call that reads them, in the order of their oldest ones; one that has failed is read alone."""
    made: list[list[UnextractedChunk]] = []
    open_: dict[int, list[UnextractedChunk]] = {}
    for chunk in unread:
        batch = open_.get(chunk.space)
        if chunk.attempts or chunk.tokens > shared_tokens:
            made.append([chunk])
        elif batch is None or _tokens(batch) + chunk.tokens > shared_tokens or len(batch) == MAX_EXCERPTS:
            open_[chunk.space] = [chunk]
            made.append(open_[chunk.space])
        else:
            batch.append(chunk)
    return [ExtractionBatch(tuple(each), is_full=_is_full(each, open_, shared_tokens)) for each in made]


def shared_extraction_key(reading_key: bytes, space: int) -> bytes:
    """The key of a reading from a shared call: no other space has it, since others of its space stood beside it."""
    return sha256(b"shared in %d " % space + reading_key).digest()


def _is_full(batch: list[UnextractedChunk], open_: dict[int, list[UnextractedChunk]], shared_tokens: int) -> bool:
    return (
        open_.get(batch[0].space) is not batch
        or _tokens(batch) >= FULL_SHARE * shared_tokens
        or len(batch) == MAX_EXCERPTS
    )


def _tokens(batch: Iterable[UnextractedChunk]) -> int:
    return sum(chunk.tokens for chunk in batch)
